//! Commands that work on whole trees: what they move, copy, give another name or follow.

use crate::path::as_written;
use crate::views;
use std::iter;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use windlass_shell::{Analysis, Classification, Effect, FoundCommand, PathRole, SimpleCommand, Word};
use windlass_types::path::joined;

/// A tree that a command puts somewhere else with the links in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Copy {
    /// Where it is, as written.
    pub(crate) source: PathBuf,
    /// The target of the command, as written: what is in the tree may come to lie there.
    target: Rc<Path>,
    /// The tree in the target, if that is a directory.
    inside: Option<PathBuf>,
    /// Whether it is gone from its place then.
    pub(crate) moves: bool,
}

impl Copy {
    /// Where what is in the tree may come to lie, as written.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &Path> {
        iter::once(&*self.target).chain(self.inside.as_deref())
    }
}

/// The program that a command runs, behind programs that run another.
pub(crate) fn program_behind(words: &[Word]) -> &str {
    let Some(first) = words.first().and_then(|word| word.as_literal()) else { return "" };
    let first = first.rsplit('/').next().unwrap_or(first);
    if !matches!(first, "command" | "env" | "nice" | "nohup" | "stdbuf" | "sudo" | "time" | "timeout") {
        return first;
    }
    let skipped = |word: &&Word| {
        let text = word.text();
        !text.starts_with('-') && !text.contains('=') && !text.starts_with(|c: char| c.is_ascii_digit())
    };
    let behind = words.iter().skip(1).find(skipped).and_then(Word::as_literal);
    behind.map_or(first, |text| text.rsplit('/').next().unwrap_or(text))
}

/// Whether a command moves or removes its operands, or gives them another name or other rights, with all that is
/// below them.
pub(crate) fn handles_whole(words: &[Word]) -> bool {
    match program_behind(words) {
        "chattr" | "chgrp" | "chmod" | "chown" | "ln" | "mv" | "rename" | "rm" | "rmdir" | "setfacl" | "shred" => true,
        "git" => matches!(views::subcommand(words), Some("mv" | "rm")),
        _ => false,
    }
}

/// Whether a text runs a program on names that another one lists.
pub(crate) fn runs_on_names(analysis: &Analysis) -> bool {
    let text = |command: &FoundCommand| command.words().iter().any(|word| word.text().ends_with("xargs"));
    analysis.found().iter().any(text)
}

/// Whether a command lists names below its operands for another program: one that it runs, or one behind a pipe.
pub(crate) fn hands_on(words: &[Word], piped: bool) -> bool {
    let lists = matches!(program_behind(words), "find" | "fd" | "fdfind" | "ls" | "tree");
    lists && (piped || words.iter().any(|word| ["-exec", "-ok", "-x", "-X"].iter().any(|o| word.text().starts_with(o))))
}

/// Whether a program of the read-only table goes below the directories it is given through the links in them.
pub(crate) fn follows_links(words: &[Word]) -> bool {
    program_behind(words) == "diff" && !words.iter().any(|word| word.text() == "--no-dereference")
}

/// The trees that `mv`, and `cp` with options that keep links, put somewhere else.
pub(crate) fn copies(command: &SimpleCommand, class: &Classification, base: &Path) -> Vec<Copy> {
    let program = program_behind(command.words());
    let moves = program == "mv";
    if class.effect != Effect::FileChange || !(moves || (program == "cp" && keeps_links(command.words()))) {
        return Vec::new();
    }
    // The target comes first among what is written.
    let Some(target) = class.writes.first().map(|operand| as_written(base, Path::new(&operand.path))) else {
        return Vec::new();
    };
    let target: Rc<Path> = target.into();
    let sources = class.reads.iter().filter(|operand| operand.role == PathRole::Operand);
    sources
        .map(|source| {
            let path = source.path.trim_end_matches('/');
            let name = path.rsplit('/').next().unwrap_or(path);
            let inside = (!matches!(name, "" | "." | "..")).then(|| joined(&target, Path::new(name)));
            Copy { source: as_written(base, Path::new(&source.path)), target: Rc::clone(&target), inside, moves }
        })
        .collect()
}

/// Whether a `cp` copies links as links.
fn keeps_links(words: &[Word]) -> bool {
    words.iter().map(Word::text).filter_map(|word| word.strip_prefix('-')).any(|option| {
        match option.strip_prefix('-') {
            Some(long) => ["a", "l", "no-d", "p", "r", "s"].iter().any(|start| long.starts_with(start)),
            None => option.contains(['a', 'd', 'l', 'P', 'r', 'R', 's']),
        }
    })
}
