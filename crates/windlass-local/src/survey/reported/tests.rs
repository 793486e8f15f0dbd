//! Surveys that rely on reports find the same as surveys of everything.

use super::super::{Extent, Wanted, survey_worth};
use proptest::prelude::*;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use windlass_tool::TreeSurvey;

fn look(root: &Path, before: Option<&TreeSurvey>, extent: Extent) -> TreeSurvey {
    let cancelled = AtomicBool::new(false);
    survey_worth(Wanted { root, before, most: 100_000, extent, cancelled: &cancelled }, 0).unwrap()
}

fn whole(root: &Path, before: &TreeSurvey) -> TreeSurvey {
    look(root, Some(before), Extent::Whole)
}

fn reported(root: &Path, before: &TreeSurvey) -> TreeSurvey {
    look(root, Some(before), Extent::Reported)
}

/// Survey of a watched tree.
fn watched(root: &Path) -> TreeSurvey {
    whole(root, &look(root, None, Extent::Whole))
}

fn memo(survey: &TreeSurvey) -> &super::Memo {
    survey.memo().unwrap().downcast_ref().unwrap()
}

/// Fails if a survey differs from the real tree.
fn compare(found: &TreeSurvey, root: &Path) {
    let truth = look(root, None, Extent::Whole);
    let mut folders: Vec<_> = found.folders.keys().collect();
    let mut expected: Vec<_> = truth.folders.keys().collect();
    folders.sort();
    expected.sort();
    assert_eq!(folders, expected);
    for (path, folder) in &found.folders {
        assert_eq!(folder, &truth.folders[path], "{}", path.display());
    }
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().canonicalize().unwrap().join("tree");
    for at in 0..6 {
        fs::create_dir_all(root.join(format!("d{at}/below"))).unwrap();
        for file in 0..4 {
            fs::write(root.join(format!("d{at}/f{file}")), "x").unwrap();
            fs::write(root.join(format!("d{at}/below/f{file}")), "x").unwrap();
        }
    }
    (dir, root)
}

#[test]
fn folders_without_reports_are_taken_over_and_others_are_looked_at() {
    let (_dir, root) = folder();
    let before = watched(&root);
    assert!(memo(&before).watch.is_some());
    fs::write(root.join("d3/f1"), "changed").unwrap();
    let now = reported(&root, &before);
    compare(&now, &root);
    let same = before.folders.iter().filter(|(path, folder)| Arc::ptr_eq(folder, &now.folders[*path]));
    assert_eq!(same.count(), before.folders.len() - 1);
    let changes = now.changes_since(&before);
    let changed: Vec<_> = changes.iter().filter(|change| change.before != change.now).map(|one| &one.path).collect();
    assert_eq!(changed, [&root.join("d3/f1")]);
    // Only one other survey can follow a survey, because reports are read once.
    fs::write(root.join("d4/f1"), "changed").unwrap();
    compare(&reported(&root, &now), &root);
    compare(&reported(&root, &now), &root);
    compare(&reported(&root, &before), &root);
}

#[test]
fn a_change_that_nobody_reports_is_found_by_a_look_at_everything() {
    let (dir, root) = folder();
    let before = watched(&root);
    let outside = dir.path().join("outside");
    fs::hard_link(root.join("d1/f1"), &outside).unwrap();
    fs::write(&outside, "changed from outside").unwrap();
    let path = root.join("d1/f1");
    let has_changed = |now: &TreeSurvey| now.look_up(&path) != before.look_up(&path);
    let missed = reported(&root, &before);
    assert!(!has_changed(&missed));
    let found = whole(&root, &missed);
    assert!(has_changed(&found));
    // From now on the file is known to have several names.
    fs::write(&outside, "and again").unwrap();
    compare(&reported(&root, &found), &root);
}

#[test]
fn folders_that_move_or_take_the_place_of_others_are_looked_at() {
    let (dir, root) = folder();
    let mut before = watched(&root);
    let steps: [&dyn Fn(); 6] = [
        &|| fs::rename(root.join("d0"), root.join("e0")).unwrap(),
        &|| {
            fs::rename(root.join("d1"), root.join("e1")).unwrap();
            fs::rename(root.join("d2"), root.join("d1")).unwrap();
        },
        &|| {
            fs::remove_dir_all(root.join("d3")).unwrap();
            fs::create_dir_all(root.join("d3/below/deeper")).unwrap();
            fs::write(root.join("d3/below/deeper/new"), "1").unwrap();
        },
        &|| {
            fs::rename(root.join("d4"), dir.path().join("away")).unwrap();
            fs::write(dir.path().join("away/f0"), "changed while it was away").unwrap();
        },
        &|| fs::rename(dir.path().join("away"), root.join("e0/back")).unwrap(),
        &|| {
            fs::rename(&root, dir.path().join("other")).unwrap();
            fs::create_dir_all(root.join("d0")).unwrap();
            fs::write(root.join("d0/f0"), "another tree").unwrap();
        },
    ];
    for (at, step) in steps.iter().enumerate() {
        step();
        before = reported(&root, &before);
        compare(&before, &root);
        // The present folders are watched.
        let below = before.folders.keys().max().unwrap().join("later");
        fs::write(below, format!("{at}")).unwrap();
        before = reported(&root, &before);
        compare(&before, &root);
    }
}

#[test]
fn ignore_files_that_change_count_wherever_they_lie() {
    let (dir, root) = folder();
    fs::create_dir_all(root.join(".git/info")).unwrap();
    let mut before = watched(&root);
    for (name, content) in [
        (".gitignore", "d1\n"),
        ("d2/.gitignore", "f1\n"),
        ("d2/.gitignore", ""),
        (".git/info/exclude", "d3\n"),
        ("../.gitignore", "f2\n"),
        (".gitignore", ""),
    ] {
        fs::write(root.join(name), content).unwrap();
        before = reported(&root, &before);
        compare(&before, &root);
        for file in ["d1/f0", "d2/f1", "d3/f1", "d5/below/f3"] {
            fs::write(root.join(file), name).unwrap();
        }
        before = reported(&root, &before);
        compare(&before, &root);
    }
    drop(dir);
}

#[test]
fn more_changes_than_the_system_reports_are_all_found() {
    let (_dir, root) = folder();
    let before = watched(&root);
    for at in 0..12_000 {
        fs::write(root.join(format!("d{}/many{at}", at % 6)), "1").unwrap();
    }
    let now = reported(&root, &before);
    compare(&now, &root);
    fs::write(root.join("d5/last"), "1").unwrap();
    compare(&reported(&root, &now), &root);
}

/// One action of a program in a tree.
#[derive(Debug, Clone)]
enum Act {
    Write(PathBuf),
    Append(PathBuf),
    Mode(PathBuf),
    MakeFolder(PathBuf),
    Remove(PathBuf),
    Rename(PathBuf, PathBuf),
    Link(PathBuf, PathBuf),
    Ignore(PathBuf, String),
    /// Surveys the tree and compares the result.
    Look(bool),
}

/// Performs an action, if possible.
fn act(root: &Path, act: &Act, serial: usize) {
    let at = |path: &Path| root.join(path);
    // Impossible actions are skipped.
    drop(match act {
        Act::Write(path) => fs::write(at(path), format!("{serial}")),
        Act::Append(path) => fs::OpenOptions::new()
            .append(true)
            .open(at(path))
            .and_then(|mut file| file.write_all(format!("{serial}").as_bytes())),
        Act::Mode(path) => {
            use std::os::unix::fs::PermissionsExt as _;
            fs::set_permissions(at(path), fs::Permissions::from_mode(0o700 + u32::try_from(serial % 0o100).unwrap()))
        }
        Act::MakeFolder(path) => fs::create_dir_all(at(path)),
        Act::Remove(path) if at(path).is_dir() => fs::remove_dir_all(at(path)),
        Act::Remove(path) => fs::remove_file(at(path)),
        Act::Rename(from, to) => fs::rename(at(from), at(to)),
        Act::Link(from, to) => std::os::unix::fs::symlink(at(from), at(to)),
        Act::Ignore(folder, rule) => fs::write(at(folder).join(".gitignore"), rule),
        Act::Look(_) => Ok(()),
    });
}

fn path() -> impl Strategy<Value = PathBuf> {
    let folder =
        prop_oneof![Just(""), Just("d0"), Just("d1"), Just("d2/below"), Just("n0"), Just("n0/n1"), Just("d1/n0")];
    let name = prop_oneof![Just("f0"), Just("f1"), Just("new"), Just("below"), Just("n0"), Just("n1"), Just("d2")];
    (folder, name).prop_map(|(folder, name)| Path::new(folder).join(name))
}

fn any_act() -> impl Strategy<Value = Act> {
    let rule = prop_oneof![Just("f1\n"), Just("n0/\n"), Just("/d2\n"), Just("")];
    prop_oneof![
        4 => path().prop_map(Act::Write),
        2 => path().prop_map(Act::Append),
        1 => path().prop_map(Act::Mode),
        3 => path().prop_map(Act::MakeFolder),
        2 => path().prop_map(Act::Remove),
        3 => (path(), path()).prop_map(|(from, to)| Act::Rename(from, to)),
        1 => (path(), path()).prop_map(|(from, to)| Act::Link(from, to)),
        1 => (path(), rule).prop_map(|(folder, rule)| Act::Ignore(folder, rule.to_owned())),
        4 => any::<bool>().prop_map(Act::Look),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn random_changes_are_found_as_by_a_look_at_everything(acts in prop::collection::vec(any_act(), 1..80)) {
        let (_dir, root) = folder();
        let mut before = watched(&root);
        for (serial, one) in acts.iter().chain(&[Act::Look(true)]).enumerate() {
            let Act::Look(relies) = one else {
                act(&root, one, serial);
                continue;
            };
            before = if *relies { reported(&root, &before) } else { whole(&root, &before) };
            compare(&before, &root);
        }
    }
}
