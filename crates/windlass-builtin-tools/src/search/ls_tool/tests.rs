use super::*;
use crate::search::testing::{Tree, call};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

#[test]
fn folders_links_hidden_and_ignored_files_are_named() {
    let tree = Tree::with(&[("src/a.rs", ""), (".hidden", ""), (".gitignore", "*.log"), ("b.log", ""), ("a.txt", "")]);
    #[cfg(unix)]
    std::os::unix::fs::symlink("a.txt", tree.root.join("link")).unwrap();
    let (text, data) = call(Ls::default(), &json!({"path": "."}), &tree.cx("", None)).unwrap();
    let expected = if cfg!(unix) {
        ".gitignore\n.hidden\na.txt\nb.log\nlink@\nsrc/"
    } else {
        ".gitignore\n.hidden\na.txt\nb.log\nsrc/"
    };
    assert_eq!(text, expected);
    assert_eq!(data["truncated"], false);
    let (text, _) =
        call(Ls::default(), &json!({"path": ".", "ignore": [".*", "*.{txt,log}", "link"]}), &tree.cx("", None))
            .unwrap();
    assert_eq!(text, "src/");
    let (text, _) = call(Ls::default(), &json!({"path": "src", "ignore": ["*"]}), &tree.cx("", None)).unwrap();
    assert!(text.ends_with("src is empty, or all that is in it is left out."), "{text}");
}

#[test]
fn what_may_not_be_read_is_not_named() {
    let tree = Tree::with(&[("a.txt", ""), ("secret.txt", "")]);
    let filter = Arc::new(|path: &Path| !path.ends_with("secret.txt"));
    let (text, _) = call(Ls::default(), &json!({"path": "."}), &tree.cx("", Some(filter))).unwrap();
    assert_eq!(text, "a.txt");
    let error = call(Ls::default(), &json!({"path": "/etc"}), &tree.cx("", None)).unwrap_err();
    assert!(error.to_string().contains("outside of what this call may touch"), "{error}");
}

#[test]
fn many_entries_are_counted_and_what_is_no_folder_is_refused() {
    let names: Vec<String> = (0..1_200).map(|at| format!("f{at:04}")).collect();
    let files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "")).collect();
    let tree = Tree::with(&files);
    let (text, data) = call(Ls::default(), &json!({"path": "."}), &tree.cx("", None)).unwrap();
    assert!(text.starts_with("f0000\nf0001\n") && text.contains("1000 of 1200 entries"), "{text}");
    assert_eq!((&data["total"], &data["truncated"]), (&json!(1_200), &json!(true)));
    for (path, expected) in [("f0001", "is not a folder. Use Read"), ("none", "does not exist")] {
        let error = call(Ls::default(), &json!({"path": path}), &tree.cx("", None)).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let error = call(Ls::default(), &json!({"path": ".", "ignore": ["["]}), &tree.cx("", None)).unwrap_err();
    assert!(error.to_string().contains("ignore"), "{error}");
}
