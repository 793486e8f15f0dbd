use super::changes::{COARSE_TICK, TICK};
use super::*;

/// A time long before all others.
const EARLY: i64 = 1_000_000_000_000_000_001;

fn file(size: u64, at: i64) -> Surveyed {
    Surveyed::File(FileStamp::new(size, at))
}

fn survey(folders: &[(&str, &[(&str, Surveyed)])]) -> TreeSurvey {
    let folder = |entries: &[(&str, Surveyed)]| {
        Arc::new(FolderSurvey::new(entries.iter().map(|(name, what)| ((*name).into(), *what)).collect(), 0))
    };
    let folders = folders.iter().map(|(path, entries)| (PathBuf::from(path), folder(entries))).collect();
    TreeSurvey { folders, ..TreeSurvey::default() }
}

fn paths(now: &TreeSurvey, before: &TreeSurvey) -> Vec<String> {
    let sign = |change: &SurveyChange| match (change.before, change.now) {
        (Some(Surveyed::LeftOut), _) => '>',
        (_, Some(Surveyed::LeftOut)) => '<',
        (None, Some(_)) => '+',
        (Some(_), None) => '-',
        (before, now) if before == now => '?',
        _ => '~',
    };
    now.changes_since(before).iter().map(|change| format!("{}{}", sign(change), change.path.display())).collect()
}

const LATE: i64 = EARLY + 60_000_000_000;

#[test]
fn files_that_came_went_and_changed_are_found() {
    let before = survey(&[
        ("/w", &[("a", file(1, EARLY)), ("b", file(1, EARLY)), ("d", Surveyed::Folder), ("z", file(1, LATE))]),
        ("/w/d", &[("x", file(1, EARLY))]),
    ]);
    let now = survey(&[
        ("/w", &[("z", file(1, LATE)), ("a", file(2, EARLY)), ("c", file(1, EARLY)), ("e", Surveyed::Folder)]),
        ("/w/e", &[("y", file(1, EARLY))]),
    ]);
    assert_eq!(paths(&now, &before), ["~/w/a", "-/w/b", "+/w/c", "-/w/d/x", "+/w/e/y", "?/w/z"]);
}

#[test]
fn what_changed_last_is_in_doubt_and_what_is_older_is_not() {
    let tree = survey(&[("/w", &[("a", file(1, LATE)), ("b", file(1, LATE - TICK)), ("c", file(1, EARLY))])]);
    assert_eq!(paths(&tree, &tree), ["?/w/a", "?/w/b"]);
    // Whole seconds: a file system with a coarse clock.
    let whole = 1_000_000_000_000_000_000;
    let tree = survey(&[("/w", &[("a", file(1, whole)), ("b", file(1, whole - COARSE_TICK)), ("c", file(1, 7))])]);
    assert_eq!(paths(&tree, &tree), ["?/w/a", "?/w/b"]);
}

#[test]
fn what_was_left_out_has_neither_come_nor_gone() {
    let hidden = survey(&[("/w", &[("a", Surveyed::LeftOut), ("d", Surveyed::LeftOut), ("z", file(1, LATE))])]);
    let shown = survey(&[
        ("/w", &[("a", file(1, EARLY)), ("d", Surveyed::Folder), ("z", file(1, LATE))]),
        ("/w/d", &[("x", file(1, EARLY))]),
    ]);
    assert_eq!(paths(&shown, &hidden), [">/w/a", ">/w/d/x", "?/w/z"]);
    assert_eq!(paths(&hidden, &shown), ["</w/a", "</w/d/x", "?/w/z"]);
    let neither = survey(&[("/w", &[("z", file(1, LATE))])]);
    assert_eq!((paths(&hidden, &neither), paths(&neither, &hidden)), (vec!["?/w/z".into()], vec!["?/w/z".into()]));
}

#[test]
fn a_folder_that_can_no_longer_be_read_has_lost_no_file() {
    let before = survey(&[("/w", &[("d", Surveyed::Folder)]), ("/w/d", &[("x", file(1, EARLY))])]);
    let closed = survey(&[("/w", &[("d", Surveyed::Folder)])]);
    assert_eq!(paths(&closed, &before), [""; 0]);
    assert_eq!(paths(&before, &closed), [">/w/d/x"]);
    let gone = survey(&[("/w", &[])]);
    assert_eq!(paths(&gone, &before), ["-/w/d/x"]);
    // A file, or a link, in place of the folder.
    let replaced = survey(&[("/w", &[("d", Surveyed::Link(FileStamp::new(3, LATE)))])]);
    assert_eq!(paths(&replaced, &before), ["+/w/d", "-/w/d/x"]);
}
