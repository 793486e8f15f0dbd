//! The tools of plan mode: the user alone lets the model into it and out of it.

/// The tool with which the model asks for plan mode.
pub(crate) const ENTER: &str = "EnterPlanMode";
/// The tool with which it asks to leave it.
pub(crate) const EXIT: &str = "ExitPlanMode";

/// Whether a tool leads into plan mode or out of it.
pub(crate) fn is_of_plan_mode(tool: &str) -> bool {
    matches!(tool, ENTER | EXIT)
}
