//! Known names of tools, and doubts about others.

use crate::offer::ToolOptions;
use std::collections::BTreeSet;
use windlass_permission::{WELL_KNOWN_TOOLS, parse_rule};
use windlass_subagent::{AGENT_TOOL_NAME, AgentDefinition};
use windlass_types::mcp_name::PREFIX;
use windlass_types::near::{is_misspelt, is_same_but_for_case, nearest};

/// Consequences of doubtful names for a session: of tools in rules, lists and agents, and of models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum NameChecks {
    /// Names are not checked, for programs that pass on names from programs of other versions.
    Off,
    /// A deny or ask rule with a misspelt name of a known tool keeps the session from opening. Other unknown names and
    /// unreadable allow rules are [notices](crate::Run::notices), with suggestions.
    #[default]
    On,
    /// The session opens only if every name is that of an existing tool or model, and every rule is valid.
    Strict,
}

/// A doubtful name.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Doubt {
    pub(crate) text: String,
    /// `true` if the name is nearly a known one.
    pub(crate) is_near: bool,
    /// `true` if the name can never be right.
    pub(crate) is_fatal: bool,
}

/// Consequence of a wrong name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    /// A call is not allowed that should be.
    Light,
    /// A tool is missing from a list.
    List,
    /// A call runs that was to be stopped.
    Guard,
}

/// Known names of tools.
pub(crate) struct KnownTools {
    /// Tools from the program, before rules and lists remove some of them.
    offered: BTreeSet<String>,
}

impl KnownTools {
    pub(crate) fn new(offer: &ToolOptions) -> Self {
        let toolkit_names = offer.toolkit.tools.iter().map(|tool| tool.name().into_owned());
        let agents = offer.subagents.is_some().then(|| AGENT_TOOL_NAME.to_owned());
        let output = offer.output_schema.is_some().then(|| "StructuredOutput".to_owned());
        Self { offered: toolkit_names.chain(agents).chain(output).collect() }
    }

    /// Reason to refuse an agent of a file: it names an unknown tool, or forbids a misspelt one. A well-known tool that
    /// this session lacks is no error, because agents are shared with other programs.
    pub(crate) fn refusal_of(&self, agent: &AgentDefinition) -> Option<String> {
        let tool_names = agent.tools.iter().flatten();
        let tool_names = tool_names.filter(|name| !WELL_KNOWN_TOOLS.contains(&name.as_str()));
        let missing = tool_names.filter_map(|name| self.doubt("`tools`", name, Weight::List));
        let rules = agent.disallowed_tools.iter().filter_map(|rule| parse_rule(rule).ok());
        let forbidden = rules.filter_map(|rule| self.doubt("`disallowedTools`", rule.tool(), Weight::Guard));
        let first = missing.chain(forbidden.filter(|doubt| doubt.is_fatal)).next();
        first.map(|doubt| doubt.text)
    }

    /// Doubt about a name, if there is one.
    pub(crate) fn doubt(&self, place: &str, name: &str, weight: Weight) -> Option<Doubt> {
        // Tools of servers are known later, and patterns match whatever exists.
        if name.starts_with(PREFIX) || name.contains('*') || self.offered.contains(name) {
            return None;
        }
        let known = || self.offered.iter().map(String::as_str).chain(WELL_KNOWN_TOOLS.iter().copied());
        if let Some(meant) = known().find(|known| *known != name && is_same_but_for_case(known, name)) {
            let text = format!("{place} can never match, since no tool is named {name:?}: did you mean {meant:?}?");
            return Some(Doubt { text, is_near: true, is_fatal: weight != Weight::Light });
        }
        let near = if WELL_KNOWN_TOOLS.contains(&name) { Vec::new() } else { nearest(name, known()) };
        let meant = near.first().map(|meant| format!(": did you mean {meant:?}?")).unwrap_or_default();
        let is_misspelt = near.iter().any(|known| is_misspelt(name, known));
        Some(Doubt {
            text: format!("{place} names {name:?}, which is no tool of this session{meant}"),
            is_near: is_misspelt,
            is_fatal: is_misspelt && weight == Weight::Guard,
        })
    }
}
