//! Path accesses of a command, before links are followed.

use crate::facts::CommandPath;
use crate::pattern::ShellPattern;
use crate::places::Places;
use crate::programs;
use crate::search::TreeSearch;
use crate::spec::Spec;
use crate::transfer::{
    Copy, copies, follows_links, handed_name, handles_whole, hands_on, hands_on_to_print, hands_on_to_write,
    program_behind, runs_on_names,
};
use crate::usage::Usage;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_shell::{
    Analysis, Classification, Connector, Directories, Effect, FoundCommand, PathRole, SimpleCommand, Word,
};

/// A line with more commands than this is not followed: it asks. What is done for each of them depends on all others.
const MAX_COMMANDS: usize = 128;

/// One command of an understood text.
#[derive(Debug)]
pub(crate) struct Part<'a> {
    pub(crate) command: &'a SimpleCommand,
    pub(crate) class: Classification,
    pub(crate) specs: Vec<Spec>,
    /// `true` if the command runs after a change of directory.
    pub(crate) moved: bool,
    /// `true` if it shows names and sizes of files alone.
    pub(crate) lists: bool,
    /// `true` if the arguments are files, also behind a wrapper (`env`, `nice`).
    pub(crate) on_files: bool,
    /// The trees that it copies or moves with the links in them.
    pub(crate) copies: Vec<Copy>,
    /// Reason why one of the trees is not copied or moved without a permission request.
    pub(crate) unclear_copy: Option<&'static str>,
    /// Names below those that the command lists, if a program behind a pipe may change it. Only for rules that lower.
    pub(crate) handed: Vec<Spec>,
    /// The number of its pipeline. The commands of one pipeline run at the same time.
    pub(crate) pipeline: usize,
}

/// Facts about a command, from its text.
#[derive(Debug)]
pub(crate) struct View<'a> {
    /// The allow side: every command, if the text is understood and it is known where each runs.
    pub(crate) parts: Option<Vec<Part<'a>>>,
    /// The deny side: paths touched by commands behind wrappers, in scripts or in texts that are not understood.
    pub(crate) found: Vec<Spec>,
    /// The trees that such commands copy.
    pub(crate) copies: Vec<Copy>,
    /// The directories in which commands may run, as written.
    pub(crate) bases: Vec<PathBuf>,
}

impl<'a> View<'a> {
    pub(crate) fn new(analysis: &'a Analysis, cwd: &Path, home: Option<&Path>) -> Self {
        let places = Places::new(analysis, cwd, home);
        let (mut parts, clear) =
            if places.lost { (Vec::new(), false) } else { understood_parts(analysis, cwd, &places) };
        let (mut found, mut copies) = (Vec::new(), Vec::new());
        let mut known: Vec<&SimpleCommand> = parts.iter().filter(|p| p.is_known()).map(|part| part.command).collect();
        for command in analysis.found() {
            places.handed_specs(command, &mut found);
            // A script may contain the same command once more, and run it in another directory.
            let same = known.iter().position(|known| is_same(known, command));
            if let Some(index) = same {
                known.swap_remove(index);
            }
            if same.is_none() || names_process(command) {
                places.found_specs(command, &mut found);
                places.found_copies(command, &mut copies);
            }
        }
        if !clear {
            found.extend(parts.iter_mut().flat_map(|part| std::mem::take(&mut part.specs)));
            copies.extend(parts.iter_mut().flat_map(|part| std::mem::take(&mut part.copies)));
        }
        found.extend(parts.iter_mut().flat_map(|part| std::mem::take(&mut part.handed)));
        once(&mut found);
        Self { parts: clear.then_some(parts), found, copies, bases: places.bases }
    }

    /// Returns every path, of both sides.
    pub(crate) fn specs(&self) -> impl Iterator<Item = &Spec> {
        self.parts.iter().flatten().flat_map(|part| &part.specs).chain(&self.found)
    }
}

impl<'a> Part<'a> {
    /// Creates a command that may run in these directories.
    fn new(command: &'a SimpleCommand, analysis: &Analysis, bases: &[PathBuf], places: &Places<'_>) -> Self {
        let class = command.classify();
        let unknown = matches!(class.effect, Effect::Unknown | Effect::Network);
        let on_files = works_on_files(command, analysis);
        let piped = runs_on_names(analysis);
        let (mut specs, mut copied, mut handed) = (Vec::new(), Vec::new(), Vec::new());
        for base in bases {
            let of_base = copies(command, &class, base);
            class_specs(command, &class, base, (piped, !of_base.is_empty()), &mut specs);
            if !unknown && hands_on(command.words(), piped) && hands_on_to_print(command.words(), places.prints) {
                let printed = Usage { read: true, hands_on: true, prints: true, ..Usage::default() };
                let mut read = specs.iter_mut().filter(|spec| spec.usage.read && !spec.usage.redirect).peekable();
                match read.peek() {
                    Some(_) => read.for_each(|spec| {
                        spec.usage.prints = true;
                        spec.named = handed_name(command.words());
                        spec.search = Some(Arc::new(TreeSearch::of_listed(spec.named.as_deref())));
                    }),
                    None => {
                        let search = Some(Arc::new(TreeSearch::of_listed(handed_name(command.words()).as_deref())));
                        specs.push(Spec { usage: printed, search, ..Spec::new(base, Path::new("")) });
                    }
                }
            }
            if !unknown && hands_on(command.words(), piped) && hands_on_to_write(command.words(), places.writes) {
                // The set of changed files below is unknown.
                let changed = Usage { write: true, tree: true, loose: true, ..Usage::default() };
                let starts: Vec<Spec> = specs.iter().filter(|spec| spec.usage.hands_on).cloned().collect();
                let none = starts.is_empty().then(|| Spec::new(base, Path::new("")));
                handed.extend(starts.into_iter().chain(none).map(|spec| Spec { usage: changed, ..spec }));
            }
            copied.extend(of_base);
            for spec in &mut specs {
                spec.usage.loose = !on_files && !spec.usage.redirect && unknown;
            }
        }
        if unknown {
            for found in analysis.found().iter().filter(|found| runs(command, found)) {
                places.output_specs(found, &mut specs);
            }
        }
        once(&mut specs);
        let program = program_behind(command.words());
        let lists = !unknown && (programs::only_lists(program) || programs::only_tests(program));
        Part {
            command,
            class,
            specs,
            moved: false,
            lists,
            on_files,
            copies: copied,
            unclear_copy: None,
            handed,
            pipeline: 0,
        }
    }

    /// Returns `true` if the effect of the program is known.
    pub(crate) fn is_known(&self) -> bool {
        !matches!(self.class.effect, Effect::Unknown | Effect::Network)
    }

    pub(crate) fn changes_directory(&self) -> bool {
        self.class.effect == Effect::ChangeDirectory
    }
}

/// Removes duplicates.
fn once(specs: &mut Vec<Spec>) {
    if specs.len() < 2 {
        return;
    }
    let mut seen = HashSet::with_capacity(specs.len());
    let is_new: Vec<bool> = specs.iter().map(|spec| seen.insert(spec)).collect();
    let mut is_new = is_new.into_iter();
    specs.retain(|_| is_new.next().unwrap_or(true));
}

/// Returns the paths of a command that the driver resolves for [`CommandFacts::paths`](crate::CommandFacts::paths), in
/// order, each once. `home` is the directory for `~`, as in [`Policy::home`](crate::Policy::home).
#[must_use]
pub fn command_paths(analysis: &Analysis, cwd: &Path, home: Option<&Path>) -> Vec<CommandPath> {
    let mut paths: Vec<CommandPath> = Vec::new();
    let view = View::new(analysis, cwd, home);
    let mut known: HashMap<(&OsStr, Option<&str>), usize> = HashMap::with_capacity(view.specs().count());
    for spec in view.specs().filter(|spec| !spec.unknown) {
        let index = *known.entry((spec.written().as_os_str(), spec.pattern.as_deref())).or_insert(paths.len());
        if index == paths.len() {
            let pattern = spec.pattern.as_deref().map(ShellPattern::new);
            paths.push(CommandPath {
                path: spec.written().to_path_buf(),
                write: false,
                pattern,
                tree: false,
                searched: false,
                targets: Vec::new(),
            });
        }
        if let Some(path) = paths.get_mut(index) {
            path.write |= spec.usage.write;
            path.tree |= spec.usage.follows || spec.carries;
            path.searched |= spec.search.is_some();
        }
    }
    for copy in view.parts.iter().flatten().flat_map(|part| &part.copies).chain(&view.copies) {
        let index = known.get(&(copy.source.as_os_str(), copy.pattern.as_deref()));
        if let Some(path) = index.and_then(|index| paths.get_mut(*index)) {
            path.tree = true;
            let target = copy.to();
            if !copy.moves && path.targets.last() != Some(&target) {
                path.targets.push(target);
            }
        }
    }
    paths
}

/// Returns `true` if a word may name a directory of a process, of which it is only known for the deny side where it
/// leads.
fn names_process(command: &FoundCommand) -> bool {
    let targets = command.redirects().iter().map(|redirect| &redirect.target);
    command
        .words()
        .iter()
        .chain(targets)
        .any(|word| ["/proc", "/dev/fd/"].iter().any(|place| word.text().contains(place)))
}

/// Returns `true` if a found command is this one, or one with the same words and redirections.
fn is_same(command: &SimpleCommand, found: &FoundCommand) -> bool {
    let redirects = (command.redirects(), found.redirects());
    has_words(command, found)
        && redirects.0.len() == redirects.1.len()
        && redirects.0.iter().zip(redirects.1).all(|(a, b)| a.kind == b.kind && is_same_word((&a.target, &b.target)))
}

/// Returns `true` if a found command has the words of this one.
pub(crate) fn has_words(command: &SimpleCommand, found: &FoundCommand) -> bool {
    let (own, others) = (command.words(), found.words());
    own.len() == others.len() && own.iter().zip(others).all(is_same_word)
}

/// Returns `true` if two words are the same argument. Quoting is ignored, because it is known for one of the two only.
fn is_same_word((a, b): (&Word, &Word)) -> bool {
    a.text() == b.text() && a.kind() == b.kind()
}

/// Returns the commands of an understood text, and `true` if the directory of each of them is known.
fn understood_parts<'a>(analysis: &'a Analysis, cwd: &Path, places: &Places<'_>) -> (Vec<Part<'a>>, bool) {
    let Ok(understood) = analysis.understood() else { return (Vec::new(), false) };
    if understood.commands().len() > MAX_COMMANDS {
        return (Vec::new(), false);
    }
    let mut pipeline = 0_usize;
    let (followed, clear) = match understood.directories(cwd) {
        Directories::Followed(all) => (all, true),
        _ => (vec![places.bases.clone(); understood.commands().len()], false),
    };
    let parts = understood.commands().iter().zip(followed).map(|(command, bases)| {
        if command.connector() != Connector::Pipe {
            pipeline = pipeline.saturating_add(1);
        }
        let part = Part::new(command, analysis, &bases, places);
        Part { moved: bases.iter().any(|base| base != cwd), pipeline, ..part }
    });
    (parts.collect(), clear)
}

/// Returns `true` if a command, or the one behind its wrapper, is a program that works on the files among its
/// arguments.
fn works_on_files(command: &SimpleCommand, analysis: &Analysis) -> bool {
    let files = |program: &str| programs::works_on_files(program) || programs::only_reads(program);
    let inside = |found: &FoundCommand| found.program().is_some_and(files) && runs(command, found);
    command.program().is_some_and(files) || analysis.found().iter().any(inside)
}

/// Returns `true` if a found command is this one, or the one behind its wrapper.
fn runs(command: &SimpleCommand, found: &FoundCommand) -> bool {
    let words = command.words();
    let tail = words.len().checked_sub(found.words().len()).and_then(|start| words.get(start..));
    tail.is_some_and(|tail| tail.iter().zip(found.words()).all(|(a, b)| a.text() == b.text()))
}

fn class_specs(
    command: &SimpleCommand,
    class: &Classification,
    base: &Path,
    (piped, carries): (bool, bool),
    specs: &mut Vec<Spec>,
) {
    let known = !matches!(class.effect, Effect::Unknown | Effect::Network);
    let views = programs::only_views(program_behind(command.words()));
    let lists = command.program().is_some_and(programs::only_lists);
    let hands_on = hands_on(command.words(), piped);
    let program = program_behind(command.words());
    let (moves, handles) = (program == "mv", handles_whole(command.words()));
    let follows = known && follows_links(command.words());
    let search = TreeSearch::by(command.words()).map(Arc::new);
    // The views cover file contents that git prints.
    let history = class.effect == Effect::Git;
    for operand in &class.reads {
        let redirect = operand.role == PathRole::Redirect;
        let mut spec = Spec::of_operand(operand, base);
        spec.usage.read = true;
        // A moved file also disappears from its place.
        spec.usage.write = ((!known && !views) || moves) && !redirect;
        spec.usage.tree = known && operand.recursive && !lists && !history;
        spec.unknown |= spec.usage.tree && spec.dotted;
        spec.search = search.clone().filter(|_| spec.usage.tree && !redirect);
        spec.usage.moves = moves;
        spec.usage.handles = handles && !redirect;
        spec.usage.follows = follows && operand.recursive;
        spec.carries = carries && !redirect;
        spec.usage.hands_on = hands_on;
        specs.push(spec);
    }
    let mut moved = class.reads.iter().filter(|_| known && moves).peekable();
    for operand in &class.writes {
        // One entry is enough for a path that a move reads and writes: both are listed in the same order.
        if moved.next_if(|read| read.path == operand.path && read.role == operand.role).is_some() {
            continue;
        }
        let redirect = operand.role == PathRole::Redirect;
        let mut spec = Spec::of_operand(operand, base);
        spec.usage.write = true;
        spec.usage.tree = known && operand.recursive;
        spec.usage.moves = moves;
        spec.usage.handles = handles && !redirect;
        specs.push(spec);
    }
}

#[cfg(test)]
mod tests;
