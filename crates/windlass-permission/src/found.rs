//! What was found out about the paths of a command, and the touches that follow from it.

use crate::facts::{CommandFacts, PathFact, PatternFact, Standing, TreeFact};
use crate::path::{Links, normalize};
use crate::spec::Spec;
use crate::touch::{NO_PARENT, Touch};
use std::cell::Cell;
use std::collections::HashMap;
use std::path::Path;

/// What a pattern stands for was not found out.
const NOT_LISTED: &str = "what a file name pattern in it stands for is not known, or too much to look at";
/// A program follows links that were not all found.
const NOT_SEARCHED: &str = "it follows links in a directory that cannot be searched for them, or is too large";

/// What the driver found out about the paths of a command.
pub(crate) struct Found<'a> {
    /// By its path, where each fact of it stands.
    paths: HashMap<&'a Path, usize>,
    facts: Vec<OfPath<'a>>,
    patterns: HashMap<(&'a Path, &'a str), &'a PatternFact>,
    trees: HashMap<&'a Path, &'a TreeFact>,
    links: &'a Links,
}

/// The facts about one path.
struct OfPath<'a> {
    /// The one that counts for the command's own path.
    last: &'a PathFact,
    earlier: Vec<&'a PathFact>,
    /// Whether the command names the path.
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
            links,
        }
    }

    /// What was found below a path as written, if the driver looked.
    pub(crate) fn tree(&self, written: &Path) -> Option<&'a TreeFact> {
        self.trees.get(written).copied()
    }

    pub(crate) fn end(&self, written: &Path) -> Standing {
        self.of_path(written).map_or(Standing::Unknown, |found| found.last.end)
    }

    fn of_path(&self, written: &Path) -> Option<&OfPath<'a>> {
        self.facts.get(*self.paths.get(written)?)
    }

    /// The facts about paths that no touch was made of.
    pub(crate) fn unnamed(&self) -> impl Iterator<Item = &'a PathFact> {
        let unnamed = self.facts.iter().filter(|found| !found.is_named.get());
        unnamed.flat_map(|found| found.earlier.iter().copied().chain([found.last]))
    }

    pub(crate) fn touch_of(&self, spec: &Spec) -> Touch {
        let mut touch = Touch::new(&spec.path, spec.usage, self.links);
        touch.unknown = spec.unknown;
        touch.walked.clone_from(&spec.walked);
        touch.pattern.clone_from(&spec.pattern);
        match self.of_path(spec.written()) {
            Some(found) => {
                found.is_named.set(true);
                touch.route.follow(found.last, self.links);
            }
            None if spec.walked.is_some() => touch.unclear = Some(NO_PARENT),
            None => {}
        }
        if let Some(pattern) = &spec.pattern {
            let listed = self.patterns.get(&(spec.written(), pattern.as_str()));
            self.stands_for(&mut touch, listed.map(|fact| (&fact.matches, fact.is_whole)), NOT_LISTED);
        }
        let tree = self.tree(spec.written());
        if spec.usage.follows && spec.pattern.is_none() {
            self.stands_for(&mut touch, tree.map(|fact| (&fact.links, fact.is_whole)), NOT_SEARCHED);
        }
        if let Some(tree) = tree.filter(|_| spec.carries) {
            touch.inside = tree.entries.iter().map(|below| spec.path.join(below)).collect();
        }
        touch
    }

    fn stands_for(&self, touch: &mut Touch, found: Option<(&Vec<PathFact>, bool)>, otherwise: &'static str) {
        let (facts, is_whole) = found.map_or((&[][..], false), |(facts, is_whole)| (facts.as_slice(), is_whole));
        if !is_whole {
            touch.unclear = touch.unclear.or(Some(otherwise));
        }
        let other = |fact: &PathFact| {
            let mut other = Touch::new(&normalize(Path::new("/"), &fact.requested), touch.usage, self.links);
            other.route.follow(fact, self.links);
            other
        };
        touch.stands_for = facts.iter().map(other).collect();
    }
}
