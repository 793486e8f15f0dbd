//! Use of a session's context window.

use serde::{Deserialize, Serialize};

/// Use of a session's context window, part by part. All token figures except [`counted`](Self::counted) are estimates,
/// rather too high than too low.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ContextUsage {
    /// The id of the model.
    pub model: String,
    /// Size of the context window, input and output together, in tokens.
    pub window: u64,
    /// Tokens of the last request and its answer as the provider counted them, plus an estimate of everything added
    /// since. Zero before the first request.
    pub counted: u64,
    /// The parts, in the order in which requests have them.
    pub sections: Vec<ContextSection>,
}

impl ContextUsage {
    /// A usage without parts.
    pub fn new(model: impl Into<String>, window: u64) -> Self {
        Self { model: model.into(), window, counted: 0, sections: Vec::new() }
    }

    /// Tokens in use: [`counted`](Self::counted), or the sum of the parts' estimates while that is zero.
    pub fn used(&self) -> u64 {
        match self.counted {
            0 => self.sections.iter().fold(0, |sum, section| sum.saturating_add(section.tokens)),
            counted => counted,
        }
    }

    /// Tokens that are saved because parts are withheld until the model asks for them.
    pub fn withheld(&self) -> u64 {
        self.sections.iter().fold(0, |sum, section| sum.saturating_add(section.withheld))
    }

    /// Tokens of all parts of a kind together.
    pub fn of_kind(&self, kind: ContextKind) -> u64 {
        let sections = self.sections.iter().filter(|section| section.kind == kind);
        sections.fold(0, |sum, section| sum.saturating_add(section.tokens))
    }
}

/// A part of the context window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ContextSection {
    /// Kind of the part.
    pub kind: ContextKind,
    /// Name of the part: that of a tool or a file, or the kind of text.
    pub name: String,
    /// Source of the part: `managed`, `user`, `project`, `local`, `host`, the name of an MCP server, or `windlass`.
    pub source: String,
    /// Size of the part in tokens, estimated.
    pub tokens: u64,
    /// Number of characters that were left out because the part would have been too long.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// Additional tokens, estimated, that the part would use if it were not withheld until the model asks for it or a
    /// matching file is used.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub withheld: u64,
    /// Reason why text was left out, or the event that a withheld part waits for, for people. `None` if nothing was left
    /// out, or if only the part's own length was the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl ContextSection {
    /// A part from which nothing was left out.
    pub fn new(kind: ContextKind, name: impl Into<String>, source: impl Into<String>, tokens: u64) -> Self {
        Self { kind, name: name.into(), source: source.into(), tokens, left_out: 0, withheld: 0, reason: None }
    }
}

/// Kind of a part of the context window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ContextKind {
    /// A section of the system prompt.
    SystemPrompt,
    /// The definition of a tool.
    Tool,
    /// Instructions of a file, a tool server or the program.
    Instructions,
    /// Prompts, answers, calls and results.
    Messages,
}

impl ContextKind {
    /// Name of the kind, as in JSON: `system_prompt`, `tool`, `instructions`, `messages`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SystemPrompt => "system_prompt",
            Self::Tool => "tool",
            Self::Instructions => "instructions",
            Self::Messages => "messages",
        }
    }
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_counted_counts_for_more_than_estimates() {
        let mut usage = ContextUsage::new("m", 1_000);
        usage.sections.push(ContextSection::new(ContextKind::Tool, "Read", "windlass", 40));
        usage.sections.push(ContextSection::new(ContextKind::Messages, "messages", "windlass", 2));
        assert_eq!((usage.used(), usage.of_kind(ContextKind::Tool)), (42, 40));
        usage.counted = 30;
        assert_eq!(usage.used(), 30);
        let text = serde_json::to_string(&usage).unwrap();
        assert!(text.contains(r#"{"kind":"tool","name":"Read","source":"windlass","tokens":40}"#), "{text}");
        assert_eq!(serde_json::from_str::<ContextUsage>(&text).unwrap(), usage);
        for kind in [ContextKind::SystemPrompt, ContextKind::Tool, ContextKind::Instructions, ContextKind::Messages] {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
        }
    }
}
