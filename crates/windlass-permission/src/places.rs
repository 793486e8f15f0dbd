//! Possible directories of a text's commands, and the paths that their words may name from there.

use crate::pattern::is_wild;
use crate::programs::{self, BuildContexts};
use crate::spec::Spec;
use crate::transfer::{
    Copied, Copy, follows_links, handed_name, handles_whole, hands_on, hands_on_to_print, hands_on_to_write,
    runs_on_names,
};
use crate::usage::Usage;
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_shell::{
    Analysis, Directories, FoundCommand, OutputKind, ProcessPath, Redirect, RedirectKind, Word, WordKind, both_ways,
};

/// With more directories than this that commands may run in, they are not followed.
const MAX_BASES: usize = 8;
/// Maximum number of paths followed when commands may run in several directories.
const MAX_PATHS: usize = 2048;

/// Possible directories of a text's commands.
pub(crate) struct Places<'a> {
    pub(crate) bases: Vec<PathBuf>,
    /// `true` if the commands may also run in other directories.
    elsewhere: bool,
    /// `true` if there are too many directories for the paths of the text: then no relative path is followed.
    pub(crate) lost: bool,
    home: Option<&'a Path>,
    /// `true` if a program runs others on names that it reads.
    piped: bool,
    /// `true` if a program may read another program from its input.
    takes_code: bool,
    /// `true` if one of the commands may change files.
    pub(crate) writes: bool,
    /// `true` if a program that runs on names which it reads may print the files.
    pub(crate) prints: bool,
}

impl<'a> Places<'a> {
    pub(crate) fn new(analysis: &Analysis, cwd: &Path, home: Option<&'a Path>) -> Self {
        let piped = runs_on_names(analysis);
        let reads =
            |program: &str| program == "xargs" || programs::only_reads(program) || programs::takes_no_files(program);
        let writes = piped && !analysis.found().iter().all(|command| command.program().is_some_and(reads));
        let lists = |program: &str| program == "xargs" || !programs::may_print(program);
        let prints = piped && !analysis.found().iter().all(|command| command.program().is_some_and(lists));
        let bases = vec![cwd.to_path_buf()];
        let takes_code = analysis.found().iter().any(programs::may_take_code);
        let mut places = Self { bases, elsewhere: false, lost: false, home, piped, takes_code, writes, prints };
        match analysis.directories(cwd) {
            Directories::Followed(all) => all.iter().flatten().for_each(|directory| places.add(directory)),
            Directories::TooMany => places.lost = true,
            _ => places.follow_each(analysis, cwd),
        }
        let words = || analysis.found().iter().map(|command| command.words().len()).sum::<usize>();
        places.lost |= places.bases.len() > 1 && words().saturating_mul(places.bases.len()) > MAX_PATHS;
        places
    }

    fn add(&mut self, directory: &Path) {
        if !self.bases.iter().any(|base| base == directory) {
            self.bases.push(directory.to_path_buf());
        }
    }

    /// Adds where each change of the directory leads: from the start, and behind all those before it.
    fn follow_each(&mut self, analysis: &Analysis, cwd: &Path) {
        let mut last = vec![cwd.to_path_buf()];
        for command in analysis.found().iter().filter(|c| matches!(c.program(), Some("cd" | "pushd"))) {
            match command.words().iter().skip(1).find(|word| !word.text().starts_with('-')) {
                Some(word) if word.is_literal() && self.bases.len() >= MAX_BASES => self.lost = true,
                Some(word) if word.is_literal() => {
                    let directory = Path::new(word.text());
                    last = last.iter().flat_map(|last| both_ways(last, directory)).take(MAX_BASES).collect();
                    last.iter().chain(&both_ways(cwd, directory)).for_each(|base| self.add(base));
                }
                _ => self.elsewhere = true,
            }
        }
    }

    /// Appends every argument and redirection of a command that could be a path.
    pub(crate) fn found_specs(&self, command: &FoundCommand, specs: &mut Vec<Spec>) {
        let program = command.program().unwrap_or_default();
        for redirect in command.redirects().iter().filter(|r| !r.is_harmless()) {
            self.redirect_spec(redirect, specs);
        }
        if programs::takes_no_files(program) {
            return;
        }
        let reader = programs::only_reads(program) || programs::is_reading_git(command.words());
        let file_program = reader || programs::works_on_files(program);
        let tree = programs::takes_trees(program, command.words());
        let handles = handles_whole(command.words());
        let hands_on = hands_on(command.words(), self.piped);
        let follows = (tree || hands_on) && follows_links(command.words());
        let template = |mut spec: Spec| {
            spec.usage.read = !programs::only_removes(program);
            spec.usage.write = !reader;
            spec.usage.tree = tree;
            spec.usage.moves = program == "mv";
            spec.usage.handles = handles;
            spec.usage.hands_on = hands_on;
            spec.usage.follows = follows;
            spec.usage.loose = !file_program && !handles;
            spec
        };
        let mut operands = 0_usize;
        for word in command.words().iter().skip(1) {
            let text = word.text();
            let value = text.split_once('=').map(|(_, value)| value).filter(|value| !value.is_empty());
            let is_option = text.starts_with('-') && word.kind() != WordKind::Glob;
            if is_option && value.is_none() {
                // `-fsecrets/key`: the value may be attached to a letter.
                let attached = text.get(2..).filter(|value| !text.starts_with("--") && value.len() > 1);
                let found = attached.into_iter().flat_map(|value| self.word_specs(word, value, false)).map(template);
                specs
                    .extend(found.map(|spec| Spec { usage: Usage { guess: true, loose: true, ..spec.usage }, ..spec }));
                continue;
            }
            operands = operands.saturating_add(1);
            let texts = value.into_iter().chain((!is_option).then_some(text));
            for text in texts.flat_map(|text| iter::once(text).chain(named_within(program, text))) {
                specs.extend(self.word_specs(word, text, file_program).into_iter().map(template));
            }
        }
        if operands < 2 && programs::searches_here(program) && tree {
            specs.extend(self.bases.iter().map(|base| template(Spec::new(base, Path::new("")))));
        }
        self.context_specs(command, specs);
        let hands_on_to_write = hands_on && hands_on_to_write(command.words(), self.writes);
        // The set of changed or printed files below is unknown.
        if hands_on_to_write || programs::deletes(program, command.words()) {
            let changed = Usage { write: true, tree: true, loose: true, ..Usage::default() };
            self.start_specs(command, changed, specs);
        }
        if hands_on && hands_on_to_print(command.words(), self.prints) {
            let before = specs.len();
            self.start_specs(command, Usage { read: true, prints: true, ..Usage::default() }, specs);
            let named = handed_name(command.words());
            specs.iter_mut().skip(before).for_each(|spec| spec.named.clone_from(&named));
        }
        self.output_specs(command, specs);
    }

    /// The directories that a builder of images reads whole.
    fn context_specs(&self, command: &FoundCommand, specs: &mut Vec<Spec>) {
        let usage = Usage { read: true, tree: true, ..Usage::default() };
        match programs::build_contexts(command) {
            Some(BuildContexts::Here) => {
                specs.extend(self.bases.iter().map(|base| Spec { usage, ..Spec::new(base, Path::new("")) }));
            }
            Some(BuildContexts::Named(contexts)) => {
                let found = contexts.into_iter().flat_map(|context| self.word_specs(context, context.text(), false));
                specs.extend(found.map(|spec| Spec { usage, ..spec }));
            }
            None => {}
        }
    }

    /// Appends names in texts that a line hands to a program which takes names or code from its input.
    pub(crate) fn handed_specs(&self, command: &FoundCommand, specs: &mut Vec<Spec>) {
        if !(self.piped || self.takes_code) {
            return;
        }
        let usage = Usage { read: true, loose: true, guess: !self.piped, ..Usage::default() };
        let is_printer = matches!(command.program(), Some("echo" | "printf"));
        let printed = command.words().iter().skip(1).filter(|_| is_printer);
        let inline = command.redirects().iter().filter(|redirect| redirect.kind == RedirectKind::Inline);
        for word in printed.chain(inline.map(|redirect| &redirect.target)) {
            let names = word.text().split(|c: char| c.is_whitespace() || "\"'`|(),;=<>\\[]{}".contains(c));
            let found = names.filter(|name| !name.is_empty()).flat_map(|name| self.word_specs(word, name, false));
            specs.extend(found.map(|spec| Spec { usage, ..spec }));
        }
    }

    /// Appends the starting points of a command that lists names: its operands, else each directory in which it may
    /// run.
    fn start_specs(&self, command: &FoundCommand, usage: Usage, specs: &mut Vec<Spec>) {
        let starts = programs::starts(command.program().unwrap_or_default(), command.words());
        if starts.is_empty() {
            specs.extend(self.bases.iter().map(|base| Spec { usage, ..Spec::new(base, Path::new("")) }));
        }
        for start in starts {
            let found = self.word_specs(start, start.text(), true);
            specs.extend(found.into_iter().map(|spec| Spec { usage, ..spec }));
        }
    }

    /// Appends the trees that a command copies, as far as its words name them.
    pub(crate) fn found_copies(&self, command: &FoundCommand, copies: &mut Vec<Copy>) {
        let Some(Copied { target: (word, text), sources }) = Copied::by(command) else { return };
        let known = |spec: &Spec| !spec.unknown;
        let targets = self.word_specs(word, text, true).into_iter().filter(known);
        let targets: Vec<Arc<Path>> = targets.filter(|t| t.pattern.is_none()).map(|t| t.written().into()).collect();
        for source in sources {
            let specs: Vec<Spec> = self.word_specs(source, source.text(), true).into_iter().filter(known).collect();
            // In each directory in which it may run, both are from there.
            let pairs: Vec<(&Spec, &Arc<Path>)> = match specs.len() == targets.len() {
                true => specs.iter().zip(&targets).collect(),
                false => specs.iter().flat_map(|spec| targets.iter().map(move |target| (spec, target))).collect(),
            };
            copies.extend(pairs.into_iter().map(|(spec, target)| Copy::new(spec, source.text(), target, false)));
        }
    }

    /// Appends the paths that a command writes without a redirection, or may take from a part of a word.
    pub(crate) fn output_specs(&self, command: &FoundCommand, specs: &mut Vec<Spec>) {
        let reader = command.program().is_some_and(programs::only_reads) || programs::is_reading_git(command.words());
        let tree = command.program().is_some_and(|program| programs::takes_trees(program, command.words()));
        for output in &command.outputs() {
            let (written, guess) = (output.kind == OutputKind::Written, output.kind == OutputKind::Guess);
            let found = self.word_specs(output.word, &output.path, written);
            let usage = Usage {
                read: !written,
                write: written || !(reader || guess),
                loose: !written,
                guess,
                output: written,
                tree: written && tree,
                ..Usage::default()
            };
            specs.extend(found.into_iter().map(|spec| Spec { usage, ..spec }));
        }
    }

    fn redirect_spec(&self, redirect: &Redirect, specs: &mut Vec<Spec>) {
        let (read, write) = match redirect.kind {
            RedirectKind::Read => (true, false),
            RedirectKind::Write | RedirectKind::Append => (false, true),
            _ => return,
        };
        let found = self.word_specs(&redirect.target, redirect.target.text(), true);
        let usage = Usage { read, write, redirect: true, ..Usage::default() };
        specs.extend(found.into_iter().map(|spec| Spec { usage, ..spec }));
    }

    /// Returns the possible paths of a word. `certain` is `true` if the word is certainly a path, so that an unknown
    /// one matters.
    fn word_specs(&self, word: &Word, text: &str, certain: bool) -> Vec<Spec> {
        let at = |prefixes: [&str; 3]| prefixes.iter().find_map(|prefix| text.strip_prefix(prefix));
        let at_home = at(["~/", "$HOME/", "${HOME}/"]);
        let here = at(["~+/", "$PWD/", "${PWD}/"]).filter(|rest| !rest.contains('$'));
        let spec = |base: &Path| match word.kind() {
            WordKind::Glob => Spec::of_pattern(text, base),
            _ => Spec::new(base, Path::new(text)),
        };
        let dynamic = !matches!(word.kind(), WordKind::Literal | WordKind::Glob);
        let mut specs: Vec<Spec> = match (dynamic, at_home, self.home) {
            (true, Some(rest), Some(home)) if !rest.contains('$') => vec![match is_wild(rest) {
                true => Spec::of_pattern(rest, home),
                false => Spec::new(home, Path::new(rest)),
            }],
            (true, ..) if here.is_some() => {
                let rest = here.unwrap_or_default();
                let of_base = |base: &PathBuf| match is_wild(rest) {
                    true => Spec::of_pattern(rest, base),
                    false => Spec::new(base, Path::new(rest)),
                };
                self.bases.iter().map(of_base).collect()
            }
            (false, _, _) if self.lost && !text.starts_with('/') => {
                let first = self.bases.first().map_or(Path::new("/"), PathBuf::as_path);
                return vec![Spec { unknown: true, lost: true, ..spec(first) }];
            }
            (true, _, _) => {
                vec![Spec { unknown: true, ..spec(self.bases.first().map_or(Path::new("/"), PathBuf::as_path)) }]
            }
            (false, _, _) => self.bases.iter().map(|base| spec(base)).collect(),
        };
        let of_link = |base: &Path, rest: &str| match word.kind() {
            WordKind::Glob => Spec::of_pattern(rest, base),
            _ => Spec::new(base, Path::new(rest)),
        };
        match ProcessPath::parse(text).filter(|_| !dynamic) {
            Some(ProcessPath::Working(rest)) => specs.extend(self.bases.iter().map(|base| of_link(base, &rest))),
            Some(ProcessPath::Root(rest)) => specs.push(of_link(Path::new("/"), &rest)),
            None => {}
        }
        if self.elsewhere && !text.starts_with('/') {
            specs.extend(specs.first().cloned().map(|spec| Spec { unknown: true, ..spec }));
        }
        if !certain {
            specs.retain(|spec| !spec.unknown);
        }
        specs
    }
}

/// Returns the file of `@FILE`, `<FILE` and `file://FILE`, as programs that send files take it; `curl` takes
/// `NAME@FILE` too.
fn named_within<'a>(program: &str, text: &'a str) -> Option<&'a str> {
    let named = || text.split_once('@').filter(|_| program == "curl" && !text.contains("://")).map(|(_, file)| file);
    let sent = text.strip_prefix(['@', '<']).and_then(|name| name.split(';').next()).or_else(named);
    let path = sent.or_else(|| text.strip_prefix("file://").map(|path| path.strip_prefix("localhost").unwrap_or(path)));
    path.filter(|path| !path.is_empty())
}
