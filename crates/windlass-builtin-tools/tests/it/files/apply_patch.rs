use futures::future::join;
use serde_json::json;
use windlass_testkit::Gate;
use windlass_testkit::fault::FileOperation;
use windlass_tool::WorkspaceErrorKind;

use crate::files::session::{Session, structured};

/// Adds `new/n`, changes `a`, moves and changes `b`, deletes `d`.
const ALL: &str = "*** Add File: new/n\n+n\n*** Update File: a\n-one\n+1\n*** Update File: b\n*** Move to: c/b\n two\n+2\n\
                   *** Delete File: d";

async fn ready() -> Session {
    let session = Session::new();
    for (path, content) in [("a", "one\n"), ("b", "two\n"), ("d", "gone\n")] {
        session.put(&format!("/w/{path}"), content);
        session.read(&format!("/w/{path}")).await;
    }
    session
}

fn contents(session: &Session) -> Vec<(String, String)> {
    let file = |path: String| session.get(&path).map(|bytes| (path, String::from_utf8(bytes).unwrap()));
    session.paths().into_iter().filter_map(file).collect()
}

#[tokio::test]
async fn all_of_a_patch_is_made_and_said() {
    let session = ready().await;
    let input = json!({ "input": format!("*** Begin Patch\n{ALL}\n*** End Patch") });
    let output = session.call("apply_patch", input).await.unwrap();
    assert_eq!(
        output.content.text(),
        "Changed 4 files:\nA /w/new/n (+1 -0 lines)\nM /w/a (+1 -1 lines)\nR /w/b to /w/c/b (+1 -0 lines)\nD /w/d (+0 -1 \
         lines)"
    );
    let after = [("/w/a", "1\n"), ("/w/c/b", "two\n2\n"), ("/w/new/n", "n\n")];
    assert_eq!(contents(&session), after.map(|(path, text)| (path.to_owned(), text.to_owned())));
    assert_eq!(
        output.diff.as_deref().unwrap(),
        "--- /dev/null\n+++ /w/new/n\n@@ -0,0 +1 @@\n+n\n--- /w/a\n+++ /w/a\n@@ -1 +1 @@\n-one\n+1\n--- /w/b\n+++ /w/c/b\n\
         @@ -1 +1,2 @@\n two\n+2\n--- /w/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n"
    );
    let files = &structured(&output)["files"];
    let said = |at: usize| (files[at]["type"].as_str().unwrap(), files[at]["filePath"].as_str().unwrap());
    assert_eq!([0, 1, 2, 3].map(said), [("add", "/w/new/n"), ("update", "/w/a"), ("move", "/w/b"), ("delete", "/w/d")]);
    assert_eq!((&files[2]["movedTo"], &files[3]["originalFile"]), (&json!("/w/c/b"), &json!("gone\n")));
    // Written files are known to the session, and removed ones are not.
    session.edit("/w/c/b", "2", "3").await.unwrap();
    session.put("/w/d", "other\n");
    assert!(session.patch("*** Delete File: d").await.unwrap_err().contains("has not been read"));
}

#[tokio::test]
async fn nothing_unseen_stale_or_there_already_is_changed() {
    let session = ready().await;
    session.put("/w/unseen", "x\n");
    session.put("/w/a", "one\nmore\n");
    session.put("/w/bin", b"\x7FELF\x02\0\0\0");
    session.link("/w/link", "b");
    let before = contents(&session);
    for (body, expected) in [
        ("*** Update File: unseen\n-x\n+y", "/w/unseen has not been read in this session, so nothing was written"),
        ("*** Delete File: unseen", "/w/unseen has not been read"),
        ("*** Update File: a\n-one\n+1", "/w/a has changed on disk"),
        ("*** Update File: b\n*** Move to: a", "/w/a exists already, so /w/b cannot be moved there"),
        ("*** Add File: b\n+x", "/w/b exists already"),
        ("*** Update File: bb\n-x", "/w/bb does not exist"),
        ("*** Update File: b\n-three\n+3", "No file was changed: /w/b: the hunk at line 3"),
        ("*** Update File: b\n-two\n+two", "the patch leaves /w/b as it is"),
        ("*** Update File: b\n-two\n*** Delete File: /w/x/../b", "/w/x/../b stands in the patch twice"),
        ("*** Update File: b\n-two\n*** Delete File: link", "stands in the patch twice"),
        ("*** Add File: ~/x\n+x", "`~` is not expanded"),
        // A hunk that fits does not help the other one.
        ("*** Update File: b\n-two\n+2\n*** Update File: d\n-none\n+2", "/w/d: the hunk at line 6"),
    ] {
        let error = session.patch(body).await.unwrap_err();
        assert!(error.contains(expected), "{body}: {error}");
        assert!(error.ends_with(['.', '?']) && !error.ends_with(".."), "{body}: {error}");
        assert_eq!(contents(&session), before, "{body}");
    }
}

#[tokio::test]
async fn a_file_is_deleted_by_a_diff_only_with_all_its_lines() {
    let session = ready().await;
    session.put("/w/d", "gone\nmore\n");
    session.read("/w/d").await;
    let part = json!({ "input": "--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n" });
    let error = session.call("apply_patch", part).await.unwrap_err();
    assert!(error.contains("has lines that the patch does not remove"), "{error}");
    let whole = json!({ "input": "--- a/d\n+++ /dev/null\n@@ -1,2 +0,0 @@\n-gone\n-more\n" });
    session.call("apply_patch", whole).await.unwrap();
    assert_eq!(session.get("/w/d"), None);
}

/// The operations of [`ALL`] that change the disk, in their order.
const STEPS: [(FileOperation, u64); 5] = [
    (FileOperation::Write, 1),
    (FileOperation::Write, 2),
    (FileOperation::Write, 3),
    (FileOperation::Rename, 1),
    (FileOperation::Remove, 1),
];

#[tokio::test]
async fn a_failed_step_takes_back_those_before() {
    for late in [false, true] {
        for (operation, nth) in STEPS {
            let session = ready().await;
            let before = contents(&session);
            if late {
                session.disk.fail_late(operation, nth, WorkspaceErrorKind::Other);
            } else {
                session.disk.fail(operation, nth, WorkspaceErrorKind::NoSpace);
            }
            let error = session.patch(ALL).await.unwrap_err();
            assert!(error.starts_with("No file was changed: "), "{operation:?} {nth}: {error}");
            assert_eq!(contents(&session), before, "{operation:?} {nth}, late: {late}");
            // The session knows them as it did.
            session.patch(ALL).await.unwrap();
        }
    }
}

#[tokio::test]
async fn what_cannot_be_taken_back_is_named() {
    let session = ready().await;
    session.disk.fail(FileOperation::Rename, 1, WorkspaceErrorKind::AccessDenied);
    // The third write changes `b`; those after it would put the files back.
    session.disk.fail_from(FileOperation::Write, 4, WorkspaceErrorKind::NoSpace);
    let error = session.patch(ALL).await.unwrap_err();
    assert!(error.contains("not all of it could be taken back") && error.ends_with("/w/b, /w/a."), "{error}");
    assert_eq!(session.get("/w/new/n"), None, "what could be taken back was");
    let error = session.edit("/w/a", "1", "one").await.unwrap_err();
    assert!(error.contains("has not been read"), "{error}");
}

#[tokio::test]
async fn a_cancelled_patch_changes_nothing() {
    let session = ready().await;
    let before = contents(&session);
    let error = session.cancelled_at_read(3, session.patch(ALL)).await.unwrap_err();
    assert!(error.contains("stopped"), "{error}");
    assert_eq!(contents(&session), before);
}

#[tokio::test]
async fn a_patch_that_is_being_written_is_finished_though_its_call_is_dropped() {
    let session = ready().await;
    let gate = Gate::new();
    session.disk.wait_at(FileOperation::Write, 2, &gate);
    {
        let mut call = std::pin::pin!(session.patch(ALL));
        tokio::select! {
            ended = &mut call => panic!("{ended:?}"),
            () = gate.wait_arrived(1) => {}
        }
    }
    gate.open();
    // Another change of one of the files waits for it.
    let error = session.edit("/w/a", "one", "x").await.unwrap_err();
    assert!(error.contains("old_string was not found"), "{error}");
    let after = [("/w/a", "1\n"), ("/w/c/b", "two\n2\n"), ("/w/new/n", "n\n")];
    assert_eq!(contents(&session), after.map(|(path, text)| (path.to_owned(), text.to_owned())));
}

#[tokio::test]
async fn patches_of_the_same_files_wait_for_each_other() {
    let session = ready().await;
    let gate = Gate::new();
    session.disk.wait_at(FileOperation::Write, 1, &gate);
    let first = session.patch("*** Update File: a\n one\n+x\n*** Update File: b\n two\n+x");
    let second = session.patch("*** Update File: b\n two\n+y\n*** Update File: a\n one\n+y");
    let (results, ()) = join(join(first, second), async {
        gate.wait_arrived(1).await;
        gate.open();
    })
    .await;
    results.0.unwrap();
    results.1.unwrap();
    assert_eq!(session.get("/w/a").unwrap(), b"one\ny\nx\n");
    assert_eq!(session.get("/w/b").unwrap(), b"two\ny\nx\n");
}

#[tokio::test]
async fn a_hunk_that_fits_only_with_other_blanks_is_made_and_said() {
    let session = ready().await;
    session.put("/w/a", "  one  \ntwo\n");
    session.read("/w/a").await;
    let said = session.patch("*** Update File: a\n one\n-two\n+2").await.unwrap();
    assert!(said.contains("found only with other blanks or quotes than the patch has, at line 1"), "{said}");
    assert_eq!(session.get("/w/a").unwrap(), b"  one  \n2\n");
}
