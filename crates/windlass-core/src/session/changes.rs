//! Changes of a session by hosts, answers and calls.

use super::Session;
use crate::budget::NO_PRICE;
use crate::{ModelProfile, plan};
use std::sync::Arc;
use windlass_permission::{Policy, SettingsRules, parse_rule};
use windlass_types::names::meant_tool;
use windlass_types::{Behavior, EntryKind, EventKind, PermissionMode, PermissionUpdate, StateChange, Status, ToolSpec};

impl Session {
    pub(crate) fn set_model(&mut self, mut model: ModelProfile) {
        self.state.learned().apply_to(&mut model);
        if !self.config.limits.allow_price_of(&model) {
            let (id, current) = (&model.id, &self.current_model().id);
            let message = format!("The model {id:?} was not set, {current:?} stays: {NO_PRICE}");
            return self.status(Status::Notice { message });
        }
        // The user's choice takes precedence over that of a command.
        self.run.scope.model = None;
        let is_same_model = model.id == self.current_model().id;
        self.models.falling_back = false;
        let id = model.id.clone();
        self.config.model = model;
        if !is_same_model {
            self.record_change(EntryKind::Model(id.clone()), StateChange::Model { model: id });
        }
    }

    /// Stores a change of the session's state, then reports it.
    pub(crate) fn record_change(&mut self, kind: EntryKind, change: StateChange) {
        let entry = self.record(None, kind);
        let append = self.append(vec![entry]);
        self.event(EventKind::StateChanged(change), Some(append));
    }

    pub(crate) fn set_permission_mode(&mut self, mode: PermissionMode) {
        if mode == self.rights.policy.mode() {
            return;
        }
        if let Err(error) = self.rights.set_mode(mode) {
            return self.status(Status::Notice { message: error.to_string() });
        }
        self.record_change(EntryKind::Mode(mode), StateChange::PermissionMode { mode });
    }

    pub(crate) fn update_permissions(&mut self, updates: &[PermissionUpdate]) {
        let mode = self.rights.policy.mode();
        for update in updates {
            // The mode of the session is the main agent's, which receives the update, too. The mode of this agent
            // follows from that, and may be narrower.
            if self.config.agent.is_some() && matches!(update, PermissionUpdate::SetMode { .. }) {
                continue;
            }
            if let Err(error) = self.rights.update(update) {
                self.status(Status::Notice { message: format!("A permission update was ignored: {error}") });
            }
        }
        self.record_mode(mode);
    }

    pub(crate) fn renew_settings(&mut self, before: &SettingsRules, now: &SettingsRules) {
        let mode = self.rights.policy.mode();
        if let Some(problem) = self.misspelt_guard(before, now) {
            return self.status(Status::Notice { message: format!("Settings count as they were: {problem}") });
        }
        if let Err(error) = self.rights.renew_settings(before, now) {
            return self.status(Status::Notice { message: format!("Settings count as they were: {error}") });
        }
        self.record_mode(mode);
    }

    /// Returns the problem of a new deny or ask rule on an unknown tool with a name close to a known one: it would
    /// never match.
    fn misspelt_guard(&self, before: &SettingsRules, now: &SettingsRules) -> Option<String> {
        let is_known = |text: &String| before.rules.iter().any(|set| set.rules.contains(text));
        let guards = now.rules.iter().filter(|set| set.behavior != Behavior::Allow).flat_map(|set| &set.rules);
        guards.filter(|text| !is_known(text)).find_map(|text| {
            let rule = parse_rule(text).ok()?;
            let meant = meant_tool(rule.tool())?;
            let is_offered = self.config.tools.specs.iter().any(|spec| spec.name == rule.tool());
            (!is_offered).then(|| {
                format!(
                    "the rule `{text}` can never match, since no tool is named {:?}: did you mean {meant:?}?",
                    rule.tool()
                )
            })
        })
    }

    /// Stores a changed mode.
    fn record_mode(&mut self, before: PermissionMode) {
        let now = self.rights.policy.mode();
        if now != before {
            self.record_change(EntryKind::Mode(now), StateChange::PermissionMode { mode: now });
        }
    }

    /// Applies the policy of the parent, narrowed by the rights of this agent.
    pub(crate) fn inherit(&mut self, parent: &Policy) {
        // The rules of the agent were valid when it began.
        if let Some(agent) = &self.config.agent
            && let Ok(policy) = agent.narrowed(parent, &self.config.cwd)
        {
            self.rights.replace(policy, &self.config.tools.specs);
        }
    }

    /// Offers other tools to the model.
    pub(crate) fn set_tools(&mut self, tools: Arc<[Arc<ToolSpec>]>) {
        self.rights.offer(&tools);
        self.config.tools.specs = tools;
    }

    pub(crate) fn offered(&self, name: &str) -> Option<Arc<ToolSpec>> {
        self.config.tools.specs.iter().find(|tool| tool.name == name).cloned()
    }

    /// Changes the mode after a successful call, approved by the host, that enters or leaves plan mode.
    pub(crate) fn approved_call_succeeded(&mut self, tool: &str) {
        let mode = self.rights.policy.mode();
        match tool {
            plan::ENTER if mode != PermissionMode::Plan => self.set_permission_mode(PermissionMode::Plan),
            plan::EXIT if mode == PermissionMode::Plan => self.set_permission_mode(self.rights.mode_before_plan),
            _ => {}
        }
    }
}
