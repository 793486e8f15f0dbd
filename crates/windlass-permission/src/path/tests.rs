use super::*;

#[test]
fn dots_go_by_text() {
    for (path, expected) in
        [("a/./b/../c", "/w/a/c"), ("../../../x", "/x"), ("/a//b/", "/a/b"), ("", "/w"), ("..", "/")]
    {
        assert_eq!(normalize(Path::new("/w"), Path::new(path)), Path::new(expected), "{path}");
    }
    assert!(is_plain_absolute(Path::new("/a/b")));
    assert!(!is_plain_absolute(Path::new("/a/../b")));
    assert!(!is_plain_absolute(Path::new("a")));
}

#[test]
fn a_subject_knows_its_spellings() {
    let subject = Subject::new("/W/Cafe\u{301}/x.ENV. ".into());
    assert_eq!(subject.folded, [vec!["w", "caf\u{e9}", "x.env. "], vec!["w", "caf\u{e9}", "x.env"]]);
}
