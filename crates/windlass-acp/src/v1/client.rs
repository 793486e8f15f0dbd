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
        }
    }
}
