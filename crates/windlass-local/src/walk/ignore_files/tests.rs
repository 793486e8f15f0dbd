use std::collections::BTreeSet;
use std::os::unix::fs::symlink;
use std::sync::mpsc;
use std::time::Duration;

use ignore::WalkBuilder;
use proptest::prelude::*;
use windlass_tool::{FileVisitor, VisitedFile, WalkInterrupt, WalkReport};

use super::super::testing::Tree;
use super::super::walk;
use super::*;

/// Longer than any search here takes, on any machine.
const PATIENCE: Duration = Duration::from_secs(60);

struct Names(mpsc::Sender<PathBuf>);

impl FileVisitor for Names {
    fn wants(&self, _: &Path) -> bool {
        true
    }

    fn visit(&mut self, file: &mut dyn VisitedFile) -> Result<(), WalkInterrupt> {
        // The receiver may be gone, because a walk that hangs is not waited for.
        let _ = self.0.send(file.path().to_owned());
        Ok(())
    }
}

/// Files of a walk below `root`, as our own walk finds them.
fn ours(tree: &Tree, root: &Path) -> (BTreeSet<String>, WalkReport) {
    let (sender, found) = mpsc::channel();
    let report = walk(Scope { root, ..tree.scope() }, &|| Box::new(Names(sender.clone())));
    drop(sender);
    (found.into_iter().map(|path| tree.relative(&path)).filter(|path| !is_control(path)).collect(), report)
}

fn is_control(path: &str) -> bool {
    path.split('/').any(|part| part == ".git") || path.ends_with("ignore")
}

/// Files as the library finds them when it opens ignore files itself.
fn library(tree: &Tree, root: &Path) -> BTreeSet<String> {
    let mut builder = WalkBuilder::new(root);
    builder.hidden(false).require_git(false).git_global(false);
    let files =
        builder.build().map(Result::unwrap).filter(|entry| entry.file_type().is_some_and(|kind| kind.is_file()));
    files.map(|entry| tree.relative(entry.path())).filter(|path| !is_control(path)).collect()
}

const FOLDERS: [&str; 5] = ["", "a", "a/b", "a/b/c", "d"];
const KINDS: [&str; 3] = [".ignore", ".gitignore", ".git/info/exclude"];
const LINES: [&str; 21] = [
    "x",
    "!x",
    "/x",
    "b/",
    "!b/",
    "*.log",
    "!z.log",
    "a/b",
    "/a/b/x",
    "**/y",
    "# x",
    "",
    "\\!x",
    "[",
    "c/*",
    "!c/x",
    "y ",
    "*",
    "!*/",
    "a/**/x",
    "\u{feff}x",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn they_mean_what_they_mean_to_the_library(
        files in proptest::collection::vec(
            (0..FOLDERS.len(), 0..KINDS.len(), proptest::collection::vec(0..LINES.len(), 0..4)), 0..5),
        start in 0..FOLDERS.len(),
    ) {
        let tree = Tree::new();
        for folder in FOLDERS {
            for name in ["x", "y", "z.log"] {
                tree.write(&format!("top/{folder}/{name}"), "");
            }
        }
        for (folder, kind, lines) in &files {
            let lines: Vec<&str> = lines.iter().map(|line| LINES[*line]).collect();
            tree.write(&format!("top/{}/{}", FOLDERS[*folder], KINDS[*kind]), lines.join("\n"));
        }
        let root = tree.root.join("top").join(FOLDERS[start]).components().collect::<PathBuf>();
        let (found, report) = ours(&tree, &root);
        prop_assert_eq!(found, library(&tree, &root));
        prop_assert_eq!(report.unusable_ignores, 0);
    }
}

#[test]
fn the_patterns_of_a_linked_working_tree_are_those_of_its_repository() {
    for pointer in ["relative", "absolute"] {
        let tree = Tree::with(&[("main/.git/info/exclude", "secret\n"), ("linked/secret", ""), ("linked/open", "")]);
        tree.write("main/.git/worktrees/linked/commondir", "../..\n");
        let own = if pointer == "relative" { PathBuf::from("..") } else { tree.root.clone() };
        let own = own.join("main/.git/worktrees/linked");
        tree.write("linked/.git", format!("gitdir: {}\n", own.display()));
        let (found, report) = ours(&tree, &tree.root.join("linked"));
        assert_eq!((found, report.unusable_ignores), (BTreeSet::from(["linked/open".to_owned()]), 0), "{pointer}");
    }
}

#[test]
fn links_count_as_far_as_they_stay_in_the_workspace() {
    let outside = Tree::with(&[("patterns", "x\n")]);
    let tree = Tree::with(&[("work/x", ""), ("work/y", ""), ("work/patterns", "y\n"), ("shared", "x\n")]);
    let work = tree.root.join("work");
    for (target, expected, unusable) in [
        (PathBuf::from("patterns"), ["work/patterns", "work/x"], 0),
        (work.join("patterns"), ["work/patterns", "work/x"], 0),
        (PathBuf::from("../shared"), ["work/patterns", "work/y"], 0),
        (outside.root.join("patterns"), ["work/patterns", "work/x"], 1),
        (PathBuf::from("/proc/self/environ"), ["work/patterns", "work/x"], 1),
        (PathBuf::from(".gitignore"), ["work/patterns", "work/x"], 1),
    ] {
        symlink(&target, work.join(".gitignore")).unwrap();
        let (mut found, report) = ours(&tree, &work);
        if unusable == 1 {
            assert!(found.remove("work/y"), "{target:?}");
        }
        assert_eq!(found, expected.map(str::to_owned).into(), "{target:?}");
        assert_eq!(report.unusable_ignores, unusable, "{target:?}");
        std::fs::remove_file(work.join(".gitignore")).unwrap();
    }
}

#[test]
fn a_denied_file_gives_no_patterns() {
    let tree = Tree::with(&[("keys/patterns", "x\n"), ("x", "")]);
    symlink("keys/patterns", tree.root.join(".gitignore")).unwrap();
    let (sender, found) = mpsc::channel();
    let denied = tree.root.join("keys");
    let allowed = |path: &Path| !path.starts_with(&denied);
    let report = walk(Scope { allowed: &allowed, ..tree.scope() }, &|| Box::new(Names(sender.clone())));
    drop(sender);
    assert!(found.into_iter().any(|path| path.ends_with("x")));
    assert_eq!(report.unusable_ignores, 1);
}

/// Runs a walk that may hang. Returns the files and the report, if it ends.
fn ends(tree: Tree, root: &str) -> Option<(BTreeSet<String>, WalkReport)> {
    let (sender, found) = mpsc::channel();
    let root = tree.root.join(root);
    std::thread::spawn(move || sender.send(ours(&tree, &root)));
    found.recv_timeout(PATIENCE).ok()
}

#[test]
fn what_is_no_regular_file_neither_hangs_nor_counts() {
    type Plant = fn(&Path);
    let plants: [(&str, Plant); 5] = [
        ("a pipe", |path| {
            let status = std::process::Command::new("mkfifo").arg(path).status().unwrap();
            assert!(status.success());
        }),
        ("an endless device", |path| symlink("/dev/zero", path).unwrap()),
        ("a terminal", |path| symlink("/dev/tty", path).unwrap()),
        ("a folder", |path| std::fs::create_dir(path).unwrap()),
        ("a socket", |path| drop(std::os::unix::net::UnixListener::bind(path).unwrap())),
    ];
    for (what, plant) in plants {
        for place in
            ["work/.gitignore", "work/.ignore", "work/in/.gitignore", "work/.git/info/exclude", ".gitignore", ".ignore"]
        {
            let tree = Tree::with(&[("work/x", ""), ("work/in/y", ""), ("work/.git/info/z", "")]);
            plant(&tree.root.join(place));
            let (found, report) = ends(tree, "work").expect("it hangs");
            let here = found.into_iter().filter(|path| !path.ends_with("exclude")).collect::<Vec<_>>();
            assert_eq!(here, ["work/in/y", "work/x"], "{what}: {place}");
            assert_eq!(report.unusable_ignores, 1, "{what}: {place}");
        }
    }
}

#[test]
fn pointers_of_git_neither_hang_nor_count() {
    let own = "gitdir: own\n".to_owned();
    for (pointer, common) in [(own.clone(), "pipe"), (own, "/dev/zero"), ("x".repeat(1 << 20), "common")] {
        let tree = Tree::with(&[("work/x", ""), ("work/.git", &pointer), ("work/own/common", ".\n")]);
        match common {
            "pipe" => assert!(
                std::process::Command::new("mkfifo")
                    .arg(tree.root.join("work/own/commondir"))
                    .status()
                    .unwrap()
                    .success()
            ),
            target => symlink(target, tree.root.join("work/own/commondir")).unwrap(),
        }
        let (found, report) = ends(tree, "work").expect("it hangs");
        assert!(found.contains("work/x"));
        assert_eq!(report.unusable_ignores, 1, "{common}");
    }
}

#[test]
fn large_ones_do_not_count() {
    let longest = usize::try_from(MAX_IGNORE_FILE).unwrap();
    let tree = Tree::with(&[("x", ""), ("in/y", ""), ("in/.gitignore", "y\n")]);
    tree.write(".gitignore", "x\n".repeat(longest / 2 + 1));
    let (found, report) = ours(&tree, &tree.root);
    assert_eq!(found, ["x".to_owned()].into());
    assert_eq!(report.unusable_ignores, 1);
}

#[test]
fn together_they_are_bounded() {
    let tree = Tree::new();
    let comment = format!("# {}\nx\n", "c".repeat(usize::try_from(MAX_IGNORE_FILE).unwrap() - 8));
    let count = usize::try_from(16_u64).unwrap();
    for folder in 0..count + 4 {
        tree.write(&format!("{folder}/.gitignore"), &comment);
        tree.write(&format!("{folder}/x"), "");
    }
    let (found, report) = ours(&tree, &tree.root);
    assert_eq!((found.len(), report.unusable_ignores), (4, 4));
}

#[test]
fn a_line_that_is_no_text_takes_no_other_along() {
    let tree = Tree::with(&[("x", ""), ("y", ""), ("build/a", ""), ("caf\u{fffd}/a", ""), ("z", "")]);
    tree.write(".gitignore", b"x\n\xff\ncaf\xe9/\nbuild/\n\xfe y\ny\n");
    let (found, report) = ours(&tree, &tree.root);
    assert_eq!(found, ["z".to_owned()].into());
    assert_eq!(report.unusable_ignores, 0);
    assert_eq!((report.ignored_files, report.ignored_folders), (2, 2));
}
