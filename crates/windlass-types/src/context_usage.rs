//! What takes up the context window of a session.

use serde::{Deserialize, Serialize};

/// What takes up the context window of a session, part by part. Tokens are estimates that rather count too many, but for
/// [`counted`](Self::counted).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ContextUsage {
    /// The id of the model.
    pub model: String,
    /// Its context window, input and output together, in tokens.
    pub window: u64,
    /// What the provider counted of the last request and its answer, in tokens, and an estimate of what came since. Zero
    /// before the first request.
    pub counted: u64,
    /// The parts, in the order in which requests have them.
    pub sections: Vec<ContextSection>,
}

impl ContextUsage {
    /// A usage of no parts.
    pub fn new(model: impl Into<String>, window: u64) -> Self {
        Self { model: model.into(), window, counted: 0, sections: Vec::new() }
    }

    /// The tokens that are used: what was counted, else the estimates of the parts together.
    pub fn used(&self) -> u64 {
        match self.counted {
            0 => self.sections.iter().fold(0, |sum, section| sum.saturating_add(section.tokens)),
            counted => counted,
        }
    }

    /// The tokens that are saved, because parts are withheld until the model asks for them.
    pub fn withheld(&self) -> u64 {
        self.sections.iter().fold(0, |sum, section| sum.saturating_add(section.withheld))
    }

    /// The tokens of the parts of a kind together.
    pub fn of_kind(&self, kind: ContextKind) -> u64 {
        let sections = self.sections.iter().filter(|section| section.kind == kind);
        sections.fold(0, |sum, section| sum.saturating_add(section.tokens))
    }
}

/// A part of what takes up a context window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct ContextSection {
    /// What it is.
    pub kind: ContextKind,
    /// Its name: of a tool, of a file, or what kind of text it is.
    pub name: String,
    /// Who put it there: `managed`, `user`, `project`, `local`, `host`, the name of an MCP server, or `windlass`.
    pub source: String,
    /// Its size in tokens, estimated.
    pub tokens: u64,
    /// How many characters of it were left out, because it would have been too long.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out: u64,
    /// How many tokens more it would take up, estimated, if it were not withheld until the model asks for it or a file
    /// is used that it is for.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub withheld: u64,
    /// Why something was left out, or what it waits for, for people. `None` if nothing was, or if it was too long by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

impl ContextSection {
    /// A part of which nothing was left out.
    pub fn new(kind: ContextKind, name: impl Into<String>, source: impl Into<String>, tokens: u64) -> Self {
        Self { kind, name: name.into(), source: source.into(), tokens, left_out: 0, withheld: 0, reason: None }
    }
}

/// What a part of a context window is.
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
    /// Its name, as in JSON: `system_prompt`, `tool`, `instructions`, `messages`.
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
