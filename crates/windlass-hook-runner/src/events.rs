//! Properties of hook events beside their payloads: one row for each event of the reference layout.

use windlass_types::HookEventName;

/// Meaning of a program's exit code 2.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OnTwo {
    /// Blocks; after a tool, standard error is feedback for the model.
    Blocks,
    /// Shows standard error to the user.
    Shown,
    /// Treated as a failure, like other codes.
    Fails,
}

/// Properties of a hook event.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EventRow {
    pub(crate) name: &'static str,
    pub(crate) on_two: OnTwo,
    /// `true` if a program's plain text is context for the model.
    pub(crate) text_is_context: bool,
    /// `true` if a model can answer: hooks of the kinds prompt and agent.
    pub(crate) takes_models: bool,
    /// `true` if a program can leave variables for later commands.
    pub(crate) takes_variables: bool,
}

const fn row(name: &'static str, on_two: OnTwo) -> EventRow {
    EventRow { name, on_two, text_is_context: false, takes_models: false, takes_variables: false }
}

const fn judged(name: &'static str, on_two: OnTwo) -> EventRow {
    EventRow { takes_models: true, ..row(name, on_two) }
}

const fn texts(row: EventRow) -> EventRow {
    EventRow { text_is_context: true, ..row }
}

const fn variables(row: EventRow) -> EventRow {
    EventRow { takes_variables: true, ..row }
}

/// All events of the reference layout. Those that windlass does not have are known, so that a file which names them is
/// distinguished from one with a spelling mistake.
const EVENTS: &[EventRow] = &[
    judged("PreToolUse", OnTwo::Blocks),
    judged("PreSkillShellCommand", OnTwo::Blocks),
    judged("PermissionRequest", OnTwo::Blocks),
    judged("PermissionDenied", OnTwo::Fails),
    judged("PostToolUse", OnTwo::Blocks),
    judged("PostToolUseFailure", OnTwo::Blocks),
    judged("PostToolBatch", OnTwo::Blocks),
    texts(judged("UserPromptSubmit", OnTwo::Blocks)),
    texts(judged("UserPromptExpansion", OnTwo::Blocks)),
    judged("Stop", OnTwo::Blocks),
    judged("SubagentStop", OnTwo::Blocks),
    row("SubagentStart", OnTwo::Shown),
    row("StopFailure", OnTwo::Fails),
    variables(texts(row("SessionStart", OnTwo::Shown))),
    row("SessionEnd", OnTwo::Shown),
    variables(row("Setup", OnTwo::Shown)),
    row("Notification", OnTwo::Fails),
    row("PreCompact", OnTwo::Blocks),
    row("PostCompact", OnTwo::Shown),
    row("PreModelSwitch", OnTwo::Blocks),
    row("PostModelSwitch", OnTwo::Shown),
    judged("TeammateIdle", OnTwo::Blocks),
    judged("TaskCreated", OnTwo::Blocks),
    judged("TaskCompleted", OnTwo::Blocks),
    row("Elicitation", OnTwo::Blocks),
    row("ElicitationResult", OnTwo::Blocks),
    row("ConfigChange", OnTwo::Blocks),
    row("InstructionsLoaded", OnTwo::Fails),
    variables(row("CwdChanged", OnTwo::Shown)),
    variables(row("FileChanged", OnTwo::Shown)),
    row("DirectoryAdded", OnTwo::Fails),
    row("WorktreeCreate", OnTwo::Blocks),
    row("WorktreeRemove", OnTwo::Fails),
    row("MessageDisplay", OnTwo::Fails),
];

impl EventRow {
    /// Returns the row of an event. An event without a row is treated as an observer.
    pub(crate) fn of(event: HookEventName) -> Self {
        Self::named(event.as_str()).unwrap_or_else(|| row(event.as_str(), OnTwo::Fails))
    }

    pub(crate) fn named(name: &str) -> Option<Self> {
        EVENTS.iter().copied().find(|row| row.name == name)
    }

    /// Returns the names of all events.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        EVENTS.iter().map(|row| row.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_event_of_windlass_has_a_row() {
        for event in HookEventName::ALL {
            assert!(EventRow::named(event.as_str()).is_some(), "{event} has no row");
        }
    }

    #[test]
    fn a_gate_is_blocked_by_exit_code_two() {
        for event in HookEventName::ALL.iter().filter(|event| event.is_gating()) {
            assert_eq!(EventRow::of(*event).on_two, OnTwo::Blocks, "{event}");
        }
    }
}
