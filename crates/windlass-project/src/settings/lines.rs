//! Line numbers of values in a JSON text.

use std::iter::Peekable;
use std::str::Chars;

/// Returns the line, counted from 1, in which the member at this path of keys and positions begins: for
/// `["permissions", "deny", "0"]` that of the first rule. `None` if the text has no such member, or is no JSON.
///
/// ```
/// use windlass_project::line_of;
///
/// let text = "{\n  \"permissions\": {\n    \"deny\": [\n      \"Read(.env)\"]}}";
/// assert_eq!(line_of(text, &["permissions", "deny"]), Some(3));
/// assert_eq!(line_of(text, &["permissions", "deny", "0"]), Some(4));
/// assert_eq!(line_of(text, &["permissions", "allow"]), None);
/// ```
#[must_use]
pub fn line_of(text: &str, path: &[&str]) -> Option<usize> {
    let mut reader = Reader { rest: text.chars().peekable(), line: 1 };
    reader.find(path)
}

/// Returns the lines in which the rules of a list of the key `permissions` stand, in their order. A rule in an unusual
/// JSON spelling has none.
pub(crate) fn rule_lines(text: &str, list: &str, rules: &[String]) -> Vec<Option<u64>> {
    let Some(start) = line_of(text, &["permissions", list]) else { return vec![None; rules.len()] };
    let mut lines = (1_u64..).zip(text.lines()).skip(start.saturating_sub(1)).peekable();
    let mut find = |rule: &String| {
        let json = serde_json::to_string(rule).ok()?;
        // Several rules may stand on one line, so the search leaves a line only for a later rule.
        let ahead = lines.clone();
        let found = ahead.into_iter().find(|(_, line)| line.contains(&json))?.0;
        while lines.next_if(|(number, _)| *number < found).is_some() {}
        Some(found)
    };
    rules.iter().map(&mut find).collect()
}

struct Reader<'a> {
    rest: Peekable<Chars<'a>>,
    line: usize,
}

impl Reader<'_> {
    fn next(&mut self) -> Option<char> {
        let next = self.rest.next()?;
        self.line = self.line.saturating_add(usize::from(next == '\n'));
        Some(next)
    }

    /// Returns the next character that is no white space, without consuming it.
    fn peek_nonblank(&mut self) -> Option<char> {
        while self.rest.peek().is_some_and(|next| next.is_whitespace()) {
            self.next();
        }
        self.rest.peek().copied()
    }

    fn find(&mut self, path: &[&str]) -> Option<usize> {
        let Some((wanted, deeper)) = path.split_first() else {
            self.peek_nonblank()?;
            return Some(self.line);
        };
        let open = self.peek_nonblank().filter(|open| matches!(open, '{' | '['))?;
        self.next();
        for position in 0_usize.. {
            if matches!(self.peek_nonblank()?, '}' | ']') {
                return None;
            }
            let line = self.line;
            let is_wanted = if open == '{' {
                let key = self.key()?;
                (self.peek_nonblank()? == ':').then_some(())?;
                self.next();
                key == **wanted
            } else {
                wanted.parse() == Ok(position)
            };
            if is_wanted {
                return if deeper.is_empty() { Some(line) } else { self.find(deeper) };
            }
            self.skip()?;
            if self.peek_nonblank()? == ',' {
                self.next();
            }
        }
        None
    }

    /// Reads a text between quotes.
    fn key(&mut self) -> Option<String> {
        (self.peek_nonblank()? == '"').then_some(())?;
        let mut written = String::new();
        written.push(self.next()?);
        loop {
            let next = self.next()?;
            written.push(next);
            match next {
                '\\' => written.push(self.next()?),
                '"' => return serde_json::from_str(&written).ok(),
                _ => {}
            }
        }
    }

    /// Skips a value.
    fn skip(&mut self) -> Option<()> {
        let mut depth = 0_usize;
        loop {
            match self.peek_nonblank()? {
                '"' => drop(self.key()?),
                '{' | '[' => {
                    depth = depth.saturating_add(1);
                    self.next();
                }
                '}' | ']' => {
                    depth = depth.saturating_sub(1);
                    self.next();
                }
                ',' | ':' if depth > 0 => drop(self.next()),
                ',' | ':' => return None,
                _ => self.scalar(),
            }
            if depth == 0 {
                return Some(());
            }
        }
    }

    /// Skips a number, `true`, `false` or `null`.
    fn scalar(&mut self) {
        while self.rest.peek().is_some_and(|next| !next.is_whitespace() && !matches!(next, ',' | ':' | '}' | ']')) {
            self.next();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::line_of;

    #[test]
    fn lines_are_those_of_members_and_items() {
        let text = "\n{\"a\" : 1,\n \"b\":[true,\n {\"c\\u0022\\\"d\"\n:\"x,}\\\\\"}, [\n], null\n, \"last\"],\"a.b\":{}, \"n\":-1.5e3,\n\"z\":0}";
        for (path, expected) in [
            (&[][..], Some(2)),
            (&["a"], Some(2)),
            (&["b"], Some(3)),
            (&["b", "0"], Some(3)),
            (&["b", "1"], Some(4)),
            (&["b", "1", "c\"\"d"], Some(4)),
            (&["b", "2"], Some(5)),
            (&["b", "3"], Some(6)),
            (&["b", "4"], Some(7)),
            (&["b", "5"], None),
            (&["b", "x"], None),
            (&["a.b"], Some(7)),
            (&["z"], Some(8)),
            (&["a", "b"], None),
            (&["y"], None),
        ] {
            assert_eq!(line_of(text, path), expected, "{path:?}");
        }
    }

    #[test]
    fn what_is_no_json_has_no_lines_or_some_but_always_ends() {
        for text in [
            "",
            "{",
            "{\"a\"",
            "{\"a\":",
            "{\"a\":\"",
            "{\"b\":\"\\",
            "[[[[",
            "{,}",
            "{\"b\":}",
            "{:",
            "]",
            "{\"b\" 1,\"a\":2}",
            "{\"b\":1:2,\"a\":1}",
        ] {
            let _ = line_of(text, &["a"]);
            assert_eq!(line_of(text, &["a", "0", "b"]), None, "{text}");
        }
    }
}
