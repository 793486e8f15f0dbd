//! The same tools on a real disk.

use std::path::Path;

use serde_json::json;
use windlass_local::LocalWorkspace;

use crate::files::session::Session;

fn session(dir: &Path) -> Session {
    Session::over(LocalWorkspace::new(), dir)
}

#[tokio::test]
async fn files_are_read_edited_and_written() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let session = session(&dir);
    std::fs::write(dir.join("a.txt"), "one\r\ntwo").unwrap();
    assert_eq!(session.read("a.txt").await, "1\tone\n2\ttwo");
    session.edit("a.txt", "one", "1\n1.5").await.unwrap();
    assert_eq!(std::fs::read(dir.join("a.txt")).unwrap(), b"1\r\n1.5\r\ntwo");
    session.write("new/b.txt", "b").await.unwrap();
    assert_eq!(std::fs::read(dir.join("new/b.txt")).unwrap(), b"b");
    std::fs::write(dir.join("a.txt"), "other").unwrap();
    assert!(session.edit("a.txt", "other", "x").await.unwrap_err().contains("changed on disk"));
    let error = session.call("Read", json!({ "file_path": "new/bb.txt" })).await.unwrap_err();
    assert!(error.contains("does not exist. Did you mean") && error.ends_with("/new/b.txt?"), "{error}");
    let mut names: Vec<_> = std::fs::read_dir(&dir).unwrap().map(|e| e.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.txt", "new"], "no litter");
}

/// Folder names are bytes, and not always text.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_folder_may_have_any_name() {
    use std::os::unix::ffi::OsStrExt as _;
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap().join(std::ffi::OsStr::from_bytes(b"caf\xE9"));
    std::fs::create_dir(&dir).unwrap();
    let session = session(&dir);
    session.write("a.txt", "one\n").await.unwrap();
    session.read("a.txt").await;
    session.edit("a.txt", "one", "two").await.unwrap();
    assert_eq!(std::fs::read(dir.join("a.txt")).unwrap(), b"two\n");
    session.call("Read", json!({ "file_path": "b.txt" })).await.unwrap_err();
}

#[cfg(unix)]
#[tokio::test]
async fn special_files_are_refused_without_waiting() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let session = session(&dir);
    let fifo = dir.join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for path in [fifo.to_str().unwrap(), "/dev/zero", "/dev/tty", dir.to_str().unwrap()] {
        for (tool, input) in [
            ("Read", json!({ "file_path": path })),
            ("Write", json!({ "file_path": path, "content": "x" })),
            ("Edit", json!({ "file_path": path, "old_string": "x", "new_string": "y" })),
        ] {
            let call = session.call(tool, input);
            let result = tokio::time::timeout(std::time::Duration::from_secs(20), call).await;
            result.expect("it waited").unwrap_err();
        }
    }
}

/// A sparse file of 5 GB costs its scan, not its memory.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_huge_file_is_read_by_pages() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let session = session(&dir);
    let path = dir.join("huge.log");
    std::fs::write(&path, "line\n".repeat(200_000)).unwrap();
    std::fs::OpenOptions::new().append(true).open(&path).unwrap().set_len(5_000_000_000).unwrap();
    let input = json!({ "file_path": path, "offset": 150_000, "limit": 2 });
    let output = session.call("Read", input).await.unwrap();
    assert!(
        output.content.text().starts_with("150000\tline\n150001\tline\n\n[PARTIAL: lines 150000-150001 of at least")
    );
    let error = session.edit(path.to_str().unwrap(), "line", "x").await.unwrap_err();
    assert!(error.contains("larger than 16 MB"), "{error}");
}

/// Another name of a file keeps the old content, which the model reads.
#[cfg(unix)]
#[tokio::test]
async fn a_file_with_hard_links_is_said_to_have_been_parted_from_them() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path().canonicalize().unwrap();
    let session = session(&dir);
    for (tool, input) in [
        ("Edit", json!({ "file_path": "a.txt", "old_string": "one", "new_string": "two" })),
        ("MultiEdit", json!({ "file_path": "a.txt", "edits": [{ "old_string": "one", "new_string": "two" }] })),
        ("Write", json!({ "file_path": "a.txt", "content": "two\n" })),
        ("apply_patch", json!({ "input": "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+two\n*** End Patch" })),
    ] {
        for name in ["a.txt", "b.txt"] {
            let _ = std::fs::remove_file(dir.join(name));
        }
        std::fs::write(dir.join("a.txt"), "one\n").unwrap();
        std::fs::hard_link(dir.join("a.txt"), dir.join("b.txt")).unwrap();
        session.read("a.txt").await;
        let text = session.call(tool, input).await.unwrap().content.text();
        assert!(text.contains("has another name (a hard link): it keeps the old content"), "{tool}: {text}");
        assert_eq!(std::fs::read(dir.join("a.txt")).unwrap(), b"two\n", "{tool}");
        assert_eq!(std::fs::read(dir.join("b.txt")).unwrap(), b"one\n", "{tool}");
    }
    // The same of a notebook.
    let cells = json!({ "nbformat": 4, "cells": [
        { "cell_type": "code", "source": ["x = 1"], "metadata": {}, "outputs": [], "execution_count": null }] });
    std::fs::write(dir.join("a.ipynb"), cells.to_string()).unwrap();
    std::fs::hard_link(dir.join("a.ipynb"), dir.join("b.ipynb")).unwrap();
    session.read("a.ipynb").await;
    for (source, is_said) in [("x = 2", true), ("x = 3", false)] {
        let input = json!({ "notebook_path": "a.ipynb", "cell_id": "cell-1", "new_source": source });
        let text = session.call("NotebookEdit", input).await.unwrap().content.text();
        assert_eq!(text.contains("has another name (a hard link): it keeps the old content"), is_said, "{text}");
        assert!(std::fs::read_to_string(dir.join("a.ipynb")).unwrap().contains(source));
        assert!(std::fs::read_to_string(dir.join("b.ipynb")).unwrap().contains("x = 1"));
    }
    // Parted, it has one name.
    assert!(!session.edit("a.txt", "two", "three").await.unwrap().contains("hard link"));
}
