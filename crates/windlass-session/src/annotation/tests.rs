use super::*;

#[test]
fn lines_are_those_that_other_tools_write() {
    let session = SessionId::from("s");
    for (annotation, line) in [
        (Annotation::title(" T \"x\" "), r#"{"type":"custom-title","customTitle":"T \"x\"","sessionId":"s"}"#),
        (Annotation::generated_title("T"), r#"{"type":"ai-title","aiTitle":"T","sessionId":"s"}"#),
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

#[test]
fn an_answer_of_a_model_becomes_a_title() {
    for (answer, kept) in [
        ("Mend the parser", Some("Mend the parser")),
        ("\n  \"**Mend the parser.**\"\nIt is about dates.", Some("Mend the parser")),
        ("# Mend\u{202e} \u{1b}[31mthe\u{7} parser", Some("Mend [31mthe parser")),
        ("\u{200b}\n\"\"\n...", None),
        ("", None),
    ] {
        let expected = kept.map(|title| Annotation::GeneratedTitle { title: title.to_owned() });
        assert_eq!(Annotation::generated_title(answer).ok(), expected, "{answer:?}");
    }
    let Ok(Annotation::GeneratedTitle { title }) = Annotation::generated_title(&"é".repeat(999)) else { panic!() };
    assert_eq!(title.chars().count(), TITLE_CHARS);
}
