//! Facts about the paths of a command, and the touches that follow from them.

use crate::facts::{CommandFacts, PathFact, PatternFact, Standing, TreeFact};
use crate::path::{Links, normalize};
use crate::spec::Spec;
use crate::touch::{NO_PARENT, Touch};
use crate::usage::Usage;
use std::cell::Cell;
use std::collections::HashMap;
use std::path::Path;
use windlass_types::secret::is_secret_text;

/// Reason: the matches of a pattern were not listed.
const NOT_LISTED: &str = "what a file name pattern in it stands for is not known, or too much to look at";
/// Reason: the start directory of a path is unknown.
pub(crate) const TOO_MANY: &str =
    "the line changes the directory too often, or has too many paths for that, to be followed";
/// A program follows links that were not all found.
const NOT_SEARCHED: &str = "it follows links in a directory that cannot be searched for them, or is too large";

/// A name in the place of an option.
pub(crate) const OPTION: &str = "a file name pattern in it stands for a name that a program takes for an option";

/// Facts that the driver found about the paths of a command.
pub(crate) struct Found<'a> {
    /// By its path, where each fact of it stands.
    paths: HashMap<&'a Path, usize>,
    facts: Vec<OfPath<'a>>,
    patterns: HashMap<(&'a Path, &'a str), &'a PatternFact>,
    trees: HashMap<&'a Path, &'a TreeFact>,
    /// The links that copies may write through.
    pub(crate) overwritten: Vec<&'a PathFact>,
    links: &'a Links,
}

/// The facts about one path.
struct OfPath<'a> {
    /// Fact that applies to the command's own path.
    last: &'a PathFact,
    earlier: Vec<&'a PathFact>,
    /// `true` if the command names the path.
    is_named: Cell<bool>,
}

impl<'a> OfPath<'a> {
    fn new(fact: &'a PathFact) -> Self {
        Self { last: fact, earlier: Vec::new(), is_named: Cell::new(false) }
    }
}

impl<'a> Found<'a> {
    pub(crate) fn new(command: &'a CommandFacts, links: &'a Links) -> Self {
        let mut paths = HashMap::with_capacity(command.paths.len());
        let mut facts: Vec<OfPath<'a>> = Vec::with_capacity(command.paths.len());
        for fact in &command.paths {
            let at = *paths.entry(fact.requested.as_path()).or_insert(facts.len());
            match facts.get_mut(at) {
                Some(known) => known.earlier.push(std::mem::replace(&mut known.last, fact)),
                None => facts.push(OfPath::new(fact)),
            }
        }
        Self {
            paths,
            facts,
            patterns: command
                .patterns
                .iter()
                .map(|fact| ((fact.path.as_path(), fact.pattern.as_str()), fact))
                .collect(),
            trees: command.trees.iter().map(|fact| (fact.path.as_path(), fact)).collect(),
            overwritten: command.trees.iter().flat_map(|fact| &fact.overwritten).collect(),
            links,
        }
    }

    /// Returns the entries found below a path as written, if the driver looked.
    pub(crate) fn tree(&self, written: &Path) -> Option<&'a TreeFact> {
        self.trees.get(written).copied()
    }

    /// Returns the matches found for a pattern, from the directory as written that it starts in.
    pub(crate) fn pattern(&self, start: &Path, pattern: &str) -> Option<&'a PatternFact> {
        self.patterns.get(&(start, pattern)).copied()
    }

    pub(crate) fn end(&self, written: &Path) -> Standing {
        self.of_path(written).map_or(Standing::Unknown, |found| found.last.end)
    }

    fn of_path(&self, written: &Path) -> Option<&OfPath<'a>> {
        self.facts.get(*self.paths.get(written)?)
    }

    /// Returns the facts about paths without a touch.
    pub(crate) fn unnamed(&self) -> impl Iterator<Item = &'a PathFact> {
        let unnamed = self.facts.iter().filter(|found| !found.is_named.get());
        unnamed.flat_map(|found| found.earlier.iter().copied().chain([found.last]))
    }

    pub(crate) fn touch_of(&self, spec: &Spec) -> Touch {
        let mut touch = Touch::new(&spec.path, spec.usage, self.links);
        touch.unknown = spec.unknown;
        touch.unclear = spec.lost.then_some(TOO_MANY);
        touch.walked.clone_from(&spec.walked);
        touch.pattern.clone_from(&spec.pattern);
        touch.named.clone_from(&spec.named);
        touch.option = spec.option;
        match self.of_path(spec.written()) {
            Some(found) => {
                found.is_named.set(true);
                touch.route.follow(found.last, self.links);
            }
            None if spec.walked.is_some() => touch.unclear = Some(NO_PARENT),
            None => {}
        }
        match &spec.pattern {
            Some(pattern) => self.matches(&mut touch, spec, pattern),
            None => self.below(&mut touch, spec, spec.written()),
        }
        touch
    }

    /// Adds the matches of a pattern.
    fn matches(&self, touch: &mut Touch, spec: &Spec, pattern: &str) {
        let fact = self.pattern(spec.written(), pattern);
        if fact.is_none_or(|fact| !fact.is_whole) {
            touch.unclear = touch.unclear.or(Some(NOT_LISTED));
        }
        for found in fact.iter().flat_map(|fact| &fact.matches) {
            if spec.option && found.requested.strip_prefix(spec.written()).is_ok_and(is_option) {
                touch.unclear = Some(OPTION);
            }
            let mut own = self.followed(found, touch.usage);
            own.named.clone_from(&spec.named);
            self.below(&mut own, spec, &found.requested);
            touch.unclear = touch.unclear.or(own.unclear);
            touch.stands_for.append(&mut own.stands_for);
            touch.stands_for.push(own);
        }
    }

    /// Adds the entries found below a path, if they matter.
    fn below(&self, touch: &mut Touch, spec: &Spec, written: &Path) {
        if !(spec.usage.follows || spec.carries || spec.search.is_some()) {
            return;
        }
        let tree = self.tree(written);
        if let (Some(search), Some(tree)) = (&spec.search, tree) {
            let shown = tree.entries.iter().filter(|below| is_secret_text(below) && search.reads(below));
            let facts = shown.map(|below| PathFact::new(written.join(below), written.join(below), false));
            touch.secrets.extend(facts.map(|fact| self.followed(&fact, touch.usage)));
        }
        if spec.usage.follows {
            if tree.is_none_or(|tree| !tree.is_whole) {
                touch.unclear = touch.unclear.or(Some(NOT_SEARCHED));
            }
            let links = tree.iter().flat_map(|tree| &tree.links);
            touch.stands_for.extend(links.map(|link| self.followed(link, touch.usage)));
        }
        if let Some(tree) = tree.filter(|_| spec.carries) {
            let path = touch.requested_path().to_path_buf();
            touch.inside = tree.entries.iter().map(|below| path.join(below)).collect();
        }
    }

    /// Returns the touch of a path that is a match of another one.
    pub(crate) fn followed(&self, fact: &PathFact, usage: Usage) -> Touch {
        let mut touch = Touch::new(&normalize(Path::new("/"), &fact.requested), usage, self.links);
        touch.route.follow(fact, self.links);
        touch
    }
}

/// Returns `true` if a program takes a name for an option.
pub(crate) fn is_option(name: &Path) -> bool {
    name.as_os_str().as_encoded_bytes().starts_with(b"-")
}
