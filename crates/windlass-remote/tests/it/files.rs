//! Files.

use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::Path;

use windlass_testkit::workspace::{self, LocalFiles};
use windlass_tool::{FileTree, JudgedPath, Permit, WholeFile, Workspace, WorkspaceErrorKind as Kind, WriteOptions};
use windlass_types::CallDigest;

use super::{docker, remotes, ssh};
use windlass_remote::Remote;

fn writing(path: &Path) -> Permit {
    Permit::new(CallDigest::new("00")).with_writes(vec![JudgedPath::new(path, path)])
}

#[tokio::test(flavor = "multi_thread")]
async fn files_over_ssh_keep_every_promise() {
    let folder = tempfile::tempdir().unwrap();
    let far = Remote::connect(ssh("host")).await.unwrap();
    workspace::all(&*far.workspace(), &LocalFiles::new(folder.path()).unwrap()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn files_of_a_container_keep_every_promise() {
    let folder = tempfile::tempdir().unwrap();
    let far = Remote::connect(docker("web")).await.unwrap();
    workspace::all(&*far.workspace(), &LocalFiles::new(folder.path()).unwrap()).await.unwrap();
}

#[tokio::test]
async fn names_of_every_kind_are_names() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for far in remotes().await {
        let files = far.workspace();
        for name in ["a b", "it's", "$HOME", "`id`", "-rf", "new\nline", "*", "é😀", "\"", "\\", "end\n", "%s", ";exit"]
        {
            let path = root.join(name);
            files.write(&writing(&path), &path, name.as_bytes(), WriteOptions::default()).await.unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), name);
            assert_eq!(files.resolve(&path).await.unwrap().path, path);
            let mut file = files.open(&writing(&path), &path).await.unwrap();
            assert_eq!(file.read(100).await.unwrap(), name.as_bytes());
            let listed = files.entries(&root, 10).await.unwrap();
            assert!(listed.len() == 1 && listed[0].name == name, "{name:?}: {listed:?}");
            Workspace::remove(&*files, &writing(&path), &path).await.unwrap();
        }
    }
}

#[tokio::test]
async fn a_write_keeps_the_mode_and_leaves_a_file_that_may_not_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("run.sh");
    for far in remotes().await {
        let files = far.workspace();
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o751)).unwrap();
        files.write(&writing(&path), &path, b"new", WriteOptions::default()).await.unwrap();
        assert_eq!(std::fs::metadata(&path).unwrap().mode() & 0o7777, 0o751);
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }
}

#[tokio::test]
async fn a_large_file_is_read_in_parts_of_the_file_that_was_opened() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("large");
    let content: Vec<u8> = (0..3_000_000_u32).map(|at| (at % 251) as u8).collect();
    for far in remotes().await {
        std::fs::write(&path, &content).unwrap();
        let mut file = far.workspace().open(&writing(&path), &path).await.unwrap();
        assert_eq!(file.info().size, 3_000_000);
        let mut read = file.read(1000).await.unwrap();
        // Another file under the same name is not the opened one.
        std::fs::remove_file(&path).unwrap();
        std::fs::write(&path, "other").unwrap();
        loop {
            let part = file.read(usize::MAX).await.unwrap();
            assert!(part.len() <= 1 << 20);
            if part.is_empty() {
                break;
            }
            read.extend(part);
        }
        assert!(read == content, "{} bytes", read.len());
    }
}

#[tokio::test]
async fn whole_files_are_kept_and_put_back() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for far in remotes().await {
        let files = far.workspace();
        let path = root.join("a/b/file");
        assert_eq!(files.read_whole(&path, 10).await.unwrap(), WholeFile::Absent { missing_parents: 2 });
        files.put_whole(&path, b"content", Some(0o640)).await.unwrap();
        let WholeFile::File(found) = files.read_whole(&path, 10).await.unwrap() else { panic!("no file") };
        assert_eq!((found.content.as_slice(), found.mode, found.names), (b"content".as_slice(), Some(0o640), 1));
        assert_eq!(files.read_whole(&path, 3).await.unwrap(), WholeFile::TooLarge { size: 7 });
        assert_eq!(files.read_whole(&root.join("a"), 3).await.unwrap_err().kind, Kind::IsDirectory);
        std::fs::write(root.join("a/other"), "x").unwrap();
        FileTree::remove(&*files, &path, 2).await.unwrap();
        assert!(!root.join("a/b").exists() && root.join("a/other").exists());
        FileTree::remove(&*files, &path, 2).await.unwrap();
        std::os::unix::fs::symlink(root.join("a"), root.join("link")).unwrap();
        let through = root.join("link/other");
        assert_eq!(files.read_whole(&through, 10).await.unwrap_err().kind, Kind::Changed);
        assert_eq!(files.put_whole(&through, b"y", None).await.unwrap_err().kind, Kind::Changed);
        std::fs::remove_file(root.join("link")).unwrap();
        std::fs::remove_dir_all(root.join("a")).unwrap();
    }
}

/// Two connections simulate two processes: each increments the same file by its last read.
#[tokio::test(flavor = "multi_thread")]
async fn connections_that_change_one_file_lose_no_change() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap().join("count");
    std::fs::write(&path, "").unwrap();
    let mut running = Vec::new();
    for far in remotes().await {
        let path = path.clone();
        running.push(tokio::spawn(async move {
            let (files, permit) = (far.workspace(), writing(&path));
            let (mut written, mut refused) = (0, 0);
            while written < 8 {
                let mut file = files.open(&permit, &path).await.unwrap();
                let old = file.read(1000).await.unwrap();
                let new = [old.as_slice(), b"+"].concat();
                match files.compare_and_write(&permit, &path, &old, &new).await {
                    Ok(()) => written += 1,
                    Err(error) => {
                        assert_eq!(error.kind, Kind::ContentChanged, "{error}");
                        refused += 1;
                    }
                }
            }
            refused
        }));
    }
    let mut refused = 0;
    for done in running {
        refused += done.await.unwrap();
    }
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "+".repeat(16), "{refused} refused");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "no litter");
}
