//! What the host wants of its sessions, whether one is open or not.

use super::io::{Facts, SessionOrder, Wish};
use crate::server::setup::Initialize;
use std::collections::BTreeMap;
use windlass_types::{Behavior, Effort, PermissionMode, PermissionUpdate, RuleValue, Thinking, UpdateDestination};

/// The rules that flag settings brought, by their behaviour.
pub(crate) type FlagRules = BTreeMap<Behavior, Vec<RuleValue>>;

/// The host's settings for the session that is open and for those after it.
#[derive(Debug, Default)]
pub(crate) struct Wishes {
    pub(crate) initialize: Option<Initialize>,
    pub(crate) model: Option<Option<String>>,
    pub(crate) thinking: Option<Option<Thinking>>,
    /// The mode of the next session: the last one that was ordered or reported.
    pub(crate) permission_mode: Option<PermissionMode>,
    /// A mode that was ordered and not reported yet: what is reported before is older.
    pub(crate) mode_awaited: Option<PermissionMode>,
    pub(crate) environment: BTreeMap<String, String>,
    /// Rules that the host brought beside those that sessions are opened with.
    pub(crate) flag_rules: FlagRules,
    /// The effort that it asked for.
    pub(crate) effort: Option<Option<Effort>>,
}

impl Wishes {
    /// What a session is to be opened with.
    pub(crate) fn wish(&self, fresh: bool) -> Wish {
        Wish {
            initialize: self.initialize.clone(),
            permission_mode: self.permission_mode,
            model: self.model.clone(),
            thinking: self.thinking,
            environment: self.environment.clone(),
            fresh,
        }
    }

    /// What a session that is open now is to be ordered first: settings that no opening takes, and those that the host has sent since
    /// its own was made.
    pub(crate) fn first_orders(&self, wish: &Wish, facts: &Facts) -> Vec<SessionOrder> {
        let mut orders = Vec::new();
        let updates = additions(&self.flag_rules);
        if !updates.is_empty() {
            orders.push(SessionOrder::Permissions(updates));
        }
        orders.extend(self.effort.map(SessionOrder::Effort));
        if let Some(mode) = self.permission_mode.filter(|mode| wish.permission_mode != Some(*mode)) {
            orders.push(SessionOrder::PermissionMode(mode));
        }
        if let Some(name) = self.model.as_ref().filter(|name| wish.model.as_ref() != Some(name)) {
            orders.push(SessionOrder::Model(name.clone()));
        }
        if let Some(thinking) = self.thinking.filter(|thinking| wish.thinking != Some(*thinking)) {
            orders.push(SessionOrder::Thinking(thinking.unwrap_or(facts.thinking)));
        }
        if self.environment != wish.environment {
            orders.push(SessionOrder::Environment(self.environment.clone()));
        }
        let body = |initialize: &Option<Initialize>| initialize.as_ref().map(|initialize| initialize.body.clone());
        if body(&self.initialize) != body(&wish.initialize) {
            orders.push(SessionOrder::RenewHooks);
        }
        orders
    }

    /// A session reports the mode that it is in.
    pub(crate) fn mode_reported(&mut self, mode: PermissionMode) {
        if self.mode_awaited.is_none_or(|awaited| awaited == mode) {
            (self.permission_mode, self.mode_awaited) = (Some(mode), None);
        }
    }

    /// The in-process MCP servers that `initialize` named.
    pub(crate) fn in_process_servers(&self) -> Vec<String> {
        self.initialize.as_ref().map(|initialize| initialize.sdk_mcp_servers.clone()).unwrap_or_default()
    }
}

pub(crate) fn add(behavior: Behavior, rules: Vec<RuleValue>) -> PermissionUpdate {
    PermissionUpdate::AddRules { rules, behavior, destination: UpdateDestination::Session }
}

/// The updates that bring rules into a session.
fn additions(rules: &FlagRules) -> Vec<PermissionUpdate> {
    rules.iter().filter(|(_, rules)| !rules.is_empty()).map(|(behavior, rules)| add(*behavior, rules.clone())).collect()
}
