//! What a command touches, before links are followed.

use crate::facts::CommandPath;
use crate::path::{as_written, normalize};
use crate::pattern::ShellPattern;
use crate::programs;
use crate::transfer::{Copy, copies, follows_links, handles_whole, hands_on, program_behind, runs_on_names};
use crate::usage::Usage;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use windlass_shell::{
    Analysis, Classification, Connector, DirectoryChange, Effect, FoundCommand, OutputKind, PathOperand, PathRole,
    Redirect, RedirectKind, SimpleCommand, Word, WordKind,
};

/// With more directory changes than this it counts as unknown where a command runs.
const MAX_BASES: usize = 8;

/// A path that a command touches, by its text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Spec {
    /// Absolute, by its text alone. Of a file name pattern, the directory it starts in.
    pub(crate) path: PathBuf,
    /// The same with every `..` still in it, as the system will walk it.
    pub(crate) written: PathBuf,
    /// What the command does with it.
    pub(crate) usage: Usage,
    /// Whether what lies below it goes along, so that somebody has to look.
    pub(crate) carries: bool,
    /// A file name pattern of the shell, from `path` on.
    pub(crate) pattern: Option<String>,
    /// Whether the path is an unknown one, because of an expansion or an unknown directory.
    pub(crate) unknown: bool,
    /// Whether the last name is a pattern that begins with a dot.
    pub(crate) dotted: bool,
}

/// One command of an understood text.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    pub(crate) command: &'a SimpleCommand,
    pub(crate) class: Classification,
    pub(crate) specs: Vec<Spec>,
    /// Whether it runs after a change of directory.
    pub(crate) moved: bool,
    /// Whether its arguments are files, also behind a wrapper.
    pub(crate) on_files: bool,
    /// The trees that it copies or moves with the links in them.
    pub(crate) copies: Vec<Copy>,
    /// Why one of them is not copied or moved without a question.
    pub(crate) unclear_copy: Option<&'static str>,
    /// The number of its pipeline: its parts run beside each other.
    pub(crate) pipeline: usize,
}

/// What the text of a command tells.
#[derive(Debug)]
pub(crate) struct View<'a> {
    /// The allow side: every command, if the text is understood and it is known where each runs.
    pub(crate) parts: Option<Vec<Part<'a>>>,
    /// The deny side: what commands behind wrappers, in scripts or in texts that are not understood touch.
    pub(crate) found: Vec<Spec>,
    /// The directories in which commands may run, as written.
    pub(crate) bases: Vec<PathBuf>,
}

impl<'a> View<'a> {
    pub(crate) fn new(analysis: &'a Analysis, cwd: &Path, home: Option<&Path>) -> Self {
        let places = Places::new(analysis, cwd, home);
        let (parts, clear) = understood_parts(analysis, cwd, &places);
        let mut found = Vec::new();
        for command in analysis.found() {
            let covered = parts.iter().any(|part| part.is_known() && same_words(part.command, command));
            if !covered {
                places.found_specs(command, &mut found);
            }
        }
        if !clear {
            found.extend(parts.iter().flat_map(|part| part.specs.clone()));
        }
        let mut seen = HashSet::new();
        found.retain(|spec| seen.insert(spec.clone()));
        Self { parts: clear.then_some(parts), found, bases: places.bases }
    }

    /// Every path, of both sides.
    pub(crate) fn specs(&self) -> impl Iterator<Item = &Spec> {
        self.parts.iter().flatten().flat_map(|part| &part.specs).chain(&self.found)
    }
}

impl Part<'_> {
    /// Whether it is known what the program does.
    pub(crate) fn is_known(&self) -> bool {
        !matches!(self.class.effect, Effect::Unknown | Effect::Network)
    }

    pub(crate) fn changes_directory(&self) -> bool {
        self.class.effect == Effect::ChangeDirectory
    }
}

/// The paths of a command that the driver resolves for [`CommandFacts::paths`](crate::CommandFacts::paths), in order,
/// each once.
#[must_use]
pub fn command_paths(analysis: &Analysis, cwd: &Path) -> Vec<CommandPath> {
    let mut paths: Vec<CommandPath> = Vec::new();
    let mut known: HashMap<(PathBuf, Option<String>), usize> = HashMap::new();
    let view = View::new(analysis, cwd, None);
    for spec in view.specs().filter(|spec| !spec.unknown) {
        let index = *known.entry((spec.written.clone(), spec.pattern.clone())).or_insert(paths.len());
        if index == paths.len() {
            let pattern = spec.pattern.as_deref().map(ShellPattern::new);
            paths.push(CommandPath { path: spec.written.clone(), write: false, pattern, tree: false });
        }
        if let Some(path) = paths.get_mut(index) {
            path.write |= spec.usage.write;
            path.tree |= spec.usage.follows || spec.carries;
        }
    }
    paths
}

fn same_words(command: &SimpleCommand, found: &FoundCommand) -> bool {
    let (a, b) = (command.words(), found.words());
    a.len() == b.len()
        && a.iter().zip(b).all(|(a, b)| a.text() == b.text() && a.kind() == b.kind())
        && command.redirects().len() == found.redirects().len()
}

/// The commands of an understood text, and whether it is known where each of them runs.
fn understood_parts<'a>(analysis: &'a Analysis, cwd: &Path, places: &Places<'_>) -> (Vec<Part<'a>>, bool) {
    let Ok(understood) = analysis.understood() else { return (Vec::new(), false) };
    let here = vec![cwd.to_path_buf()];
    let (later, clear) = match understood.directory_change() {
        DirectoryChange::None => (here.clone(), true),
        DirectoryChange::Leading { directory, certain } => {
            // The shell leaves a directory by its name, and by where it leads if that fails.
            let mut there = both_ways(cwd, Path::new(&directory));
            if !certain {
                there.push(cwd.to_path_buf());
            }
            (there, true)
        }
        _ => (places.bases.clone(), false),
    };
    let moves = later != here;
    let mut pipeline = 0_usize;
    let piped = runs_on_names(analysis);
    let parts = understood.commands().iter().enumerate().map(|(index, command)| {
        let bases = if index == 0 { &here } else { &later };
        if command.connector() != Connector::Pipe {
            pipeline = pipeline.saturating_add(1);
        }
        let class = command.classify();
        let unknown = matches!(class.effect, Effect::Unknown | Effect::Network);
        let on_files = works_on_files(command, analysis);
        let (mut specs, mut copied) = (Vec::new(), Vec::new());
        for base in bases {
            class_specs(command, &class, base, piped, &mut specs);
            copied.extend(copies(command, &class, base));
            for spec in &mut specs {
                spec.usage.loose = !on_files && !spec.usage.redirect && unknown;
            }
        }
        if unknown {
            for found in analysis.found().iter().filter(|found| runs(command, found)) {
                places.output_specs(found, &mut specs);
            }
        }
        Part {
            command,
            class,
            specs,
            moved: moves && index > 0,
            on_files,
            copies: copied,
            unclear_copy: None,
            pipeline,
        }
    });
    (parts.collect(), clear)
}

/// A directory by its name alone and as the system walks there, where these differ.
fn both_ways(base: &Path, directory: &Path) -> Vec<PathBuf> {
    let (by_name, walked) = (normalize(base, directory), as_written(base, directory));
    if by_name == walked { vec![walked] } else { vec![by_name, walked] }
}

/// Whether a command, or the one behind its wrapper, is a program that works on the files among its arguments.
fn works_on_files(command: &SimpleCommand, analysis: &Analysis) -> bool {
    let files = |program: &str| programs::works_on_files(program) || programs::only_reads(program);
    let inside = |found: &FoundCommand| found.program().is_some_and(files) && runs(command, found);
    command.program().is_some_and(files) || analysis.found().iter().any(inside)
}

/// Whether a found command is this one, or the one behind its wrapper.
fn runs(command: &SimpleCommand, found: &FoundCommand) -> bool {
    let words = command.words();
    let tail = words.len().checked_sub(found.words().len()).and_then(|start| words.get(start..));
    tail.is_some_and(|tail| tail.iter().zip(found.words()).all(|(a, b)| a.text() == b.text()))
}

fn class_specs(command: &SimpleCommand, class: &Classification, base: &Path, piped: bool, specs: &mut Vec<Spec>) {
    let known = !matches!(class.effect, Effect::Unknown | Effect::Network);
    let lists = command.program().is_some_and(programs::only_lists);
    let hands_on = hands_on(command.words(), piped);
    let program = program_behind(command.words());
    let (moves, handles) = (program == "mv", handles_whole(command.words()));
    let follows = known && follows_links(command.words());
    let carries = !copies(command, class, base).is_empty();
    // What git prints of the content of files is found by the views.
    let history = class.effect == Effect::Git;
    for operand in &class.reads {
        let redirect = operand.role == PathRole::Redirect;
        let mut spec = Spec::of_operand(operand, base);
        spec.usage.read = true;
        spec.usage.write = !known && !redirect;
        spec.usage.tree = known && operand.recursive && !lists && !history;
        spec.unknown |= spec.usage.tree && spec.dotted;
        spec.usage.moves = moves;
        spec.usage.handles = handles && !redirect;
        spec.usage.follows = follows && operand.recursive;
        spec.carries = carries && !redirect;
        spec.usage.hands_on = hands_on;
        specs.push(spec);
    }
    for operand in &class.writes {
        let redirect = operand.role == PathRole::Redirect;
        let mut spec = Spec::of_operand(operand, base);
        spec.usage.write = true;
        spec.usage.tree = known && operand.recursive;
        spec.usage.moves = moves;
        spec.usage.handles = handles && !redirect;
        specs.push(spec);
    }
}

impl Spec {
    fn new(base: &Path, path: &Path) -> Self {
        Self {
            path: normalize(base, path),
            written: as_written(base, path),
            usage: Usage::default(),
            carries: false,
            pattern: None,
            unknown: false,
            dotted: false,
        }
    }

    fn of_operand(operand: &PathOperand, base: &Path) -> Self {
        let mut spec = if operand.glob {
            Self::of_pattern(&operand.path, base)
        } else {
            Self::new(base, Path::new(&operand.path))
        };
        spec.usage.redirect = operand.role == PathRole::Redirect;
        spec
    }

    /// A file name pattern: the part before the first name with a wildcard is a path.
    fn of_pattern(text: &str, base: &Path) -> Self {
        let plain: usize = text
            .split_inclusive('/')
            .take_while(|name| name.ends_with('/') && !name.contains(['*', '?', '[', '{', '\\']))
            .map(str::len)
            .sum();
        let (directory, pattern) = text.split_at_checked(plain).unwrap_or(("", text));
        let mut spec = Self::new(base, Path::new(directory));
        let mut names = pattern.split('/').filter(|name| !name.is_empty()).rev();
        let last = names.next();
        // What `..` means after a wildcard is known only to the file system, and `.*` stands for `..` too, unless
        // the shell is a new one: of the last name that matters only where what is below is read.
        spec.unknown = last == Some("..") || names.any(|name| name == ".." || is_dotted(name));
        spec.dotted = last.is_some_and(is_dotted);
        spec.pattern = Some(pattern.to_owned());
        spec
    }
}

/// Whether a name with a wildcard begins with a dot.
fn is_dotted(name: &str) -> bool {
    name.starts_with('.') && name.contains(['*', '?', '['])
}

/// Where the commands of a text may run.
struct Places<'a> {
    bases: Vec<PathBuf>,
    /// Whether they may run somewhere else too.
    elsewhere: bool,
    home: Option<&'a Path>,
    /// Whether a program runs others on names that it reads.
    piped: bool,
}

impl<'a> Places<'a> {
    fn new(analysis: &Analysis, cwd: &Path, home: Option<&'a Path>) -> Self {
        let piped = runs_on_names(analysis);
        let mut places = Self { bases: vec![cwd.to_path_buf()], elsewhere: false, home, piped };
        let mut last = vec![cwd.to_path_buf()];
        for command in analysis.found().iter().filter(|c| matches!(c.program(), Some("cd" | "pushd"))) {
            match command.words().iter().skip(1).find(|word| !word.text().starts_with('-')) {
                Some(word) if word.is_literal() && places.bases.len() < MAX_BASES => {
                    let directory = Path::new(word.text());
                    last = last.iter().flat_map(|last| both_ways(last, directory)).take(MAX_BASES).collect();
                    for base in last.iter().cloned().chain(both_ways(cwd, directory)) {
                        if !places.bases.contains(&base) {
                            places.bases.push(base);
                        }
                    }
                }
                _ => places.elsewhere = true,
            }
        }
        places
    }

    /// Every argument and redirection of a command that could be a path.
    fn found_specs(&self, command: &FoundCommand, specs: &mut Vec<Spec>) {
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
        let template = |mut spec: Spec| {
            spec.usage.read = !programs::only_removes(program);
            spec.usage.write = !reader;
            spec.usage.tree = tree;
            spec.usage.moves = program == "mv";
            spec.usage.handles = handles;
            spec.usage.hands_on = hands_on;
            spec.usage.loose = !file_program && !handles;
            spec
        };
        let mut operands = 0_usize;
        for word in command.words().iter().skip(1) {
            let text = word.text();
            let value = text.split_once('=').map(|(_, value)| value).filter(|value| !value.is_empty());
            if text.starts_with('-') && value.is_none() {
                continue;
            }
            operands = operands.saturating_add(1);
            for text in value.into_iter().chain((!text.starts_with('-')).then_some(text)) {
                specs.extend(self.word_specs(word, text, file_program).into_iter().map(template));
            }
        }
        if operands < 2 && programs::searches_here(program) && tree {
            specs.extend(self.bases.iter().map(|base| template(Spec::new(base, Path::new("")))));
        }
        self.output_specs(command, specs);
    }

    /// What a command writes without a redirection, or may take for a path though it is not a word of its own.
    fn output_specs(&self, command: &FoundCommand, specs: &mut Vec<Spec>) {
        let reader = command.program().is_some_and(programs::only_reads) || programs::is_reading_git(command.words());
        let tree = command.program().is_some_and(|program| programs::takes_trees(program, command.words()));
        for output in command.outputs().iter().filter(|output| output.kind != OutputKind::Guess) {
            let written = output.kind == OutputKind::Written;
            let found = self.word_specs(output.word, &output.path, written);
            let usage = Usage {
                read: !written,
                write: written || !reader,
                loose: !written,
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

    /// `certain`: whether the word is a path for sure, so that not knowing it matters.
    fn word_specs(&self, word: &Word, text: &str, certain: bool) -> Vec<Spec> {
        let at_home = ["~/", "$HOME/", "${HOME}/"].iter().find_map(|prefix| text.strip_prefix(prefix));
        let spec = |base: &Path| match word.kind() {
            WordKind::Glob => Spec::of_pattern(text, base),
            _ => Spec::new(base, Path::new(text)),
        };
        let dynamic = !matches!(word.kind(), WordKind::Literal | WordKind::Glob);
        let mut specs: Vec<Spec> = match (dynamic, at_home, self.home) {
            (true, Some(rest), Some(home)) if !rest.contains('$') => vec![Spec::new(home, Path::new(rest))],
            (true, _, _) => {
                vec![Spec { unknown: true, ..spec(self.bases.first().map_or(Path::new("/"), PathBuf::as_path)) }]
            }
            (false, _, _) => self.bases.iter().map(|base| spec(base)).collect(),
        };
        if self.elsewhere && !text.starts_with('/') {
            specs.extend(specs.first().cloned().map(|spec| Spec { unknown: true, ..spec }));
        }
        if !certain {
            specs.retain(|spec| !spec.unknown);
        }
        specs
    }
}

#[cfg(test)]
mod tests;
