//! Abilities of a client.

use serde_json::Value;

/// Abilities of a client, as far as the agent uses them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct ClientAbilities {
    /// `true` if it shows notices.
    pub(crate) notices: bool,
    /// `true` if it shows compactions.
    pub(crate) compaction: bool,
    /// `true` if it can start the agent in a terminal for a login.
    pub(crate) terminal_login: bool,
    /// `true` if it shows forms.
    pub(crate) forms: bool,
    /// `true` if it opens pages that a question names.
    pub(crate) pages: bool,
    /// `true` if it reads files, with changes that are not saved.
    pub(crate) reads_files: bool,
}

impl ClientAbilities {
    /// The abilities that `initialize` names. An ability is there if its value is neither `null` nor `false`.
    pub(crate) fn of(params: &Value) -> Self {
        let has =
            |path: &str| params.pointer(path).is_some_and(|value| !value.is_null() && *value != Value::Bool(false));
        Self {
            notices: has("/clientCapabilities/session/notices"),
            compaction: has("/clientCapabilities/session/compaction"),
            terminal_login: has("/clientCapabilities/auth/terminal"),
            forms: has("/clientCapabilities/elicitation/form"),
            pages: has("/clientCapabilities/elicitation/url"),
            reads_files: has("/clientCapabilities/fs/readTextFile"),
        }
    }
}
