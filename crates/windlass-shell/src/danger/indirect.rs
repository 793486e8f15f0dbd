//! Removals of what another command names.

use super::target::{OperandTarget, TargetDirectories};
use super::{AllBases, CommandPlaces, NAME_FILTERS, Suspicion, find_start, has_filter, operands};
use crate::scan::is_shell;
use crate::word::{WordPiece, base_name};
use crate::{Analysis, FoundCommand, RedirectKind, Word, WordKind, analyse};

/// Programs that remove or move what they are given.
const REMOVERS: &[&str] = &["mv", "rimraf", "rm", "rmdir", "shred", "srm", "trash", "trash-put", "unlink"];

/// Programs that open up what they are given, with `-R`.
const OPENERS: &[&str] = &["chattr", "chgrp", "chmod", "chown", "setfacl"];

/// Programs that print the names of what their operands hold.
const LISTERS: &[&str] = &["dir", "du", "exa", "eza", "fd", "fdfind", "ls", "pwd", "tree", "vdir"];

/// Programs that choose among lines.
const CHOOSERS: &[&str] = &["awk", "comm", "cut", "egrep", "fgrep", "fzf", "gawk", "grep", "head", "rg", "sed", "tail"];

/// Programs that make commands of what they read, in their own language.
const MAKERS: &[&str] = &["awk", "gawk", "gsed", "mawk", "nawk", "perl", "python", "python3", "ruby", "sed"];

/// Programs that give what they read to variables or to other programs.
const TAKERS: &[&str] = &["mapfile", "parallel", "read", "readarray", "xargs"];

/// A removal of what is named elsewhere.
pub(super) fn handed(analysis: &Analysis, places: &TargetDirectories<'_>, bases: &AllBases<'_>) -> Option<Suspicion> {
    let flow = OutputFlow { analysis, places, bases };
    analysis.found().iter().find_map(|command| flow.remover(command))
}

/// Output and removals of the commands of a text.
struct OutputFlow<'a> {
    analysis: &'a Analysis,
    places: &'a TargetDirectories<'a>,
    bases: &'a AllBases<'a>,
}

impl OutputFlow<'_> {
    fn remover(&self, command: &FoundCommand) -> Option<Suspicion> {
        let lister = match command.program()? {
            "xargs" | "parallel" => {
                let recursive = removal_in(command)?;
                self.lister(|other| self.are_joined(command, other), command, recursive)
            }
            "find" | "gfind" => return self.find(command),
            "fd" | "fdfind" => return self.fd(command),
            program if MAKERS.contains(&program) && command.words().iter().skip(1).any(has_remover) => {
                self.lister(|other| self.are_joined(command, other), command, false)
            }
            program if removes(program, command) => {
                let unknown = operands(command).find(|word| self.places.is_unknown(word))?;
                let recursive = is_recursive(command);
                let takes = |other: &&FoundCommand| other.program().is_some_and(|name| TAKERS.contains(&name));
                let taken = self.analysis.found().iter().filter(takes).any(|taker| self.are_joined(command, taker));
                let inside = |other: &FoundCommand| {
                    self.analysis.pipelines().is_inside(other.pipeline(), command.pipeline())
                        || (taken && self.are_joined(command, other))
                };
                self.lister(inside, command, recursive)
                    .or_else(|| self.value(unknown, command, recursive))
                    .or_else(|| self.argument(unknown))
            }
            _ => None,
        }?;
        Some(Suspicion::Handed { remover: command.text(), lister })
    }

    fn are_joined(&self, command: &FoundCommand, other: &FoundCommand) -> bool {
        self.analysis.pipelines().are_joined(command.pipeline(), other.pipeline())
    }

    /// The text of a command, beside the one that removes, that names a whole tree.
    fn lister(
        &self,
        is_source: impl Fn(&FoundCommand) -> bool,
        remover: &FoundCommand,
        recursive: bool,
    ) -> Option<String> {
        let sources =
            || self.analysis.found().iter().filter(|other| !std::ptr::eq(*other, remover) && is_source(other));
        let chooses = |other: &FoundCommand| other.program().is_some_and(|name| CHOOSERS.contains(&name));
        let all_of_cwd = recursive && !sources().any(chooses);
        let own = std::iter::once(remover).find_map(|command| self.inline(command));
        own.or_else(|| sources().find_map(|other| self.names_tree(other, all_of_cwd)))
    }

    /// The text of a command that prints the name or the content of a whole tree.
    fn names_tree(&self, command: &FoundCommand, all_of_cwd: bool) -> Option<String> {
        if let Some(text) = self.inline(command) {
            return Some(text);
        }
        let here = self.here(command);
        let is_tree = |target: &OperandTarget| {
            if target.is_cwd() { all_of_cwd } else { target.is_vital() && !target.is_scratch() }
        };
        let program = command.program()?;
        let is_named = match program {
            "find" | "gfind" => {
                let words = command.words().get(1..).unwrap_or_default();
                !has_filter(words, NAME_FILTERS) && find_start(words, &here, &is_tree).is_some()
            }
            _ if LISTERS.contains(&program) => {
                let whole = |word: &Word| {
                    let targets = here.targets(word, true);
                    targets.iter().any(is_tree) || (all_of_cwd && targets.iter().any(OperandTarget::is_all_of_cwd))
                };
                let mut named = operands(command).peekable();
                match named.peek() {
                    Some(_) => named.any(whole),
                    None => whole(&Word::literal(".")),
                }
            }
            _ if CHOOSERS.contains(&program) || TAKERS.contains(&program) || removes(program, command) => false,
            // Whatever it is: its output may hold its operands, or names made of them.
            _ => {
                let is_vital = |word: &Word| here.targets(word, false).iter().any(|t| t.is_vital() && !t.is_cwd());
                let parent = |text: &str| match program {
                    "dirname" => text.trim_end_matches('/').rsplit_once('/').map(|(above, _)| format!("{above}/")),
                    _ => Some(text.to_owned()),
                };
                operands(command).any(|word| match word.as_literal() {
                    Some(text) => names(text).filter_map(|name| parent(&name)).any(|name| is_vital(&self.word(&name))),
                    None => is_vital(word) || (program == "dirname" && word.text().starts_with('~')),
                })
            }
        };
        is_named.then(|| command.text())
    }

    /// A text that a command gets as its input and that names a tree.
    fn inline(&self, command: &FoundCommand) -> Option<String> {
        let here = self.here(command);
        let inline = command.redirects().iter().filter(|redirect| redirect.kind == RedirectKind::Inline);
        let is_vital = |word: &Word| here.targets(word, false).iter().any(|t| t.is_vital() && !t.is_cwd());
        let mut targets = inline.map(|redirect| &redirect.target);
        let found = targets.find(|target| {
            let literal = target.as_literal().is_some_and(|text| names(text).any(|name| is_vital(&self.word(&name))));
            literal || (!target.is_literal() && is_vital(target))
        })?;
        Some(found.text().to_owned())
    }

    /// `find` whose command is a script that removes, or that removes all that a weak test lets through.
    fn find(&self, command: &FoundCommand) -> Option<Suspicion> {
        let words = command.words().get(1..).unwrap_or_default();
        let removes = words.iter().any(|word| word.text() == "-delete" || has_remover(word));
        // Each alternative needs a test of its own.
        let mut alternatives = words.split(|word| matches!(word.text(), "-o" | "-or" | ","));
        let is_chosen =
            |part: &[Word]| has_filter(part, NAME_FILTERS) || part.iter().any(|word| word.text() == "-empty");
        if !removes || alternatives.all(is_chosen) {
            return None;
        }
        let is_tree = |target: &OperandTarget| target.is_vital() && !target.is_cwd() && !target.is_scratch();
        let start = find_start(words, &self.here(command), &is_tree)?;
        Some(Suspicion::Handed { remover: command.text(), lister: start.source().to_owned() })
    }

    /// `fd PATTERN DIRECTORY… -x rm` with a pattern that every name fits.
    fn fd(&self, command: &FoundCommand) -> Option<Suspicion> {
        let is_exec = |word: &&Word| matches!(word.text(), "-x" | "-X" | "--exec" | "--exec-batch");
        let words = command.words().get(1..).unwrap_or_default();
        let at = words.iter().position(|word| is_exec(&word))?;
        let (own, run) = words.split_at_checked(at)?;
        let fits_all = |word: &Word| matches!(word.text(), "." | "" | "*" | ".*" | "^");
        let mut operands = own.iter().filter(|word| !word.text().starts_with('-'));
        let is_weak = operands.next().is_none_or(fits_all);
        if !is_weak || !run.iter().any(has_remover) {
            return None;
        }
        let here = self.here(command);
        let is_tree =
            |word: &Word| here.targets(word, false).iter().any(|t| t.is_vital() && !t.is_cwd() && !t.is_scratch());
        let start = operands.find(|word| is_tree(word))?;
        Some(Suspicion::Handed { remover: command.text(), lister: start.source().to_owned() })
    }

    /// The command that gives a variable a whole tree: `x=$(ls -d /*)`, `read f <<< /`, `mapfile a < <(find /)`.
    fn value(&self, operand: &Word, remover: &FoundCommand, recursive: bool) -> Option<String> {
        let names: Vec<&str> = operand
            .pieces()
            .iter()
            .filter_map(|piece| match piece {
                WordPiece::Param(name) => Some(name.as_str()),
                _ => None,
            })
            .collect();
        let pipelines = self.analysis.pipelines();
        let assigned = self.analysis.assigned_from().iter().filter(|(name, _)| names.contains(&name.as_str()));
        let by_assignment = assigned.map(|(_, pipeline)| *pipeline).collect::<Vec<_>>();
        let reads = |other: &&FoundCommand| {
            matches!(other.program(), Some("mapfile" | "read" | "readarray"))
                && other.words().iter().skip(1).any(|word| names.contains(&word.text()))
        };
        let readers: Vec<&FoundCommand> = self.analysis.found().iter().filter(reads).collect();
        let by_inline = readers.iter().find_map(|reader| self.inline(reader));
        by_inline.or_else(|| {
            let is_source = |other: &FoundCommand| {
                by_assignment.iter().any(|pipeline| pipelines.is_inside(other.pipeline(), *pipeline))
                    || readers.iter().any(|reader| self.are_joined(reader, other))
            };
            self.lister(is_source, remover, recursive)
        })
    }

    /// A function of the text, or `set`, that is given a whole tree, for a removal of an argument.
    fn argument(&self, operand: &Word) -> Option<String> {
        let is_argument = |piece: &WordPiece| matches!(piece, WordPiece::Param(name) if name.starts_with(|c: char| c.is_ascii_digit() || matches!(c, '@' | '*')));
        // A body may give its argument another name first.
        let functions = self.analysis.functions();
        if functions.is_empty() && !operand.pieces().iter().any(is_argument) {
            return None;
        }
        let called = self.analysis.found().iter().filter(|command| {
            let first = command.words().first().map(Word::text);
            first.is_some_and(|name| functions.iter().any(|function| function == name))
        });
        let gets_tree = |command: &&FoundCommand| {
            let here = self.here(command);
            operands(command).any(|word| here.targets(word, false).iter().any(|t| t.is_vital() && !t.is_cwd()))
        };
        called.into_iter().find(gets_tree).map(FoundCommand::text)
    }

    fn here(&self, command: &FoundCommand) -> CommandPlaces<'_> {
        CommandPlaces { places: self.places, bases: self.bases.of(command) }
    }

    /// A word as the system gets it, or with a tilde that a later shell reads.
    fn word(&self, text: &str) -> Word {
        match text.strip_prefix('~') {
            Some(rest) if rest.is_empty() || rest.starts_with('/') => {
                Word::literal(&format!("{}{rest}", self.places.home()))
            }
            _ => Word::literal(text),
        }
    }
}

/// A shell that gets a script made of a variable, in which `rm -r` has nothing but that variable.
pub(super) fn made_script(analysis: &Analysis) -> Option<Suspicion> {
    analysis.found().iter().find_map(|command| {
        let program = command.program().filter(|program| is_shell(program) || matches!(*program, "eval" | "runuser" | "su"))?;
        let joined: Vec<WordPiece> = command
            .words()
            .iter()
            .skip(1)
            .flat_map(|word| word.pieces().iter().cloned().chain([WordPiece::text(' ', true)]))
            .collect();
        let joined = Word::from_pieces(command.text(), joined);
        let single = command.words().iter().skip(1).cloned();
        let made = single.chain((program == "eval").then_some(joined)).filter(|word| word.kind() == WordKind::Dynamic);
        let is_known =
            |word: &Word| word.pieces().iter().all(|piece| !matches!(piece, WordPiece::Param(_) | WordPiece::Unknown));
        let is_bare = |word: &Word| {
            let parts = word.pieces().iter();
            let is_sign = |piece: &WordPiece| matches!(piece, WordPiece::Text { text, .. } if matches!(text.as_str(), "" | "/" | "/." | "/*" | "\""));
            !is_known(word) && parts.clone().all(|piece| matches!(piece, WordPiece::Param(_) | WordPiece::Unknown) || is_sign(piece))
        };
        made.filter(has_remover).find_map(|word| {
            // The value is put in before the inner shell reads quotes.
            let inner = analyse(&word.text().replace(['\'', '"'], ""));
            let mut removers =
                inner.found().iter().filter(|inner| inner.program() == Some("rm") && is_recursive(inner));
            let target = removers.find_map(|inner| operands(inner).find(|word| is_bare(word)).cloned())?;
            // A value that the text gives is put in, and judged.
            let is_given = || analysis.found().iter().any(|found| given(found, inner.found(), &target));
            (!is_given()).then(|| Suspicion::Script { program: program.to_owned(), target: target.source().to_owned() })
        })
    })
}

/// `true` if a command is one of the script with a value in the place of an operand.
fn given(found: &FoundCommand, script: &[FoundCommand], target: &Word) -> bool {
    script.iter().any(|inner| {
        let (known, own) = (found.words(), inner.words());
        known.len() == own.len()
            && own.iter().any(|word| word.text() == target.text())
            && own.iter().zip(known).all(|(own, known)| own.text() == known.text() || own.text() == target.text())
            && known.iter().all(|word| word.text() != target.text())
    })
}

/// Returns `true` if the command that a program hands names to removes them recursively; `None` if it does not remove.
fn removal_in(command: &FoundCommand) -> Option<bool> {
    let words = command.words().get(1..).unwrap_or_default();
    let recursive = is_recursive(command) || words.iter().any(|word| word.text().contains(" -r"));
    let opens = recursive && words.iter().any(|word| OPENERS.contains(&base_name(word.text())));
    (opens || words.iter().any(has_remover)).then_some(recursive)
}

/// `true` if a word is a program that removes, or a text with one.
fn has_remover(word: &Word) -> bool {
    let mut parts = word.text().split(|c: char| c.is_whitespace() || ";|&(){}`\"'".contains(c));
    parts.any(|part| REMOVERS.contains(&base_name(part)))
}

fn removes(program: &str, command: &FoundCommand) -> bool {
    REMOVERS.contains(&program) || (OPENERS.contains(&program) && is_recursive(command))
}

fn is_recursive(command: &FoundCommand) -> bool {
    super::has_flag(command, ['r', 'R'], "recursive")
}

/// The names in a text, as programs read them that take names from their input.
fn names(text: &str) -> impl Iterator<Item = String> {
    let plain = text.replace("\\0", " ").replace("\\n", " ");
    let parts: Vec<String> = plain.split_whitespace().map(|part| part.trim_matches(['"', '\'']).to_owned()).collect();
    parts.into_iter().filter(|part| !part.is_empty())
}
