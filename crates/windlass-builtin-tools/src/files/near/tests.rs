use proptest::prelude::*;

use super::*;

const FILE: &str =
    "fn main() {\n\tlet name = \"caf\u{e9}\";\n\tprintln!(\"hello {name}\");\n}\n\nfn other() {\n    let x = 1;\n}\n";

#[test]
fn the_difference_is_named() {
    for (old, expected) in [
        ("    let name = \"caf\u{e9}\";", "blanks (the file has tabs, old_string has none)"),
        ("\tlet x = 1;", "blanks (old_string has tabs, the file has none)"),
        ("fn other() {\n  let x = 1;\n}", "indentation"),
        ("fn other() {  \n    let x = 1;", "blanks at the end of a line"),
        ("let  x=1;", "blanks"),
        ("println!(\u{201C}hello {name}\u{201D});", "quotes, dashes or special blanks"),
        ("let name = \"cafe\u{301}\";", "the Unicode form"),
        ("FN MAIN() {", "upper and lower case"),
        ("1\tfn main() {\n2\t\tlet name", "line numbers"),
        ("    let x = 1;\\n}", "backslash escapes"),
        ("fn other() {\r\n    let x = 1;\r\n}", "other line breaks"),
        ("caf\u{FFFD}", "U+FFFD"),
        ("completely unrelated zebra", "Nothing similar"),
    ] {
        let hint = hint(FILE.as_bytes(), old);
        assert!(hint.contains(expected), "{old:?}: {hint}");
    }
}

#[test]
fn the_place_is_quoted_with_its_lines() {
    let hint = hint(FILE.as_bytes(), "fn other() {\n  let x = 1;\n}");
    assert!(hint.contains("at lines 6-8"), "{hint}");
    assert!(hint.contains("\n6\tfn other() {\n7\t    let x = 1;\n8\t}\n"), "{hint}");
}

#[test]
fn the_first_differing_line_is_shown() {
    let hint = hint(FILE.as_bytes(), "fn main() {\n\tlet name = \"caf\u{e9}\";\n\tprintln!(\"bye {name}\");\n}");
    assert!(hint.contains("at lines 1-4"), "{hint}");
    assert!(hint.contains("The first line that differs is 3"), "{hint}");
    let hint = super::hint(FILE.as_bytes(), "println!(\"hallo {nam}\");");
    assert!(hint.contains("at line 3:"), "{hint}");
}

#[test]
fn long_and_large_inputs_are_bounded() {
    let file = format!("{}\n{}", "é".repeat(5_000_000), "x".repeat(1_000_000));
    let hint = hint(file.as_bytes(), &"é x\n".repeat(10_000));
    assert!(hint.len() < 5_000, "{}", hint.len());
}

proptest! {
    #[test]
    fn any_input_has_a_hint(text in "[a-c\t \n\u{e9}“\\\\]{0,60}", old in "[a-c\t \n\u{e9}\"\\\\n0-9]{1,20}") {
        prop_assert!(!hint(text.as_bytes(), &old).is_empty());
    }
}
