//! Settings in the front matter of a command or a skill.

use super::hooks::CommandHooks;
use crate::canonical::content_of;
use crate::expand::{PLUGIN_ROOT_PLACEHOLDER, PROJECT_DIRECTORY, SKILL_DIRECTORY};
use crate::front_matter::FrontMatter;
use std::path::Path;
use windlass_permission::{Policy, PolicyConfig, parse_rule};
use windlass_types::names::meant_tool;
use windlass_types::{Effort, RunModel, RunScope};

/// Rules, hooks and model settings of a command or a skill while it runs. For a project that is not trusted, only the
/// restrictions are kept.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct CommandScope {
    /// Allow rules while the command runs (`allowed-tools`).
    pub allowed_tools: Vec<String>,
    /// Deny rules while the command runs (`disallowed-tools`).
    pub disallowed_tools: Vec<String>,
    /// The model that answers (`model`). `None`: that of the session.
    pub model: Option<String>,
    /// Reasoning effort (`effort`). `None`: the session's.
    pub effort: Option<Effort>,
    /// Hooks for the runs that use the command (`hooks`).
    pub hooks: CommandHooks,
}

/// Marks a skill that runs as an agent below the main one (`context: fork`).
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fork {
    /// The name of the agent (`agent`). `None`: one for general work.
    pub agent: Option<String>,
}

impl CommandScope {
    /// Reads the scope from front matter.
    ///
    /// # Errors
    /// A list in it cannot be read.
    pub(super) fn of(head: &FrontMatter) -> Result<Self, String> {
        Ok(Self {
            allowed_tools: head.rules("allowed-tools")?,
            disallowed_tools: head.rules("disallowed-tools")?,
            model: head.text("model").filter(|model| model != "inherit"),
            effort: head.text("effort").and_then(|effort| effort.parse().ok()),
            hooks: CommandHooks::of(head),
        })
    }

    /// Returns `true` if the scope changes nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the problem of an unusable restriction, in a sentence: a rule, or a hook of a gate.
    pub(crate) fn problem(&self) -> Option<String> {
        let mut policy = Policy::new(PolicyConfig::new("/"));
        let rule_problem = policy.add_run_rules(&[], &self.disallowed_tools).err().map(|error| error.to_string());
        let rule_problem = rule_problem.or_else(|| self.disallowed_tools.iter().find_map(|rule| misspelt_tool(rule)));
        let rule_problem = rule_problem.map(|error| format!("`disallowed-tools` cannot be used: {error}"));
        rule_problem.or_else(|| self.hooks.broken.clone().map(|problem| format!("`hooks` cannot be used: {problem}")))
    }

    /// Returns rules of `allowed-tools` that have no effect, in sentences.
    pub(crate) fn without_effect(&self) -> Vec<String> {
        let mut policy = Policy::new(PolicyConfig::new("/"));
        let warnings = policy.add_run_rules(&self.allowed_tools, &[]).unwrap_or_default();
        let ignored = warnings.iter().map(|warning| format!("`allowed-tools`: {warning}"));
        let misspelt = self.allowed_tools.iter().filter_map(|rule| misspelt_tool(rule));
        ignored.chain(misspelt.map(|problem| format!("`allowed-tools`: {problem}"))).collect()
    }

    /// Returns the parts that trust has to cover, in one canonical text; `None` for nothing. Programs in the command's
    /// text are included.
    pub(super) fn content(&self, programs: &[&str]) -> Option<String> {
        let effort = self.effort.map(|effort| effort.to_string());
        if let Some(hooks) = self.hooks.content() {
            return Some(content_of(&(&self.allowed_tools, &self.model, effort, programs, hooks)));
        }
        let more = self.model.is_some() || effort.is_some() || !programs.is_empty();
        if !more {
            return (!self.allowed_tools.is_empty()).then(|| content_of(&self.allowed_tools));
        }
        Some(content_of(&(&self.allowed_tools, &self.model, effort, programs)))
    }

    /// Returns the scope in words for people.
    pub(super) fn shown(&self, programs: &[&str]) -> String {
        let part = |name: &str, values: String| (!values.is_empty()).then(|| format!("{name}: {values}"));
        let parts = [
            part("allowed-tools", self.allowed_tools.join(", ")),
            part("model", self.model.clone().unwrap_or_default()),
            part("effort", self.effort.map(|effort| effort.to_string()).unwrap_or_default()),
            part("runs", programs.iter().map(|program| format!("`{program}`")).collect::<Vec<_>>().join(", ")),
            part("hooks", self.hooks.content().unwrap_or_default().to_owned()),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join("; ")
    }

    /// Removes the parts that only a trusted project gets.
    pub(super) fn narrow(&mut self) {
        *self = Self { disallowed_tools: std::mem::take(&mut self.disallowed_tools), ..Self::default() };
    }

    /// Replaces a placeholder in the rules by a directory.
    pub(super) fn place(&mut self, placeholder: &str, directory: &Path) {
        let directory = directory.to_string_lossy();
        for rule in self.allowed_tools.iter_mut().chain(&mut self.disallowed_tools) {
            *rule = rule.replace(placeholder, &directory);
        }
    }

    pub(super) fn place_plugin(&mut self, root: &Path) {
        self.place(PLUGIN_ROOT_PLACEHOLDER, root);
    }

    pub(super) fn place_skill(&mut self, directory: &Path) {
        self.place(SKILL_DIRECTORY, directory);
    }

    /// Returns the scope of a run in a project, for the command of this name.
    pub(super) fn for_run(&self, name: &str, project: &Path) -> RunScope {
        let mut placed = self.clone();
        placed.place(PROJECT_DIRECTORY, project);
        let mut scope = RunScope::default();
        (scope.allow, scope.deny) = (placed.allowed_tools, placed.disallowed_tools);
        (scope.model, scope.effort) = (placed.model.map(RunModel::Named), placed.effort);
        if !self.hooks.all.is_empty() {
            scope.skills.push(name.to_owned());
        }
        scope
    }
}

/// Returns the problem of a rule whose tool name is a misspelling of a known tool.
fn misspelt_tool(rule: &str) -> Option<String> {
    let tool = parse_rule(rule).ok()?.tool().to_owned();
    let meant = meant_tool(&tool)?;
    Some(format!("the rule `{rule}` names {tool:?}, which is no tool: did you mean {meant:?}?"))
}

impl Fork {
    pub(super) fn of(head: &FrontMatter) -> Option<Self> {
        let is_fork = head.text("context").is_some_and(|context| context.eq_ignore_ascii_case("fork"));
        is_fork.then(|| Self { agent: head.text("agent") })
    }
}
