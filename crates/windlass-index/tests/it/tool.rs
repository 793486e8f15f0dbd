//! The tool.

use crate::tree::Tree;
use serde_json::{Value, json};
use std::sync::Arc;
use windlass_index::{ProjectIndex, ProjectSearch};
use windlass_local::LocalWorkspace;
use windlass_testkit::{ToolBench, tool};

fn bench(tree: &Tree, index: ProjectIndex) -> ToolBench {
    ToolBench::new(ProjectSearch::new(Arc::new(index))).workspace(LocalWorkspace::default()).root(&tree.root)
}

fn project() -> Tree {
    Tree::with(&[
        ("Cargo.toml", "[package]\nname = \"house\"\n"),
        ("src/door.rs", "fn open_door() {}\n\nfn shut_door() {}\n"),
        ("src/wall.rs", "fn paint() {}\n"),
        ("docs/door.md", "# Doors\n"),
    ])
}

async fn text(bench: &ToolBench, input: Value) -> String {
    bench.call(input).await.unwrap().content.text()
}

#[tokio::test]
async fn it_finds_places_and_tells_of_the_project() {
    let tree = project();
    let bench = bench(&tree, tree.cached());
    let found = text(&bench, json!({"query": "shut the door"})).await;
    assert_eq!(found, "src/door.rs:1 open_door\nsrc/door.rs:3 shut_door\ndocs/door.md");
    assert_eq!(text(&bench, json!({"query": "paint", "limit": 1})).await, "src/wall.rs:1 paint");
    assert!(text(&bench, json!({"query": "weather"})).await.starts_with("No file fits `weather`."));
    let overview = text(&bench, json!({"query": " "})).await;
    for line in ["4 files in 3 folders\n", "\nLanguages\n- Rust: 2 files, 100 %\n", "\n- house (Cargo, Cargo.toml)\n"] {
        assert!(overview.contains(line), "{line:?} in {overview}");
    }
    assert!(bench.call(json!({"query": "x".repeat(501)})).await.is_err());
}

#[tokio::test]
async fn it_holds_what_each_tool_must() {
    let tree = project();
    let bench = bench(&tree, tree.fresh());
    let samples = [json!({}), json!({"query": "door"}), json!({"query": "door", "limit": 3})];
    tool::all(&bench, &samples).await.unwrap();
    tool::rejects_unfit_inputs(&bench, &[json!({"query": 1}), json!({"limit": "x"}), json!({"other": 1})]).unwrap();
}

#[tokio::test]
async fn it_names_no_file_that_the_call_may_not_read() {
    let tree = project();
    let bench = bench(&tree, tree.fresh());
    let (door, manifest) = (tree.root.join("src/door.rs"), tree.root.join("Cargo.toml"));
    let bench = bench.with(move |parts| {
        let (door, manifest) = (door.clone(), manifest.clone());
        parts.permit = parts.permit.clone().with_filter(Arc::new(move |path| path != door && path != manifest));
    });
    let call = bench.prepare(json!({"query": "door"})).unwrap();
    let mut parts = bench.parts();
    let root = tree.root.clone();
    parts.permit = parts.permit.with_reads(vec![windlass_tool::JudgedPath::new(&root, &root)]);
    let cx = windlass_tool::ToolCx::new(parts);
    assert_eq!(call.call(cx.clone()).await.unwrap().content.text(), "docs/door.md");
    let overview = bench.prepare(json!({})).unwrap().call(cx).await.unwrap().content.text();
    assert!(!overview.contains("house") && !overview.contains("Cargo.toml"), "{overview}");
}

#[tokio::test]
async fn a_call_that_is_cancelled_stops() {
    let tree = project();
    let bench = bench(&tree, tree.fresh());
    bench.cancel().cancel();
    let error = bench.call(json!({"query": "door"})).await.unwrap_err();
    assert!(error.model_text().contains("stopped"), "{}", error.model_text());
}
