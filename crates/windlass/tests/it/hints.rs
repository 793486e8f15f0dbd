//! Hints for the model when it names a missing file.

use std::path::Path;
use windlass::{EventKind, Permissions, Script, ScriptedModel, coding_tools, query};

/// The text of the only result of one call.
async fn told(root: &Path, tool: &str, input: serde_json::Value, permissions: Permissions) -> String {
    let tool = tool.to_owned();
    let script = Script::new().turn(move |turn| turn.tool_use(&tool, input)).turn(|turn| turn.text("ok"));
    let mut run =
        query("x").provider(ScriptedModel::new(script)).tools(coding_tools(root)).permissions(permissions).stream();
    let mut text = None;
    while let Some(event) = run.try_next().await.unwrap() {
        if let EventKind::ToolFinished(finished) = event.kind {
            text = Some(finished.result.content.text());
        }
    }
    text.unwrap()
}

#[tokio::test]
async fn a_missing_name_comes_with_those_that_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("source")).unwrap();
    std::fs::write(root.join("source/parser.rs"), "").unwrap();
    let at = |path: &str| root.join(path).to_string_lossy().into_owned();
    for (tool, input, expected) in [
        ("Read", serde_json::json!({"file_path": at("source/parsers.rs")}), at("source/parser.rs")),
        ("Read", serde_json::json!({"file_path": "source/prase.rs"}), at("source/parser.rs")),
        ("Grep", serde_json::json!({"pattern": "x", "path": "sources"}), at("source")),
        ("Glob", serde_json::json!({"pattern": "*", "path": at("soruce")}), at("source")),
        ("Grep", serde_json::json!({"pattern": "x", "path": at("source/parsr.rs")}), at("source/parser.rs")),
    ] {
        let text = told(&root, tool, input.clone(), Permissions::new()).await;
        assert!(text.contains(&format!("Did you mean {expected}?")), "{tool} {input}: {text}");
    }
    let accept = Permissions::new().mode(windlass::PermissionMode::AcceptEdits);
    let edit = serde_json::json!({"file_path": at("source/parsed.rs"), "old_string": "a", "new_string": "b"});
    assert!(told(&root, "Edit", edit, accept).await.contains("parser.rs?"));
}

#[tokio::test]
async fn what_may_not_be_read_is_not_suggested() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    std::fs::create_dir(root.join("private")).unwrap();
    std::fs::write(root.join("private/keys.txt"), "").unwrap();
    std::fs::write(root.join("tokens.txt"), "").unwrap();
    let denied = || Permissions::new().deny(["Read(/tokens.txt)", "Read(/private/**)"]);
    for (tool, input) in [
        ("Read", serde_json::json!({"file_path": "token.txt"})),
        ("Read", serde_json::json!({"file_path": "private/key.txt"})),
        ("Grep", serde_json::json!({"pattern": "x", "path": "tokens.tx"})),
        ("Read", serde_json::json!({"file_path": "/tokens.txt"})),
    ] {
        let text = told(&root, tool, input.clone(), denied()).await;
        assert!(!text.contains("mean") && !text.contains("tokens.txt?") && !text.contains("keys"), "{input}: {text}");
    }
}
