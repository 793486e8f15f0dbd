use super::*;
use proptest::prelude::*;

#[test]
fn keys_are_always_taken_out() {
    for (text, clean) in [
        ("key sk-ant-api03-abcdefghijklmnop end", "key {{KEY}} end"),
        ("Authorization: Bearer abcdefghijklmnopqrst", "Authorization: Bearer {{KEY}}"),
        ("authorization=Basic dXNlcjpwYXNz end", "authorization=Basic {{KEY}} end"),
        ("curl -H 'Bearer 0123456789abcdef'", "curl -H 'Bearer {{KEY}}'"),
        (r#"{\\\"Authorization\\\":\\\"0123456789\\\"}"#, r#"{\\\"Authorization\\\":\\\"{{KEY}}\\\"}"#),
        (r#"{\"x-api-key\": \"abcdefghijklmnop\"}"#, r#"{\"x-api-key\": \"{{KEY}}\"}"#),
        ("X-API-Key=0123456789abcdef", "X-API-Key={{KEY}}"),
        ("AKIAABCDEFGHIJKLMNOP", "{{KEY}}"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "{{KEY}}"),
        // No keys.
        ("task-abcdefghijklmnopqrstuvwxyz", "task-abcdefghijklmnopqrstuvwxyz"),
        ("sk-short", "sk-short"),
        ("bearer understandingsofwords", "bearer understandingsofwords"),
        ("authorization information", "authorization information"),
        ("the bearer of this letter", "the bearer of this letter"),
        ("日本語 sk-", "日本語 sk-"),
    ] {
        assert_eq!(Scrub::new().clean(text), clean);
    }
}

#[test]
fn secrets_and_places_have_their_names() {
    let scrub = Scrub::new().secret("PW", "hunter\"2").place("HOME", "/home/me").place("CWD", "/home/me/x");
    assert_eq!(scrub.clean("hunter\"2 in /home/me/x/y and /home/me/z"), "{{PW}} in {{CWD}}/y and {{HOME}}/z");
    assert_eq!(scrub.clean(r#"{"a":"hunter\"2"}"#), r#"{"a":"{{PW}}"}"#);
    let there = Scrub::new().place("HOME", "C:\\me").secret("PW", "other");
    assert_eq!(there.expand("{{HOME}} {{PW}}"), "C:\\me {{PW}}");
    assert_eq!(there.expand_json(r#"{"a":"{{HOME}}"}"#), r#"{"a":"C:\\me"}"#);
    assert!(!format!("{scrub:?}").contains("hunter"));
}

#[test]
fn an_overlap_leaves_no_part_behind() {
    let scrub = Scrub::new().secret("A", "abcd").secret("B", "cdefg");
    assert_eq!(scrub.clean("xabcdefgy"), "x{{A}}y");
}

#[test]
fn an_empty_value_is_no_secret() {
    assert_eq!(Scrub::new().secret("A", "").place("B", "").clean("abc"), "abc");
}

proptest! {
    #[test]
    fn a_secret_never_survives_however_it_is_split(
        before in "[a-z日 ]{0,8}",
        after in "[a-z日 ]{0,8}",
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let secret = "S3CR日T";
        let scrub = Scrub::new().secret("S", secret);
        let chars: Vec<char> = format!("{before}{secret}{after}").chars().collect();
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(chars.len() + 1)).collect();
        cuts.extend([0, chars.len()]);
        cuts.sort_unstable();
        let mut pieces: Vec<String> = cuts.windows(2).map(|pair| chars[pair[0]..pair[1]].iter().collect()).collect();
        scrub.clean_pieces(&mut pieces);
        prop_assert_eq!(pieces.concat(), format!("{before}{{{{S}}}}{after}"));
        prop_assert_eq!(pieces.iter().filter(|piece| piece.contains("{{S}}")).count(), 1);
    }
}
