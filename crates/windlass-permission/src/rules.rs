//! The rules of a policy.

use crate::definitions::{Definitions, OF_SERVERS, definition};
use crate::groups::Groups;
use crate::matcher::Rule;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_types::{Behavior, RuleSource, ToolSpec};

/// The rules of a policy, with the bases of their patterns.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rules {
    pub(crate) deny: Vec<Rule>,
    pub(crate) ask: Vec<Rule>,
    pub(crate) allow: Vec<Rule>,
    pub(crate) groups: Groups,
    /// Calls to which tools are limited: each list has to cover a call of a tool that it names.
    pub(crate) limits: Vec<Vec<Rule>>,
    /// The tools of servers that are offered now.
    pub(crate) definitions: Definitions,
    /// Base directories of patterns with a leading `/`, for sources that have brought rules.
    anchors: Vec<(RuleSource, PathBuf)>,
}

impl Rules {
    pub(crate) fn of_mut(&mut self, behavior: Behavior) -> &mut Vec<Rule> {
        match behavior {
            Behavior::Deny => &mut self.deny,
            Behavior::Ask => &mut self.ask,
            Behavior::Allow => &mut self.allow,
        }
    }

    /// Returns the base directory of patterns with a leading `/` in the latest rules of a source.
    pub(crate) fn anchor(&self, source: RuleSource) -> Option<&Path> {
        self.anchors.iter().find(|(known, _)| *known == source).map(|(_, anchor)| anchor.as_path())
    }

    pub(crate) fn set_anchor(&mut self, source: RuleSource, anchor: &Path) {
        self.anchors.retain(|(known, _)| *known != source);
        self.anchors.push((source, anchor.to_path_buf()));
    }

    /// Takes over which tools are offered now; see [`Policy::offer`](crate::Policy::offer).
    pub(crate) fn offer(&mut self, tools: &[Arc<ToolSpec>]) -> bool {
        let of_servers = tools.iter().filter(|tool| tool.name.starts_with(OF_SERVERS));
        let offered: Definitions = of_servers.map(|tool| (tool.name.clone(), Arc::clone(tool))).collect();
        if offered == self.definitions {
            return false;
        }
        self.definitions = offered;
        for rule in self.allow.iter_mut().filter(|rule| rule.definition.is_none()) {
            rule.definition = definition(rule, &self.definitions);
        }
        true
    }

    /// Binds a rule to the definition of its tool, if it is to be bound.
    pub(crate) fn bind(&self, rule: &mut Rule) {
        rule.definition = definition(rule, &self.definitions);
    }
}
