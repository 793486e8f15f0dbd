//! Tools of plan mode: the user alone lets the model enter and leave it.

/// Tool with which the model asks to enter plan mode.
pub(crate) const ENTER: &str = "EnterPlanMode";
/// Tool with which the model asks to leave plan mode.
pub(crate) const EXIT: &str = "ExitPlanMode";

/// `true` if the tool enters or leaves plan mode.
pub(crate) fn is_of_plan_mode(tool: &str) -> bool {
    matches!(tool, ENTER | EXIT)
}
