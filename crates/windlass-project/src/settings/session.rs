//! Session keys: language, thinking, API key, language servers and limits.

use serde::{Deserialize, Serialize};
use windlass_types::JsonText;

/// The keys `outputStyle`, `language`, `attribution`, `includeCoAuthoredBy`, `effortLevel`, `apiKeyHelper`,
/// `lspServers`, `backgroundLongCommands`, `commandTerminals`, `shellSnapshot`, `fileCheckpoints`, `outputLimits`,
/// `cleanupPeriodDays` and `cleanupMaxBytes`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct SessionSettings {
    /// The name of the output style.
    pub output_style: Option<String>,
    /// The language of answers, in words.
    pub language: Option<String>,
    /// Attribution texts below commits and in pull requests.
    pub attribution: Option<Attribution>,
    /// With `false`, commits and pull requests name no agent as an author. An older form of `attribution`.
    pub include_co_authored_by: Option<bool>,
    /// Reasoning effort of the model, as it is written.
    pub effort_level: Option<String>,
    /// A command line that prints the key of the model provider.
    pub api_key_helper: Option<String>,
    /// Language servers by name, as they are written.
    pub lsp_servers: Option<JsonText>,
    /// `true` if commands continue in the background after their time limit.
    pub background_long_commands: Option<bool>,
    /// `true` if commands may ask for a terminal.
    pub command_terminals: Option<bool>,
    /// Parts of the user's login shell that commands get, as written.
    pub shell_snapshot: Option<String>,
    /// Limits of file checkpoints.
    pub file_checkpoints: Option<FileCheckpointSettings>,
    /// Disk space for the outputs of programs.
    pub output_limits: Option<OutputLimitSettings>,
    /// Days after which unused sessions are deleted.
    pub cleanup_period_days: Option<u64>,
    /// Maximum bytes of all sessions.
    pub cleanup_max_bytes: Option<u64>,
}

/// The key `outputLimits`: disk space for the outputs of programs. A missing field keeps its default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct OutputLimitSettings {
    /// Maximum bytes of one session. Default: 4 GiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_session_bytes: Option<u64>,
    /// Maximum bytes of all sessions of the home together. Default: 16 GiB.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_home_bytes: Option<u64>,
}

/// The key `fileCheckpoints`: limits of file checkpoints. An absent field has its default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct FileCheckpointSettings {
    /// Maximum size of a checkpointed file, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_file_bytes: Option<u64>,
    /// Maximum size of all contents kept for rewinding, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_total_bytes: Option<u64>,
    /// Maximum size of the baseline of the workspace, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_baseline_bytes: Option<u64>,
}

/// The key `attribution`: texts that the model adds to commits and pull requests about its part.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct Attribution {
    /// The lines at the end of a commit message; an empty text means none. `None` leaves it to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The lines at the end of the description of a pull request; an empty text means none. `None` leaves it to the
    /// model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pr: Option<String>,
}

impl Attribution {
    /// Creates an attribution in which neither commits nor pull requests name an author beside the user.
    #[must_use]
    pub fn none() -> Self {
        Self { commit: Some(String::new()), pr: Some(String::new()) }
    }

    /// Returns the attribution instruction for the model, if there is any.
    #[must_use]
    pub fn instruction(&self) -> Option<String> {
        let instruction_for = |what: &str, said: &Option<String>| match said.as_deref().map(str::trim) {
            None => None,
            Some("") => Some(format!("Name no agent and no model as an author or co-author in {what}.")),
            Some(lines) => Some(format!("End {what} with these lines:\n{lines}")),
        };
        let instructions = [
            instruction_for("commit messages", &self.commit),
            instruction_for("descriptions of pull requests", &self.pr),
        ];
        let sentences: Vec<String> = instructions.into_iter().flatten().collect();
        (!sentences.is_empty()).then(|| sentences.join("\n"))
    }
}

impl SessionSettings {
    /// Returns the attribution of commits and pull requests, from both keys.
    pub(crate) fn attribution(&self) -> Option<Attribution> {
        let none = || (self.include_co_authored_by == Some(false)).then(Attribution::none);
        self.attribution.clone().or_else(none)
    }
}
