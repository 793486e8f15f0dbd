//! A request in the form in which it is written and compared.

use super::Scrub;
use serde::{Deserialize, Serialize};
use windlass_types::{Effort, JsonText, ModelRequest, Role, Thinking};

/// Part of a request that a replay must repeat, without volatile values and secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RecordedRequest {
    pub(super) model: String,
    pub(super) system: Vec<String>,
    pub(super) tools: Vec<AskedTool>,
    pub(super) messages: Vec<AskedMessage>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskedTool {
    name: String,
    description: String,
    input_schema: JsonText,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct AskedMessage {
    role: Role,
    content: Vec<JsonText>,
}

/// Settings of a request that a replay need not repeat.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VolatileSettings {
    max_output_tokens: u32,
    thinking: Thinking,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    effort: Option<Effort>,
    betas: Vec<String>,
}

impl VolatileSettings {
    pub(super) fn of(request: &ModelRequest) -> Self {
        Self {
            max_output_tokens: request.max_output_tokens,
            thinking: request.thinking,
            effort: request.effort,
            betas: request.betas.clone(),
        }
    }
}

impl RecordedRequest {
    pub(super) fn of(request: &ModelRequest, scrub: &Scrub) -> Self {
        Self {
            model: request.model.clone(),
            system: request.system.iter().map(|section| scrub.request_text(&section.text)).collect(),
            tools: request
                .tools
                .iter()
                .map(|tool| AskedTool {
                    name: tool.name.clone(),
                    description: scrub.clean(&tool.description),
                    input_schema: clean_json(tool.input_schema.as_str(), |text| scrub.clean(text)),
                })
                .collect(),
            messages: request
                .messages
                .iter()
                .map(|message| AskedMessage {
                    role: message.role,
                    content: message
                        .content
                        .iter()
                        .map(|block| {
                            let text = serde_json::to_string(block).unwrap_or_default();
                            clean_json(&text, |text| scrub.request_text(text))
                        })
                        .collect(),
                })
                .collect(),
        }
    }

    /// Returns the number of common messages at the beginning.
    pub(super) fn shared_messages(&self, other: &Self) -> usize {
        self.messages.iter().zip(&other.messages).take_while(|(own, other)| own == other).count()
    }

    /// Describes the first difference; `None` when there is none.
    pub(super) fn difference(&self, got: &Self) -> Option<String> {
        if self.model != got.model {
            return Some(format!("the model: {}", apart(&self.model, &got.model)));
        }
        self.tools_difference(got)
            .or_else(|| list_difference("system section", &self.system, &got.system))
            .or_else(|| self.messages_difference(got))
    }

    fn tools_difference(&self, got: &Self) -> Option<String> {
        let names = |asked: &Self| asked.tools.iter().map(|tool| tool.name.clone()).collect::<Vec<_>>();
        list_difference("the name of tool", &names(self), &names(got)).or_else(|| {
            let (own, other) = self.tools.iter().zip(&got.tools).find(|(own, other)| own != other)?;
            let text = |tool: &AskedTool| format!("{} {}", tool.description, tool.input_schema);
            Some(format!("the tool {}: {}", own.name, apart(&text(own), &text(other))))
        })
    }

    fn messages_difference(&self, got: &Self) -> Option<String> {
        let at = self.shared_messages(got);
        match (self.messages.get(at), got.messages.get(at)) {
            (None, None) => None,
            (Some(message), None) => {
                Some(format!("message {}: expected {}, but there is none", at + 1, message.words()))
            }
            (None, Some(message)) => Some(format!("message {}: expected none, but got {}", at + 1, message.words())),
            (Some(own), Some(other)) if own.role != other.role => Some(format!(
                "message {}: expected one of the {:?}, but got one of the {:?}",
                at + 1,
                own.role,
                other.role
            )),
            (Some(own), Some(other)) => {
                let texts = |message: &AskedMessage| -> Vec<String> {
                    message.content.iter().map(|block| block.as_str().to_owned()).collect()
                };
                let place = format!("message {}, block", at + 1);
                list_difference(&place, &texts(own), &texts(other))
            }
        }
    }
}

impl AskedMessage {
    fn words(&self) -> String {
        let last = self.content.last().map(JsonText::as_str).unwrap_or_default();
        format!("one of the {:?} that ends with {}", self.role, around(last, 0))
    }
}

fn list_difference(place: &str, expected: &[String], got: &[String]) -> Option<String> {
    let at = expected.iter().zip(got).take_while(|(own, other)| own == other).count();
    match (expected.get(at), got.get(at)) {
        (None, None) => None,
        (Some(own), Some(other)) => Some(format!("{place} {}: {}", at + 1, apart(own, other))),
        (Some(own), None) => Some(format!("{place} {}: expected {}, but there is none", at + 1, around(own, 0))),
        (None, Some(other)) => Some(format!("{place} {}: expected none, but got {}", at + 1, around(other, 0))),
    }
}

/// Describes both texts from shortly before the first character that differs.
fn apart(expected: &str, got: &str) -> String {
    let at = expected.chars().zip(got.chars()).take_while(|(own, other)| own == other).count();
    format!("expected {}, but got {}", around(expected, at), around(got, at))
}

fn around(text: &str, at: usize) -> String {
    const BEFORE: usize = 20;
    const CHARS: usize = 80;
    let skipped = at.saturating_sub(BEFORE);
    let shown: String = text.chars().skip(skipped).take(CHARS).collect();
    let before = if skipped > 0 { "…" } else { "" };
    let after = if text.chars().nth(skipped + CHARS).is_some() { "…" } else { "" };
    format!("{before}{shown:?}{after}")
}

/// Returns JSON text after a change of its strings, on one line.
fn clean_json(text: &str, clean: impl Fn(&str) -> String) -> JsonText {
    // Line breaks inside JSON can only be white space between its parts.
    let text = clean(text).replace(['\n', '\r'], " ");
    JsonText::parse(text.clone()).or_else(|_| JsonText::of(text.as_str())).unwrap_or_else(|_| JsonText::empty_object())
}
