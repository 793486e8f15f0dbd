//! Files with changes that the client has not saved.

use crate::world::{Agent, Client};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use windlass_testkit::fake::MemoryWorkspace;
use windlass_tool::{JudgedPath, Permit, Workspace, WorkspaceError, WriteOptions};
use windlass_types::CallDigest;

/// A client that reads files, and the files of its session.
async fn editor() -> (Client, MemoryWorkspace, Arc<dyn Workspace>) {
    let agent = Agent::new([]);
    let mut client = Client::new(&agent);
    client.initialize(json!({ "fs": { "readTextFile": true } })).await;
    client.session().await;
    let disk = MemoryWorkspace::new();
    for name in ["/w/a.txt", "/w/.env", "/w/.git/config", "/elsewhere/b.txt"] {
        disk.put(name, "disk\r\n");
    }
    let to_client = agent.begun.lock().unwrap()[0].client.clone();
    let files = to_client.over_files(Arc::new(disk.clone()), vec!["/w".into()]);
    (client, disk, files)
}

fn permit(path: &str) -> Permit {
    Permit::new(CallDigest::new("d")).with_writes(vec![JudgedPath::new(path, path)])
}

async fn read(files: &dyn Workspace, permit: &Permit, path: &str) -> Result<String, WorkspaceError> {
    let mut file = files.open(permit, Path::new(path)).await?;
    let mut content = Vec::new();
    loop {
        let part = file.read(3).await?;
        if part.is_empty() {
            return Ok(String::from_utf8(content).unwrap());
        }
        content.extend(part);
    }
}

#[tokio::test(start_paused = true)]
async fn a_file_is_read_as_the_client_has_it() {
    let (mut client, _, files) = editor().await;
    // The line ends of the client are no change.
    for (answer, expected) in [("unsaved\n", "unsaved\n"), ("disk\n", "disk\r\n"), ("", "")] {
        let files = Arc::clone(&files);
        let reading = tokio::spawn(async move { read(&*files, &permit("/w/a.txt"), "/w/a.txt").await });
        let (_, request) = client.until("fs/read_text_file").await;
        assert_eq!(request["params"]["path"], "/w/a.txt");
        client.answer(&request, json!({ "content": answer })).await;
        assert_eq!(reading.await.unwrap().unwrap(), expected);
    }
    // A client that does not answer, or not with a text, leaves the disk.
    assert_eq!(read(&*files, &permit("/w/a.txt"), "/w/a.txt").await.unwrap(), "disk\r\n");
}

#[tokio::test(start_paused = true)]
async fn the_client_is_told_no_path_that_the_call_may_not_read() {
    let (client, _, files) = editor().await;
    let nothing = Permit::new(CallDigest::new("d"));
    assert!(read(&*files, &nothing, "/w/a.txt").await.is_err());
    assert!(files.write(&nothing, Path::new("/w/a.txt"), b"x", WriteOptions::default()).await.is_err());
    assert!(files.remove(&nothing, Path::new("/w/a.txt")).await.is_err());
    // Hidden files and those elsewhere come from the disk, also where the call may read them.
    for path in ["/w/.env", "/w/.git/config", "/elsewhere/b.txt"] {
        assert_eq!(read(&*files, &permit(path), path).await.unwrap(), "disk\r\n");
    }
    let (rest, served) = client.end().await;
    served.unwrap();
    assert!(rest.is_empty(), "{rest:?}");
}

#[tokio::test(start_paused = true)]
async fn a_file_with_unsaved_changes_is_not_written() {
    let (mut client, disk, files) = editor().await;
    for operation in ["write", "edit", "remove", "rename"] {
        for (buffer, is_saved) in [("unsaved", false), ("disk\n", true)] {
            disk.put("/w/a.txt", "disk\r\n");
            let (files, path) = (Arc::clone(&files), Path::new("/w/a.txt"));
            let both = Permit::new(CallDigest::new("d"))
                .with_writes(["/w/a.txt", "/w/new.txt"].map(|path| JudgedPath::new(path, path)).into());
            let changing = tokio::spawn(async move {
                match operation {
                    "write" => files.write(&both, path, b"new", WriteOptions::default()).await,
                    "edit" => files.compare_and_write(&both, path, b"disk\r\n", b"new").await,
                    "remove" => files.remove(&both, path).await,
                    _ => files.rename(&both, path, Path::new("/w/new.txt"), WriteOptions::default()).await,
                }
            });
            let (_, request) = client.until("fs/read_text_file").await;
            client.answer(&request, json!({ "content": buffer })).await;
            let changed = changing.await.unwrap();
            if is_saved {
                changed.unwrap();
            } else {
                let error = changed.unwrap_err();
                assert!(error.message.contains("not saved"), "{operation}: {error}");
                assert_eq!(disk.text("/w/a.txt").as_deref(), Some("disk\r\n"), "{operation}");
            }
        }
    }
}

/// A renamed file replaces the one of its new name.
#[tokio::test(start_paused = true)]
async fn a_file_with_unsaved_changes_is_not_replaced_by_a_renamed_one() {
    let (mut client, disk, files) = editor().await;
    disk.put("/w/other.txt", "other\n");
    let both = Permit::new(CallDigest::new("d"))
        .with_writes(["/w/a.txt", "/w/other.txt"].map(|path| JudgedPath::new(path, path)).into());
    let renaming = tokio::spawn(async move {
        files.rename(&both, Path::new("/w/other.txt"), Path::new("/w/a.txt"), WriteOptions::default()).await
    });
    for (path, buffer) in [("/w/other.txt", "other\n"), ("/w/a.txt", "unsaved")] {
        let (_, request) = client.until("fs/read_text_file").await;
        assert_eq!(request["params"]["path"], path);
        client.answer(&request, json!({ "content": buffer })).await;
    }
    let error = renaming.await.unwrap().unwrap_err();
    assert!(error.message.contains("not saved"), "{error}");
    assert_eq!(disk.text("/w/a.txt").as_deref(), Some("disk\r\n"));
}
