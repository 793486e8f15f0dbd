use super::*;
use crate::workspace::entry::Missing;
use std::fs;
use std::path::{Path, PathBuf};

fn replace(dir: &Dir, name: &OsStr, content: &[u8], expect: Expect<'_>) -> io::Result<Replacement> {
    replace_with_mode(Place::new(dir, Path::new("/"), None), name, content, expect, None)
}

fn folder() -> (tempfile::TempDir, PathBuf, Dir) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap();
    let open = Dir::open(&path, Missing::Refuse).unwrap();
    (dir, path, open)
}

fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        fs::read_dir(path).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn creates_and_replaces_and_leaves_nothing_else() {
    let (_tmp, at, dir) = folder();
    let name = OsStr::new("file");
    assert!(replace(&dir, name, b"one", Expect::Any).unwrap().created);
    assert!(!replace(&dir, name, b"two", Expect::Any).unwrap().created);
    assert_eq!(fs::read(at.join("file")).unwrap(), b"two");
    assert_eq!(names(&at), ["file"]);
}

#[test]
fn a_new_file_is_not_made_over_another() {
    let (_tmp, at, dir) = folder();
    replace(&dir, OsStr::new("file"), b"one", Expect::Absent).unwrap();
    let error = replace(&dir, OsStr::new("file"), b"two", Expect::Absent).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read(at.join("file")).unwrap(), b"one");
    // Nor when the other file appears at the last moment.
    let mut late = Temporary::create(Place::new(&dir, Path::new("/"), None), 0o666).unwrap();
    assert_eq!(late.rename(OsStr::new("file"), Expect::Absent).unwrap_err().kind(), io::ErrorKind::AlreadyExists);
    drop(late);
    assert_eq!(names(&at), ["file"]);
}

#[test]
fn the_longest_name_can_be_replaced() {
    let (_tmp, at, dir) = folder();
    let name = "n".repeat(255);
    replace(&dir, OsStr::new(&name), b"one", Expect::Any).unwrap();
    assert_eq!(names(&at), [name]);
}

#[test]
fn a_directory_is_not_replaced() {
    let (_tmp, at, dir) = folder();
    fs::create_dir(at.join("sub")).unwrap();
    let error = replace(&dir, OsStr::new("sub"), b"", Expect::Any).unwrap_err();
    assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    assert_eq!(names(&at), ["sub"]);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    #[test]
    fn the_mode_is_kept() {
        let (_tmp, at, dir) = folder();
        for mode in [0o600, 0o640, 0o755, 0o4711] {
            fs::write(at.join("file"), "old").unwrap();
            fs::set_permissions(at.join("file"), fs::Permissions::from_mode(mode)).unwrap();
            let done = replace(&dir, OsStr::new("file"), b"new", Expect::Any).unwrap();
            assert_eq!(done.not_kept, [""; 0]);
            assert_eq!(fs::metadata(at.join("file")).unwrap().mode() & 0o7777, mode);
        }
    }

    #[test]
    fn an_attribute_is_kept_where_the_file_system_has_them() {
        let (_tmp, at, dir) = folder();
        fs::write(at.join("file"), "old").unwrap();
        let old = File::open(at.join("file")).unwrap();
        if rustix::fs::fsetxattr(&old, "user.note", b"kept", rustix::fs::XattrFlags::empty()).is_err() {
            return;
        }
        replace(&dir, OsStr::new("file"), b"new", Expect::Any).unwrap();
        let new = File::open(at.join("file")).unwrap();
        let mut value = [0; 16];
        let len = rustix::fs::fgetxattr(&new, "user.note", &mut value).unwrap();
        assert_eq!(&value[..len], b"kept");
    }

    #[test]
    fn broken_hard_links_are_reported() {
        let (_tmp, at, dir) = folder();
        fs::write(at.join("file"), "old").unwrap();
        fs::hard_link(at.join("file"), at.join("other")).unwrap();
        let done = replace(&dir, OsStr::new("file"), b"new", Expect::Any).unwrap();
        assert_eq!(done.not_kept, ["hard links"]);
        assert_eq!(fs::read(at.join("other")).unwrap(), b"old");
    }

    #[test]
    fn a_link_is_neither_followed_nor_replaced() {
        let (_tmp, at, dir) = folder();
        fs::write(at.join("target"), "old").unwrap();
        symlink("target", at.join("link")).unwrap();
        let error = replace(&dir, OsStr::new("link"), b"new", Expect::Any).unwrap_err();
        assert!(crate::workspace::dir::is_link_error(&error));
        assert_eq!(fs::read(at.join("target")).unwrap(), b"old");
        assert_eq!(names(&at), ["link", "target"]);
    }

    #[test]
    fn a_pipe_is_refused_without_waiting() {
        let (_tmp, at, dir) = folder();
        make_pipe(&at.join("pipe"));
        let error = replace(&dir, OsStr::new("pipe"), b"new", Expect::Any).unwrap_err();
        assert!(error.get_ref().unwrap().is::<NotRegular>());
        assert_eq!(names(&at), ["pipe"]);
    }

    #[test]
    fn the_directory_that_was_opened_is_the_one_written_to() {
        let (_tmp, at, _) = folder();
        fs::create_dir(at.join("dir")).unwrap();
        fs::create_dir(at.join("outside")).unwrap();
        let dir = Dir::open(&at.join("dir"), Missing::Refuse).unwrap();
        fs::rename(at.join("dir"), at.join("moved")).unwrap();
        symlink("outside", at.join("dir")).unwrap();
        replace(&dir, OsStr::new("file"), b"new", Expect::Any).unwrap();
        assert_eq!(names(&at.join("outside")), [""; 0]);
        assert_eq!(names(&at.join("moved")), ["file"]);
    }

    fn make_pipe(path: &Path) {
        let mode = rustix::fs::Mode::from_bits_truncate(0o600);
        rustix::fs::mknodat(rustix::fs::CWD, path, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    }
}
