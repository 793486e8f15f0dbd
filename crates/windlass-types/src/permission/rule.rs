//! Permission rules and their sources.

use super::Behavior;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Source of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum RuleSource {
    /// The organisation's policy, which nothing overrides.
    PolicySettings,
    /// `--settings` or the SDK's settings option.
    FlagSettings,
    /// The user's file for this project.
    LocalSettings,
    /// The project's file.
    ProjectSettings,
    /// The user's file.
    UserSettings,
    /// `--allowedTools` and its kin, or the SDK's rule options.
    CliArg,
    /// A command's or skill's own list, while it runs.
    Command,
    /// Answers given in this session.
    Session,
}

/// A rule in two parts, as updates and suggestions carry it: `Tool(content)`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct RuleValue {
    /// The tool's name.
    pub tool_name: String,
    /// Text in the parentheses; absent for a rule on the whole tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule_content: Option<String>,
}

impl RuleValue {
    /// A rule on some calls of a tool.
    pub fn new(tool_name: impl Into<String>, rule_content: impl Into<String>) -> Self {
        Self { tool_name: tool_name.into(), rule_content: Some(rule_content.into()) }
    }

    /// A rule on all calls of a tool.
    pub fn tool(tool_name: impl Into<String>) -> Self {
        Self { tool_name: tool_name.into(), rule_content: None }
    }
}

impl fmt::Display for RuleValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.rule_content {
            None => f.write_str(&self.tool_name),
            Some(content) => write!(f, "{}({content})", self.tool_name),
        }
    }
}

/// A rule that decided.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct MatchedRule {
    /// Text of the rule, as written.
    pub rule: String,
    /// Behavior of the rule: allow, ask or deny.
    pub behavior: Behavior,
    /// Source of the rule.
    pub source: RuleSource,
    /// Place of the rule, if it stands in a file. `None` also in logs older than this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<RuleOrigin>,
}

/// Place of a rule in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct RuleOrigin {
    /// The file.
    pub file: String,
    /// The line, counted from one, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
}

impl RuleOrigin {
    /// A place in a file.
    pub fn new(file: impl Into<String>, line: Option<u64>) -> Self {
        Self { file: file.into(), line }
    }
}

impl fmt::Display for RuleOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

impl MatchedRule {
    /// A matched rule.
    pub fn new(rule: impl Into<String>, behavior: Behavior, source: RuleSource) -> Self {
        Self { rule: rule.into(), behavior, source, origin: None }
    }
}
