//! Patches against an independent model: text in lists of lines, and a search that tries every position.

use proptest::prelude::*;

use crate::files::apply_patch::parse::parse;
use crate::files::apply_patch::patch::FileChange;
use crate::files::apply_patch::place::apply;
use crate::files::charset::TextFormat;

#[derive(Clone, Debug)]
struct Change {
    /// Number of lines kept before and after.
    context: usize,
    at: usize,
    removed: usize,
    added: Vec<String>,
}

fn line() -> impl Strategy<Value = String> {
    prop_oneof![Just("a"), Just("b"), Just("  c"), Just("d e"), Just(""), Just("}"), Just("ä")].prop_map(str::to_owned)
}

/// A file, changes of it that do not touch each other, and the number of kept lines around each.
fn case() -> impl Strategy<Value = (Vec<String>, Vec<Change>)> {
    let lines = proptest::collection::vec(line(), 0..14);
    let change = (0usize..4, 0usize..14, 0usize..3, proptest::collection::vec(line(), 0..3));
    (lines, proptest::collection::vec(change, 1..4)).prop_map(|(lines, changes)| {
        let mut cursor = 0;
        let mut kept = Vec::new();
        for (context, gap, removed, added) in changes {
            let at = cursor + gap % 6;
            let removed = removed.min(lines.len().saturating_sub(at));
            if at > lines.len() || removed == 0 && added.is_empty() {
                continue;
            }
            kept.push(Change { context, at, removed, added });
            // The next hunk begins behind the lines that this one keeps.
            cursor = at + removed + 2 * context + 1;
        }
        (lines, kept)
    })
}

/// The hunks as old lines and new ones.
fn hunks(lines: &[String], changes: &[Change]) -> Vec<(Vec<String>, Vec<String>, String)> {
    let hunk = |change: &Change| {
        let before = change.at.saturating_sub(change.context)..change.at;
        let removed = change.at..change.at + change.removed;
        let after = removed.end..(removed.end + change.context).min(lines.len());
        let (before, removed, after) = (&lines[before], &lines[removed], &lines[after]);
        let text: String = before
            .iter()
            .map(|line| format!(" {line}\n"))
            .chain(removed.iter().map(|line| format!("-{line}\n")))
            .chain(change.added.iter().map(|line| format!("+{line}\n")))
            .chain(after.iter().map(|line| format!(" {line}\n")))
            .collect();
        ([before, removed, after].concat(), [before, &change.added, after].concat(), text)
    };
    changes.iter().map(hunk).collect()
}

/// Result of the hunks; `None` if one has no position, or more than one, after the last.
fn expected(lines: &[String], hunks: &[(Vec<String>, Vec<String>, String)]) -> Option<Vec<String>> {
    let (mut result, mut cursor) = (Vec::new(), 0);
    for (old, new, _) in hunks {
        let places: Vec<usize> = if old.is_empty() {
            if lines.is_empty() { vec![0] } else { Vec::new() }
        } else {
            (cursor..lines.len()).filter(|at| lines[*at..].starts_with(old)).collect()
        };
        let [at] = places[..] else { return None };
        result.extend_from_slice(&lines[cursor..at]);
        result.extend_from_slice(new);
        cursor = at + old.len();
    }
    result.extend_from_slice(&lines[cursor..]);
    Some(result)
}

fn text(lines: &[String], end: &str, ended: bool) -> String {
    let text = lines.join(end);
    if ended && !lines.is_empty() { text + end } else { text }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn a_patch_does_what_the_model_does((lines, changes) in case(), crlf in any::<bool>(), ended in any::<bool>()) {
        prop_assume!(!changes.is_empty());
        // Without a last break an empty last line is none.
        let ended = ended || lines.last().is_none_or(|last| last.is_empty());
        let end = if crlf && lines.len() > 1 { "\r\n" } else { "\n" };
        let file = text(&lines, end, ended);
        let hunks = hunks(&lines, &changes);
        let body: String = hunks.iter().map(|(_, _, text)| format!("@@\n{text}")).collect();
        let patch = format!("*** Begin Patch\n*** Update File: a\n{body}*** End Patch\n");
        let mut files = parse(&patch).unwrap();
        let FileChange::Update { hunks: read, .. } = files.remove(0).change else { panic!("no update") };
        let found = apply(file.as_bytes(), TextFormat::NEW, &read);
        match (expected(&lines, &hunks), found) {
            (Some(new), Ok(found)) => {
                let found = String::from_utf8(found.bytes).unwrap();
                // An empty last line without a break cannot be told from none.
                if ended || new.last().is_some_and(|last| !last.is_empty()) {
                    prop_assert_eq!(found, text(&new, end, ended), "{}", patch);
                }
            }
            (None, Ok(found)) => {
                // Lines without an exact match may match with other blanks.
                prop_assert!(!found.inexact.is_empty(), "{} in {:?}", patch, file);
            }
            (None, Err(_)) => {}
            (Some(_), Err(error)) => prop_assert!(false, "{} in {:?}: {}", patch, file, error),
        }
    }
}
