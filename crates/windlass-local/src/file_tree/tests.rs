use super::*;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use windlass_tool::WorkspaceErrorKind;

fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap();
    (dir, path)
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(future)
}

#[test]
fn files_go_and_come_back_byte_for_byte() {
    let (_tmp, at) = folder();
    let tree = LocalWorkspace::new();
    let odd = at.join(std::ffi::OsStr::from_bytes(b"new/\xff\xfe name")).join("f");
    run(async {
        assert_eq!(tree.read_whole(&odd, 9).await.unwrap(), WholeFile::Absent { missing_parents: 2 });
        for mode in [0o644, 0o755, 0o600] {
            tree.put_whole(&odd, b"\xff\0\r\n", Some(mode)).await.unwrap();
            let found = tree.read_whole(&odd, 4).await.unwrap();
            assert_eq!(found, WholeFile::File(FileContent::new(b"\xff\0\r\n".to_vec(), Some(mode))));
        }
        assert_eq!(tree.read_whole(&odd, 3).await.unwrap(), WholeFile::TooLarge { size: 4 });
        tree.remove(&odd, 2).await.unwrap();
        tree.remove(&odd, 2).await.unwrap();
    });
    assert_eq!(fs::read_dir(&at).unwrap().count(), 0, "the directories that were made for it are gone");
}

#[test]
fn directories_that_are_not_empty_stay() {
    let (_tmp, at) = folder();
    let tree = LocalWorkspace::new();
    let file = at.join("a/b/file");
    run(async {
        tree.put_whole(&file, b"x", None).await.unwrap();
        fs::write(at.join("a/mine"), "mine").unwrap();
        tree.remove(&file, 9).await.unwrap();
    });
    assert!(!at.join("a/b").exists() && at.join("a/mine").exists());
}

#[test]
fn links_are_never_followed_and_only_files_are_touched() {
    let (_tmp, at) = folder();
    let (_other, outside) = folder();
    fs::write(outside.join("secret"), "secret").unwrap();
    fs::create_dir(at.join("dir")).unwrap();
    symlink(&outside, at.join("way")).unwrap();
    symlink(outside.join("secret"), at.join("last")).unwrap();
    let tree = LocalWorkspace::new();
    for (path, kind) in [
        ("way/secret", WorkspaceErrorKind::Changed),
        ("way/new/secret", WorkspaceErrorKind::Changed),
        ("last", WorkspaceErrorKind::Changed),
        ("dir", WorkspaceErrorKind::IsDirectory),
    ] {
        let path = at.join(path);
        run(async {
            assert_eq!(tree.read_whole(&path, 99).await.unwrap_err().kind, kind, "{path:?}");
            assert_eq!(tree.put_whole(&path, b"x", Some(0o777)).await.unwrap_err().kind, kind, "{path:?}");
            assert_eq!(tree.remove(&path, 9).await.unwrap_err().kind, kind, "{path:?}");
        });
    }
    assert_eq!(fs::read_to_string(outside.join("secret")).unwrap(), "secret");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}

#[test]
fn set_id_bits_do_not_come_back() {
    let (_tmp, at) = folder();
    let path = at.join("tool");
    run(LocalWorkspace::new().put_whole(&path, b"x", Some(0o4755))).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o7777, 0o755);
}

#[test]
fn only_the_expected_content_is_put_back_or_removed() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap().join("file");
    let tree = LocalWorkspace::new();
    let changed = |done: Result<(), WorkspaceError>| {
        assert_eq!(done.unwrap_err().kind, WorkspaceErrorKind::ContentChanged);
    };
    changed(run(tree.compare_and_put(&path, Some(b""), b"x", None)));
    changed(run(FileTree::compare_and_remove(&tree, &path, b"", 0)));
    run(tree.compare_and_put(&path, None, b"one", Some(0o640))).unwrap();
    changed(run(tree.compare_and_put(&path, None, b"two", None)));
    changed(run(tree.compare_and_put(&path, Some(b"two"), b"three", None)));
    changed(run(FileTree::compare_and_remove(&tree, &path, b"two", 0)));
    run(tree.compare_and_put(&path, Some(b"one"), b"two", None)).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"two");
    run(FileTree::compare_and_remove(&tree, &path, b"two", 0)).unwrap();
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "no litter");
}
