//! Options and operands of git that name files to write.

use super::output::{Output, join, value};
use crate::Word;

/// Options of sub-commands whose value is written: short ones, then long ones.
const OPTIONS: &[(&str, &str, &[&str])] = &[
    ("archive", "o", &["output"]),
    ("bugreport", "o", &["output-directory"]),
    ("checkout-index", "", &["prefix"]),
    ("clone", "", &["separate-git-dir"]),
    ("diagnose", "o", &["output-directory"]),
    ("fast-export", "", &["export-marks"]),
    ("fast-import", "", &["export-marks", "export-pack-edges"]),
    ("format-patch", "o", &["output-directory"]),
    ("index-pack", "o", &[]),
    ("init", "", &["separate-git-dir"]),
    ("mailsplit", "o", &[]),
    ("read-tree", "", &["index-output"]),
    ("apply", "", &["build-fake-ancestor", "directory"]),
    ("am", "", &["directory"]),
];

/// A sub-command of git with its arguments, and where `-C` leads.
struct Subcommand<'w> {
    name: &'w str,
    args: &'w [Word],
    directory: String,
}

impl<'w> Subcommand<'w> {
    fn parse(args: &'w [Word]) -> Option<Self> {
        let mut directory = String::new();
        let mut rest = args;
        loop {
            let (word, tail) = rest.split_first()?;
            rest = tail;
            match word.text() {
                "-C" => {
                    if let Some((given, after)) = tail.split_first() {
                        directory = join(&directory, given.text());
                        rest = after;
                    }
                }
                "-c" | "--attr-source" | "--config-env" | "--git-dir" | "--namespace" | "--shallow-file"
                | "--super-prefix" | "--work-tree" => {
                    rest = tail.get(1..).unwrap_or_default();
                }
                text if text.starts_with('-') => {}
                name => return Some(Self { name, args: rest, directory }),
            }
        }
    }
}

/// Returns the paths that a git command writes without a redirection, by its arguments.
pub(super) fn outputs(args: &[Word]) -> Vec<Output<'_>> {
    let mut outputs = Vec::new();
    let Some(Subcommand { name: subcommand, args: rest, directory }) = Subcommand::parse(args) else { return outputs };
    let (short, long) =
        OPTIONS.iter().find(|(name, ..)| *name == subcommand).map_or(("", &[][..]), |(_, short, long)| (*short, *long));
    // Every sub-command that compares can write its findings. Abbreviations match too.
    let names = |option: &str| "output".starts_with(option) || long.iter().any(|known| known.starts_with(option));
    let mut operands = Vec::new();
    let mut words = rest.iter();
    while let Some(word) = words.next() {
        let text = word.text();
        let next = words.as_slice().first();
        let found = if let Some(option) = text.strip_prefix("--").filter(|option| !option.is_empty()) {
            let (name, attached) = option.split_once('=').map_or((option, None), |(name, path)| (name, Some(path)));
            names(name).then(|| value(word, attached, next)).flatten()
        } else if let Some(bundle) = text.strip_prefix('-').filter(|bundle| !bundle.is_empty()) {
            let option = bundle.char_indices().find(|(_, letter)| short.contains(*letter));
            let attached = option.and_then(|(at, letter)| bundle.get(at.saturating_add(letter.len_utf8())..));
            attached.and_then(|path| value(word, Some(path).filter(|path| !path.is_empty()), next))
        } else {
            operands.push(word);
            None
        };
        if let Some((from, path)) = found {
            if !std::ptr::eq(from, word) {
                words.next();
            }
            outputs.push(Output::written(from, join(&directory, path)));
        }
    }
    let written = match (subcommand, operands.as_slice()) {
        ("bundle" | "worktree", [verb, path, ..]) if matches!(verb.text(), "create" | "add") => Some(*path),
        ("clone", [_, path]) | ("init" | "merge-file", [path, ..]) => Some(*path),
        _ => None,
    };
    outputs.extend(written.map(|word| Output::written(word, join(&directory, word.text()))));
    outputs
}
