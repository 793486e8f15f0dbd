use super::*;

#[test]
fn a_plain_path_is_absolute_and_has_no_dots() {
    assert!(is_plain_absolute(Path::new("/a/b")));
    assert!(!is_plain_absolute(Path::new("/a/../b")));
    assert!(!is_plain_absolute(Path::new("a")));
}

#[test]
fn a_subject_knows_its_spellings() {
    let subject = Subject::new("/W/Cafe\u{301}/x.ENV. ".into());
    assert_eq!(subject.spellings(), [vec!["w", "caf\u{e9}", "x.env. "], vec!["w", "caf\u{e9}", "x.env"]]);
}
