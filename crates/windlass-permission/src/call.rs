//! A call made ready to be judged: its paths with their links, its command, its input.

use crate::command::{Part, Spec, View};
use crate::facts::{CallFacts, CommandFacts, PathFact};
use crate::matcher::{Directory, PathRule};
use crate::path::{Subject, normalize};
use crate::{glob::Reach, names};
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
    pub(crate) unknown: bool,
    /// A file name pattern of the shell, below the path.
    pub(crate) pattern: Option<String>,
}

impl Touch {
    /// Every path that is judged for it.
    pub(crate) fn subjects(&self) -> impl Iterator<Item = &Subject> {
        self.requested.iter().chain(&self.resolved).chain(&self.via)
    }

    /// The path as requested.
    pub(crate) fn path(&self) -> &Path {
        self.requested.first().map_or(Path::new(""), |subject| &subject.path)
    }

    /// Whether the request and its end are both inside one of the directories.
    pub(crate) fn is_inside(&self, workspace: &[Directory]) -> bool {
        self.both(|subject| workspace.iter().any(|directory| directory.contains(subject)))
    }

    /// The path that is not inside any of the directories: the request, or else where it ends.
    pub(crate) fn outside(&self, workspace: &[Directory]) -> PathBuf {
        let inside = |subject: &&Subject| workspace.iter().any(|directory| directory.contains(subject));
        let end = self.resolved.first().filter(|_| self.requested.iter().any(|subject| inside(&subject)));
        end.map_or_else(|| self.path().to_path_buf(), |subject| subject.path.clone())
    }

    /// Whether a test holds for the request and for its end, in any of their forms.
    pub(crate) fn both(&self, holds: impl Fn(&Subject) -> bool) -> bool {
        self.followed
            && !self.unknown
            && self.requested.iter().any(&holds)
            && (self.resolved.is_empty() || self.resolved.iter().any(&holds))
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
    touch.via = fact.via.iter().flat_map(|path| forms(&normalize(Path::new("/"), path), links)).collect();
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
    pub(crate) fn new(facts: &'a CallFacts, links: &Links, home: Option<&Path>) -> Self {
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
            call.add_command(command, links, home);
        }
        call
    }

    fn add_command(&mut self, command: &'a CommandFacts, links: &Links, home: Option<&Path>) {
        let mut followed: HashMap<&Path, &PathFact> = HashMap::new();
        for fact in &command.paths {
            followed.insert(&fact.requested, fact);
        }
        let touch = |spec: &Spec| {
            let mut touch = Touch::of_path(&spec.path, links);
            (touch.read, touch.write, touch.tree) = (spec.read, spec.write, spec.tree);
            (touch.redirect, touch.unknown, touch.moves) = (spec.redirect, spec.unknown, spec.moves);
            touch.loose = spec.loose;
            touch.pattern.clone_from(&spec.pattern);
            if let Some(fact) = followed.get(spec.path.as_path()) {
                links_of(&mut touch, fact, links);
            }
            touch
        };
        let view = View::new(&command.analysis, &self.facts.cwd, home);
        self.touches.extend(view.found.iter().map(touch));
        let named: HashSet<PathBuf> = view.specs().map(|spec| spec.path.clone()).collect();
        for fact in command.paths.iter().filter(|fact| !named.contains(&fact.requested)) {
            let mut extra = Touch::of_path(&normalize(&self.facts.cwd, &fact.requested), links);
            (extra.read, extra.write) = (true, fact.write);
            links_of(&mut extra, fact, links);
            self.touches.push(extra);
        }
        self.parts = view.parts.map(|parts| {
            parts
                .into_iter()
                .map(|part| {
                    let touches = part.specs.iter().map(touch).collect();
                    (part, touches)
                })
                .collect()
        });
    }

    /// Everything the call touches.
    pub(crate) fn all_touches(&self) -> impl Iterator<Item = &Touch> {
        self.touches.iter().chain(self.parts.iter().flatten().flat_map(|(_, touches)| touches))
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
            unknown: false,
            pattern: None,
        }
    }
}
