use serde_json::json;
use windlass_testkit::fault::FileOperation;
use windlass_tool::WorkspaceErrorKind;

use crate::files::session::{Session, structured};

#[tokio::test]
async fn a_new_file_is_created() {
    let session = Session::new();
    let input = json!({ "file_path": "/w/deep/a.txt", "content": "one\ntwo" });
    let output = session.call("Write", input).await.unwrap();
    assert_eq!(output.content.text(), "Created /w/deep/a.txt (2 lines).");
    assert_eq!(
        structured(&output),
        json!({
            "type": "create", "filePath": "/w/deep/a.txt", "content": "one\ntwo",
            "structuredPatch": [], "originalFile": null, "userModified": false,
        })
    );
    assert!(output.diff.unwrap().starts_with("--- /dev/null\n+++ /w/deep/a.txt\n@@ -0,0 +1,2 @@\n"));
    assert_eq!(session.get("/w/deep/a.txt").unwrap(), b"one\ntwo");
    session.edit("/w/deep/a.txt", "two", "2").await.unwrap();
}

#[tokio::test]
async fn an_existing_file_is_replaced_only_when_it_is_known() {
    let session = Session::new();
    session.put("/w/a.txt", "old\n");
    let error = session.write("/w/a.txt", "new\n").await.unwrap_err();
    assert!(error.contains("has not been read"), "{error}");
    session.read("/w/a.txt").await;
    session.put("/w/a.txt", "changed\n");
    let error = session.write("/w/a.txt", "new\n").await.unwrap_err();
    assert!(error.contains("changed on disk"), "{error}");
    assert_eq!(session.get("/w/a.txt").unwrap(), b"changed\n");

    session.read("/w/a.txt").await;
    let input = json!({ "file_path": "/w/a.txt", "content": "new\n" });
    let output = session.call("Write", input).await.unwrap();
    assert_eq!(output.content.text(), "Replaced /w/a.txt (+1 -1 lines).");
    let data = structured(&output);
    assert_eq!((&data["type"], &data["originalFile"]), (&"update".into(), &"changed\n".into()));
    assert_eq!(data["structuredPatch"][0]["lines"], json!(["-changed", "+new"]));
    session.write("/w/a.txt", "newer\n").await.unwrap();
    assert_eq!(session.get("/w/a.txt").unwrap(), b"newer\n");
}

#[tokio::test]
async fn the_form_of_the_file_is_kept_and_reported() {
    for (before, content, after, note) in [
        (&b"a\r\nb\r\n"[..], "x\ny\n", &b"x\r\ny\r\n"[..], "Kept as before: CRLF line breaks."),
        (b"\xEF\xBB\xBFa\n", "x\n", b"\xEF\xBB\xBFx\n", "Kept as before: byte-order mark."),
        (b"\xFF\xFEa\0", "é", b"\xFF\xFE\xE9\0", "Kept as before: encoding UTF-16LE."),
        (b"a\n", "x\r\n", b"x\r\n", "lines)."),
    ] {
        let session = Session::new();
        session.put("/w/a.txt", before);
        session.read("/w/a.txt").await;
        let text = session.write("/w/a.txt", content).await.unwrap();
        assert!(text.ends_with(note), "{text}");
        assert_eq!(session.get("/w/a.txt").unwrap(), after);
    }
}

#[tokio::test]
async fn a_full_disk_leaves_the_old_content() {
    let session = Session::new();
    session.put("/w/a.txt", "old\n");
    session.read("/w/a.txt").await;
    session.disk.fail_from(FileOperation::Write, 1, WorkspaceErrorKind::NoSpace);
    let error = session.write("/w/a.txt", "too long").await.unwrap_err();
    assert!(error.contains("NoSpace"), "{error}");
    assert_eq!(session.get("/w/a.txt").unwrap(), b"old\n");
    assert!(session.write("/w/b.txt", "too long").await.is_err());
    assert_eq!(session.get("/w/b.txt"), None);
}

#[tokio::test]
async fn an_empty_file_needs_no_reading() {
    let session = Session::new();
    session.put("/w/a.txt", "");
    session.write("/w/a.txt", "x").await.unwrap();
    assert_eq!(session.get("/w/a.txt").unwrap(), b"x");
}

#[tokio::test]
async fn a_tilde_makes_no_folder_of_that_name() {
    let session = Session::new();
    for tool in ["Write", "Edit"] {
        let input = match tool {
            "Write" => json!({ "file_path": "~/a.txt", "content": "x" }),
            _ => json!({ "file_path": "~/a.txt", "old_string": "", "new_string": "x" }),
        };
        let error = session.call(tool, input).await.unwrap_err();
        assert!(error.contains("absolute path"), "{}", error);
    }
    assert!(session.get("/w/~/a.txt").is_none());
}
