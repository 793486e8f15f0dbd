//! Facts about a call for those who answer a question about it.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Kind of effect that a call can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CallEffect {
    /// Reads files or data.
    Reads,
    /// Creates or changes files or data.
    Writes,
    /// Removes files or data, or replaces what cannot be restored.
    Removes,
    /// Runs programs whose effects are not known beforehand.
    Runs,
    /// Contacts other machines.
    Network,
    /// Uses the rights of another user, such as root.
    Elevates,
}

impl CallEffect {
    /// Returns the name for hosts, such as `removes`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::Removes => "removes",
            Self::Runs => "runs",
            Self::Network => "network",
            Self::Elevates => "elevates",
        }
    }
}

/// Grade of the harm that a call can do, for people. No verdict depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RiskGrade {
    /// Reads, or changes data of the session alone.
    Low,
    /// Usual work in a project, or effects that are not known.
    #[default]
    Medium,
    /// Loses work, runs code of strangers, leaves the project, or changes what others use.
    High,
}

impl RiskGrade {
    /// Returns the name for hosts, such as `high`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// Facts about a call for those who answer a question about it, from the analysis of its input. They are for people and
/// for the programs that show them: no verdict depends on them.
///
/// # As JSON
/// ```
/// # use windlass_types as windlass;
/// use windlass::{CallEffect, CallImpact, RiskGrade};
///
/// let impact = CallImpact::new(RiskGrade::High, "Discards changes that are not committed.")
///     .with_effects([CallEffect::Removes]);
/// let text = r#"{"summary":"Discards changes that are not committed.","risk":"high","effects":["removes"]}"#;
/// assert_eq!(serde_json::to_string(&impact)?, text);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct CallImpact {
    /// Effect of the call in one sentence, such as "Downloads a script and runs it.".
    pub summary: String,
    /// Grade of the harm that the call can do.
    pub risk: RiskGrade,
    /// Kinds of effects that the call can have, as far as they are known.
    pub effects: BTreeSet<CallEffect>,
    /// Paths that the call names, at most 20: those that it changes, or else those that it reads. Absolute.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<PathBuf>,
    /// Hosts that the call names, at most 20, without credentials.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
}

impl CallImpact {
    /// Facts of this grade, without effects, paths and hosts.
    pub fn new(risk: RiskGrade, summary: impl Into<String>) -> Self {
        Self { summary: summary.into(), risk, effects: BTreeSet::new(), paths: Vec::new(), hosts: Vec::new() }
    }

    /// Adds effects to those that are known.
    #[must_use]
    pub fn with_effects(mut self, effects: impl IntoIterator<Item = CallEffect>) -> Self {
        self.effects.extend(effects);
        self
    }
}
