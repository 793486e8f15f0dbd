//! Programs in the text of a command: `` !`git status` ``.

use crate::instructions::fence_of;

/// A part of a command's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Segment<'a> {
    /// Plain text.
    Text(&'a str),
    /// A command line for the shell, whose output takes its place.
    Program(&'a str),
}

/// Returns the parts of a text. A program begins a line or follows a blank, and ends in its line. Text in fenced code
/// blocks is never a program.
pub(super) fn segments(text: &str) -> Vec<Segment<'_>> {
    let (mut all, mut fence) = (Vec::new(), None);
    for line in text.split_inclusive('\n') {
        match (fence, fence_of(line.trim_end_matches(['\n', '\r']))) {
            (Some((marker, length)), Some((closing_marker, closing_length, true)))
                if closing_marker == marker && closing_length >= length =>
            {
                fence = None
            }
            (Some(_), _) => {}
            (None, Some((marker, length, _))) => fence = Some((marker, length)),
            (None, None) => {
                split_line(line, &mut all);
                continue;
            }
        }
        all.push(Segment::Text(line));
    }
    all
}

fn split_line<'a>(line: &'a str, all: &mut Vec<Segment<'a>>) {
    let (mut rest, mut search_start) = (line, 0_usize);
    while let Some(position) =
        rest.get(search_start..).and_then(|rest| rest.find("!`")).map(|position| position.saturating_add(search_start))
    {
        let (before, behind) = rest.split_at_checked(position).unwrap_or((rest, ""));
        let inner = behind.strip_prefix("!`").and_then(|behind| behind.split_once('`'));
        let follows_blank = before.chars().next_back().is_none_or(char::is_whitespace);
        match inner.filter(|(program, _)| follows_blank && !program.trim().is_empty()) {
            Some((program, after)) => {
                all.push(Segment::Text(before));
                all.push(Segment::Program(program.trim()));
                (rest, search_start) = (after, 0);
            }
            None => search_start = position.saturating_add(2),
        }
    }
    all.push(Segment::Text(rest));
}

/// Returns the programs of a text, as they are written.
pub(super) fn programs(text: &str) -> Vec<&str> {
    let program = |segment| match segment {
        Segment::Program(program) => Some(program),
        Segment::Text(_) => None,
    };
    segments(text).into_iter().filter_map(program).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn programs_stand_alone() {
        for (text, expected) in [
            ("!`git status`", vec!["git status"]),
            ("Now: !`a` and !`b $1`.\n!`c`", vec!["a", "b $1", "c"]),
            ("x!`a` (!`b`) `!`c", vec![]),
            (r"\!`a` ! `b` !`` !` ` !`open", vec![]),
            ("!`a\nb`", vec![]),
            ("```\n!`a`\n```\n!`b`\n~~~sh\n!`c`\n```\n~~~\n!`d`", vec!["b", "d"]),
            ("é!`a` 日 !`日`", vec!["日"]),
        ] {
            assert_eq!(programs(text), expected, "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn no_word_is_lost(text in "[!`\\\\a~ \né]{0,60}") {
            let mut whole = String::new();
            for segment in segments(&text) {
                match segment {
                    Segment::Text(words) => whole.push_str(words),
                    Segment::Program(program) => whole.push_str(&format!("!`{program}`")),
                }
            }
            let blanks_aside = |text: &str| text.replace(' ', "");
            prop_assert_eq!(blanks_aside(&whole), blanks_aside(&text));
        }
    }
}
