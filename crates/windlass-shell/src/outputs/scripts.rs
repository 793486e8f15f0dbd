//! Names of files in texts that are programs of another language.

use super::output::{Output, OutputKind};
use crate::{Word, scan};

/// What `sed`, `awk` and interpreters write because of texts in their arguments.
pub(super) fn outputs<'w>(program: &str, args: &'w [Word], outputs: &mut Vec<Output<'w>>) {
    let is_sed = matches!(program, "sed" | "gsed");
    let is_awk = matches!(program, "awk" | "gawk" | "mawk" | "nawk");
    if is_sed {
        let scripts = sed_scripts(args);
        outputs.extend(
            scripts.into_iter().flat_map(|(word, text)| sed(text).map(move |path| Output::written(word, path))),
        );
    } else if is_awk {
        for word in args {
            outputs.extend(awk(word.text()).map(|path| Output::written(word, path)));
            outputs.extend(quoted(word.text()).map(|path| Output::new(OutputKind::Argument, word, path)));
        }
    } else if scan::has_code(program, args) {
        for word in args {
            outputs.extend(quoted(word.text()).map(|path| Output::new(OutputKind::Argument, word, path)));
            outputs.extend(paths(word.text()).map(|path| Output::new(OutputKind::Guess, word, path)));
        }
    }
}

/// The texts of `-e`, or else the first operand.
fn sed_scripts(args: &[Word]) -> Vec<(&Word, &str)> {
    let mut given = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        let attached = match word.text().strip_prefix("--") {
            Some(long) => match long.split_once('=') {
                Some((name, text)) => "expression".starts_with(name).then_some(text),
                None => (!long.is_empty() && "expression".starts_with(long)).then_some(""),
            },
            None => word.text().strip_prefix('-').and_then(|bundle| bundle.split_once('e')).map(|(_, text)| text),
        };
        match attached {
            Some("") => given.extend(words.next().map(|next| (next, next.text()))),
            Some(text) => given.push((word, text)),
            None => {}
        }
    }
    if given.is_empty() {
        given.extend(args.iter().find(|word| !word.text().starts_with('-')).map(|word| (word, word.text())));
    }
    given
}

/// What follows a `w` or `W` that may be a command or a flag of a substitution: the rest of the line.
fn sed(script: &str) -> impl Iterator<Item = &str> {
    script.match_indices(['w', 'W']).filter_map(|(at, letter)| {
        let before = script.get(..at)?.chars().next_back();
        let is_name = |c: char| c.is_ascii_alphabetic() && !matches!(c, 'g' | 'p' | 'i' | 'I' | 'm' | 'M' | 'e');
        if before.is_some_and(is_name) {
            return None;
        }
        let after = script.get(at.saturating_add(letter.len())..)?;
        let path = after.split('\n').next()?.trim_start_matches([' ', '\t']);
        (!path.is_empty()).then_some(path)
    })
}

/// The texts behind `>` and `>>`.
fn awk(program: &str) -> impl Iterator<Item = &str> {
    program.split('>').skip(1).filter_map(|after| after.trim_start().strip_prefix('"')?.split('"').next())
}

/// Texts in quotes.
fn quoted(code: &str) -> impl Iterator<Item = &str> {
    ['"', '\''].into_iter().flat_map(move |quote| {
        let is_name = |text: &&str| !text.is_empty() && !text.contains(['\n', ' ']);
        code.split(quote).skip(1).step_by(2).filter(is_name)
    })
}

/// Runs of characters that paths are made of, with a dot or a slash among them. What a backslash precedes is a pattern.
fn paths(code: &str) -> impl Iterator<Item = &str> {
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '/' | '~' | '@' | '+' | '-' | '\\');
    let parts = code.split(move |c: char| !is_path(c)).filter_map(|part| part.split('\\').next());
    parts.filter(|part| part.contains('/') || part.starts_with('.'))
}
