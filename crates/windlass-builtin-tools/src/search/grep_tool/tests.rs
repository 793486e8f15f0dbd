use super::*;
use crate::search::testing::{Tree, call};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

fn tree() -> Tree {
    Tree::with(&[
        ("src/a.rs", "fn main() {\n    todo();\n}\n"),
        ("src/b.rs", "fn todo() {}\nfn other() {}\n"),
        ("notes.md", "todo\n"),
    ])
}

#[test]
fn files_are_listed_by_default() {
    let tree = tree();
    let (text, data) = call(Grep::new(), &json!({"pattern": "todo"}), &tree.cx("", None)).unwrap();
    assert_eq!(text, "Found 3 files\nnotes.md\nsrc/b.rs\nsrc/a.rs");
    assert_eq!(data["mode"], "files_with_matches");
    assert_eq!(data["numFiles"], 3);
    assert_eq!(data["totalFiles"], 3);
    assert_eq!(data["filenames"], json!(["notes.md", "src/b.rs", "src/a.rs"]));
    assert!(data.get("content").is_none() && data.get("appliedLimit").is_none());
}

#[test]
fn content_has_paths_and_line_numbers() {
    let tree = tree();
    let content = |more: serde_json::Value| {
        let mut input = json!({"pattern": "todo", "output_mode": "content"});
        input.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        call(Grep::new(), &input, &tree.cx("", None)).unwrap()
    };
    let (text, data) = content(json!({}));
    assert_eq!(text, "notes.md:1:todo\nsrc/a.rs:2:    todo();\nsrc/b.rs:1:fn todo() {}");
    assert_eq!(data["content"], text);
    assert_eq!((&data["numLines"], &data["numFiles"]), (&json!(3), &json!(3)));
    assert_eq!(content(json!({"-n": false, "type": "md"})).0, "notes.md:todo");
    assert_eq!(content(json!({"-o": true, "glob": "*.rs"})).0, "src/a.rs:2:todo\nsrc/b.rs:1:todo");
    assert_eq!(content(json!({"path": "src/b.rs", "-A": 1})).0, "src/b.rs:1:fn todo() {}\nsrc/b.rs-2-fn other() {}");
    let around = content(json!({"path": "src", "-C": 1, "-A": 0})).0;
    assert_eq!(around, "src/a.rs-1-fn main() {\nsrc/a.rs:2:    todo();\n--\nsrc/b.rs:1:fn todo() {}");
    assert_eq!(content(json!({"path": "src", "context": 1, "-A": 0})).0, around);
    assert_eq!(content(json!({"pattern": "TODO", "-i": true, "glob": "*.md,*.txt"})).0, "notes.md:1:todo");
}

#[test]
fn counts_have_a_sum() {
    let tree = tree();
    let input = json!({"pattern": "fn", "output_mode": "count"});
    let (text, data) = call(Grep::new(), &input, &tree.cx("", None)).unwrap();
    assert_eq!(text, "src/a.rs:1\nsrc/b.rs:2\n\nFound 3 matching lines in 2 files.");
    assert_eq!((&data["numMatches"], &data["totalLines"], &data["totalFiles"]), (&json!(3), &json!(3), &json!(2)));
}

#[test]
fn long_results_come_in_pages() {
    let tree = Tree::new();
    let text: String = (1..=600).map(|n| format!("hit {n}\n")).collect();
    tree.write("f", text, 0);
    let page = |input: serde_json::Value| call(Grep::new(), &input, &tree.cx("", None)).unwrap();
    let (text, data) = page(json!({"pattern": "hit", "output_mode": "content"}));
    assert!(
        text.contains("f:250:hit 250\n\n(These are lines 1 to 250; there are more. Go on with offset 250.)"),
        "{text}"
    );
    assert_eq!((&data["appliedLimit"], &data["numLines"]), (&json!(250), &json!(250)));
    let (text, data) = page(json!({"pattern": "hit", "output_mode": "content", "offset": 500}));
    assert!(text.starts_with("f:501:hit 501\n") && text.ends_with("f:600:hit 600"), "{text}");
    assert_eq!(data["appliedOffset"], 500);
    assert!(data.get("appliedLimit").is_none());
    assert_eq!(data["totalLines"], 600);
    let (text, _) = page(json!({"pattern": "hit", "output_mode": "content", "head_limit": 0}));
    assert_eq!(text.lines().count(), 600);
    let (text, _) = page(json!({"pattern": "hit", "output_mode": "content", "offset": 600}));
    assert_eq!(text, "No matches found from offset 600");
}

#[test]
fn a_page_ends_where_its_text_gets_too_long() {
    let tree = Tree::new();
    let text: String = (1..=400).map(|n| format!("{n:03} {}\n", "x".repeat(600))).collect();
    tree.write("f", text, 0);
    let mut offset = 0;
    let mut seen = Vec::new();
    loop {
        let input = json!({"pattern": "xx", "output_mode": "content", "head_limit": 0, "offset": offset});
        let (text, data) = call(Grep::new(), &input, &tree.cx("", None)).unwrap();
        assert!(text.len() < 70_000);
        seen.extend(text.lines().filter_map(|line| line.split(':').nth(1)?.parse::<u32>().ok()));
        offset += data["numLines"].as_u64().unwrap();
        if !text.contains("Go on with offset") {
            break;
        }
        assert!(text.contains(&format!("Go on with offset {offset}.")));
    }
    assert_eq!(seen, (1..=400).collect::<Vec<u32>>());
}

#[test]
fn nothing_found_says_so() {
    let tree = tree();
    let text = |input| call(Grep::new(), &input, &tree.cx("", None)).unwrap().0;
    assert_eq!(text(json!({"pattern": "absent"})), "No files found");
    assert_eq!(text(json!({"pattern": "absent", "output_mode": "content"})), "No matches found");
    assert!(text(json!({"pattern": "absent", "output_mode": "count"})).starts_with("No matches found"));
}

#[test]
fn mistakes_are_explained() {
    let tree = tree();
    for (input, expected) in [
        (json!({"pattern": "a("}), "unclosed group"),
        (json!({"pattern": "a", "path": "srk"}), "does not exist"),
        (json!({"pattern": "a", "path": "/etc"}), "outside of what this call may touch"),
        (json!({"pattern": "a", "type": "rs"}), "did you mean `rust`"),
        (json!({"pattern": "a", "output_mode": "lines"}), "unknown variant"),
        (json!({"pattern": "a", "-Z": 1}), "unknown field"),
    ] {
        let error = call(Grep::new(), &input, &tree.cx("", None)).unwrap_err();
        assert!(error.model_text().contains(expected), "{input}: {error}");
    }
}

#[test]
fn the_permit_filters() {
    let tree = tree();
    let filter = Arc::new(|path: &Path| !path.ends_with("b.rs"));
    for mode in ["files_with_matches", "content", "count"] {
        let input = json!({"pattern": "todo", "output_mode": mode, "path": "src"});
        let (text, data) = call(Grep::new(), &input, &tree.cx("", Some(filter.clone()))).unwrap();
        assert!(text.contains("a.rs") && !text.contains("b.rs"), "{text}");
        assert_eq!(data["totalFiles"], 1);
    }
}

#[test]
fn a_stopped_call_is_cancelled() {
    let tree = tree();
    let cx = tree.cx("", None);
    cx.cancel().cancel();
    let error = call(Grep::new(), &json!({"pattern": "todo"}), &cx).unwrap_err();
    assert_eq!(error.kind(), windlass_tool::ToolErrorKind::Cancelled);
    let hurried = Grep::new().with_time_limit(Duration::ZERO);
    let (text, data) = call(hurried, &json!({"pattern": "todo"}), &tree.cx("", None)).unwrap();
    assert!(text.contains("ran out of time"), "{text}");
    assert_eq!(data["timedOut"], true);
}

#[test]
fn globs_split_outside_of_braces() {
    assert_eq!(globs("*.{ts,tsx} !a.ts,b/**"), ["*.{ts,tsx}", "!a.ts", "b/**"]);
    assert_eq!(globs(" , "), [""; 0]);
}

#[test]
fn a_search_says_which_ignored_files_it_left_out() {
    let tree = Tree::with(&[
        (".gitignore", "scripts/*\nbuild/\n"),
        ("scripts/write.py", "needle"),
        ("build/a.py", "needle"),
        ("build/b/c.py", "needle"),
        ("src/a.rs", "needle"),
    ]);
    let text = |input: serde_json::Value| call(Grep::new(), &input, &tree.cx("", None)).unwrap().0;
    assert_eq!(
        text(json!({"pattern": "needle", "path": "scripts"})),
        "No files found\n\n(1 ignored file was not searched. Give one as `path` to search it.)"
    );
    assert_eq!(text(json!({"pattern": "needle", "path": "scripts/write.py"})), "Found 1 file\nscripts/write.py");
    assert!(text(json!({"pattern": "needle", "path": "build"})).starts_with("Found 2 files"));
    let nothing = text(json!({"pattern": "absent"}));
    assert!(nothing.contains("(1 ignored file and 1 ignored folder were not searched."), "{nothing}");
    // Files that the call filters out are not reported, and a result needs no note unless the call names the place.
    assert!(!text(json!({"pattern": "needle", "path": "scripts", "glob": "*.rs"})).contains("ignored"));
    assert_eq!(text(json!({"pattern": "needle"})), "Found 1 file\nsrc/a.rs");
}

#[test]
fn brackets_in_globs_are_names_too() {
    let tree = Tree::with(&[("app/[id]/a.ts", "needle"), ("app/x/a.ts", "needle")]);
    let text =
        |glob: &str| call(Grep::new(), &json!({"pattern": "needle", "glob": glob}), &tree.cx("", None)).unwrap().0;
    assert_eq!(text("app/[id]/*.ts"), "Found 1 file\napp/[id]/a.ts");
    assert_eq!(text("!app/[id]/**"), "Found 1 file\napp/x/a.ts");
}
