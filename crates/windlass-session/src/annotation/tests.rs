use super::*;

#[test]
fn lines_are_those_that_other_tools_write() {
    let session = SessionId::from("s");
    for (annotation, line) in [
        (Annotation::title(" T \"x\" "), r#"{"type":"custom-title","customTitle":"T \"x\"","sessionId":"s"}"#),
        (Annotation::tag("a"), r#"{"type":"tag","tag":"a","sessionId":"s"}"#),
        (Ok(Annotation::no_tag()), r#"{"type":"tag","tag":"","sessionId":"s"}"#),
    ] {
        assert_eq!(annotation.unwrap().to_line(&session), line);
    }
}

#[test]
fn what_cannot_be_seen_is_no_title_and_no_part_of_a_tag() {
    assert!(Annotation::title(" \n").is_err());
    for (given, kept) in [
        ("\u{200b}\u{202e}a\u{feff}b\u{7}", Some("ab")),
        ("\u{ff21}\u{fb01}", Some("Afi")),
        (" x y ", Some("x y")),
        ("\u{e000}\u{200d}", None),
        ("", None),
    ] {
        let expected = kept.map(|tag| Annotation::Tag { tag: tag.to_owned() });
        assert_eq!(Annotation::tag(given).ok(), expected, "{given:?}");
    }
}
