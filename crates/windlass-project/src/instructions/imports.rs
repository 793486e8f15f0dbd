//! The imports in a Markdown text: `@docs/style.md`.

use std::path::{Path, PathBuf};
use windlass_types::path::normalized;

/// Maximum number of imports of one file.
const MAX_IMPORTS: usize = 64;
/// Maximum length of an import's name, in bytes.
const MAX_NAME_BYTES: usize = 1_024;

/// Returns the imports of a text, as written, each once. Imports in code spans and fenced code blocks are ignored.
pub(crate) fn imports(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut fence: Option<(char, usize)> = None;
    // Number of backticks that end the code span begun on an earlier line of the paragraph.
    let mut span = None;
    for line in text.lines() {
        match (fence, fence_of(line)) {
            (Some((marker, length)), Some(ending)) if ending.0 == marker && ending.1 >= length && ending.2 => {
                fence = None
            }
            (Some(_), _) => {}
            (None, Some((marker, length, _))) => (fence, span) = (Some((marker, length)), None),
            (None, None) if line.trim().is_empty() => span = None,
            (None, None) => scan_line(line, &mut span, &mut found),
        }
    }
    found.truncate(MAX_IMPORTS);
    found
}

/// Returns the character and the length of the fence on a line, and `true` if the line has no other words.
pub(crate) fn fence_of(line: &str) -> Option<(char, usize, bool)> {
    let text = line.trim_start();
    if line.len().saturating_sub(text.len()) > 3 {
        return None;
    }
    let marker = text.chars().next().filter(|first| matches!(first, '`' | '~'))?;
    let rest = text.trim_start_matches(marker);
    let length = text.len().saturating_sub(rest.len());
    // Backticks after a fence of backticks make it a span of code in a line.
    (length >= 3 && !(marker == '`' && rest.contains('`'))).then(|| (marker, length, rest.trim().is_empty()))
}

fn scan_line(line: &str, span: &mut Option<usize>, found: &mut Vec<String>) {
    let mut rest = line;
    let mut previous = ' ';
    while let Some(next) = rest.chars().next() {
        if next == '`' {
            let after = rest.trim_start_matches('`');
            let ticks = rest.len().saturating_sub(after.len());
            *span = match *span {
                Some(open) if open == ticks => None,
                Some(open) => Some(open),
                None => Some(ticks),
            };
            rest = after;
        } else if next == '@' && span.is_none() && (previous.is_whitespace() || previous == '(') {
            let (name, after) = name_of(rest.get(1..).unwrap_or_default());
            if !name.is_empty() && name.len() <= MAX_NAME_BYTES && !found.contains(&name) {
                found.push(name);
            }
            rest = after;
        } else {
            rest = rest.get(next.len_utf8()..).unwrap_or_default();
        }
        previous = next;
    }
}

/// Returns the name at the beginning of a text, and the rest. A blank behind a backslash is part of the name.
fn name_of(text: &str) -> (String, &str) {
    let mut name = String::new();
    let mut end = text.len();
    let mut letters = text.char_indices().peekable();
    while let Some((position, c)) = letters.next() {
        if c == '\\' && letters.next_if(|(_, next)| *next == ' ').is_some() {
            name.push(' ');
        } else if c.is_whitespace() || matches!(c, '`' | '@') {
            end = position;
            break;
        } else {
            name.push(c);
        }
    }
    let name = name.split('#').next().unwrap_or_default();
    let name = name.trim_end_matches(['.', ',', ';', ':', '!', '?', ')', ']', '"', '\'', '*', '_']);
    (name.to_owned(), text.get(end..).unwrap_or_default())
}

/// Returns the path that an import in a folder's file leads to. `None` if the home directory is not known.
pub(crate) fn target(name: &str, folder: &Path, home: Option<&Path>) -> Option<PathBuf> {
    match name.strip_prefix("~/") {
        Some(below) => home.map(|home| normalized(&home.join(below))),
        None => Some(normalized(&folder.join(name))),
    }
}

/// Returns `true` if a name looks like that of a file, not like a word that begins with `@`.
pub(crate) fn names_a_file(name: &str) -> bool {
    let is_path = name.starts_with("./") || name.starts_with("../") || name.starts_with("~/") || name.starts_with('/');
    let last = name.rsplit('/').next().unwrap_or_default();
    is_path || last.rsplit_once('.').is_some_and(|(stem, ending)| !stem.is_empty() && !ending.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_behind_an_at_sign_are_imports() {
        let text = "See @README.md, @docs/style.md and (@./a/b.txt).\n- @~/mine.md\n@/etc/x.md#part\n@with\\ blank.md";
        assert_eq!(
            imports(text),
            ["README.md", "docs/style.md", "./a/b.txt", "~/mine.md", "/etc/x.md", "with blank.md"]
        );
        assert_eq!(imports("mail me@example.com, @, @@x, a@b"), [""; 0]);
        assert_eq!(imports("@a.md @a.md\n@a.md"), ["a.md"]);
    }

    #[test]
    fn code_holds_no_imports() {
        let text = "`@a.md` ``x ` @b.md`` @c.md\n```\n@d.md\n~~~\n@e.md\n```\n@f.md\n~~~~ md\n@g.md\n~~~\n~~~~\n@h.md\n\
                    a ` @i.md\n still @j.md ` @k.md\n open ` @l.md\n\n@m.md";
        assert_eq!(imports(text), ["c.md", "f.md", "h.md", "k.md", "m.md"]);
        // A fence that is not closed lasts to the end.
        assert_eq!(imports("@a.md\n```\n@b.md\n\n@c.md"), ["a.md"]);
        assert_eq!(imports("```not a fence``` @a.md"), ["a.md"]);
    }

    #[test]
    fn imports_lead_from_the_folder_of_their_file() {
        let at = |name| target(name, Path::new("/w/docs"), Some(Path::new("/home/u")));
        assert_eq!(at("a.md"), Some("/w/docs/a.md".into()));
        assert_eq!(at("../../x/a.md"), Some("/x/a.md".into()));
        assert_eq!(at("~/a.md"), Some("/home/u/a.md".into()));
        assert_eq!(at("/a/../b.md"), Some("/b.md".into()));
        assert_eq!(target("~/a.md", Path::new("/w"), None), None);
        assert!(names_a_file("a.md") && names_a_file("../a") && names_a_file("docs/a.txt"));
        assert!(!names_a_file("types/node") && !names_a_file("alice") && !names_a_file(".hidden"));
    }

    proptest! {
        #[test]
        fn any_text_is_read_within_bounds(text in "(@|`|~|[a-z./\\\\ #]|\n|é|\\PC){0,200}") {
            let found = imports(&text);
            prop_assert!(found.len() <= MAX_IMPORTS);
            for name in &found {
                prop_assert!(!name.is_empty() && !name.contains(['\n', '`']));
            }
            // Fenced as a whole, the text has no imports.
            let fence = "~".repeat(210);
            prop_assert_eq!(imports(&format!("{fence}\n{text}\n{fence}")), Vec::<String>::new());
        }
    }
}
