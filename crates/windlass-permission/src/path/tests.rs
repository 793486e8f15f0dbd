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

#[test]
fn names_in_capitals_alone_are_folded() {
    assert_eq!(Subject::new("/ENV".into()).spellings(), [vec!["env"]]);
    assert_eq!(Subject::new("/W/ENV".into()).spellings(), [vec!["w", "env"]]);
}

#[test]
fn a_name_without_its_dots_is_still_a_name() {
    assert_eq!(Subject::new("/w/.../x".into()).spellings(), [vec!["w", "...", "x"]]);
    assert_eq!(Subject::new("/w/:s/x.".into()).spellings(), [vec!["w", ":s", "x."], vec!["w", ":s", "x"]]);
}

#[test]
fn only_a_letter_is_a_drive() {
    for text in [r"ab:\x", r"1:\x", r":\x", "ab:/x", "c:x"] {
        assert_eq!(PathStyle::Windows.pattern(text), text);
    }
    assert_eq!(PathStyle::Windows.pattern(r"C:\x\**"), "//c/x/**");
}
