//! What the model reads about where and when it works.

use crate::Machine;
use windlass_context::environment_changes;
use windlass_types::{ContentBlock, Entry, PermissionMode, UserEntry};

impl Machine {
    /// Tells the model, before its next call, what it does not know yet.
    pub(crate) fn tell_environment(&mut self) {
        if let Some(entry) = self.record_environment() {
            self.append(vec![entry], false);
        }
    }

    fn record_environment(&mut self) -> Option<Entry> {
        let environment = self.config.environment.as_ref()?;
        let plan_mode = self.policy.mode() == PermissionMode::Plan;
        let now = environment.now(self.state.cwd(), self.now, plan_mode);
        let text = match self.state.environment() {
            None => environment.introduction(&now),
            Some(told) => environment_changes(told, &now)?,
        };
        let mut user = UserEntry::new(vec![ContentBlock::text(text)]);
        user.is_meta = true;
        user.environment = Some(now);
        let id = self.fresh_id();
        Some(self.record_user_entry(id, user))
    }
}
