use super::*;

fn place(path: &Path) -> PathBuf {
    resolve(path).unwrap().path
}

/// A folder whose own path has no links.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().canonicalize().unwrap();
    (dir, path)
}

#[test]
fn a_missing_rest_is_taken_as_spelled() {
    let (_dir, at) = folder();
    fs::create_dir(at.join("a")).unwrap();
    for rest in ["a", "a/b", "a/b/c.txt", "x/y/z"] {
        assert_eq!(place(&at.join(rest)), at.join(rest));
    }
    assert_eq!(place(&at.join("a/../a/./b")), at.join("a/b"));
}

#[test]
fn the_parent_of_what_is_no_directory_is_nowhere() {
    let (_dir, at) = folder();
    fs::create_dir(at.join("a")).unwrap();
    fs::write(at.join("file"), "").unwrap();
    for path in ["no/../a", "a/no/..", "file/../a", "file/none/../.."] {
        assert_eq!(resolve(&at.join(path)).unwrap_err().kind(), io::ErrorKind::NotFound, "{path}");
    }
}

#[test]
fn only_absolute_paths_without_nul_are_resolved() {
    assert!(resolve(Path::new("a")).is_err());
    assert!(resolve(Path::new("/a\0b")).is_err());
}

#[test]
fn what_stands_there_is_told() {
    let (_dir, at) = folder();
    fs::create_dir(at.join("a")).unwrap();
    fs::write(at.join("a/file"), "").unwrap();
    for (path, kind) in [
        ("a", EntryKind::Directory),
        ("a/.", EntryKind::Directory),
        ("a//file", EntryKind::File),
        ("a/../a/file", EntryKind::File),
        ("a/file/", EntryKind::File),
        ("a/file/below", EntryKind::Missing),
        ("a/none", EntryKind::Missing),
        ("a/none/below", EntryKind::Missing),
        ("a/none/", EntryKind::Missing),
        ("a/file/below/", EntryKind::Missing),
    ] {
        let found = resolve(&at.join(path)).unwrap();
        assert_eq!(found.kind, kind, "{path}");
        assert_eq!(found, follow(&at.join(path)).unwrap(), "{path}: as step by step");
    }
    assert_eq!(resolve(Path::new("/")).unwrap().kind, EntryKind::Directory);
}

#[cfg(unix)]
mod links {
    use super::*;
    use proptest::prelude::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn what_stands_behind_links_is_told() {
        let (_dir, at) = folder();
        fs::create_dir(at.join("real")).unwrap();
        fs::write(at.join("real/file"), "").unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at.join("real/socket")).unwrap();
        symlink("real", at.join("folder")).unwrap();
        symlink("real/file", at.join("leaf")).unwrap();
        symlink("nowhere", at.join("dangling")).unwrap();
        for (path, to, kind) in [
            ("folder", "real", EntryKind::Directory),
            ("folder/file", "real/file", EntryKind::File),
            ("leaf", "real/file", EntryKind::File),
            ("dangling", "nowhere", EntryKind::Missing),
            ("real/socket", "real/socket", EntryKind::Special),
            ("folder/socket", "real/socket", EntryKind::Special),
        ] {
            let found = resolve(&at.join(path)).unwrap();
            assert_eq!((found.path, found.kind), (at.join(to), kind), "{path}");
        }
    }

    #[test]
    fn links_are_followed_in_every_place() {
        let (_dir, at) = folder();
        fs::create_dir_all(at.join("real/deep")).unwrap();
        fs::write(at.join("real/deep/file"), "").unwrap();
        symlink("real", at.join("relative")).unwrap();
        symlink(at.join("real/deep"), at.join("absolute")).unwrap();
        symlink("../relative/deep/file", at.join("real/leaf")).unwrap();
        for (path, to) in [
            ("relative/deep/file", "real/deep/file"),
            ("absolute/file", "real/deep/file"),
            ("real/leaf", "real/deep/file"),
            ("relative/new/file", "real/new/file"),
            // Parent of a link's target, as the kernel sees it.
            ("absolute/../deep", "real/deep"),
        ] {
            assert_eq!(place(&at.join(path)), at.join(to), "{path}");
        }
    }

    #[test]
    fn a_dangling_link_resolves_to_where_it_points() {
        let (_dir, at) = folder();
        symlink("/nowhere/at/all", at.join("link")).unwrap();
        assert_eq!(place(&at.join("link")), Path::new("/nowhere/at/all"));
        assert_eq!(place(&at.join("link/x")), Path::new("/nowhere/at/all/x"));
        assert_eq!(resolve(&at.join("link/../x")).unwrap_err().kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn every_hop_is_reported() {
        let (_dir, at) = folder();
        fs::create_dir_all(at.join("a/deep")).unwrap();
        symlink("../hop/deep", at.join("a/first")).unwrap();
        symlink(at.join("a"), at.join("hop")).unwrap();
        symlink("a/first/x", at.join("second")).unwrap();
        let via = |path: &str| resolve(&at.join(path)).unwrap().via;
        assert!(via("a/deep/x").is_empty());
        assert!(via("hop/x").is_empty());
        assert_eq!(via("a/first/y"), [at.join("a/../hop/deep/y")]);
        assert_eq!(via("second"), [at.join("a/first/x"), at.join("a/../hop/deep/x")]);
    }

    #[test]
    fn a_circle_is_an_error() {
        let (_dir, at) = folder();
        symlink("b", at.join("a")).unwrap();
        symlink("a", at.join("b")).unwrap();
        let error = resolve(&at.join("a/x")).unwrap_err();
        assert!(is_cycle(&error), "{error}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, fork: false, ..ProptestConfig::default() })]

        /// For existing paths, the kernel is the oracle.
        #[test]
        fn agrees_with_the_kernel_on_what_exists(
            links in prop::collection::vec(("[a-c]", "(\\.\\./|[a-c]/){0,3}[a-c]"), 0..5),
            path in "([a-c]|\\.\\.|\\.)(/([a-c]|\\.\\.|\\.)){0,4}",
        ) {
            let (_dir, at) = folder();
            for dir in ["a/b/c", "b/a", "c"] {
                fs::create_dir_all(at.join("top").join(dir)).unwrap();
            }
            for (n, (name, target)) in links.iter().enumerate() {
                let place = at.join("top").join(["a", "b", "a/b", "b/a", "c"][n]).join(name);
                let _exists = symlink(target, place);
            }
            let raw = at.join("top").join(path);
            if let Ok(real) = raw.canonicalize() {
                prop_assert_eq!(resolve(&raw).unwrap().path, real);
            }
            // By one system call, or step by step.
            prop_assert_eq!(resolve(&raw).ok(), follow(&raw).ok());
        }
    }
}
