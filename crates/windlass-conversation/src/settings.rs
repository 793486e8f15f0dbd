//! Settings of the session that is open and of those after it.

use crate::input::SessionFacts;
use crate::output::SessionOrder;
use std::collections::BTreeMap;
use windlass_types::{Behavior, Effort, PermissionMode, PermissionUpdate, RuleValue, Thinking, UpdateDestination};

/// Permission rules by their behavior.
pub(crate) type Rules = BTreeMap<Behavior, Vec<RuleValue>>;

/// Settings that a session is to be opened with.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SessionSettings {
    /// Permission mode, if another one than the configured one.
    pub permission_mode: Option<PermissionMode>,
    /// Model by name, `Some(None)` for the configured one.
    pub model: Option<Option<String>>,
    /// Reasoning, `Some(None)` for the configured one.
    pub thinking: Option<Option<Thinking>>,
    /// Environment variables of programs.
    pub environment: BTreeMap<String, String>,
    /// `true` if the session is to be a new, empty one.
    pub is_fresh: bool,
}

/// Settings that people and hosts have asked for.
#[derive(Debug, Default)]
pub(crate) struct RequestedSettings {
    pub(crate) model: Option<Option<String>>,
    pub(crate) thinking: Option<Option<Thinking>>,
    /// Mode of the next session: the last one that was ordered or reported.
    pub(crate) permission_mode: Option<PermissionMode>,
    /// Mode that was ordered and is not reported yet: an earlier report is older.
    pub(crate) awaited_mode: Option<PermissionMode>,
    pub(crate) environment: BTreeMap<String, String>,
    /// Rules in addition to those that sessions are opened with.
    pub(crate) rules: Rules,
    pub(crate) effort: Option<Option<Effort>>,
}

impl RequestedSettings {
    /// The settings to open a session with.
    pub(crate) fn for_opening(&self, is_fresh: bool) -> SessionSettings {
        SessionSettings {
            permission_mode: self.permission_mode,
            model: self.model.clone(),
            thinking: self.thinking,
            environment: self.environment.clone(),
            is_fresh,
        }
    }

    /// The first orders for a session that is open now: settings that no opening takes, and those that changed since
    /// the opening began with `opened`.
    pub(crate) fn first_orders(&self, opened: &SessionSettings, facts: &SessionFacts) -> Vec<SessionOrder> {
        let mut orders = Vec::new();
        let updates = additions(&self.rules);
        if !updates.is_empty() {
            orders.push(SessionOrder::Permissions(updates));
        }
        orders.extend(self.effort.map(SessionOrder::Effort));
        if let Some(mode) = self.permission_mode.filter(|mode| opened.permission_mode != Some(*mode)) {
            orders.push(SessionOrder::PermissionMode(mode));
        }
        if let Some(name) = self.model.as_ref().filter(|name| opened.model.as_ref() != Some(name)) {
            orders.push(SessionOrder::Model(name.clone()));
        }
        if let Some(thinking) = self.thinking.filter(|thinking| opened.thinking != Some(*thinking)) {
            orders.push(SessionOrder::Thinking(thinking.unwrap_or(facts.thinking)));
        }
        if self.environment != opened.environment {
            orders.push(SessionOrder::Environment(self.environment.clone()));
        }
        orders
    }

    /// Records the mode that a session reports.
    pub(crate) fn mode_reported(&mut self, mode: PermissionMode) {
        if self.awaited_mode.is_none_or(|awaited| awaited == mode) {
            (self.permission_mode, self.awaited_mode) = (Some(mode), None);
        }
    }
}

/// The update that adds rules to the session.
pub(crate) fn add(behavior: Behavior, rules: Vec<RuleValue>) -> PermissionUpdate {
    PermissionUpdate::AddRules { rules, behavior, destination: UpdateDestination::Session }
}

/// The updates that add all rules to a session.
fn additions(rules: &Rules) -> Vec<PermissionUpdate> {
    rules.iter().filter(|(_, rules)| !rules.is_empty()).map(|(behavior, rules)| add(*behavior, rules.clone())).collect()
}
