//! Exit codes that report a result and not a failure, such as that of a `grep` without matches.

/// Meaning of exit code 1 of a command, if it is an answer and not a failure: nothing found, files differ, condition
/// false. `None` unless every command that may have set the exit code is of this kind.
pub(super) fn of_exit(command: &str, code: i32) -> Option<&'static str> {
    if code != 1 {
        return None;
    }
    let mut meaning = None;
    for deciding in deciding_commands(command)? {
        match meaning_of_one(deciding) {
            Some(found) => meaning = meaning.or(Some(found)),
            None => return None,
        }
    }
    meaning
}

fn meaning_of_one(command: &str) -> Option<&'static str> {
    let mut words = command.split_whitespace().skip_while(|word| is_assignment(word));
    let program = words.next()?;
    let name = program.rsplit('/').next()?;
    match name {
        "grep" | "egrep" | "fgrep" | "zgrep" | "rg" | "pgrep" => Some("nothing matched"),
        "find" => Some("some directories could not be read"),
        "diff" | "cmp" => Some("the files differ"),
        "test" | "[" | "[[" => Some("the condition is false"),
        "git" => match words.next()? {
            "grep" => Some("nothing matched"),
            "diff" => Some("the files differ"),
            _ => None,
        },
        _ => None,
    }
}

fn is_assignment(word: &str) -> bool {
    word.split_once('=').is_some_and(|(name, _)| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    })
}

/// Simple commands that may have set the exit code of the whole; `None` if the text is more than a flat list.
fn deciding_commands(text: &str) -> Option<Vec<&str>> {
    let mut deciding = Vec::new();
    let mut start = 0;
    let mut chars = text.char_indices().peekable();
    let mut quote = None;
    let trimmed = |from: usize, to: usize| text.get(from..to).map(str::trim);
    while let Some((index, c)) = chars.next() {
        let next = chars.peek().map(|(_, c)| *c);
        match (quote, c) {
            (Some('\''), '\'') | (Some('"'), '"') => quote = None,
            (Some('\''), _) => {}
            (_, '\\') => {
                chars.next();
            }
            // Commands inside commands: not flat.
            (_, '`') => return None,
            (_, '$') if next == Some('(') => return None,
            (None, '$') if next == Some('\'') => return None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '(' | ')' | '{' | '}') => return None,
            (None, '<') if matches!(next, Some('<' | '(')) => return None,
            (None, '#') if text.get(..index).is_some_and(|before| before.ends_with(char::is_whitespace)) => {
                return None;
            }
            (None, '>' | '<') if next == Some('&') => {
                chars.next();
            }
            (None, '&' | '|') if next == Some(c) => {
                deciding.push(trimmed(start, index)?);
                chars.next();
                start = index + 2;
            }
            (None, '&') if next == Some('>') => {}
            (None, '|') => start = index + 1,
            (None, ';' | '\n' | '&') => {
                // The last command decides alone.
                let rest = trimmed(index + 1, text.len())?;
                if !rest.is_empty() {
                    deciding.clear();
                    start = index + 1;
                } else {
                    deciding.push(trimmed(start, index)?);
                    return (c != '&').then_some(deciding);
                }
            }
            (None, _) => {}
        }
    }
    deciding.push(trimmed(start, text.len())?);
    quote.is_none().then_some(deciding)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exit_one_is_an_answer_only_of_commands_that_answer() {
        let cases = [
            ("grep x f", Some("nothing matched")),
            ("/usr/bin/grep x f", Some("nothing matched")),
            ("LC_ALL=C grep x f", Some("nothing matched")),
            ("cat f | grep x", Some("nothing matched")),
            ("cat f | grep 'a|b;c'", Some("nothing matched")),
            ("cargo build 2>&1 | rg \"error; &&\"", Some("nothing matched")),
            ("cd a; diff b c", Some("the files differ")),
            ("diff b c\n", Some("the files differ")),
            ("git diff --quiet", Some("the files differ")),
            ("test -f x", Some("the condition is false")),
            ("[ -f x ] && grep y x", Some("the condition is false")),
            ("find / -name x", Some("some directories could not be read")),
            ("grep x f &>/dev/null", Some("nothing matched")),
            ("make && grep x f", None),
            ("grep x f | wc -l | false", None),
            ("grep x f; false", None),
            ("make", None),
            ("! grep x f", None),
            ("git commit", None),
            ("(grep x f)", None),
            ("grep x $(make)", None),
            ("grep x \"$(make)\"", None),
            ("grep x f &", None),
            ("cat <<E | grep x\nE", None),
            ("bash -c 'grep x f'", None),
            ("", None),
        ];
        for (command, expected) in cases {
            assert_eq!(of_exit(command, 1), expected, "{command}");
            assert_eq!(of_exit(command, 2), None, "{command}");
            assert_eq!(of_exit(command, 0), None, "{command}");
        }
    }
}
