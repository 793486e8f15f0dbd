//! The policy: everything a verdict depends on, the call aside.

use crate::call::Call;
use crate::definitions::Definitions;
use crate::error::{ModeError, RuleError, RuleWarning};
use crate::facts::CallFacts;
use crate::glob::Reach;
use crate::lower::Floor;
use crate::matcher::{Directory, Place, Rule, Scope, Test, compile};
use crate::names;
use crate::path::{Subject, normalize};
use crate::raise::{self, Grants};
use crate::rule::parse_rule;
use std::path::{Path, PathBuf};
use windlass_types::{Behavior, PermissionMode, RuleSource};

/// What a policy starts from. All paths are absolute.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct PolicyConfig {
    /// The directory the session started in: the workspace.
    pub start_directory: PathBuf,
    /// More directories of the workspace.
    pub additional_directories: Vec<PathBuf>,
    /// The user's home, where `~/` in rules starts.
    pub home: Option<PathBuf>,
    /// The mode at the start. bypassPermissions needs `bypass_allowed`, and is default without.
    pub mode: PermissionMode,
    /// Whether the mode bypassPermissions can be entered.
    pub bypass_allowed: bool,
    /// Paths that are protected besides the names that are protected everywhere: resolved git directories,
    /// settings files elsewhere, the harness's own home.
    pub protected_paths: Vec<PathBuf>,
    /// Directories that are links, and what they resolve to (`/tmp` and `/private/tmp`), so that rules and
    /// directories given in one form hold for the other.
    pub links: Vec<(PathBuf, PathBuf)>,
}

impl PolicyConfig {
    /// Mode default, no home, nothing but the start directory.
    pub fn new(start_directory: impl Into<PathBuf>) -> Self {
        Self {
            start_directory: start_directory.into(),
            additional_directories: Vec::new(),
            home: None,
            mode: PermissionMode::Default,
            bypass_allowed: false,
            protected_paths: Vec::new(),
            links: Vec::new(),
        }
    }

    /// Adds directories to the workspace.
    #[must_use]
    pub fn with_additional_directories(mut self, directories: impl IntoIterator<Item = PathBuf>) -> Self {
        self.additional_directories.extend(directories);
        self
    }

    /// Sets the home directory.
    #[must_use]
    pub fn with_home(mut self, home: Option<PathBuf>) -> Self {
        self.home = home;
        self
    }

    /// Sets the mode at the start.
    #[must_use]
    pub fn with_mode(mut self, mode: PermissionMode) -> Self {
        self.mode = mode;
        self
    }

    /// Says whether the mode bypassPermissions can be entered.
    #[must_use]
    pub fn with_bypass_allowed(mut self, allowed: bool) -> Self {
        self.bypass_allowed = allowed;
        self
    }

    /// Protects more paths.
    #[must_use]
    pub fn with_protected_paths(mut self, paths: impl IntoIterator<Item = PathBuf>) -> Self {
        self.protected_paths.extend(paths);
        self
    }

    /// Tells of a directory that is a link, and what it resolves to.
    #[must_use]
    pub fn with_link(mut self, from: impl Into<PathBuf>, to: impl Into<PathBuf>) -> Self {
        self.links.push((from.into(), to.into()));
        self
    }
}

/// Rules by source, a mode, and the directories of the workspace. Pure data; cloning is the way to try a change.
#[derive(Debug, Clone)]
pub struct Policy {
    pub(crate) mode: PermissionMode,
    bypass_allowed: bool,
    /// Whether a finished plan can lead out of plan mode.
    pub(crate) plan_can_end: bool,
    /// Whether what would ask is denied, whatever the mode.
    pub(crate) never_asks: bool,
    home: Option<PathBuf>,
    links: Vec<(PathBuf, PathBuf)>,
    protected: Vec<Directory>,
    directories: Vec<PathBuf>,
    pub(crate) workspace: Vec<Directory>,
    pub(crate) deny: Vec<Rule>,
    pub(crate) ask: Vec<Rule>,
    pub(crate) allow: Vec<Rule>,
    /// The tools of servers that are offered now.
    pub(crate) definitions: Definitions,
    /// Where patterns with a leading `/` start, for sources that have brought rules.
    anchors: Vec<(RuleSource, PathBuf)>,
}

impl Policy {
    /// A policy without rules.
    pub fn new(config: PolicyConfig) -> Self {
        let bypass = config.mode == PermissionMode::BypassPermissions && !config.bypass_allowed;
        let mut policy = Self {
            mode: if bypass { PermissionMode::Default } else { config.mode },
            bypass_allowed: config.bypass_allowed,
            plan_can_end: true,
            never_asks: false,
            home: config.home,
            links: config.links.into_iter().filter(|(from, to)| from != to).collect(),
            protected: config.protected_paths.iter().map(|path| Directory::new(path)).collect(),
            directories: Vec::new(),
            workspace: Vec::new(),
            deny: Vec::new(),
            ask: Vec::new(),
            allow: Vec::new(),
            definitions: Definitions::new(),
            anchors: Vec::new(),
        };
        policy.add_directory(&config.start_directory);
        for directory in &config.additional_directories {
            policy.add_directory(directory);
        }
        policy
    }

    /// Adds rules of one source and behaviour. `anchor` is where patterns that begin with a single `/`
    /// start: the project root, the directory of a settings file. What can be said about rules that have no
    /// effect, or less than one may think, is returned.
    ///
    /// # Errors
    /// A deny or ask rule cannot be used; then none of these rules is added. An unusable allow rule is
    /// left out with a warning.
    pub fn add_rules(
        &mut self,
        source: RuleSource,
        behavior: Behavior,
        rules: &[impl AsRef<str>],
        anchor: &Path,
    ) -> Result<Vec<RuleWarning>, RuleError> {
        let mut warnings = Vec::new();
        let mut ready = Vec::new();
        let place = self.place(source, behavior, anchor);
        for text in rules {
            match parse_rule(text.as_ref()).and_then(|rule| compile(&rule, &place)) {
                Ok((rule, warning)) => {
                    ready.push(rule);
                    warnings.extend(warning);
                }
                Err(error) if behavior == Behavior::Allow => warnings.push(RuleWarning::ignored(error)),
                Err(error) => return Err(error),
            }
        }
        ready.iter_mut().for_each(|rule| self.bind(rule));
        self.rules_mut(behavior).extend(ready);
        self.anchors.retain(|(known, _)| *known != source);
        self.anchors.push((source, anchor.to_path_buf()));
        Ok(warnings)
    }

    /// The mode.
    pub fn mode(&self) -> PermissionMode {
        self.mode
    }

    /// Changes the mode.
    ///
    /// # Errors
    /// bypassPermissions was not allowed at the start.
    pub fn set_mode(&mut self, mode: PermissionMode) -> Result<(), ModeError> {
        if mode == PermissionMode::BypassPermissions && !self.bypass_allowed {
            return Err(ModeError::BypassNotAllowed);
        }
        self.mode = mode;
        Ok(())
    }

    /// Says that there is no way out of plan mode, as for agents that have no ExitPlanMode: what it denies then
    /// names none.
    pub fn keep_plan_mode(&mut self) {
        self.plan_can_end = false;
    }

    /// Denies what would ask, whatever the mode, as dontAsk does: no mode can lift that again.
    pub fn never_ask(&mut self) {
        self.never_asks = true;
    }

    /// The directories of the workspace, the start directory first.
    pub fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    /// Whether a deny rule covers every call of the tool, so that it is not offered to the model.
    pub fn is_hidden(&self, tool: &str) -> bool {
        let tool = names::canonical(tool);
        self.deny.iter().any(|rule| matches!(rule.test, Test::Whole) && rule.tool.matches(tool))
    }

    /// Whether the call only reads, whatever the rules and the mode say: the scheduler may start it early and
    /// run it beside others, once [`decide`](Self::decide) has allowed it. A command that changes the directory
    /// or stays in the background is not: later calls depend on it.
    pub fn is_proven_read_only(&self, facts: &CallFacts) -> bool {
        let call = self.call(facts);
        let settled = match &facts.command {
            Some(command) => {
                !command.background && call.parts.iter().flatten().all(|(part, _)| !part.changes_directory())
            }
            None => !call.asks_the_user(),
        };
        settled && raise::only_reads(&call)
    }

    /// Whether a search may show what it finds at this path: no Read deny rule matches it, neither as
    /// requested nor with its links followed.
    pub fn may_read(&self, requested: &Path, resolved: &Path) -> bool {
        let rules = || {
            self.deny.iter().filter_map(|rule| match &rule.test {
                Test::Path(path) if path.scope == Scope::Read => Some(path),
                _ => None,
            })
        };
        if rules().next().is_none() {
            return true;
        }
        let both = [Some(requested), (resolved != requested).then_some(resolved)];
        both.into_iter()
            .flatten()
            .flat_map(|path| self.forms(path))
            .all(|subject| rules().all(|rule| rule.reach(&subject, &self.workspace) != Reach::Covers))
    }

    fn forms(&self, path: &Path) -> Vec<Subject> {
        crate::call::forms(&normalize(self.start_directory(), path), &self.links)
    }

    pub(crate) fn call<'a>(&self, facts: &'a CallFacts) -> Call<'a> {
        Call::new(facts, &self.links, self.home.as_deref(), &self.directories)
    }

    pub(crate) fn floor(&self) -> Floor<'_> {
        Floor { home: self.home.as_deref(), roots: &self.directories, protected: &self.protected }
    }

    pub(crate) fn grants(&self) -> Grants<'_> {
        let accept_edits = self.mode == PermissionMode::AcceptEdits;
        Grants { allow: &self.allow, definitions: &self.definitions, workspace: &self.workspace, accept_edits }
    }

    fn start_directory(&self) -> &Path {
        self.directories.first().map_or(Path::new("/"), PathBuf::as_path)
    }

    pub(crate) fn place<'a>(&'a self, source: RuleSource, behavior: Behavior, anchor: &'a Path) -> Place<'a> {
        Place { source, behavior, anchor, start_directory: self.start_directory(), home: self.home.as_deref() }
    }

    /// Where patterns with a leading `/` start for rules that an update brings.
    pub(crate) fn anchor(&self, source: RuleSource) -> PathBuf {
        let known = self.anchors.iter().find(|(known, _)| *known == source).map(|(_, anchor)| anchor.clone());
        match (known, source, &self.home) {
            (Some(anchor), ..) => anchor,
            (None, RuleSource::UserSettings, Some(home)) => home.join(".claude"),
            _ => self.start_directory().to_path_buf(),
        }
    }

    pub(crate) fn rules_mut(&mut self, behavior: Behavior) -> &mut Vec<Rule> {
        match behavior {
            Behavior::Deny => &mut self.deny,
            Behavior::Ask => &mut self.ask,
            Behavior::Allow => &mut self.allow,
        }
    }

    pub(crate) fn add_directory(&mut self, directory: &Path) {
        let directory = normalize(Path::new("/"), directory);
        if !self.directories.contains(&directory) {
            self.workspace.push(Directory::new(&directory));
            self.directories.push(directory);
        }
    }

    /// Removes a directory; the start directory stays.
    pub(crate) fn remove_directory(&mut self, directory: &Path) {
        let directory = normalize(Path::new("/"), directory);
        let start = self.start_directory().to_path_buf();
        self.directories.retain(|known| *known == start || *known != directory);
        self.workspace = self.directories.iter().map(|directory| Directory::new(directory)).collect();
    }
}
