use futures::future::{join, join_all};
use serde_json::json;
use windlass_builtin_tools::ReadLedger;
use windlass_testkit::Gate;
use windlass_testkit::fault::FileOperation;
use windlass_tool::WorkspaceErrorKind;

use crate::files::session::{Session, structured};

#[tokio::test]
async fn an_edit_answers_with_place_data_and_diff() {
    let session = Session::new();
    session.put("/w/a.txt", "one\ntwo\nthree\n");
    session.read("/w/a.txt").await;
    let input = json!({ "file_path": "/w/a.txt", "old_string": "two\n", "new_string": "2\n2.5\n" });
    let output = session.call("Edit", input).await.unwrap();
    assert_eq!(output.content.text(), "Edited /w/a.txt: +2 -1 lines at line 2.");
    assert_eq!(
        output.diff.as_deref(),
        Some("--- /w/a.txt\n+++ /w/a.txt\n@@ -1,3 +1,4 @@\n one\n-two\n+2\n+2.5\n three\n")
    );
    assert_eq!(
        structured(&output),
        json!({
            "filePath": "/w/a.txt", "oldString": "two\n", "newString": "2\n2.5\n",
            "originalFile": "one\ntwo\nthree\n", "userModified": false, "replaceAll": false,
            "structuredPatch": [{
                "oldStart": 1, "oldLines": 3, "newStart": 1, "newLines": 4,
                "lines": [" one", "-two", "+2", "+2.5", " three"],
            }],
        })
    );
    assert_eq!(session.get("/w/a.txt").unwrap(), b"one\n2\n2.5\nthree\n");
}

#[tokio::test]
async fn nothing_unseen_or_stale_is_changed() {
    let session = Session::new();
    session.put("/w/a.txt", "one\ntwo\n");
    let error = session.edit("/w/a.txt", "one", "1").await.unwrap_err();
    assert!(error.contains("has not been read") && error.contains("Read it first"), "{error}");

    session.read("/w/a.txt").await;
    session.put("/w/a.txt", "one\ntwo\nthree\n");
    let error = session.edit("/w/a.txt", "one", "1").await.unwrap_err();
    assert!(error.contains("changed on disk") && error.contains("Read it again"), "{error}");
    assert_eq!(session.get("/w/a.txt").unwrap(), b"one\ntwo\nthree\n");

    // The same content under another time or after a round trip is not a change.
    session.put("/w/a.txt", "one\ntwo\n");
    session.edit("/w/a.txt", "one", "1").await.unwrap();
    // Our own writes are known.
    session.edit("/w/a.txt", "two", "2").await.unwrap();
    assert_eq!(session.get("/w/a.txt").unwrap(), b"1\n2\n");
}

#[tokio::test]
async fn a_partial_read_counts_and_names_do_not_matter() {
    let session = Session::new();
    session.put("/w/a.txt", "one\ntwo\nthree\n");
    session.link("/w/link", "/w/a.txt");
    session.call("Read", json!({ "file_path": "/w/link", "limit": 1 })).await.unwrap();
    session.edit("./x/../a.txt", "three", "3").await.unwrap();
    session.edit("/w/link", "two", "2").await.unwrap();
    assert_eq!(session.get("/w/a.txt").unwrap(), b"one\n2\n3\n");
}

#[tokio::test]
async fn a_host_can_seed_and_clear_what_was_read() {
    let session = Session::new();
    session.put("/w/a.txt", "one\n");
    let ledger = session.state().get::<ReadLedger>();
    ledger.record("/w/a.txt".as_ref(), b"one\n");
    session.edit("/w/a.txt", "one", "two").await.unwrap();
    ledger.forget("/w/a.txt".as_ref());
    assert!(!ledger.has_read("/w/a.txt".as_ref()));
    assert!(session.edit("/w/a.txt", "two", "three").await.unwrap_err().contains("not been read"));
}

#[tokio::test]
async fn parallel_edits_of_one_file_all_land() {
    let session = Session::new();
    let text: String = (0..100).map(|n| format!("<{n}>\n")).collect();
    session.put("/w/a.txt", &text);
    session.link("/w/link", "/w/a.txt");
    session.read("/w/a.txt").await;
    let edits = (0..100).map(|n| {
        let path = if n % 2 == 0 { "/w/a.txt" } else { "/w/link" };
        let session = &session;
        async move { session.edit(path, &format!("<{n}>"), &format!("[{n}]")).await }
    });
    // The first one waits with its write until all have begun.
    let gate = Gate::new();
    session.disk.wait_at(FileOperation::Write, 1, &gate);
    let (results, ()) = join(join_all(edits), async {
        gate.wait_arrived(1).await;
        gate.open();
    })
    .await;
    for result in results {
        result.unwrap();
    }
    let expected = text.replace('<', "[").replace('>', "]");
    assert_eq!(String::from_utf8(session.get("/w/a.txt").unwrap()).unwrap(), expected);
}

#[tokio::test]
async fn bytes_outside_the_edit_survive_the_tool() {
    for content in [
        &b"\xEF\xBB\xBFneedle\r\nmixed\nends\rhere"[..],
        b"caf\xE9 needle cr\xE8me br\xFBl\xE9e \xE0 la carte\r\n",
        b"trailing  \t\nneedle  \n\n\n",
        "e\u{301} needle \u{e9}".as_bytes(),
        b"\xC3\xA4\xC3\xB6 damaged \xFF needle",
        b"needle",
    ] {
        let session = Session::new();
        session.put("/w/a.txt", content);
        session.read("/w/a.txt").await;
        session.edit("/w/a.txt", "needle", "pin").await.unwrap();
        let at = content.windows(6).position(|w| w == b"needle").unwrap();
        let expected = [&content[..at], b"pin", &content[at + 6..]].concat();
        assert_eq!(session.get("/w/a.txt").unwrap(), expected, "{content:?}");
        session.edit("/w/a.txt", "pin", "needle").await.unwrap();
        assert_eq!(session.get("/w/a.txt").unwrap(), content);
    }
}

#[tokio::test]
async fn a_failed_write_changes_nothing() {
    let session = Session::new();
    session.put("/w/a.txt", "one\n");
    session.read("/w/a.txt").await;
    session.disk.fail(FileOperation::Write, 1, WorkspaceErrorKind::NoSpace);
    let error = session.edit("/w/a.txt", "one", "much too long for this disk").await.unwrap_err();
    assert!(error.contains("NoSpace") && error.contains("unchanged"), "{error}");
    assert_eq!(session.get("/w/a.txt").unwrap(), b"one\n");
    session.edit("/w/a.txt", "one", "1").await.unwrap();
}

#[tokio::test]
async fn a_cancelled_edit_changes_nothing() {
    let session = Session::new();
    session.put("/w/a.txt", "one\n");
    session.read("/w/a.txt").await;
    let error = session.cancelled_at_read(1, session.edit("/w/a.txt", "one", "two")).await.unwrap_err();
    assert!(error.contains("stopped"), "{error}");
    assert_eq!(session.get("/w/a.txt").unwrap(), b"one\n");
}

#[tokio::test]
async fn refusals_name_the_file_and_the_way_out() {
    let session = Session::new();
    session.put("/w/a.txt", "one\n\ttwo two\n");
    session.put("/w/prog", b"\x7FELF\x02\0\0\0");
    session.put("/w/large", vec![b'a'; 17 * 1024 * 1024]);
    session.device("/dev/full");
    session.read("/w/a.txt").await;
    session.read("/w/large").await;
    session.state().get::<ReadLedger>().record("/w/prog".as_ref(), b"\x7FELF\x02\0\0\0");
    for (path, old, new, expected) in [
        ("/w/a.txt", "two", "2", "occurs 2 times (lines 2, 2)"),
        ("/w/a.txt", "    two two", "2", "the file has tabs, old_string has none"),
        ("/w/a.txt", "one", "one", "are the same"),
        ("/w/a.txt", "", "x", "exists and is not empty"),
        ("/w/zebra", "x", "y", "/w/zebra does not exist."),
        ("/w/prog", "ELF", "elf", "looks like ELF program"),
        ("/w/large", "aaa", "b", "larger than 16 MB"),
        ("/dev/full", "x", "y", "Only regular files"),
    ] {
        let error = session.edit(path, old, new).await.unwrap_err();
        assert!(error.contains(path) && error.contains(expected), "{path}: {error}");
        assert!(error.ends_with('.') && !error.ends_with(".."), "{path}: {error}");
    }
}

#[tokio::test]
async fn one_huge_line_is_edited_without_a_huge_answer() {
    let session = Session::new();
    let line = "x".repeat(3_000_000);
    session.put("/w/min.js", format!("{line}needle{line}"));
    session.read("/w/min.js").await;
    let input = json!({ "file_path": "/w/min.js", "old_string": "needle", "new_string": "pin" });
    let output = session.call("Edit", input).await.unwrap();
    assert_eq!(output.content.text(), "Edited /w/min.js: +1 -1 lines.");
    assert!(output.structured.unwrap().as_str().len() < 1000);
    assert!(output.diff.unwrap().contains("not shown"));
    assert_eq!(session.get("/w/min.js").unwrap().len(), 6_000_003);
}

#[tokio::test]
async fn a_diff_is_in_one_encoding() {
    let session = Session::new();
    // Without its valid characters, the rest would be taken for another encoding.
    session.put("/w/a.txt", b"\xC3\xA4\xC3\xB6\nr\xE9st\n");
    session.read("/w/a.txt").await;
    assert!(session.edit("/w/a.txt", "\u{e4}\u{f6}", "ao").await.unwrap().contains("+1 -1 lines at line 1"));
    assert_eq!(session.get("/w/a.txt").unwrap(), b"ao\nr\xE9st\n");
}

#[tokio::test]
async fn an_empty_old_string_creates_a_file_once() {
    let session = Session::new();
    assert_eq!(session.edit("/w/new/a.txt", "", "one\ntwo\n").await.unwrap(), "Created /w/new/a.txt (2 lines).");
    assert_eq!(session.get("/w/new/a.txt").unwrap(), b"one\ntwo\n");
    session.edit("/w/new/a.txt", "one", "1").await.unwrap();
    assert!(session.edit("/w/new/a.txt", "", "x").await.unwrap_err().contains("exists and is not empty"));
    session.put("/w/empty", "");
    session.edit("/w/empty", "", "filled").await.unwrap();
    assert_eq!(session.get("/w/empty").unwrap(), b"filled");
}

#[tokio::test]
async fn several_edits_are_made_in_order_or_not_at_all() {
    let session = Session::new();
    session.put("/w/a.txt", "a b c c\r\n");
    session.read("/w/a.txt").await;
    let step = |old: &str, new: &str| json!({ "old_string": old, "new_string": new });
    let failing = json!({ "file_path": "/w/a.txt", "edits": [step("a", "x"), step("zzz", "y"), step("b", "z")] });
    let error = session.call("MultiEdit", failing).await.unwrap_err();
    assert!(error.contains("none of the 3 edits was made. Edit 2: old_string was not found"), "{error}");
    assert_eq!(session.get("/w/a.txt").unwrap(), b"a b c c\r\n");

    let all = json!({ "old_string": "c", "new_string": "C\n", "replace_all": true });
    let edits = json!({ "file_path": "/w/a.txt", "edits": [step("a", "x"), step("x b", "y"), all] });
    let output = session.call("MultiEdit", edits.clone()).await.unwrap();
    assert_eq!(session.get("/w/a.txt").unwrap(), b"y C\r\n C\r\n\r\n");
    assert_eq!(output.content.text(), "Edited /w/a.txt: 4 replacements, +3 -1 lines at line 1.");
    let data = structured(&output);
    assert_eq!(data["edits"][0]["old_string"], "a");
    assert_eq!(data["originalFile"], "a b c c\r\n");

    // The first edit removes the only line break, and the second writes one of its kind.
    session.put("/w/c.txt", "a\r\nb");
    session.read("/w/c.txt").await;
    let edits = json!({ "file_path": "/w/c.txt", "edits": [step("a\nb", "ab"), step("ab", "a\n\nb")] });
    session.call("MultiEdit", edits).await.unwrap();
    assert_eq!(session.get("/w/c.txt").unwrap(), b"a\r\n\r\nb");

    let create = json!({ "file_path": "/w/b.txt", "edits": [step("", "one two"), step("two", "2")] });
    session.call("MultiEdit", create).await.unwrap();
    assert_eq!(session.get("/w/b.txt").unwrap(), b"one 2");
    for (edits, expected) in
        [(json!([]), "at least one"), (json!([step("2", "3"), step("3", "2")]), "cancel each other")]
    {
        let error = session.call("MultiEdit", json!({ "file_path": "/w/b.txt", "edits": edits })).await.unwrap_err();
        assert!(error.contains(expected), "{error}");
    }
}
