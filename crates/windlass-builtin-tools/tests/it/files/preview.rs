//! Previews of calls' changes, before they run.

use serde_json::{Value, json};

use crate::files::session::Session;

/// The calls, each with what it changes.
fn calls() -> [(&'static str, Value); 5] {
    let patch = "*** Begin Patch\n*** Update File: a\n-one\n+1\n*** Delete File: b\n*** End Patch";
    [
        ("Write", json!({ "file_path": "/w/a", "content": "1\n" })),
        ("Write", json!({ "file_path": "/w/new", "content": "1\n" })),
        ("Edit", json!({ "file_path": "/w/a", "old_string": "one", "new_string": "1" })),
        ("MultiEdit", json!({ "file_path": "/w/a", "edits": [{ "old_string": "one", "new_string": "1" }] })),
        ("apply_patch", json!({ "input": patch })),
    ]
}

async fn ready() -> Session {
    let session = Session::new();
    for (path, content) in [("/w/a", "one\n"), ("/w/b", "two\n")] {
        session.put(path, content);
        session.read(path).await;
    }
    session
}

#[tokio::test]
async fn a_preview_is_the_diff_of_the_call_and_changes_no_file() {
    for (tool, input) in calls() {
        let session = ready().await;
        let before = session.paths();
        let preview = session.preview(tool, input.clone()).await.expect(tool);
        assert_eq!((session.paths(), session.get("/w/a").unwrap()), (before, b"one\n".to_vec()), "{tool}");
        // The call still runs: what the session has seen is as it was.
        let output = session.call(tool, input).await.expect(tool);
        assert_eq!(Some(preview), output.diff, "{tool}");
    }
}

#[tokio::test]
async fn a_call_that_would_fail_has_no_preview() {
    let session = ready().await;
    session.put("/w/bytes", b"\x7fELF\0\0\0\x01\0");
    for (tool, input) in [
        ("Edit", json!({ "file_path": "/w/a", "old_string": "three", "new_string": "3" })),
        ("Edit", json!({ "file_path": "/w/missing", "old_string": "three", "new_string": "3" })),
        ("Edit", json!({ "file_path": "/w/bytes", "old_string": "three", "new_string": "3" })),
        ("apply_patch", json!({ "input": "*** Begin Patch\n*** Delete File: missing\n*** End Patch" })),
        ("TodoWrite", json!({ "todos": [] })),
    ] {
        assert_eq!(session.preview(tool, input).await, None, "{tool}");
    }
}
