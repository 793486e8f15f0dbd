//! One path that a call touches, and how far rules reach into it.

use crate::facts::PathFact;
use crate::git::GitTracked;
use crate::glob::{Glob, Reach};
use crate::matcher::{Directory, PathRule};
use crate::path::{Links, Subject, forms, normalize};
use crate::usage::Usage;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

/// `..` names no place that could be found.
pub(crate) const NO_PARENT: &str = "a path in it has `..` behind something that cannot be followed";

/// A path in all its forms, and where the links on its way lead.
#[derive(Debug)]
pub(crate) struct Route {
    /// The path as requested, in all its forms.
    pub(crate) requested: Vec<Subject>,
    /// Target of the request; empty if that is the request itself, or unknown.
    pub(crate) resolved: Vec<Subject>,
    /// Links on the way.
    via: Vec<Subject>,
    /// `true` if the links of the request were followed.
    followed: bool,
    /// The git directory that it lies in, under whatever name.
    pub(crate) git_directory: Option<PathBuf>,
}

impl Route {
    fn new(path: &Path, links: &Links) -> Self {
        Self {
            requested: forms(path, links),
            resolved: Vec::new(),
            via: Vec::new(),
            followed: false,
            git_directory: None,
        }
    }

    /// Takes over where the links on its way lead.
    pub(crate) fn follow(&mut self, fact: &PathFact, links: &Links) {
        self.followed = true;
        if fact.resolved != fact.requested {
            self.resolved = forms(&normalize(Path::new("/"), &fact.resolved), links);
        }
        self.git_directory.clone_from(&fact.git_directory);
        self.via = fact.via.iter().flat_map(|path| forms(&normalize(Path::new("/"), path), links)).collect();
    }

    /// Returns every path of it.
    fn subjects(&self) -> impl Iterator<Item = &Subject> {
        self.requested.iter().chain(&self.resolved).chain(&self.via)
    }

    /// Returns `true` if a test holds for the request and for its target, in any of their forms.
    fn both(&self, holds: &dyn Fn(&Subject) -> bool) -> bool {
        self.followed
            && self.requested.iter().any(holds)
            && (self.resolved.is_empty() || self.resolved.iter().any(holds))
    }
}

/// One path that a call touches.
#[derive(Debug)]
pub(crate) struct Touch {
    pub(crate) route: Route,
    /// Use of the path by the call.
    pub(crate) usage: Usage,
    /// The path of a command with every `..` still in it; `None` if it has none.
    pub(crate) walked: Option<PathBuf>,
    /// A file name pattern of the shell, below the path.
    pub(crate) pattern: Option<String>,
    /// The pattern as rules compare it, once one has: `None` if it cannot be read.
    pub(crate) globs: OnceCell<Option<Vec<Glob>>>,
    /// `true` if a program would take a match of the pattern that begins with a dash for an option.
    pub(crate) option: bool,
    pub(crate) unknown: bool,
    /// The pattern that the names of all files below have which the command touches.
    pub(crate) named: Option<String>,
    /// Reason why the target of the path is unknown when the command runs.
    pub(crate) unclear: Option<&'static str>,
    /// Matches of the pattern, or the links below that the program follows.
    pub(crate) stands_for: Vec<Touch>,
    /// Entries found below the path.
    pub(crate) inside: Vec<PathBuf>,
    /// Places of secrets below it that the command prints.
    pub(crate) secrets: Vec<Touch>,
    /// `true` if a copy of a tree brings the path along.
    pub(crate) copied: bool,
    /// The only files that are read below it.
    pub(crate) tracked: Option<GitTracked>,
}

impl Touch {
    /// Creates a path of which only its text is known.
    pub(crate) fn new(path: &Path, usage: Usage, links: &Links) -> Self {
        Self {
            route: Route::new(path, links),
            usage,
            walked: None,
            pattern: None,
            option: false,
            globs: OnceCell::new(),
            unknown: false,
            named: None,
            unclear: None,
            stands_for: Vec::new(),
            inside: Vec::new(),
            secrets: Vec::new(),
            copied: false,
            tracked: None,
        }
    }

    /// Creates the touch of a path that a copy of a tree brings along.
    pub(crate) fn brought(path: &Path, links: &Links) -> Self {
        let usage = Usage { write: true, ..Usage::default() };
        Self { copied: true, ..Self::new(path, usage, links) }
    }

    /// Returns every path that is judged for it.
    pub(crate) fn subjects(&self) -> impl Iterator<Item = &Subject> {
        self.route.subjects()
    }

    /// Returns the path as requested.
    pub(crate) fn requested_path(&self) -> &Path {
        self.route.requested.first().map_or(Path::new(""), |subject| &subject.path)
    }

    /// Returns `true` if the request and its target are both inside one of the directories, for all matches of the
    /// touch.
    pub(crate) fn is_inside(&self, workspace: &[Directory]) -> bool {
        self.both(|subject| workspace.iter().any(|directory| directory.contains(subject)))
    }

    /// Returns the path that is not inside any of the directories: the request, or else where it ends.
    pub(crate) fn outside(&self, workspace: &[Directory]) -> PathBuf {
        if let Some(other) = self.stands_for.iter().find(|other| !other.is_inside(workspace)) {
            return other.outside(workspace);
        }
        let inside = |subject: &&Subject| workspace.iter().any(|directory| directory.contains(subject));
        let end = self.route.resolved.first().filter(|_| self.route.requested.iter().any(|subject| inside(&subject)));
        end.map_or_else(|| self.requested_path().to_path_buf(), |subject| subject.path.clone())
    }

    /// Returns `true` if a test holds for the request and for its target, in any of their forms, and for all matches of
    /// the touch.
    pub(crate) fn both(&self, holds: impl Fn(&Subject) -> bool) -> bool {
        self.both_of(&holds)
    }

    fn both_of(&self, holds: &dyn Fn(&Subject) -> bool) -> bool {
        !self.is_unknown() && self.route.both(holds) && self.stands_for.iter().all(|other| other.both_of(holds))
    }

    /// Returns `true` if the path is unknown.
    pub(crate) fn is_unknown(&self) -> bool {
        self.unknown || self.unclear.is_some()
    }

    /// Returns `true` if a deny or ask rule covers everything touched below the path, or a part that certainly exists.
    pub(crate) fn is_covered_below(&self, rule: &PathRule, workspace: &[Directory]) -> bool {
        let whole = self.usage.tree || self.usage.handles || self.usage.hands_on;
        let covered = |subject: &Subject| match &self.pattern {
            Some(pattern) => rule.covers_all_of(subject, pattern, workspace),
            None => {
                whole
                    && (rule.covers_all_below(subject, workspace)
                        || (self.usage.handles && rule.is_fixed_below(subject, workspace)))
            }
        };
        let found = || {
            let mut inside = self.inside.iter().map(|path| Subject::new(path.clone()));
            inside.any(|subject| rule.reach(&subject, workspace) == Reach::Covers)
        };
        self.subjects().any(covered) || (whole && found())
    }

    /// Returns `true` if a deny or ask rule covers every possible entry below the path, though not the path itself.
    pub(crate) fn holds_only(&self, rule: &PathRule, workspace: &[Directory]) -> bool {
        self.pattern.is_none() && self.subjects().any(|subject| rule.covers_all_below(subject, workspace))
    }

    /// Returns the reach of a deny or ask rule into the touch.
    pub(crate) fn reach(&self, rule: &PathRule, workspace: &[Directory]) -> Reach {
        let reach = |subject: &Subject| match &self.pattern {
            None => rule.reach(subject, workspace),
            Some(pattern) => {
                let exact = rule.reach(subject, workspace);
                if exact == Reach::Covers {
                    return exact;
                }
                let names = subject.spellings().iter();
                let most = names.map(|names| rule.reach_pattern(names, self.globs(pattern), workspace)).max();
                // The names that exist among the matches of the pattern are unknown.
                if most == Some(Reach::Covers) || (self.usage.tree && most == Some(Reach::Below)) {
                    Reach::Below
                } else {
                    Reach::No
                }
            }
        };
        self.subjects().map(reach).max().unwrap_or(Reach::No)
    }

    fn globs(&self, pattern: &str) -> Option<&[Glob]> {
        // Without globstar the shell reads `**` as `*`.
        self.globs.get_or_init(|| Glob::parse(&pattern.replace("**", "*"), true).ok()).as_deref()
    }

    /// Returns `true` if the entries read below the path may include one that a rule covers.
    pub(crate) fn may_hold(&self, rule: &PathRule, workspace: &[Directory]) -> bool {
        let covers = |path: PathBuf| rule.reach(&Subject::new(path), workspace) == Reach::Covers;
        self.tracked.as_ref().is_none_or(|tracked| {
            let subjects = self.route.requested.iter().chain(&self.route.resolved);
            let mut paths = subjects.map(|subject| subject.path.as_path());
            paths.any(|path| tracked.may_hold(path, covers))
        })
    }

    /// Returns `true` if a rule may cover a file below with the name that all of them have.
    pub(crate) fn may_be_named(&self, rule: &PathRule) -> bool {
        let names = self.named.as_ref().and_then(|name| Glob::parse(name, true).ok());
        names.is_none_or(|names| rule.may_be_named(&names))
    }

    /// Returns `true` if a rule that matches only below this path matters.
    pub(crate) fn reaches_below(&self) -> bool {
        self.usage.tree || self.usage.prints || self.pattern.is_some()
    }
}
