//! An index with a cache returns the same as one without, after any changes of the tree.

use crate::tree::{Tree, all};
use proptest::prelude::*;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A change of a tree.
#[derive(Debug, Clone)]
enum Change {
    Write(usize, usize),
    Remove(usize),
    RemoveFolder(usize),
    Move(usize, usize),
    Ignore(usize, usize),
}

const FOLDERS: [&str; 6] = ["", "a", "a/b", "c", "c/d", "node_modules"];
const FILES: [&str; 6] = ["door.rs", "Cargo.toml", "wall.py", "README.md", "package.json", "x.log"];
const CONTENTS: [&str; 5] = [
    "fn one() {}\n",
    "def two():\n  pass\nfn two() {}\n",
    "[package]\nname = \"p\"\n[dependencies]\nq = { path = \"../c\" }\n",
    "{\"name\": \"q\", \"scripts\": {\"test\": \"x\"}}",
    "[package]\nname = \"q\"\n",
];
const IGNORES: [&str; 5] = ["*.rs\n", "/a\n", "d/\n!door.rs\n", "", "*\n!*.py\n"];

fn change() -> impl Strategy<Value = Change> {
    let file = 0..FOLDERS.len() * FILES.len();
    prop_oneof![
        4 => (file.clone(), 0..CONTENTS.len()).prop_map(|(at, content)| Change::Write(at, content)),
        1 => file.clone().prop_map(Change::Remove),
        1 => (1..FOLDERS.len()).prop_map(Change::RemoveFolder),
        1 => (file.clone(), file).prop_map(|(from, to)| Change::Move(from, to)),
        1 => (0..FOLDERS.len(), 0..IGNORES.len()).prop_map(|(at, rules)| Change::Ignore(at, rules)),
    ]
}

fn path(at: usize) -> String {
    format!("{}/{}", FOLDERS[at / FILES.len()], FILES[at % FILES.len()]).trim_start_matches('/').to_owned()
}

/// Sets a distinct time on a changed file or folder, as if more than a tick of the clock had passed.
fn touch(at: &Path, seconds: u64) {
    if let Ok(opened) = fs::File::open(at) {
        let _ = opened.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + seconds));
    }
}

fn apply(tree: &Tree, change: &Change, seconds: u64) {
    let root = &tree.root;
    let changed = match change {
        Change::Write(at, content) => {
            tree.write(&path(*at), CONTENTS[*content]);
            vec![path(*at)]
        }
        Change::Remove(at) => {
            let _ = fs::remove_file(root.join(path(*at)));
            vec![path(*at)]
        }
        Change::RemoveFolder(at) => {
            let _ = fs::remove_dir_all(root.join(FOLDERS[*at]));
            vec![FOLDERS[*at].to_owned()]
        }
        Change::Move(from, to) => {
            let _ = fs::rename(root.join(path(*from)), root.join(path(*to)));
            vec![path(*from), path(*to)]
        }
        Change::Ignore(at, rules) => {
            let at = format!("{}/.gitignore", FOLDERS[*at]).trim_start_matches('/').to_owned();
            tree.write(&at, IGNORES[*rules]);
            vec![at]
        }
    };
    for path in changed {
        for at in root.join(path).ancestors().take_while(|at| at.starts_with(root)) {
            touch(at, seconds);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_cache_says_what_a_fresh_walk_says(rounds in prop::collection::vec(prop::collection::vec(change(), 1..5), 1..6)) {
        let tree = Tree::new();
        let lasting = tree.cached();
        let mut seconds = 0;
        for changes in rounds {
            for change in &changes {
                seconds += 1;
                apply(&tree, change, seconds);
            }
            tree.settle();
            let fresh = tree.fresh();
            let query = "door wall cargo readme package x one two log";
            let expected = (fresh.overview(&|| false).unwrap(), all(&fresh, query));
            let cached = tree.cached();
            prop_assert_eq!(&(cached.overview(&|| false).unwrap(), all(&cached, query)), &expected);
            prop_assert_eq!(&(lasting.overview(&|| false).unwrap(), all(&lasting, query)), &expected);
            prop_assert_eq!(tree.cached().for_model().map(|read| read.text), expected.0.for_model().map(|read| read.text));
        }
    }
}

/// A change within the same tick as the refresh before it is detected, because entries that new are checked again.
#[test]
fn late_changes_are_seen() {
    let tree = Tree::with(&[("a/one.rs", "fn one() {}\n")]);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    tree.clock.set(u64::try_from(now.as_millis()).unwrap());
    let index = tree.cached();
    index.search("one", 1, &|| false).unwrap();
    let before = fs::metadata(tree.root.join("a/one.rs")).unwrap().modified().unwrap();
    tree.write("a/one.rs", "fn two() {}\n");
    fs::File::open(tree.root.join("a/one.rs")).unwrap().set_modified(before).unwrap();
    assert_eq!(index.search("two", 1, &|| false).unwrap().hits.len(), 1);
}
