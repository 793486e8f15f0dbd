use super::*;

#[test]
fn rules_have_two_parts() {
    for (text, tool, specifier) in [
        ("Bash", "Bash", None),
        (" Bash ", "Bash", None),
        ("Bash(*)", "Bash", None),
        ("Bash(npm run:*)", "Bash", Some("npm run:*")),
        ("Bash(echo \\(a\\) \\\\ \\n)", "Bash", Some("echo (a) \\ \\n")),
        ("Bash(echo (a))", "Bash", Some("echo (a)")),
        ("Task(Explore)", "Agent", Some("Explore")),
        ("mcp__srv__*", "mcp__srv__*", None),
        ("*", "*", None),
    ] {
        let rule = parse_rule(text).unwrap();
        assert_eq!((rule.tool(), rule.specifier()), (tool, specifier), "{text}");
        assert_eq!(rule.text(), text.trim());
    }
}

#[test]
fn broken_rules_are_refused_by_name() {
    for text in [
        "",
        "  ",
        "(x)",
        "Bash(",
        "Bash(x",
        "Bash(x) y",
        "Bash(x\\)",
        "Ba sh",
        "Bash)",
        "Bash\u{7}(x)",
        "Bash()",
        "Read( )",
    ] {
        let error = parse_rule(text).unwrap_err();
        assert!(error.to_string().contains("write"), "{error}");
    }
}

#[test]
fn the_text_of_a_rule_reads_back() {
    for content in ["npm test *", "echo (a) \\ )", "a\\(b", "\\\\", "x\\"] {
        let value = RuleValue::new("Bash", content);
        assert_eq!(parse_rule(&rule_text(&value)).unwrap().value(), value);
    }
}

#[test]
fn lists_split_outside_parentheses() {
    assert_eq!(
        split_rules("Read,Bash(git log, x:*) Edit(a b),,  Write"),
        ["Read", "Bash(git log, x:*)", "Edit(a b)", "Write"]
    );
    assert_eq!(split_rules("Bash(echo \\), x) Read"), ["Bash(echo \\), x)", "Read"]);
    assert!(split_rules(" , ").is_empty());
}
