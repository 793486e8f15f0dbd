//! Environment of an agent: place and time, as its model knows them.

use serde::{Deserialize, Serialize};

/// Environment of an agent: place and time, as its model knows them. Stored with the text that describes it, so that
/// later texts describe only changes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct EnvironmentContext {
    /// The current directory; absolute.
    pub directory: String,
    /// More directories of the workspace; absolute.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub additional_directories: Vec<String>,
    /// The operating system, as [`std::env::consts::OS`] names it.
    pub platform: String,
    /// The date in UTC, as `YYYY-MM-DD`.
    pub date: String,
    /// The branch of the git repository.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<String>,
    /// `true` in plan mode.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub plan_mode: bool,
}
