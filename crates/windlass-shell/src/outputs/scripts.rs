//! Names of files in texts that are programs of another language.

use super::output::{Output, OutputKind};
use crate::{Word, scan, texts};

/// Appends the paths that `sed`, `awk` and interpreters write because of texts in their arguments.
pub(super) fn outputs<'w>(program: &str, args: &'w [Word], outputs: &mut Vec<Output<'w>>) {
    let is_sed = matches!(program, "sed" | "gsed");
    let is_awk = matches!(program, "awk" | "gawk" | "mawk" | "nawk");
    if is_sed {
        for (word, text) in sed_scripts(args) {
            outputs.extend(texts::sed_commands(text, &['w', 'W']).map(|path| Output::written(word, path)));
            outputs.extend(
                texts::sed_commands(text, &['r', 'R']).map(|path| Output::new(OutputKind::Argument, word, path)),
            );
            let run = paths(text).filter(|_| texts::sed_may_run(text));
            outputs.extend(run.map(|path| Output::new(OutputKind::Guess, word, path)));
        }
    } else if is_awk {
        for word in args {
            outputs.extend(awk(word.text()).map(|path| Output::written(word, path)));
            outputs.extend(quoted(word.text()).map(|path| Output::new(OutputKind::Argument, word, path)));
            outputs.extend(texts::awk_strings(word.text()).into_iter().filter_map(|string| {
                let kind = if string.is_written { OutputKind::Written } else { OutputKind::Argument };
                is_name(&string.text).then(|| Output::new(kind, word, string.text))
            }));
            outputs.extend(paths(word.text()).map(|path| Output::new(OutputKind::Guess, word, path)));
        }
    } else if scan::has_code(program, args) {
        for word in args {
            let text = word.text();
            if texts::names_files(program) {
                outputs.extend(texts::words(text).map(|path| Output::new(OutputKind::Argument, word, path)));
            }
            outputs.extend(quoted(text).map(|path| Output::new(OutputKind::Argument, word, path)));
            outputs.extend(paths(text).map(|path| Output::new(OutputKind::Guess, word, path)));
        }
    } else if program == "jq" {
        let modules = args.iter().filter(|word| ["import", "include"].iter().any(|name| word.text().contains(name)));
        outputs.extend(
            modules.flat_map(|word| quoted(word.text()).map(|path| Output::new(OutputKind::Argument, word, path))),
        );
    } else if matches!(program, "date" | "gdate" | "find" | "gfind" | "touch" | "gtouch") {
        let zones = args.iter().filter_map(|word| Some((word, texts::zone(word.text())?)));
        outputs.extend(zones.map(|(word, path)| Output::new(OutputKind::Argument, word, path)));
    }
}

/// Returns the texts of `-e`, or else the first operand.
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

/// Returns the texts behind `>` and `>>`.
fn awk(program: &str) -> impl Iterator<Item = &str> {
    program.split('>').skip(1).filter_map(|after| after.trim_start().strip_prefix('"')?.split('"').next())
}

/// Returns texts in quotes.
fn quoted(code: &str) -> impl Iterator<Item = &str> {
    ['"', '\''].into_iter().flat_map(move |quote| code.split(quote).skip(1).step_by(2).filter(|text| is_name(text)))
}

/// Returns `true` if a text may be the name of a file: signs alone, such as `/`, are none.
fn is_name(text: &str) -> bool {
    text.contains(|c: char| c.is_alphanumeric() || c == '_') && !text.contains(['\n', ' '])
}

/// Returns runs of path characters, with a dot or a slash among them. A character behind a backslash is part of a
/// pattern.
fn paths(code: &str) -> impl Iterator<Item = &str> {
    let is_path = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '/' | '~' | '@' | '+' | '-' | '\\');
    let parts = code.split(move |c: char| !is_path(c)).filter_map(|part| part.split('\\').next());
    parts.filter(|part| part.contains('/') || part.starts_with('.'))
}
