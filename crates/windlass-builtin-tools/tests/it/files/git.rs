//! Unified diffs as git makes and applies them.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

use proptest::prelude::*;
use serde_json::json;
use windlass_local::LocalWorkspace;

use crate::files::session::Session;

type Tree = BTreeMap<String, String>;

fn line() -> impl Strategy<Value = String> {
    let text =
        prop_oneof![Just("a"), Just("b"), Just("c"), Just("  d"), Just(""), Just("-- x"), Just("++ y"), Just("ä")];
    let end = prop_oneof![8 => Just("\n"), 1 => Just("\r\n")];
    (text, end).prop_map(|(text, end)| format!("{text}{end}"))
}

fn file() -> impl Strategy<Value = String> {
    (proptest::collection::vec(line(), 0..24), any::<bool>()).prop_map(|(lines, cut)| {
        let text = lines.concat();
        if cut { text.trim_end_matches(['\r', '\n']).to_owned() } else { text }
    })
}

fn name() -> impl Strategy<Value = String> {
    prop_oneof![Just("x"), Just("dir/y"), Just("dir/z z"), Just("ä"), Just("q\"t")].prop_map(str::to_owned)
}

/// A tree, and one that it becomes: files are new, gone, or have other lines here and there.
fn trees() -> impl Strategy<Value = (Tree, Tree)> {
    let old = proptest::collection::btree_map(name(), file(), 0..4);
    let new = proptest::collection::btree_map(name(), file(), 0..3);
    let edits = proptest::collection::vec((0usize..24, line(), 0u8..3), 0..5);
    (old, new, edits, any::<bool>()).prop_map(|(old, new, edits, drops)| {
        let mut after = old.clone();
        for text in after.values_mut() {
            let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
            for (at, line, kind) in &edits {
                let at = (*at).min(lines.len());
                match kind {
                    0 => lines.insert(at, line.clone()),
                    1 if at < lines.len() => drop(lines.remove(at)),
                    _ if at < lines.len() => lines[at] = line.clone(),
                    _ => {}
                }
            }
            *text = lines.concat();
        }
        if drops && let Some(first) = after.keys().next().cloned() {
            after.remove(&first);
        }
        after.extend(new);
        (old, after)
    })
}

fn write(folder: &Path, tree: &Tree) {
    for (name, text) in tree {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
}

fn read(folder: &Path) -> Tree {
    let mut tree = Tree::new();
    let mut open = vec![folder.to_owned()];
    while let Some(folder_now) = open.pop() {
        for entry in std::fs::read_dir(folder_now).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else {
                let name = path.strip_prefix(folder).unwrap().to_str().unwrap().to_owned();
                tree.insert(name, std::fs::read_to_string(path).unwrap());
            }
        }
    }
    tree
}

fn git(folder: &Path, args: &[&str], input: &str) -> (bool, String) {
    use std::io::Write;
    let mut child = Command::new("git")
        .args(["-c", "core.autocrlf=false", "-c", "core.safecrlf=false"])
        .args(args)
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("HOME", folder)
        .env("GIT_CEILING_DIRECTORIES", folder.parent().unwrap())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    (output.status.success(), String::from_utf8(output.stdout).unwrap())
}

/// The diff between two trees, as git writes it.
fn diff(folder: &Path, old: &Tree, new: &Tree) -> String {
    let work = folder.join("work");
    std::fs::create_dir(&work).unwrap();
    write(&work, old);
    assert!(git(&work, &["init", "-q"], "").0 && git(&work, &["add", "-A"], "").0);
    for name in old.keys() {
        std::fs::remove_file(work.join(name)).unwrap();
    }
    write(&work, new);
    // Files that git does not know have no diff, and those that are gone must stay known.
    let added = new.keys().map(String::as_str).filter(|name| !old.contains_key(*name));
    let added: Vec<&str> = ["add", "--intent-to-add", "--"].into_iter().chain(added).collect();
    assert!(added.len() == 3 || git(&work, &added, "").0);
    git(&work, &["diff", "--no-ext-diff"], "").1
}

/// Result of our tool for a tree, if it takes the patch.
async fn applied(folder: &Path, tree: &Tree, patch: &str) -> Result<Tree, String> {
    std::fs::create_dir(folder).unwrap();
    let folder = folder.canonicalize().unwrap();
    write(&folder, tree);
    let session = Session::over(LocalWorkspace::new(), &folder);
    for name in tree.keys() {
        session.read(folder.join(name).to_str().unwrap()).await;
    }
    session.call("apply_patch", json!({ "input": patch })).await?;
    Ok(read(&folder))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_diff_of_git_gives_the_tree_that_it_was_made_of((old, new) in trees()) {
        let folder = tempfile::tempdir().unwrap();
        let patch = diff(folder.path(), &old, &new);
        prop_assume!(!patch.is_empty());
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let ours = runtime.block_on(applied(&folder.path().join("ours"), &old, &patch));
        prop_assert_eq!(ours.as_ref(), Ok(&new), "{}", patch);
    }

    #[test]
    fn where_lines_have_moved_it_gives_what_git_gives((old, new) in trees(), extra in 1usize..5, at in 0usize..6) {
        let folder = tempfile::tempdir().unwrap();
        let patch = diff(folder.path(), &old, &new);
        prop_assume!(!patch.is_empty());
        // The same files with lines that the diff does not know.
        let mut moved = old.clone();
        for text in moved.values_mut().filter(|text| !text.is_empty()) {
            let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
            let at = at.min(lines.len() - 1);
            lines.insert(at, "other\n".repeat(extra));
            *text = lines.concat();
        }
        let theirs = folder.path().join("theirs");
        std::fs::create_dir(&theirs).unwrap();
        write(&theirs, &moved);
        let (git_took_it, _) = git(&theirs, &["apply", "-"], &patch);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let ours = runtime.block_on(applied(&folder.path().join("ours"), &moved, &patch));
        // Ours refuses what is not clear, and git what is not at the beginning or the end of a file any more.
        if let (true, Ok(ours)) = (git_took_it, ours) {
            prop_assert_eq!(ours, read(&theirs), "{}", patch);
        }
    }
}

#[tokio::test]
async fn renames_of_git_keep_the_mode() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    std::fs::write(folder.join("run.sh"), "one\ntwo\nthree\n").unwrap();
    std::fs::set_permissions(folder.join("run.sh"), std::fs::Permissions::from_mode(0o750)).unwrap();
    let session = Session::over(LocalWorkspace::new(), &folder);
    session.read("run.sh").await;
    let patch = "diff --git a/run.sh b/bin/go.sh\nsimilarity index 60%\nrename from run.sh\nrename to bin/go.sh\n--- \
                 a/run.sh\n+++ b/bin/go.sh\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
    session.call("apply_patch", json!({ "input": patch })).await.unwrap();
    assert!(!folder.join("run.sh").exists());
    let moved = folder.join("bin/go.sh");
    assert_eq!(std::fs::read(&moved).unwrap(), b"one\n2\nthree\n");
    assert_eq!(std::fs::metadata(&moved).unwrap().permissions().mode() & 0o777, 0o750);
}

#[tokio::test]
async fn a_read_only_file_is_not_deleted_and_nothing_else_is_changed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().canonicalize().unwrap();
    std::fs::write(folder.join("a"), "one\n").unwrap();
    std::fs::write(folder.join("locked"), "x\n").unwrap();
    std::fs::set_permissions(folder.join("locked"), std::fs::Permissions::from_mode(0o444)).unwrap();
    let is_open = std::fs::OpenOptions::new().append(true).open(folder.join("locked")).is_ok();
    let session = Session::over(LocalWorkspace::new(), &folder);
    session.read("a").await;
    session.read("locked").await;
    let result = session.patch("*** Update File: a\n-one\n+1\n*** Delete File: locked").await;
    if is_open {
        // To a privileged account no file is read-only.
        result.unwrap();
        return;
    }
    assert!(result.unwrap_err().starts_with("No file was changed: "));
    assert_eq!(read(&folder), Tree::from([("a".into(), "one\n".into()), ("locked".into(), "x\n".into())]));
}
