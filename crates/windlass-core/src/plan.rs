//! Plan mode: the user alone lets the model into it and out of it.

use crate::Machine;
use windlass_types::PermissionMode;

/// The tool with which the model asks for plan mode.
const ENTER: &str = "EnterPlanMode";
/// The tool with which it asks to leave it.
const EXIT: &str = "ExitPlanMode";

/// Whether a tool leads into plan mode or out of it.
pub(crate) fn is_of_plan_mode(tool: &str) -> bool {
    matches!(tool, ENTER | EXIT)
}

impl Machine {
    /// A call is answered: if somebody approved that plan mode begins or ends, it does.
    pub(crate) fn note_plan(&mut self, at: usize, failed: bool) {
        let Some(call) = self.batch.calls.get(at) else { return };
        if failed || !call.asked || call.approved.is_none() {
            return;
        }
        let mode = self.policy.mode();
        match call.original.name.as_str() {
            ENTER if mode != PermissionMode::Plan => self.set_permission_mode(PermissionMode::Plan),
            EXIT if mode == PermissionMode::Plan => {
                let before = self.mode_before_plan;
                self.set_permission_mode(before);
            }
            _ => {}
        }
    }

    /// The mode changed: what plan mode will lead back to.
    pub(crate) fn note_mode(&mut self, before: PermissionMode, now: PermissionMode) {
        if now == PermissionMode::Plan && before != PermissionMode::Plan {
            self.mode_before_plan = before;
        }
    }
}
