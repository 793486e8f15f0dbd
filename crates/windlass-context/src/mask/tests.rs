use super::*;
use proptest::prelude::*;

/// Returns a key that no scanner of this repository takes for a real one.
fn key() -> String {
    format!("sk-{}-api03-abcdefghij0123456789", "ant")
}

fn in_pieces(masks: &Masks, text: &str, cuts: &[usize]) -> String {
    let mut stream = masks.stream();
    let (mut out, mut from) = (String::new(), 0);
    for cut in cuts.iter().copied().chain([text.len()]) {
        let cut = boundary(text, cut.clamp(from, text.len())).max(from);
        out.push_str(&stream.push(text.get(from..cut).unwrap()));
        from = cut;
    }
    out.push_str(&stream.finish());
    out
}

#[test]
fn what_looks_like_a_secret_is_masked() {
    let masks = Masks::new();
    let key = key();
    let token = format!("gh{}_{}", "p", "a1B2c3D4e5F6g7H8i9J0k1");
    for (text, expected) in [
        (format!("use {token} to push"), "use [redacted] to push"),
        (format!("x-api-key:{key}"), "x-api-key:[redacted]"),
        (format!("{{\"error\":\"bad {key}\"}}"), "{\"error\":\"bad [redacted]\"}"),
        (format!("https://h/?key={key}&x=1"), "https://h/?key=[redacted]&x=1"),
        ("Authorization: Bearer abcdef0123456789".to_owned(), "Authorization: Bearer [redacted]"),
        (
            "https://h/x?a=1&key=hunter2hunter2&b=monkey=12345678".to_owned(),
            "https://h/x?a=1&key=[redacted]&b=monkey=12345678",
        ),
        ("password = \"hunter2hunter2\"".to_owned(), "password = \"[redacted]\""),
        ("DB_PASSWORD=hunter2hunter2 make".to_owned(), "DB_PASSWORD=[redacted] make"),
        ("\"api_key\": \"0123456789abcdef\",".to_owned(), "\"api_key\": \"[redacted]\","),
        ("{\\\"token\\\":\\\"abcdef0123\\\"}".to_owned(), "{\\\"token\\\":\\\"[redacted]\\\"}"),
        ("postgres://app:s3cret@db.example/x".to_owned(), "postgres://app:[redacted]@db.example/x"),
        (
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc=\n-----END RSA PRIVATE KEY-----\nafter".to_owned(),
            "-----BEGIN RSA PRIVATE KEY-----\n[redacted]\n[redacted]\n-----END RSA PRIVATE KEY-----\nafter",
        ),
        (
            "{\"k\":\"-----BEGIN PRIVATE KEY-----\\nMII\\n-----END PRIVATE KEY-----\\n\"} after".to_owned(),
            "{\"k\":\"-----BEGIN PRIVATE KEY-----[redacted]-----END PRIVATE KEY-----\\n\"} after",
        ),
    ] {
        assert_eq!(masks.mask(&text), expected, "{text}");
    }
}

#[test]
fn the_kind_of_a_secret_is_said() {
    for (text, kind) in [
        ("-----BEGIN OPENSSH PRIVATE KEY-----\nabc", SecretKind::PrivateKey),
        (key().as_str(), SecretKind::AccessKey),
        ("AWS: AKIA0123456789ABCDEF", SecretKind::AccessKey),
        ("postgres://app:s3cret@db.example/x", SecretKind::Password),
        ("No: password: hunter2hunter2", SecretKind::Labelled),
        ("token\n=\nabcdef01234", SecretKind::Labelled),
    ] {
        assert_eq!(secret_in(text), Some(kind), "{text}");
    }
}

#[test]
fn plain_texts_stay_as_they_are() {
    for text in [
        "Run `just test`; the token budget is 200000.",
        "The password is kept in 1Password under `staging-db`.",
        "commit 3f786850e387550fdab836ed7e6dc881de23001b broke it",
        "token: $GITHUB_TOKEN, password = <from the vault>",
        "postgres://localhost:5432/app and https://user@host/x and ssh://git@host:22/x",
        "sk-learn-extension-for-tests is a dependency",
        "secret: see vault",
        "The type is `PrivateKey`, in src/private_key.rs: it wraps bytes.",
        "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----",
        "let token = parse(input)?; // a\u{301} — ü\n\n\tend ",
        "",
    ] {
        assert_eq!(Masks::new().mask(text), text);
        assert_eq!(secret_in(text), None, "{text}");
    }
}

#[test]
fn known_values_are_masked_wherever_they_stand() {
    let masks = Masks::new().with_value("Bearer cor\"rect+horse").with_value("short").with_value("");
    assert_eq!(masks.mask("x cor\"rect+horse."), "x [redacted].");
    assert_eq!(masks.mask(r#"{"a":"cor\"rect+horse"}"#), r#"{"a":"[redacted]"}"#);
    assert_eq!(masks.mask("?k=cor%22rect%2Bhorse&b"), "?k=[redacted]&b");
    assert_eq!(masks.mask("a Bearer of short news"), "a [redacted] of short news");
    assert!(!format!("{masks:?}").contains("horse"));
    assert_eq!(Masks::new().with_value("sk-123").mask("key sk-123 is bad"), "key [redacted] is bad");
}

#[test]
fn variables_are_known_by_their_names() {
    let pairs = [
        ("MY_API_KEY", "abcdefgh1"),
        ("PWD", "/work/secret-place"),
        ("SSH_AUTH_SOCK", "/tmp/ssh-agent"),
        ("MAX_TOKEN", "123456789"),
        ("db.password", "hunterhunter"),
        ("KEYBOARD", "english-layout"),
    ];
    let masks = Masks::new().with_environment(pairs);
    let text = "abcdefgh1 /work/secret-place /tmp/ssh-agent 123456789 hunterhunter english-layout";
    assert_eq!(masks.mask(text), "[redacted] /work/secret-place /tmp/ssh-agent 123456789 [redacted] english-layout");
}

#[test]
fn long_words_are_masked_in_windows() {
    let masks = Masks::new().with_value("correct-horse");
    for fill in [65_500, 65_536, 65_540, 57_344, 130_000] {
        let text = format!("{}:correct-horse,{}", "x".repeat(fill), key());
        let masked = masks.mask(&text);
        assert!(!masked.contains("correct-horse") && !masked.contains("0123456789"), "{fill}");
        assert_eq!(in_pieces(&masks, &text, &[10, fill - 3, fill + 4, fill + 20]), masked, "{fill}");
    }
    let endless = format!("{}{}", key(), "a".repeat(200_000));
    assert!(masks.mask(&endless).len() < 100);
}

#[test]
fn the_time_grows_with_the_length() {
    let masks = (0..100).fold(Masks::new(), |masks, at| masks.with_value(&format!("value-{at:03}-{at:03}")));
    for unit in ["sk-ant-", "://a:", "token=", "-----BEGIN ", "value-000-00", "=", "ü", "sk-ant-aaaaaaaaaaaaaaaaaaaaa/"]
    {
        let text = unit.repeat(100_000 / unit.len());
        // Far above the need, far below a quadratic growth.
        assert!(masks.mask(&text).len() <= text.len() * 11);
    }
}

proptest! {
    #[test]
    fn pieces_make_no_difference(
        words in prop::collection::vec(
            prop_oneof![
                "[a-z=:\"'& \\n-]{0,12}",
                Just("correct-horse".to_owned()),
                Just(key()),
                Just("password".to_owned()),
                Just("Bearer abcdefgh1234".to_owned()),
                Just("://u:p4ss@h".to_owned()),
                Just("-----BEGIN PRIVATE KEY-----\nM1\n-----END PRIVATE KEY-----".to_owned()),
                "\\PC{0,6}",
            ],
            0..12,
        ),
        between in prop_oneof![Just(""), Just(" "), Just("\n"), Just("=")],
        mut cuts in prop::collection::vec(0usize..400, 0..10),
    ) {
        cuts.sort_unstable();
        let text = words.join(between);
        let masks = Masks::new().with_value("correct-horse");
        let whole = masks.mask(&text).into_owned();
        prop_assert_eq!(in_pieces(&masks, &text, &cuts), whole.clone());
        prop_assert!(!whole.contains("correct-horse"), "{}", whole);
        let by_char: Vec<usize> = (0..text.len()).collect();
        prop_assert_eq!(in_pieces(&masks, &text, &by_char), whole);
    }
}
