//! From the words of a command to the commands it runs.

use super::handed::Handed;
use super::{reader::ScriptReader, wrappers};
use crate::command::Redirect;
use crate::reason::Undecided;
use crate::word::{Word, WordKind, WordPiece, base_name};
use std::borrow::Cow;

const MAX_WRAPPERS: usize = 24;
const MAX_SUFFIXES: usize = 24;
const MAX_ALTERNATIVES: usize = 64;
const MAX_BRACE_PIECES: usize = 256;

impl ScriptReader<'_, '_> {
    /// Records the command and all that it runs. Returns true if a shell in it reads its script from its input.
    pub(super) fn emit(&mut self, words: &[Word], redirects: Vec<Redirect>, wrapped: usize) -> bool {
        if wrapped > MAX_WRAPPERS {
            self.undecided(Undecided::TooLarge);
            return false;
        }
        if self.sink.word_fuel < words.len() {
            self.sink.word_fuel = 0;
            self.undecided(Undecided::TooLarge);
            return false;
        }
        let words = self.expand_braces(words);
        let first = words.first().cloned();
        if !self.sink.push(&words, redirects) {
            return false;
        }
        let Some(first) = first else {
            return false;
        };
        let Some(program) = first.as_literal() else {
            self.undecided(Undecided::Program);
            // `$EMPTY rm x` runs `rm x`.
            return first.kind() == WordKind::Dynamic && self.suffixes(&words, wrapped);
        };
        if self.is_replaced(&first) {
            self.undecided(Undecided::Program);
        }
        let program = wrappers::usual_name(base_name(program));
        let args = words.get(1..).unwrap_or_default();
        self.carried(program, &words, wrapped);
        self.run(program, args, wrapped)
    }

    fn run(&mut self, program: &str, args: &[Word], wrapped: usize) -> bool {
        if wrappers::SHELLS.contains(&program) {
            return self.shell(args);
        }
        match program {
            "eval" => self.script_of(args),
            "set" => {
                let options = args.iter().take_while(|arg| arg.text().starts_with(['-', '+']) && arg.text() != "--");
                let behind = args.get(options.count()..).unwrap_or_default();
                let is_end = behind.first().is_some_and(|arg| arg.text() == "--");
                self.note_arguments(1, behind.get(usize::from(is_end)..).unwrap_or_default());
            }
            "trap" => {
                let script = args.iter().find(|a| !matches!(a.text(), "--" | "-p" | "-l"));
                self.script_of(script.map(std::slice::from_ref).unwrap_or_default());
            }
            "alias" | "enable" | "hash" | "shopt" | "unalias" => self.definitions(args),
            "source" | "." => {
                if args.first().is_none_or(|a| !a.is_literal() || a.text().starts_with("/dev/")) {
                    self.undecided(Undecided::Input);
                }
            }
            "bind" if !args.is_empty() => self.undecided(Undecided::Definition),
            "mapfile" | "readarray" | "complete" | "compgen" => {
                self.named(args);
                for arg in args {
                    self.script_of(std::slice::from_ref(arg));
                }
            }
            "let" | "test" | "[" | "declare" | "typeset" | "local" | "export" | "readonly" | "printf" | "read"
            | "unset" => self.on_variables(program, args),
            "getopts" => self.named(args),
            "find" | "gfind" | "fd" | "fdfind" => self.find(args, wrapped),
            _ => return self.wrapper(program, args, wrapped),
        }
        false
    }

    /// Handles commands that give names another meaning.
    fn definitions(&mut self, args: &[Word]) {
        let harmless =
            args.iter().all(|a| matches!(a.text(), "-r" | "-p" | "-l" | "nullglob" | "globstar" | "-s" | "-u"));
        if !harmless {
            self.undecided(Undecided::Definition);
        }
        for arg in args {
            if let Some((_, script)) = arg.text().split_once('=') {
                self.nested_script(script);
            }
        }
    }

    /// Handles builtins that set or compare variables: their arguments may contain expansions of their own.
    fn on_variables(&mut self, program: &str, args: &[Word]) {
        for arg in args {
            self.nested_expansions_of_literal(arg);
        }
        match program {
            "declare" | "typeset" | "local" | "export" | "readonly" => self.declared(args),
            "printf" if args.first().is_some_and(|arg| arg.text().starts_with("-v")) => {
                if let Some(name) = args.get(1).map(|name| name.text().to_owned()) {
                    for value in args.iter().skip(2) {
                        self.note_element(&Word::literal(&format!("{name}=")), value);
                    }
                }
                self.named(args.get(..2).unwrap_or(args));
            }
            "read" => self.named(args),
            "unset" => self.removed(args),
            "let" => args.iter().for_each(|arg| self.assigned(arg)),
            _ => {}
        }
    }

    fn wrapper(&mut self, program: &str, args: &[Word], wrapped: usize) -> bool {
        if wrappers::is_loose(program) {
            let has_script = args.iter().any(|arg| arg.text().starts_with("-c") || arg.text().starts_with("--command"));
            return self.loose_wrapper(args, wrapped) || (program == "su" && !has_script);
        }
        let Some(wrapper) = wrappers::find(program) else {
            return false;
        };
        let mut rest = args;
        let mut positionals = wrapper.positionals;
        while let Some((word, tail)) = rest.split_first() {
            if !word.is_literal() && !word.cannot_be_option() {
                return self.suffixes(rest, wrapped);
            }
            match wrapper.part(word.text()) {
                wrappers::WrapperPart::UnknownOption => return self.suffixes(rest, wrapped),
                wrappers::WrapperPart::End => rest = tail,
                wrappers::WrapperPart::Option => {
                    if self.option_script(program, word.text(), tail) {
                        return false;
                    }
                    self.option_directory(program, word, tail);
                    rest = tail;
                }
                wrappers::WrapperPart::OptionWithValue => {
                    if self.option_script(program, word.text(), tail) {
                        return false;
                    }
                    self.option_directory(program, word, tail);
                    rest = tail.get(1..).unwrap_or_default();
                }
                wrappers::WrapperPart::Word if wrapper.assignments && word.text().contains('=') => {
                    self.assigned(word);
                    rest = tail;
                }
                wrappers::WrapperPart::Word if positionals > 0 => {
                    positionals = positionals.saturating_sub(1);
                    rest = tail;
                }
                wrappers::WrapperPart::Word => break,
            }
        }
        if rest.is_empty() {
            self.is_missing(Undecided::Program);
            // `sudo -s` starts a shell.
            return matches!(program, "sudo" | "doas") && args.iter().any(starts_shell);
        }
        if program == "xargs" {
            let options = args.len().checked_sub(rest.len()).and_then(|end| args.get(..end)).unwrap_or_default();
            return self.emit_handed(rest, Handed::by_xargs(options), wrapped.saturating_add(1));
        }
        if matches!(program, "watch" | "flock") {
            // The words, joined, are a shell's script.
            self.script_of(rest);
        }
        self.emit(rest, Vec::new(), wrapped.saturating_add(1))
    }

    /// Records an option of a wrapper that changes the directory of its command, as a change of the directory before
    /// it.
    fn option_directory(&mut self, program: &str, option: &Word, tail: &[Word]) {
        let (long, short) = match program {
            "env" => ("--chdir", "-C"),
            "sudo" => ("--chdir", "-D"),
            _ => return,
        };
        let text = option.text();
        let attached = match text.split_once('=') {
            Some((name, value)) if name.len() > 3 && long.starts_with(name) => Some(value),
            _ => text.strip_prefix(short),
        };
        let is_long = text.len() > 3 && long.starts_with(text);
        let directory = match attached {
            Some(value) if !value.is_empty() && option.is_literal() => Word::literal(value),
            Some("") => tail.first().cloned().unwrap_or_else(|| Word::literal("")),
            None if is_long => tail.first().cloned().unwrap_or_else(|| Word::literal("")),
            None => return,
            Some(_) => option.clone(),
        };
        self.sink.push(&[Word::literal("cd"), directory], Vec::new());
    }

    /// Handles a program that runs another one somewhere among its arguments.
    fn loose_wrapper(&mut self, args: &[Word], wrapped: usize) -> bool {
        for arg in args {
            // `su -c 'script'`, `script -c 'script'`, `tmux new 'script'`.
            if arg.text().contains([' ', ';', '|', '&', '\n']) {
                self.nested_script(arg.text());
            }
        }
        self.suffixes(args, wrapped)
    }

    /// Handles options of wrappers with a script or a command line, to which the words after them belong. Returns
    /// `true` for such an option.
    fn option_script(&mut self, program: &str, option: &str, tail: &[Word]) -> bool {
        let (long, short) = match program {
            "env" => ("--split-string", 'S'),
            "flock" => ("--command", 'c'),
            _ => return false,
        };
        let attached = match option.strip_prefix("--") {
            // Abbreviations match too.
            Some(_) => match option.split_once('=') {
                Some((name, value)) if long.starts_with(name) => value,
                None if long.starts_with(option) => "",
                _ => return false,
            },
            None => match option.split_once(short) {
                Some((_, value)) => value,
                None => return false,
            },
        };
        let mut words = Vec::new();
        if !attached.is_empty() {
            words.push(Word::literal(attached));
        }
        words.extend_from_slice(tail);
        self.script_of(&words);
        true
    }

    /// Reads the words, joined by blanks, as a script.
    fn script_of(&mut self, words: &[Word]) {
        if words.iter().any(|w| !w.is_literal() || self.is_replaced(w)) {
            self.undecided(Undecided::Script);
        }
        if words.is_empty() || self.sink.char_fuel == 0 {
            return;
        }
        let script: Vec<&str> = words.iter().map(Word::text).collect();
        self.nested_script(&script.join(" "));
    }

    fn shell(&mut self, args: &[Word]) -> bool {
        let mut rest = args;
        let (mut has_script, mut reads_input) = (false, false);
        while let Some((word, tail)) = rest.split_first() {
            let text = word.text();
            if !word.is_literal() && !word.cannot_be_option() {
                self.undecided(Undecided::Script);
                self.scripts_among(rest);
                return false;
            }
            // A `+` alone is one that changes nothing.
            let is_option = text.starts_with('+') || (text.starts_with('-') && text.len() > 1);
            if !is_option || text == "--" {
                if text == "--" || text == "-" {
                    rest = tail;
                }
                break;
            }
            if text.starts_with('-') && !text.starts_with("--") && text.contains('i') {
                // The shell reads start-up files, which may give names another meaning.
                self.undecided(Undecided::Definition);
            }
            if text.starts_with('-') && !text.starts_with("--") {
                has_script |= text.contains('c');
                reads_input |= text.contains('s');
            }
            let takes_value =
                matches!(text, "--rcfile" | "--init-file") || (!text.starts_with("--") && text.ends_with(['o', 'O']));
            if matches!(text, "--rcfile" | "--init-file") {
                self.undecided(Undecided::Script);
            }
            rest = if takes_value { tail.get(1..).unwrap_or_default() } else { tail };
        }
        match rest.split_first() {
            Some((script, arguments)) if has_script => {
                let values = self.sink.values.len();
                self.note_arguments(0, arguments);
                self.script_of(std::slice::from_ref(script));
                self.sink.values.truncate(values);
                // The order of option values and script differs among shells.
                self.scripts_among(args);
                false
            }
            Some((file, _)) => {
                // Of the script that it reads; the first word is one of them.
                if reads_input {
                    self.note_arguments(1, rest);
                }
                let given = args.iter().any(|a| a.text() == "-s");
                file.text().starts_with("/dev/") || !file.is_literal() || reads_input || given
            }
            None if has_script => {
                self.is_missing(Undecided::Script);
                false
            }
            None => !args.iter().any(|a| matches!(a.text(), "--version" | "--help")),
        }
    }

    fn scripts_among(&mut self, words: &[Word]) {
        for word in words.iter().filter(|w| w.text().contains([' ', ';', '|', '&', '\n'])) {
            self.nested_script(word.text());
        }
    }

    /// Records the commands of `find -exec` and `fd -x`.
    fn find(&mut self, args: &[Word], wrapped: usize) {
        let mut rest = args;
        while let Some((word, tail)) = rest.split_first() {
            rest = tail;
            let starts = matches!(
                word.text(),
                "-exec" | "-execdir" | "-ok" | "-okdir" | "-x" | "-X" | "--exec" | "--exec-batch"
            );
            if starts {
                let length = tail.iter().position(|w| matches!(w.text(), ";" | "+")).unwrap_or(tail.len());
                let (command, after) = tail.split_at_checked(length).unwrap_or((tail, &[]));
                self.emit_handed(command, Handed::by_find(), wrapped.saturating_add(1));
                rest = after;
            }
        }
    }

    /// Records a possible command from each word on.
    pub(super) fn suffixes(&mut self, words: &[Word], wrapped: usize) -> bool {
        if words.len() > MAX_SUFFIXES || wrapped.saturating_mul(8) > MAX_WRAPPERS {
            self.undecided(Undecided::TooLarge);
        }
        // A pattern may match the name of any program, whatever it begins with.
        if words.iter().any(|word| !word.is_literal()) {
            self.undecided(Undecided::Program);
        }
        let mut reads_script = false;
        for (start, program) in words.iter().enumerate().take(MAX_SUFFIXES) {
            if !program.is_literal() || program.text().starts_with('-') {
                continue;
            }
            let suffix = words.get(start..).unwrap_or_default();
            if !self.sink.push(suffix, Vec::new()) {
                return true;
            }
            reads_script |= self.suffix(base_name(program.text()), suffix, wrapped.saturating_add(8));
        }
        reads_script
    }

    /// Emits the command that the words of another one run. Wrappers need no check of their own except for their
    /// options: each of their words is checked as well.
    fn suffix(&mut self, program: &str, words: &[Word], wrapped: usize) -> bool {
        let args = words.get(1..).unwrap_or_default();
        self.carried(program, words, wrapped);
        if wrappers::SHELLS.contains(&program) {
            return self.shell(args);
        }
        match program {
            "eval" => self.script_of(args),
            "find" => self.find(args, wrapped),
            "env" | "flock" => {
                let mut options = args.iter().enumerate().filter(|(_, arg)| arg.text().starts_with('-'));
                options.any(|(at, option)| {
                    let tail = args.get(at.saturating_add(1)..).unwrap_or_default();
                    self.option_script(program, option.text(), tail)
                });
            }
            _ => {}
        }
        false
    }

    pub(super) fn expand_braces<'w>(&mut self, words: &'w [Word]) -> Cow<'w, [Word]> {
        let has_braces = |word: &Word| word.pieces().contains(&WordPiece::Brace('{'));
        if !words.iter().any(has_braces) {
            return Cow::Borrowed(words);
        }
        let mut expanded = Vec::with_capacity(words.len());
        for word in words {
            if has_braces(word) {
                if word.pieces().len() > MAX_BRACE_PIECES || !expand_word(word, &mut expanded) {
                    self.undecided(Undecided::TooLarge);
                    expanded.push(word.clone());
                }
            } else {
                expanded.push(word.clone());
            }
        }
        Cow::Owned(expanded)
    }
}

/// Returns `true` for the options by which `sudo` and `doas` start a shell.
fn starts_shell(option: &Word) -> bool {
    let text = option.text();
    match text.strip_prefix("--") {
        Some(long) => !long.is_empty() && ["login", "shell"].iter().any(|name| name.starts_with(long)),
        None => text.starts_with('-') && text.contains(['i', 's']),
    }
}

/// Adds the words that brace expansion makes of a word; returns `false` if there are too many.
fn expand_word(word: &Word, out: &mut Vec<Word>) -> bool {
    let mut waiting = vec![word.pieces().to_vec()];
    let mut steps = 0usize;
    while let Some(pieces) = waiting.pop() {
        steps = steps.saturating_add(1);
        if steps > MAX_ALTERNATIVES {
            return false;
        }
        match first_group(&pieces) {
            Some(group) => waiting.extend(group.into_iter().rev()),
            // `{,rm} x` runs `rm x`: nothing without quotes is no word.
            None if pieces.is_empty() => {}
            None => out.push(Word::from_pieces(word.source().to_owned(), pieces)),
        }
    }
    true
}

/// Returns the words one brace group makes, the group being the first with a comma or a range; `None` without one.
fn first_group(pieces: &[WordPiece]) -> Option<Vec<Vec<WordPiece>>> {
    let opens = pieces.iter().enumerate().filter(|(_, p)| **p == WordPiece::Brace('{')).map(|(i, _)| i);
    for open in opens {
        let mut depth = 0usize;
        let mut commas = vec![open];
        for (index, piece) in pieces.iter().enumerate().skip(open) {
            match piece {
                WordPiece::Brace('{') => depth = depth.saturating_add(1),
                WordPiece::Brace(',') if depth == 1 => commas.push(index),
                WordPiece::Brace('}') => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                commas.push(index);
                if let Some(words) = group_words(pieces, &commas) {
                    return Some(words);
                }
                break;
            }
        }
    }
    None
}

fn group_words(pieces: &[WordPiece], marks: &[usize]) -> Option<Vec<Vec<WordPiece>>> {
    let (open, close) = (*marks.first()?, *marks.last()?);
    let before = pieces.get(..open)?;
    let after = pieces.get(close.saturating_add(1)..)?;
    let join = |middle: &[WordPiece]| [before, middle, after].concat();
    if marks.len() == 2 {
        let inner = pieces.get(open.saturating_add(1)..close)?;
        let is_range = inner.iter().any(|p| matches!(p, WordPiece::Text { text, .. } if text.contains("..")));
        return is_range.then(|| vec![join(&[WordPiece::Unknown])]);
    }
    let parts = marks.iter().zip(marks.iter().skip(1));
    parts.map(|(from, to)| pieces.get(from.saturating_add(1)..*to).map(join)).collect()
}
