//! JSON with comments, as editors write it.

/// Returns the text with comments and commas before a closing bracket replaced by blanks. Strings stay unchanged.
pub(super) fn without_comments(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    // Position of the last comma, as long as only blanks and comments follow it.
    let mut comma: Option<usize> = None;
    while let Some(c) = rest.next() {
        match (c, rest.peek()) {
            ('"', _) => {
                comma = None;
                plain.push('"');
                string(&mut rest, &mut plain);
            }
            ('/', Some('/')) => skip_line(&mut rest, &mut plain),
            ('/', Some('*')) => skip_block(&mut rest, &mut plain),
            (',', _) => {
                comma = Some(plain.len());
                plain.push(',');
            }
            (']' | '}', _) => {
                if let Some(at) = comma.take() {
                    plain.replace_range(at..at.saturating_add(1), " ");
                }
                plain.push(c);
            }
            _ => {
                if !c.is_whitespace() {
                    comma = None;
                }
                plain.push(c);
            }
        }
    }
    plain
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

/// Copies a string whose first quote is copied already.
fn string(rest: &mut Rest<'_>, plain: &mut String) {
    while let Some(c) = rest.next() {
        plain.push(c);
        match c {
            '\\' => plain.extend(rest.next()),
            '"' => return,
            _ => {}
        }
    }
}

fn skip_line(rest: &mut Rest<'_>, plain: &mut String) {
    for c in rest.by_ref() {
        if c == '\n' {
            plain.push('\n');
            return;
        }
    }
}

fn skip_block(rest: &mut Rest<'_>, plain: &mut String) {
    rest.next();
    plain.push(' ');
    let mut last = ' ';
    for c in rest.by_ref() {
        if (last, c) == ('*', '/') {
            return;
        }
        last = c;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_trailing_commas_go_and_strings_stay() {
        let text = "// a\n{\"u\": \"http://x/*y*/\", /* b, } */ \"l\": [1, 2, // c\n ], \"q\": \"\\\"//\",}";
        let read: serde_json::Value = serde_json::from_str(&without_comments(text)).unwrap();
        assert_eq!(read, serde_json::json!({"u": "http://x/*y*/", "l": [1, 2], "q": "\"//"}));
        // Commas that stand alone are still errors, and unterminated tokens end the text.
        for broken in ["[,]x", "{\"a\":1,,}", "/*", "\"\\", "/"] {
            assert!(serde_json::from_str::<serde_json::Value>(&without_comments(broken)).is_err(), "{broken}");
        }
    }
}
