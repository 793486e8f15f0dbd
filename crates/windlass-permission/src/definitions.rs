//! The definitions of servers' tools, to which allow rules are bound.

use crate::matcher::{Rule, ToolName};
use std::collections::BTreeMap;
use std::sync::Arc;
use windlass_types::{Behavior, ToolSpec};

/// The beginning of the names of tools that servers define.
pub(crate) const OF_SERVERS: &str = "mcp__";

/// The tools of servers that are offered now, by name.
pub(crate) type Definitions = BTreeMap<String, Arc<ToolSpec>>;

/// Returns the definition that a rule is to be bound to, if it is to be bound.
pub(crate) fn definition(rule: &Rule, definitions: &Definitions) -> Option<Arc<ToolSpec>> {
    match &rule.tool {
        ToolName::Exact(name) if rule.behavior == Behavior::Allow => definitions.get(name).cloned(),
        _ => None,
    }
}

/// Returns `true` if a tool's definition is unchanged since the rule took effect.
pub(crate) fn holds(rule: &Rule, definitions: &Definitions, tool: &str) -> bool {
    match (&rule.definition, definitions.get(tool)) {
        (Some(bound), Some(now)) => bound == now,
        _ => true,
    }
}
