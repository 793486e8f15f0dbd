use super::*;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};

fn wanted<'a>(root: &'a Path, before: Option<&'a TreeSurvey>, most: usize, cancelled: &'a AtomicBool) -> Wanted<'a> {
    Wanted { root, before, most, extent: Extent::Whole, cancelled }
}

fn look(root: &Path, before: Option<&TreeSurvey>) -> TreeSurvey {
    survey(wanted(root, before, 10_000, &AtomicBool::new(false))).unwrap()
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap();
    (dir, root)
}

/// Found entries, by path below the root.
fn found(survey: &TreeSurvey, root: &Path) -> Vec<String> {
    let of_folder = |(folder, survey): (&PathBuf, &Arc<FolderSurvey>)| -> Vec<String> {
        let path = |name: &OsStr| folder.join(name).strip_prefix(root).unwrap().display().to_string();
        let kind = |what: &Surveyed| match what {
            Surveyed::File(stamp) => format!("file {}", stamp.size),
            Surveyed::Link(_) => "link".to_owned(),
            other => format!("{other:?}"),
        };
        survey.entries.iter().map(|(name, what)| format!("{}: {}", path(name), kind(what))).collect()
    };
    let mut all: Vec<String> = survey.folders.iter().flat_map(of_folder).collect();
    all.sort();
    all
}

#[test]
fn what_git_ignores_is_named_and_not_entered() {
    let (_dir, root) = folder();
    for (name, content) in [
        (".gitignore", "target/\n*.log\n!keep.log\n"),
        ("a.log", "1"),
        ("keep.log", "1"),
        ("sub/.gitignore", "local\n"),
        ("sub/local", "1"),
        ("sub/b.log", "1"),
        ("sub/c", "12"),
        ("target/x", "1"),
        (".git/config", "1"),
        (".hidden", "1"),
    ] {
        fs::create_dir_all(root.join(name).parent().unwrap()).unwrap();
        fs::write(root.join(name), content).unwrap();
    }
    symlink("/etc", root.join("out")).unwrap();
    let socket = std::os::unix::net::UnixListener::bind(root.join("socket")).unwrap();
    let before = look(&root, None);
    let expected = [
        ".gitignore: file 24",
        ".hidden: file 1",
        "a.log: LeftOut",
        "keep.log: file 1",
        "out: link",
        "socket: Special",
        "sub/.gitignore: file 6",
        "sub/b.log: LeftOut",
        "sub/c: file 2",
        "sub/local: LeftOut",
        "sub: Folder",
        "target: LeftOut",
    ];
    assert_eq!(found(&before, &root), expected);
    // The same with a known tree, and when rules change.
    assert_eq!(found(&look(&root, Some(&before)), &root), expected);
    fs::write(root.join(".gitignore"), "sub\n").unwrap();
    let after = look(&root, Some(&before));
    assert!(found(&after, &root).contains(&"a.log: file 1".to_owned()));
    // Neither that folder nor the newly ignored one was added or removed.
    let changes = after.changes_since(&before);
    let is_hidden = |what: Option<Surveyed>| what == Some(Surveyed::LeftOut);
    let seen = changes.iter().filter(|change| !is_hidden(change.before) && !is_hidden(change.now));
    let seen = seen.filter(|change| change.before != change.now).map(|change| change.path.clone());
    assert_eq!(seen.collect::<Vec<_>>(), [root.join(".gitignore")]);
    drop(socket);
}

#[test]
fn each_change_is_found_and_an_unchanged_tree_is_shared() {
    let (_dir, root) = folder();
    for at in 0..20 {
        fs::create_dir_all(root.join(format!("d{at}"))).unwrap();
        for file in 0..10 {
            fs::write(root.join(format!("d{at}/f{file}")), "x").unwrap();
        }
    }
    let before = look(&root, None);
    let same = look(&root, Some(&before));
    assert!(before.folders.iter().all(|(path, folder)| Arc::ptr_eq(folder, &same.folders[path])));
    fs::write(root.join("d3/f3"), "yy").unwrap();
    fs::remove_file(root.join("d4/f4")).unwrap();
    fs::write(root.join("d5/new"), "").unwrap();
    fs::set_permissions(root.join("d6/f6"), fs::Permissions::from_mode(0o600)).unwrap();
    fs::rename(root.join("d7"), root.join("e7")).unwrap();
    let after = look(&root, Some(&before));
    let changed = after.changes_since(&before);
    let changed: Vec<_> = changed.iter().filter(|change| change.before != change.now).collect();
    let names: Vec<_> =
        changed.iter().map(|change| change.path.strip_prefix(&root).unwrap().to_str().unwrap()).collect();
    let mut expected = vec!["d3/f3", "d4/f4", "d5/new", "d6/f6"].into_iter().map(str::to_owned).collect::<Vec<_>>();
    expected.extend((0..10).map(|at| format!("d7/f{at}")));
    expected.extend((0..10).map(|at| format!("e7/f{at}")));
    assert_eq!(names, expected);
}

#[test]
fn a_survey_ends_at_its_limit_and_when_it_is_cancelled() {
    let (_dir, root) = folder();
    for at in 0..50 {
        fs::create_dir_all(root.join(format!("{at}/below"))).unwrap();
    }
    let (waits, stopped) = (AtomicBool::new(false), AtomicBool::new(true));
    assert!(survey(wanted(&root, None, 20, &waits)).unwrap().is_cut);
    assert!(!survey(wanted(&root, None, 200, &waits)).unwrap().is_cut);
    let cancelled = survey(wanted(&root, None, 200, &stopped));
    assert_eq!(cancelled.unwrap_err().kind(), io::ErrorKind::Interrupted);
    assert!(survey(wanted(&root.join("missing"), None, 20, &waits)).is_err());
}

#[test]
fn very_deep_trees_and_names_that_are_no_text_are_surveyed() {
    use std::os::unix::ffi::OsStrExt;
    let (_dir, root) = folder();
    let deep: PathBuf = std::iter::once(root.clone()).chain((0..300).map(|_| PathBuf::from("deep"))).collect();
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join(OsStr::from_bytes(b"\xff\n")), "1").unwrap();
    let found = look(&root, None);
    assert_eq!(found.folders.len(), 301);
    assert_eq!(found.files().count(), 1);
}
