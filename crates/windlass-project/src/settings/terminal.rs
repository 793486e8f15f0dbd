//! The keys of the interactive terminal.

use serde::Deserialize;
use windlass_types::JsonText;

/// The keys `theme`, `keyBindings`, `enterQueues`, `statusLine`, `terminalProgressBarEnabled`, `prefersReducedMotion`
/// and `axScreenReader`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct TerminalSettings {
    /// Name of the theme.
    pub theme: Option<String>,
    /// Actions by key, as they are written.
    pub key_bindings: Option<JsonText>,
    /// `true` if Enter queues behind the run and Tab steers.
    pub enter_queues: Option<bool>,
    /// Command of the status line, as it is written.
    pub status_line: Option<JsonText>,
    /// `false` if the terminal shows no progress in its title bar.
    #[serde(rename = "terminalProgressBarEnabled")]
    pub progress: Option<bool>,
    /// `true` if nothing moves by itself.
    #[serde(rename = "prefersReducedMotion")]
    pub reduced_motion: Option<bool>,
    /// `true` for labelled lines without any redrawing.
    #[serde(rename = "axScreenReader")]
    pub screen_reader: Option<bool>,
}
