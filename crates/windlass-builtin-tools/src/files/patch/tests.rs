use proptest::prelude::*;

use super::*;

#[test]
fn a_change_has_three_lines_of_context() {
    let old: String = (1..=20).map(|n| format!("line {n}\n")).collect();
    let new = old.replace("line 10\n", "line ten\nand more\n");
    let patch = Patch::between(&old, &new);
    assert_eq!((patch.added, patch.removed), (2, 1));
    let expected = "--- a.txt\n+++ a.txt\n@@ -7,7 +7,8 @@\n line 7\n line 8\n line 9\n-line 10\n+line ten\n+and more\n \
                    line 11\n line 12\n line 13\n";
    assert_eq!(patch.unified("a.txt", "a.txt"), expected);
    let hunk = serde_json::to_value(&patch.hunks[0]).unwrap();
    assert_eq!((&hunk["oldStart"], &hunk["oldLines"]), (&7.into(), &7.into()));
    assert_eq!((&hunk["newStart"], &hunk["newLines"]), (&7.into(), &8.into()));
    assert_eq!(hunk["lines"][3], "-line 10");
}

#[test]
fn ends_of_files_are_reported() {
    let patch = Patch::between("a\nb", "a\nb\n");
    assert_eq!(patch.unified("x", "x"), "--- x\n+++ x\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+b\n");
    assert_eq!(Patch::between("", "a\n").unified("/dev/null", "x"), "--- /dev/null\n+++ x\n@@ -0,0 +1 @@\n+a\n");
    assert_eq!(Patch::between("a\n", "").unified("x", "x"), "--- x\n+++ x\n@@ -1 +0,0 @@\n-a\n");
    assert_eq!(Patch::between("same\n", "same\n").unified("x", "x"), "");
}

#[test]
fn a_huge_change_is_cut_and_counted() {
    let old: String = (0..60_000).map(|n| format!("old line number {n}\n")).collect();
    let new: String = (0..60_000).map(|n| format!("new line number {n}\n")).collect();
    let patch = Patch::between(&old, &new);
    assert!(patch.truncated);
    assert_eq!((patch.added, patch.removed), (60_000, 60_000));
    assert!(patch.unified("x", "x").contains("60000 lines added"));
}

#[test]
fn a_file_of_empty_lines_is_only_counted() {
    let patch = Patch::between(&"\n".repeat(1_000_000), &"x\n".repeat(1_000_000));
    assert_eq!((patch.truncated, patch.added, patch.removed), (true, 1_000_000, 1_000_000));
    // A common part of both sides costs nothing.
    let old = "same\n".repeat(500_000);
    let patch = Patch::between(&format!("{old}a\n{old}"), &format!("{old}b\n{old}"));
    assert_eq!((patch.hunks.len(), patch.hunks[0].old_start), (1, 499_998));
}

/// Applies the hunks by hand.
fn apply(old: &str, patch: &Patch) -> String {
    let old: Vec<&str> = old.split_inclusive('\n').collect();
    let (mut out, mut next) = (String::new(), 0);
    for hunk in &patch.hunks {
        let start = hunk.old_start - 1;
        out.extend(old[next..start].iter().copied());
        let mut lines = hunk.lines.iter().peekable();
        while let Some(line) = lines.next() {
            let unfinished = lines.peek().is_some_and(|next| next.starts_with('\\'));
            if line.starts_with([' ', '+']) {
                out.push_str(line.get(1..).unwrap());
                out.push_str(if unfinished { "" } else { "\n" });
            }
        }
        next = start + hunk.old_lines;
    }
    out.extend(old[next..].iter().copied());
    out
}

proptest! {
    #[test]
    fn a_patch_turns_old_into_new(old in "([ab]{0,2}\n){0,20}[ab]?", new in "([ab]{0,2}\n){0,20}[ab]?") {
        prop_assert_eq!(apply(&old, &Patch::between(&old, &new)), new);
    }
}
