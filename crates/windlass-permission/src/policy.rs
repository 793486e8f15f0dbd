//! The policy: everything that a verdict depends on, except the call.

use crate::call::Call;
use crate::config::PolicyConfig;
use crate::error::{ModeError, RuleError, RuleWarning};
use crate::facts::CallFacts;
use crate::glob::Reach;
use crate::lower::Floor;
use crate::matcher::{Place, Scope, Test, compile};
use crate::models::ModelAliases;
use crate::names;
use crate::path::PathStyle;
use crate::raise::{self, Grants};
use crate::rule::parse_rule;
use crate::rules::Rules;
use crate::sandbox::SandboxedCommands;
use crate::workspace::Workspace;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_types::secret::is_secret;
use windlass_types::{Access, Behavior, PermissionGroup, PermissionMode, RuleSource, ToolSpec};

/// Rules by source, a mode, and the directories of the workspace. Pure data; cloning is the way to try a change.
#[derive(Debug, Clone)]
pub struct Policy {
    pub(crate) mode: ModeState,
    pub(crate) workspace: Workspace,
    pub(crate) rules: Rules,
    pub(crate) sandbox: Option<SandboxedCommands>,
    pub(crate) models: ModelAliases,
}

/// The mode, and its limits.
#[derive(Debug, Clone)]
pub(crate) struct ModeState {
    pub(crate) current: PermissionMode,
    bypass_allowed: bool,
    auto_allowed: bool,
    /// `true` if a finished plan can lead out of plan mode.
    pub(crate) plan_can_end: bool,
    /// `true` if calls that would ask are denied, in every mode.
    pub(crate) never_asks: bool,
}

impl ModeState {
    fn new(mode: PermissionMode, bypass_allowed: bool, auto_allowed: bool) -> Self {
        let mut state = Self {
            current: PermissionMode::Default,
            bypass_allowed,
            auto_allowed,
            plan_can_end: true,
            never_asks: false,
        };
        // A mode that is off becomes default.
        let _ = state.set(mode);
        state
    }

    fn set(&mut self, mode: PermissionMode) -> Result<(), ModeError> {
        match mode {
            PermissionMode::BypassPermissions if !self.bypass_allowed => Err(ModeError::BypassNotAllowed),
            PermissionMode::Auto if !self.auto_allowed => Err(ModeError::AutoNotAllowed),
            mode => {
                self.current = mode;
                Ok(())
            }
        }
    }

    /// Forbids the mode bypassPermissions from now on, and leaves it.
    pub(crate) fn forbid_bypass(&mut self) {
        self.limit(false, self.auto_allowed);
    }

    /// Forbids the mode auto from now on, and leaves it.
    pub(crate) fn forbid_auto(&mut self) {
        self.limit(self.bypass_allowed, false);
    }

    fn limit(&mut self, bypass_allowed: bool, auto_allowed: bool) {
        let limited = Self::new(self.current, bypass_allowed, auto_allowed);
        *self = Self { plan_can_end: self.plan_can_end, never_asks: self.never_asks, ..limited };
    }
}

impl Policy {
    /// Creates a policy without rules.
    pub fn new(config: PolicyConfig) -> Self {
        let mode = ModeState::new(config.mode, config.bypass_allowed, config.auto_allowed);
        Self {
            mode,
            workspace: Workspace::new(config),
            rules: Rules::default(),
            sandbox: None,
            models: ModelAliases::default(),
        }
    }

    /// Adds rules of one source and behaviour. `anchor` is where patterns that begin with a single `/`
    /// start: the project root, the directory of a settings file. Warnings about rules that have no
    /// effect, or less than their writer may think, are returned.
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
        ready.iter_mut().for_each(|rule| self.rules.bind(rule));
        self.rules.of_mut(behavior).extend(ready);
        self.rules.set_anchor(source, anchor);
        Ok(warnings)
    }

    /// Sets the behavior for all calls of a group, beside the rules. A deny and an ask have the effect of a rule; an
    /// allow covers calls for which only a rule is missing, and nothing outside of the workspace. Of two verdicts on
    /// one group the stricter one wins.
    pub fn set_group(&mut self, group: PermissionGroup, behavior: Behavior) {
        self.rules.groups.set(group, behavior);
    }

    /// Says which models names stand for, such as aliases of the user. Rules on models hold for both, whichever of the two a rule or a call
    /// has. Later ones replace these.
    pub fn set_model_aliases<A: Into<String>, M: Into<String>>(&mut self, aliases: impl IntoIterator<Item = (A, M)>) {
        self.models = ModelAliases::new(aliases.into_iter().map(|(alias, model)| (alias.into(), model.into())));
    }

    /// Returns the mode.
    pub fn mode(&self) -> PermissionMode {
        self.mode.current
    }

    /// Changes the mode.
    ///
    /// # Errors
    /// bypassPermissions was not allowed at the start, or auto is forbidden.
    pub fn set_mode(&mut self, mode: PermissionMode) -> Result<(), ModeError> {
        self.mode.set(mode)
    }

    /// Makes plan mode final, as for agents that have no ExitPlanMode: the reason of a denial then
    /// names no way out.
    pub fn keep_plan_mode(&mut self) {
        self.mode.plan_can_end = false;
    }

    /// Denies calls that would ask, in every mode, as dontAsk does: no mode can lift that again.
    pub fn never_ask(&mut self) {
        self.mode.never_asks = true;
    }

    /// Sets the sandbox of commands, with the commands that run outside of it.
    pub fn confine(&mut self, commands: SandboxedCommands) {
        self.sandbox = Some(commands);
    }

    /// Returns the directories of the workspace, the start directory first.
    pub fn directories(&self) -> &[PathBuf] {
        self.workspace.directories()
    }

    /// Returns the user's home, the base of `~/`. `None` if it is not known.
    pub fn home(&self) -> Option<&Path> {
        self.workspace.home()
    }

    /// Returns `true` if a deny rule covers every call of the tool, so that it is not offered to the model.
    pub fn is_hidden(&self, tool: &str) -> bool {
        let tool = names::canonical(tool);
        // The group of other tools is known only for each call.
        let of_server = PermissionGroup::of(tool, &Access::Unknown) == PermissionGroup::Mcp;
        if of_server && self.rules.groups.denies(PermissionGroup::Mcp) {
            return true;
        }
        self.rules.deny.iter().any(|rule| matches!(rule.test, Test::Whole) && rule.lowers(tool))
    }

    /// Returns `true` for a tool that agents get from one of this policy without a word of their definition: it neither
    /// runs programs nor writes files, or the user lets some calls of it run, by a rule, a verdict on all of the kind,
    /// or the mode.
    #[must_use]
    pub fn hands_down(&self, tool: &str) -> bool {
        let tool = names::canonical(tool);
        let (writes, runs) = (names::is_edit_tool(tool), matches!(tool, "Bash" | "PowerShell"));
        let group = if writes { PermissionGroup::Edit } else { PermissionGroup::Execution };
        let by_mode = match self.mode.current {
            PermissionMode::BypassPermissions => true,
            PermissionMode::AcceptEdits | PermissionMode::Auto => writes,
            _ => false,
        };
        !(writes || runs)
            || by_mode
            || self.rules.groups.allows_all(group)
            || self.rules.allow.iter().any(|rule| rule.tool.matches(tool) || (writes && rule.tool.matches("Edit")))
    }

    /// Returns `true` if the call only reads, whatever the rules and the mode are: the scheduler may start it early and
    /// run it beside others, once [`decide`](Self::decide) has allowed it. `false` for a command that changes the
    /// directory or stays in the background: later calls depend on it.
    pub fn is_proven_read_only(&self, facts: &CallFacts) -> bool {
        let call = self.prepare(facts);
        let settled = match &facts.command {
            Some(command) => {
                !command.background && call.parts.iter().flatten().all(|(part, _)| !part.changes_directory())
            }
            None => !call.asks_the_user(),
        };
        settled && raise::only_reads(&call)
    }

    /// Returns `true` if a search may show its findings at this path: no Read deny rule matches it, neither as
    /// requested nor with its links followed.
    pub fn may_read(&self, requested: &Path, resolved: &Path) -> bool {
        let rules = || {
            self.rules.deny.iter().filter_map(|rule| match &rule.test {
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
            .flat_map(|path| self.workspace.forms(path))
            .all(|subject| rules().all(|rule| rule.reach(&subject, self.workspace.ready()) != Reach::Covers))
    }

    /// Returns `true` if a search of contents may show its findings at this path: [`may_read`](Self::may_read) is
    /// `true`, and it is no place of secrets, unless the call names the path itself.
    pub fn may_search(&self, facts: &CallFacts, requested: &Path, resolved: &Path) -> bool {
        let named = || facts.paths.iter().any(|fact| fact.resolved == resolved && is_secret(&fact.resolved));
        let secret = is_secret(requested) || is_secret(resolved);
        self.may_read(requested, resolved) && (!secret || named())
    }

    /// Returns the directories beside the paths of a call whose names may be listed, each as requested and with its
    /// links followed: inside the workspace both ways, and not denied.
    pub fn listable<'a>(&'a self, facts: &'a CallFacts) -> impl Iterator<Item = (&'a Path, &'a Path)> {
        let inside = |path: &Path| self.directories().iter().any(|directory| path.starts_with(directory));
        let parents = facts.paths.iter().filter_map(|path| Some((path.requested.parent()?, path.resolved.parent()?)));
        parents.filter(move |(requested, resolved)| {
            inside(requested) && inside(resolved) && self.may_read(requested, resolved)
        })
    }

    /// Sets the offered tools; names that are not those of server tools are ignored.
    ///
    /// A server can change the definition of a tool. An allow rule that names one tool is therefore bound to the
    /// definition under which the tool was first offered, or, if it came later, to that of the moment it came: while
    /// the tool has another definition, the rule covers no call of it. Rules on a whole server or on a pattern of names
    /// are not bound, since they cover tools that are not known yet.
    ///
    /// Returns whether the definitions of servers' tools have changed.
    pub fn offer(&mut self, tools: &[Arc<ToolSpec>]) -> bool {
        self.rules.offer(tools)
    }

    pub(crate) fn prepare<'a>(&self, facts: &'a CallFacts) -> Call<'a> {
        Call::new(facts, &self.workspace)
    }

    pub(crate) fn floor(&self) -> Floor<'_> {
        Floor { workspace: &self.workspace }
    }

    pub(crate) fn grants(&self) -> Grants<'_> {
        let accept_edits = matches!(self.mode.current, PermissionMode::AcceptEdits | PermissionMode::Auto);
        let (allow, definitions) = (&self.rules.allow, &self.rules.definitions);
        Grants { allow, definitions, workspace: self.workspace.ready(), home: self.workspace.home(), accept_edits }
    }

    pub(crate) fn place<'a>(&'a self, source: RuleSource, behavior: Behavior, anchor: &'a Path) -> Place<'a> {
        let (start_directory, home) = (self.workspace.start(), self.workspace.home());
        Place { source, behavior, anchor, start_directory, home, style: PathStyle::OWN }
    }

    /// Returns the base directory of patterns with a leading `/` for rules of an update.
    pub(crate) fn anchor(&self, source: RuleSource) -> PathBuf {
        match (self.rules.anchor(source), source, self.workspace.home()) {
            (Some(anchor), ..) => anchor.to_path_buf(),
            (None, RuleSource::UserSettings, Some(home)) => home.join(".claude"),
            _ => self.workspace.start().to_path_buf(),
        }
    }
}
