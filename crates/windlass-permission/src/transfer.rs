//! Commands that work on whole trees: the paths that they move, copy, rename or follow.

use crate::facts::CopyTarget;
use crate::path::as_written;
use crate::programs;
use crate::spec::Spec;
use crate::views;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_shell::{Analysis, Classification, Effect, FoundCommand, PathRole, SimpleCommand, Word};
use windlass_types::path::joined;

/// A tree that a command puts somewhere else with the links in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Copy {
    /// Source path as written. For a file name pattern, its start directory.
    pub(crate) source: PathBuf,
    /// Pattern from the source on, if it is one: each of its matches is a tree then.
    pub(crate) pattern: Option<String>,
    /// Target of the command, as written: the contents of the tree may come to lie there.
    target: Arc<Path>,
    /// The tree in the target, if that is a directory.
    inside: Option<PathBuf>,
    /// `true` if the source is moved, so that it disappears from its place.
    pub(crate) moves: bool,
}

impl Copy {
    /// Returns the possible targets of the tree's contents, as written.
    pub(crate) fn targets(&self) -> impl Iterator<Item = &Path> {
        iter::once(&*self.target).chain(self.inside.as_deref())
    }

    /// Creates a copy to a target, as written.
    pub(crate) fn new(source: &Spec, text: &str, target: &Arc<Path>, moves: bool) -> Self {
        let name = name_in_target(text).filter(|_| source.pattern.is_none());
        Self {
            source: source.written().to_path_buf(),
            pattern: source.pattern.clone(),
            target: Arc::clone(target),
            inside: name.map(|name| joined(target, Path::new(name))),
            moves,
        }
    }

    /// Returns the target, for the driver.
    pub(crate) fn to(&self) -> CopyTarget {
        let keeps_name = match &self.pattern {
            Some(pattern) => name_in_target(pattern).is_some(),
            None => self.inside.is_some(),
        };
        CopyTarget { directory: Arc::clone(&self.target), keeps_name }
    }

    /// Returns the copy of one match of its pattern.
    pub(crate) fn of_match(&self, written: &Path) -> Self {
        let own = written.file_name().filter(|_| self.to().keeps_name);
        Self {
            source: written.to_path_buf(),
            pattern: None,
            target: Arc::clone(&self.target),
            inside: own.map(|name| joined(&self.target, Path::new(name))),
            moves: self.moves,
        }
    }
}

/// Returns the program that a command runs, behind programs that run another.
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

/// Returns `true` if a command moves or removes its operands, or changes their names or permissions, with everything
/// below them.
pub(crate) fn handles_whole(words: &[Word]) -> bool {
    match program_behind(words) {
        "chattr" | "chgrp" | "chmod" | "chown" | "ln" | "mv" | "rename" | "rm" | "rmdir" | "setfacl" | "shred" => true,
        "git" => matches!(views::subcommand(words), Some("mv" | "rm")),
        _ => false,
    }
}

/// Returns `true` if a text runs a program on names that another one lists.
pub(crate) fn runs_on_names(analysis: &Analysis) -> bool {
    let text = |command: &FoundCommand| command.words().iter().any(|word| word.text().ends_with("xargs"));
    analysis.found().iter().any(text)
}

/// Returns `true` if a command lists names below its operands for another program: one that it runs, or one behind a
/// pipe.
pub(crate) fn hands_on(words: &[Word], piped: bool) -> bool {
    let program = program_behind(words);
    let lists = matches!(program, "find" | "fd" | "fdfind" | "ls" | "tree");
    lists && (piped || words.iter().any(|word| programs::runs_another(program, word.text())))
}

/// Returns `true` if a command hands names on to a program that may change the files: behind `-exec` and the like, or
/// `others` behind a pipe.
pub(crate) fn hands_on_to_write(words: &[Word], others: bool) -> bool {
    let program = program_behind(words);
    let mut run = words.iter().map(Word::text).skip_while(|text| !programs::runs_another(program, text));
    match run.nth(1) {
        Some(program) => !programs::only_reads(program.rsplit('/').next().unwrap_or(program)),
        None => others,
    }
}

/// Returns `true` if a command hands names on to a program that may print the files: behind `-exec` and the like, or
/// `others` behind a pipe.
pub(crate) fn hands_on_to_print(words: &[Word], others: bool) -> bool {
    let program = program_behind(words);
    let mut run = words.iter().map(Word::text).skip_while(|text| !programs::runs_another(program, text));
    run.nth(1).map_or(others, programs::may_print)
}

/// Returns the pattern that the names of all files have which a `find` hands on.
pub(crate) fn handed_name(words: &[Word]) -> Option<String> {
    let alternative = |word: &Word| matches!(word.text(), "!" | "(" | ")" | "," | "-not" | "-o" | "-or");
    if program_behind(words) != "find" || words.iter().any(alternative) {
        return None;
    }
    let mut value = words.iter().skip_while(|word| word.text() != "-name").skip(1);
    value.next().and_then(Word::as_literal).map(str::to_owned)
}

/// Returns `true` if a command follows links below the directories among its operands.
pub(crate) fn follows_links(words: &[Word]) -> bool {
    let has = |letters: &[char], longs: &[&str]| {
        words.iter().skip(1).map(Word::text).any(|word| match word.strip_prefix("--") {
            Some(long) => longs.iter().any(|known| !long.is_empty() && known.starts_with(long)),
            None => word.strip_prefix('-').is_some_and(|short| short.contains(letters)),
        })
    };
    match program_behind(words) {
        "diff" => !words.iter().any(|word| word.text() == "--no-dereference"),
        "grep" | "egrep" | "fgrep" => has(&['R'], &["dereference-recursive"]),
        "rg" => has(&['L'], &["follow"]),
        "ag" => has(&['f'], &["follow"]),
        "find" => words.iter().any(|word| matches!(word.text(), "-L" | "-follow")),
        "fd" | "fdfind" => has(&['L'], &["follow"]),
        "cp" => has(&['L'], &["dereference"]),
        "rsync" => has(&['L'], &["copy-links", "copy-unsafe-links"]),
        "tar" => has(&['h'], &["dereference"]) || words.get(1).is_some_and(|word| word.text().contains('h')),
        "zip" => !has(&['y'], &["symlinks"]),
        "scp" => true,
        _ => false,
    }
}

/// Returns the trees that `mv`, and `cp` with options that keep links, put somewhere else.
pub(crate) fn copies(command: &SimpleCommand, class: &Classification, base: &Path) -> Vec<Copy> {
    let program = program_behind(command.words());
    let moves = program == "mv";
    if class.effect != Effect::FileChange || !(moves || (program == "cp" && keeps_links(command.words()))) {
        return Vec::new();
    }
    // The target is the first of the written paths.
    let Some(target) = class.writes.first().map(|operand| as_written(base, Path::new(&operand.path))) else {
        return Vec::new();
    };
    let target: Arc<Path> = target.into();
    let sources = class.reads.iter().filter(|operand| operand.role == PathRole::Operand);
    sources.map(|source| Copy::new(&Spec::of_operand(source, base), &source.path, &target, moves)).collect()
}

/// Operands of a command that copies trees, understood or not.
pub(crate) struct Copied<'a> {
    /// The word that names the target, and the part of it that does.
    pub(crate) target: (&'a Word, &'a str),
    pub(crate) sources: Vec<&'a Word>,
}

impl<'a> Copied<'a> {
    pub(crate) fn by(command: &'a FoundCommand) -> Option<Self> {
        let words = command.words();
        let program = command.program().unwrap_or_default();
        if !(matches!(program, "ditto" | "rsync") || (matches!(program, "cp" | "scp") && keeps_links(words))) {
            return None;
        }
        let (mut target, mut sources, mut is_target) = (None, Vec::new(), false);
        for word in words.iter().skip(1) {
            let text = word.text();
            match Some(text).filter(|_| program == "cp").and_then(target_option) {
                _ if is_target => {
                    target = Some((word, text));
                    is_target = false;
                }
                Some(None) => is_target = true,
                Some(Some(attached)) => target = Some((word, attached)),
                None if !text.starts_with('-') => sources.push(word),
                None => {}
            }
        }
        let target = target.or_else(|| sources.pop().map(|word| (word, word.text())))?;
        Some(Self { target, sources })
    }
}

/// Returns the value that a word gives to the option of `cp` which names the target: `None` if the word is another one,
/// and `Some(None)` if the value is the next word.
fn target_option(text: &str) -> Option<Option<&str>> {
    if let Some(long) = text.strip_prefix("--") {
        let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        return (name.starts_with('t') && "target-directory".starts_with(name)).then_some(value);
    }
    let (_, attached) = text.strip_prefix('-')?.split_once('t')?;
    Some(Some(attached).filter(|attached| !attached.is_empty()))
}

/// Returns the name of the copied entry in a directory. `None` if its contents come to lie there.
fn name_in_target(source: &str) -> Option<&str> {
    let path = source.trim_end_matches('/');
    let name = path.rsplit('/').next().unwrap_or(path);
    (!matches!(name, "" | "." | "..")).then_some(name)
}

/// Returns `true` if a `cp` copies links as links.
fn keeps_links(words: &[Word]) -> bool {
    words.iter().map(Word::text).filter_map(|word| word.strip_prefix('-')).any(|option| {
        match option.strip_prefix('-') {
            Some(long) => ["a", "l", "no-d", "p", "r", "s"].iter().any(|start| long.starts_with(start)),
            None => option.contains(['a', 'd', 'l', 'P', 'r', 'R', 's']),
        }
    })
}
