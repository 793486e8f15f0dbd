//! What the tools of servers are, as far as allow rules are bound to it.

use crate::matcher::{Rule, ToolName};
use crate::policy::Policy;
use std::collections::BTreeMap;
use std::sync::Arc;
use windlass_types::{Behavior, ToolSpec};

/// How the names of tools begin that servers define.
const OF_SERVERS: &str = "mcp__";

/// The tools of servers that are offered now, by name.
pub(crate) type Definitions = BTreeMap<String, Arc<ToolSpec>>;

impl Policy {
    /// Says which tools are offered now; names that are not those of server tools are left alone.
    ///
    /// A server can change what a tool of its is. An allow rule that names one tool is therefore bound to the
    /// definition under which the tool was first offered, or, if it came later, to that of the moment it came: while
    /// the tool is another one, the rule covers no call of it. Rules on a whole server or on a pattern of names are
    /// not bound, since they cover tools that are not known yet.
    ///
    /// Returns whether the tools of servers are others than before.
    pub fn offer(&mut self, tools: &[Arc<ToolSpec>]) -> bool {
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

fn definition(rule: &Rule, definitions: &Definitions) -> Option<Arc<ToolSpec>> {
    match &rule.tool {
        ToolName::Exact(name) if rule.behavior == Behavior::Allow => definitions.get(name).cloned(),
        _ => None,
    }
}

/// Whether a tool is still what it was when the rule came to hold.
pub(crate) fn holds(rule: &Rule, definitions: &Definitions, tool: &str) -> bool {
    match (&rule.definition, definitions.get(tool)) {
        (Some(bound), Some(now)) => bound == now,
        _ => true,
    }
}
