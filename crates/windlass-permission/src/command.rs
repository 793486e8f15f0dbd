//! What a command touches, before links are followed.

use crate::CommandPath;
use crate::path::normalize;
use crate::programs;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use windlass_shell::{
    Analysis, Classification, DirectoryChange, Effect, FoundCommand, PathOperand, PathRole, Redirect, RedirectKind,
    SimpleCommand, Word, WordKind,
};

/// With more directory changes than this it counts as unknown where a command runs.
const MAX_BASES: usize = 8;

/// A path that a command touches, by its text.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Spec {
    /// Absolute. Of a file name pattern, the directory it starts in.
    pub(crate) path: PathBuf,
    pub(crate) read: bool,
    pub(crate) write: bool,
    /// Whether what is below the path is touched as well.
    pub(crate) tree: bool,
    /// Whether it goes to or comes from another place as a whole.
    pub(crate) moves: bool,
    /// Whether a redirection names it.
    pub(crate) redirect: bool,
    /// Whether it is just an argument of a program of which nothing is known.
    pub(crate) loose: bool,
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
}

/// What the text of a command tells.
#[derive(Debug)]
pub(crate) struct View<'a> {
    /// The allow side: every command, if the text is understood and it is known where each runs.
    pub(crate) parts: Option<Vec<Part<'a>>>,
    /// The deny side: what commands behind wrappers, in scripts or in texts that are not understood touch.
    pub(crate) found: Vec<Spec>,
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
        Self { parts: clear.then_some(parts), found }
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

pub(crate) fn paths(analysis: &Analysis, cwd: &Path) -> Vec<CommandPath> {
    let mut seen = HashSet::new();
    let view = View::new(analysis, cwd, None);
    let named = view.specs().filter(|spec| !spec.unknown);
    named
        .map(|spec| CommandPath { path: spec.path.clone(), write: spec.write })
        .filter(|path| seen.insert(path.clone()))
        .collect()
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
            let there = normalize(cwd, Path::new(&directory));
            (if certain { vec![there] } else { vec![there, cwd.to_path_buf()] }, true)
        }
        _ => (places.bases.clone(), false),
    };
    let moves = later != here;
    let parts = understood.commands().iter().enumerate().map(|(index, command)| {
        let bases = if index == 0 { &here } else { &later };
        let class = command.classify();
        let unknown = matches!(class.effect, Effect::Unknown | Effect::Network);
        let on_files = works_on_files(command, analysis);
        let mut specs = Vec::new();
        for base in bases {
            class_specs(command, &class, base, &mut specs);
            for spec in &mut specs {
                spec.loose = !on_files && !spec.redirect && unknown;
            }
        }
        Part { command, class, specs, moved: moves && index > 0, on_files }
    });
    (parts.collect(), clear)
}

/// Whether a command, or the one behind its wrapper, is a program that works on the files among its arguments.
fn works_on_files(command: &SimpleCommand, analysis: &Analysis) -> bool {
    let files = |program: &str| programs::works_on_files(program) || programs::only_reads(program);
    let words = command.words();
    let inside = |found: &FoundCommand| {
        let tail = words.len().checked_sub(found.words().len()).and_then(|start| words.get(start..));
        found.program().is_some_and(files)
            && tail.is_some_and(|tail| tail.iter().zip(found.words()).all(|(a, b)| a.text() == b.text()))
    };
    command.program().is_some_and(files) || analysis.found().iter().any(inside)
}

fn class_specs(command: &SimpleCommand, class: &Classification, base: &Path, specs: &mut Vec<Spec>) {
    let known = !matches!(class.effect, Effect::Unknown | Effect::Network);
    let lists = command.program().is_some_and(programs::only_lists);
    let moves = command.program() == Some("mv");
    // What git tells comes from its history, but a search looks into the files.
    let history = class.effect == Effect::Git && !programs::is_git_grep(command.words());
    for operand in &class.reads {
        let redirect = operand.role == PathRole::Redirect;
        let mut spec = Spec::of_operand(operand, base);
        spec.read = true;
        spec.write = !known && !redirect;
        spec.tree = known && operand.recursive && !lists && !history;
        spec.unknown |= spec.tree && spec.dotted;
        spec.moves = moves;
        specs.push(spec);
    }
    specs.extend(
        programs::git_paths(command.words())
            .map(|path| Spec { read: true, ..Spec::new(normalize(base, Path::new(path))) }),
    );
    for operand in &class.writes {
        let mut spec = Spec::of_operand(operand, base);
        spec.write = true;
        spec.tree = known && operand.recursive;
        spec.moves = moves;
        specs.push(spec);
    }
}

impl Spec {
    fn new(path: PathBuf) -> Self {
        Self {
            path,
            read: false,
            write: false,
            tree: false,
            moves: false,
            redirect: false,
            loose: false,
            pattern: None,
            unknown: false,
            dotted: false,
        }
    }

    fn of_operand(operand: &PathOperand, base: &Path) -> Self {
        let mut spec = if operand.glob {
            Self::of_pattern(&operand.path, base)
        } else {
            Self::new(normalize(base, Path::new(&operand.path)))
        };
        spec.redirect = operand.role == PathRole::Redirect;
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
        let mut spec = Self::new(normalize(base, Path::new(directory)));
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
}

impl<'a> Places<'a> {
    fn new(analysis: &Analysis, cwd: &Path, home: Option<&'a Path>) -> Self {
        let mut places = Self { bases: vec![cwd.to_path_buf()], elsewhere: false, home };
        let mut last = cwd.to_path_buf();
        for command in analysis.found().iter().filter(|c| matches!(c.program(), Some("cd" | "pushd"))) {
            match command.words().iter().skip(1).find(|word| !word.text().starts_with('-')) {
                Some(word) if word.is_literal() && places.bases.len() < MAX_BASES => {
                    let directory = Path::new(word.text());
                    last = normalize(&last, directory);
                    for base in [last.clone(), normalize(cwd, directory)] {
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
        let template = |mut spec: Spec| {
            spec.read = !programs::only_removes(program);
            spec.write = !reader;
            spec.tree = tree;
            spec.moves = program == "mv";
            spec.loose = !file_program;
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
        for path in programs::git_paths(command.words()) {
            specs.extend(
                self.bases.iter().map(|base| Spec { read: true, ..Spec::new(normalize(base, Path::new(path))) }),
            );
        }
        if operands < 2 && programs::searches_here(program) && tree {
            specs.extend(self.bases.iter().map(|base| template(Spec::new(base.clone()))));
        }
    }

    fn redirect_spec(&self, redirect: &Redirect, specs: &mut Vec<Spec>) {
        let (read, write) = match redirect.kind {
            RedirectKind::Read => (true, false),
            RedirectKind::Write | RedirectKind::Append => (false, true),
            _ => return,
        };
        let found = self.word_specs(&redirect.target, redirect.target.text(), true);
        specs.extend(found.into_iter().map(|spec| Spec { read, write, redirect: true, ..spec }));
    }

    /// `certain`: whether the word is a path for sure, so that not knowing it matters.
    fn word_specs(&self, word: &Word, text: &str, certain: bool) -> Vec<Spec> {
        let at_home = ["~/", "$HOME/", "${HOME}/"].iter().find_map(|prefix| text.strip_prefix(prefix));
        let spec = |base: &Path| match word.kind() {
            WordKind::Literal => Spec::new(normalize(base, Path::new(text))),
            WordKind::Glob => Spec::of_pattern(text, base),
            _ => Spec::new(normalize(base, Path::new(text))),
        };
        let dynamic = !matches!(word.kind(), WordKind::Literal | WordKind::Glob);
        let mut specs: Vec<Spec> = match (dynamic, at_home, self.home) {
            (true, Some(rest), Some(home)) if !rest.contains('$') => vec![Spec::new(normalize(home, Path::new(rest)))],
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
