//! A call made ready to be judged: its paths with their links, its command, its input.

use crate::command::{Part, Spec, View};
use crate::facts::{CallFacts, CommandFacts, PathFact, PatternFact, Standing, TreeFact};
use crate::git::GitTracked;
use crate::matcher::{Directory, PathRule};
use crate::path::{Subject, normalize};
use crate::{glob::Reach, made, names, views};
use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use windlass_types::Access;

/// One path that a call touches, with its links.
#[derive(Debug)]
pub(crate) struct Touch {
    /// The path as requested, in all its forms.
    pub(crate) requested: Vec<Subject>,
    /// Where it ends; empty if that is the request itself, or not known.
    pub(crate) resolved: Vec<Subject>,
    /// Links on the way.
    via: Vec<Subject>,
    /// Whether its links were followed.
    pub(crate) followed: bool,
    pub(crate) read: bool,
    pub(crate) write: bool,
    pub(crate) tree: bool,
    /// Whether it goes to or comes from another place as a whole.
    pub(crate) moves: bool,
    pub(crate) redirect: bool,
    /// Whether it is just an argument of a program of which nothing is known.
    pub(crate) loose: bool,
    /// Whether an option of a program, or the like, names it as a file to write.
    pub(crate) output: bool,
    pub(crate) unknown: bool,
    /// A file name pattern of the shell, below the path.
    pub(crate) pattern: Option<String>,
    /// Whether it is moved, removed, given another name or other rights as a whole.
    pub(crate) handles: bool,
    /// Whether names below it are handed to other programs.
    hands_on: bool,
    /// Whether the program follows the links below it.
    pub(crate) follows: bool,
    /// Why it is not known what the path stands for when the command runs.
    pub(crate) unclear: Option<&'static str>,
    /// The path of a command with every `..` still in it.
    pub(crate) written: PathBuf,
    /// What the pattern stands for, or the links below that the program follows.
    pub(crate) stands_for: Vec<Touch>,
    /// What was found below it.
    inside: Vec<PathBuf>,
    /// The git directory that it lies in, under whatever name.
    pub(crate) git_directory: Option<PathBuf>,
    /// Whether a copy of a tree brings it along.
    pub(crate) copied: bool,
    /// The only files that are read below it.
    tracked: Option<GitTracked>,
}

/// `..` names no place that could be found.
pub(crate) const NO_PARENT: &str = "a path in it has `..` behind something that cannot be followed";
/// What a pattern stands for was not found out.
const NOT_LISTED: &str = "what a file name pattern in it stands for is not known, or too much to look at";
/// A program follows links that were not all found.
const NOT_SEARCHED: &str = "it follows links in a directory that cannot be searched for them, or is too large";

impl Touch {
    /// Every path that is judged for it.
    pub(crate) fn subjects(&self) -> impl Iterator<Item = &Subject> {
        self.requested.iter().chain(&self.resolved).chain(&self.via)
    }

    /// The path as requested.
    pub(crate) fn path(&self) -> &Path {
        self.requested.first().map_or(Path::new(""), |subject| &subject.path)
    }

    /// Whether the request and its end are both inside one of the directories, for all that it stands for.
    pub(crate) fn is_inside(&self, workspace: &[Directory]) -> bool {
        self.both(|subject| workspace.iter().any(|directory| directory.contains(subject)))
    }

    /// The path that is not inside any of the directories: the request, or else where it ends.
    pub(crate) fn outside(&self, workspace: &[Directory]) -> PathBuf {
        if let Some(other) = self.stands_for.iter().find(|other| !other.is_inside(workspace)) {
            return other.outside(workspace);
        }
        let inside = |subject: &&Subject| workspace.iter().any(|directory| directory.contains(subject));
        let end = self.resolved.first().filter(|_| self.requested.iter().any(|subject| inside(&subject)));
        end.map_or_else(|| self.path().to_path_buf(), |subject| subject.path.clone())
    }

    /// Whether a test holds for the request and for its end, in any of their forms, and for all that it stands for.
    pub(crate) fn both(&self, holds: impl Fn(&Subject) -> bool) -> bool {
        self.both_of(&holds)
    }

    fn both_of(&self, holds: &dyn Fn(&Subject) -> bool) -> bool {
        self.followed
            && !self.is_unknown()
            && self.requested.iter().any(holds)
            && (self.resolved.is_empty() || self.resolved.iter().any(holds))
            && self.stands_for.iter().all(|other| other.both_of(holds))
    }

    /// Whether it is not known which path it is.
    pub(crate) fn is_unknown(&self) -> bool {
        self.unknown || self.unclear.is_some()
    }

    /// Whether a deny or ask rule covers all that is touched below it, or something that is certainly there.
    pub(crate) fn is_covered_below(&self, rule: &PathRule, workspace: &[Directory]) -> bool {
        let whole = self.tree || self.handles || self.hands_on;
        let covered = |subject: &Subject| match &self.pattern {
            Some(pattern) => rule.covers_all_of(subject, pattern, workspace),
            None => {
                whole
                    && (rule.covers_all_below(subject, workspace)
                        || (self.handles && rule.is_fixed_below(subject, workspace)))
            }
        };
        let found = || {
            let mut inside = self.inside.iter().map(|path| Subject::new(path.clone()));
            inside.any(|subject| rule.reach(&subject, workspace) == Reach::Covers)
        };
        self.subjects().any(covered) || (whole && found())
    }

    /// How far a deny or ask rule reaches into it.
    pub(crate) fn reach(&self, rule: &PathRule, workspace: &[Directory]) -> Reach {
        let reach = |subject: &Subject| match &self.pattern {
            None => rule.reach(subject, workspace),
            Some(pattern) => {
                let exact = rule.reach(subject, workspace);
                if exact == Reach::Covers {
                    return exact;
                }
                let names = subject.folded.iter();
                let most = names.map(|names| rule.reach_pattern(names, pattern, workspace)).max();
                // Which of the names a pattern stands for are there is not known.
                if most == Some(Reach::Covers) || (self.tree && most == Some(Reach::Below)) {
                    Reach::Below
                } else {
                    Reach::No
                }
            }
        };
        self.subjects().map(reach).max().unwrap_or(Reach::No)
    }

    /// Whether something that a rule covers may be among what is read below it.
    pub(crate) fn may_hold(&self, rule: &PathRule, workspace: &[Directory]) -> bool {
        let covers = |path: PathBuf| rule.reach(&Subject::new(path), workspace) == Reach::Covers;
        self.tracked.as_ref().is_none_or(|tracked| {
            let subjects = self.requested.iter().chain(&self.resolved);
            let mut paths = subjects.map(|subject| subject.path.as_path());
            paths.any(|path| tracked.may_hold(path, covers))
        })
    }

    /// Whether a rule that matches only below this path matters.
    pub(crate) fn reaches_below(&self) -> bool {
        self.tree || self.pattern.is_some()
    }
}

/// Directories that are links, to and from.
pub(crate) type Links = [(PathBuf, PathBuf)];

/// A path in every form that the links give it.
pub(crate) fn forms(path: &Path, links: &Links) -> Vec<Subject> {
    let mut forms = vec![Subject::new(path.to_path_buf())];
    for (from, to) in links {
        for (here, there) in [(from, to), (to, from)] {
            if let Ok(rest) = path.strip_prefix(here) {
                forms.push(Subject::new(normalize(there, rest)));
            }
        }
    }
    forms
}

fn links_of(touch: &mut Touch, fact: &PathFact, links: &Links) {
    touch.followed = true;
    if fact.resolved != fact.requested {
        touch.resolved = forms(&normalize(Path::new("/"), &fact.resolved), links);
    }
    touch.git_directory.clone_from(&fact.git_directory);
    touch.via = fact.via.iter().flat_map(|path| forms(&normalize(Path::new("/"), path), links)).collect();
}

/// What the driver found out about the paths of a command.
pub(crate) struct Found<'a> {
    paths: HashMap<&'a Path, &'a PathFact>,
    patterns: HashMap<(&'a Path, &'a str), &'a PatternFact>,
    trees: HashMap<&'a Path, &'a TreeFact>,
    links: &'a Links,
}

impl<'a> Found<'a> {
    fn new(command: &'a CommandFacts, links: &'a Links) -> Self {
        Self {
            paths: command.paths.iter().map(|fact| (fact.requested.as_path(), fact)).collect(),
            patterns: command
                .patterns
                .iter()
                .map(|fact| ((fact.path.as_path(), fact.pattern.as_str()), fact))
                .collect(),
            trees: command.trees.iter().map(|fact| (fact.path.as_path(), fact)).collect(),
            links,
        }
    }

    /// What was found below a path as written, if somebody looked.
    pub(crate) fn tree(&self, written: &Path) -> Option<&'a TreeFact> {
        self.trees.get(written).copied()
    }

    fn end(&self, written: &Path) -> Standing {
        self.paths.get(written).map_or(Standing::Unknown, |fact| fact.end)
    }

    fn touch(&self, spec: &Spec) -> Touch {
        let mut touch = Touch::of_path(&spec.path, self.links);
        (touch.read, touch.write, touch.tree) = (spec.read, spec.write, spec.tree);
        (touch.redirect, touch.unknown, touch.moves) = (spec.redirect, spec.unknown, spec.moves);
        (touch.loose, touch.handles, touch.follows) = (spec.loose, spec.handles, spec.follows);
        (touch.hands_on, touch.output) = (spec.hands_on, spec.output);
        touch.written.clone_from(&spec.written);
        touch.pattern.clone_from(&spec.pattern);
        match self.paths.get(spec.written.as_path()) {
            Some(fact) => links_of(&mut touch, fact, self.links),
            None if spec.written != spec.path => touch.unclear = Some(NO_PARENT),
            None => {}
        }
        if let Some(pattern) = &spec.pattern {
            let listed = self.patterns.get(&(spec.written.as_path(), pattern.as_str()));
            self.stands_for(&mut touch, listed.map(|fact| (&fact.matches, fact.is_whole)), NOT_LISTED);
        }
        let tree = self.tree(&spec.written);
        if spec.follows && spec.pattern.is_none() {
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
            let mut other = Touch::of_path(&normalize(Path::new("/"), &fact.requested), self.links);
            (other.read, other.write, other.tree) = (touch.read, touch.write, touch.tree);
            (other.redirect, other.moves) = (touch.redirect, touch.moves);
            (other.loose, other.handles) = (touch.loose, touch.handles);
            links_of(&mut other, fact, self.links);
            other
        };
        touch.stands_for = facts.iter().map(other).collect();
    }
}

/// A call ready to be judged.
#[derive(Debug)]
pub(crate) struct Call<'a> {
    pub(crate) facts: &'a CallFacts,
    pub(crate) tool: &'a str,
    /// What the call touches, the parts of an understood command aside.
    pub(crate) touches: Vec<Touch>,
    /// The commands of an understood text, with what each touches.
    pub(crate) parts: Option<Vec<(Part<'a>, Vec<Touch>)>>,
    fields: OnceCell<BTreeMap<String, serde_json::Value>>,
}

impl<'a> Call<'a> {
    /// `roots` are the directories of the workspace.
    pub(crate) fn new(facts: &'a CallFacts, links: &Links, home: Option<&Path>, roots: &[PathBuf]) -> Self {
        let tool = names::canonical(&facts.tool);
        let mut call = Self { facts, tool, touches: Vec::new(), parts: None, fields: OnceCell::new() };
        let writes = matches!(facts.access, Access::Writes(_)) || names::is_edit_tool(tool);
        // A search reads the whole tree it is pointed at.
        let tree = names::searches_trees(tool);
        for fact in &facts.paths {
            let mut touch = Touch::of_path(&normalize(&facts.cwd, &fact.requested), links);
            (touch.read, touch.write, touch.tree) = (true, writes || fact.write, tree);
            links_of(&mut touch, fact, links);
            call.touches.push(touch);
        }
        if let Some(command) = &facts.command {
            call.add_command(command, links, home, roots);
        }
        call
    }

    fn add_command(&mut self, command: &'a CommandFacts, links: &Links, home: Option<&Path>, roots: &[PathBuf]) {
        let facts = Found::new(command, links);
        let view = View::new(&command.analysis, &self.facts.cwd, home);
        self.touches.extend(view.found.iter().map(|spec| facts.touch(spec)));
        let named: HashSet<&Path> = view.specs().map(|spec| spec.written.as_path()).collect();
        for fact in command.paths.iter().filter(|fact| !named.contains(fact.requested.as_path())) {
            let mut extra = Touch::of_path(&normalize(&self.facts.cwd, &fact.requested), links);
            (extra.read, extra.write) = (true, fact.write);
            links_of(&mut extra, fact, links);
            self.touches.push(extra);
        }
        let end = |path: &Path| facts.end(path);
        let plain = |part: &Part<'_>| part.command.assignments().is_empty();
        let stays = view.bases.len() == 1 && view.parts.as_ref().is_some_and(|parts| parts.iter().all(plain));
        for found in command.analysis.found() {
            let shown = views::shown(found.words(), &view.bases, roots, &end);
            let touch = |shown: views::Shown| Touch {
                read: true,
                tree: shown.tree,
                tracked: command.tracked.clone().filter(|_| shown.tracked && stays),
                ..Touch::of_path(&shown.path, links)
            };
            self.touches.extend(shown.into_iter().map(touch));
        }
        self.parts = view.parts.map(|parts| {
            let touches = |part: &Part<'_>| part.specs.iter().map(|spec| facts.touch(spec)).collect();
            parts.into_iter().map(|part| (touches(&part), part)).map(|(touches, part)| (part, touches)).collect()
        });
        if let Some(parts) = &mut self.parts {
            self.touches.extend(made::settle(parts, &facts, links));
        }
    }

    /// Everything the call touches.
    pub(crate) fn all_touches(&self) -> impl Iterator<Item = &Touch> {
        let named = self.touches.iter().chain(self.parts.iter().flatten().flat_map(|(_, touches)| touches));
        named.flat_map(|touch| std::iter::once(touch).chain(&touch.stands_for))
    }

    /// A direct field of the input, if it is a text.
    pub(crate) fn text(&self, field: &str) -> Option<&str> {
        self.field(field)?.as_str()
    }

    /// A direct field of the input.
    pub(crate) fn field(&self, name: &str) -> Option<&serde_json::Value> {
        self.fields.get_or_init(|| self.facts.input.to().unwrap_or_default()).get(name)
    }

    /// Whether nobody can run this call but through an answer.
    pub(crate) fn asks_the_user(&self) -> bool {
        self.facts.requires_user_interaction || names::asks_the_user(self.tool)
    }
}

impl Touch {
    /// What a copy of a tree brings along.
    pub(crate) fn brought(path: &Path, links: &Links) -> Self {
        Self { write: true, copied: true, ..Self::of_path(path, links) }
    }

    fn of_path(path: &Path, links: &Links) -> Self {
        Self {
            requested: forms(path, links),
            resolved: Vec::new(),
            via: Vec::new(),
            followed: false,
            read: false,
            write: false,
            tree: false,
            moves: false,
            redirect: false,
            loose: false,
            output: false,
            unknown: false,
            pattern: None,
            handles: false,
            hands_on: false,
            follows: false,
            unclear: None,
            written: PathBuf::new(),
            stands_for: Vec::new(),
            inside: Vec::new(),
            git_directory: None,
            copied: false,
            tracked: None,
        }
    }
}
