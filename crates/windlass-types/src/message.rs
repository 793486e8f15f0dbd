//! Messages of a conversation, with their cached JSON form.

use crate::content::push_blocks;
use crate::{ContentBlock, Origin};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// Author of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Role {
    /// The user, or the runtime on the user's side (tool results, reminders).
    User,
    /// The model.
    Assistant,
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Message {
    /// Author of the message.
    pub role: Role,
    /// Content blocks. A plain string is read as one text block.
    #[serde(deserialize_with = "string_or_blocks")]
    pub content: Vec<ContentBlock>,
    /// Provider and model that produced the message, if known. Not part of the JSON of the Messages API.
    #[serde(skip)]
    pub origin: Option<Arc<Origin>>,
}

impl Message {
    /// A message of the user.
    pub fn user(content: Vec<ContentBlock>) -> Self {
        Self { role: Role::User, content, origin: None }
    }

    /// A message of the model.
    pub fn assistant(content: Vec<ContentBlock>) -> Self {
        Self { role: Role::Assistant, content, origin: None }
    }

    /// Sets the origin.
    #[must_use]
    pub fn with_origin(mut self, origin: Option<Arc<Origin>>) -> Self {
        self.origin = origin;
        self
    }

    /// A message of the user with one text block.
    pub fn user_text(text: impl Into<String>) -> Self {
        Self::user(vec![ContentBlock::text(text)])
    }

    fn to_json(&self) -> Result<String, crate::JsonError> {
        let mut out = String::with_capacity(64);
        out.push_str(match self.role {
            Role::User => r#"{"role":"user","content":"#,
            Role::Assistant => r#"{"role":"assistant","content":"#,
        });
        push_blocks(&self.content, &mut out)?;
        out.push('}');
        Ok(out)
    }

    /// The text of all text blocks, joined by newlines.
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.content.iter().filter_map(ContentBlock::as_text).collect();
        texts.join("\n")
    }
}

fn string_or_blocks<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<ContentBlock>, D::Error> {
    let json = crate::JsonText::deserialize(deserializer)?;
    let parsed = if json.as_str().starts_with('"') {
        json.to::<String>().map(|text| vec![ContentBlock::text(text)])
    } else {
        json.to()
    };
    parsed.map_err(serde::de::Error::custom)
}

/// A message shared by the history and requests. It is serialised at most once and is cheap to clone.
#[derive(Clone)]
pub struct SharedMessage(Arc<SharedState>);

struct SharedState {
    message: Message,
    json: OnceLock<Box<str>>,
    measured: OnceLock<u64>,
    checked: OnceLock<bool>,
}

impl SharedMessage {
    /// The message as Messages API JSON, `{"role":…,"content":[…]}`. The first
    /// call writes it; later ones, on any clone, return the same text.
    pub fn json(&self) -> &str {
        // Serialisation cannot fail, because a message has only strings and valid JSON text.
        self.0.json.get_or_init(|| self.0.message.to_json().unwrap_or_default().into())
    }
}

impl SharedMessage {
    /// Returns a number that `measure` computes from the message, such as its tokens. Only the first call runs
    /// `measure`: later calls on any clone return that number, even if they pass another function.
    pub fn measured(&self, measure: impl FnOnce(&Message) -> u64) -> u64 {
        *self.0.measured.get_or_init(|| measure(&self.0.message))
    }

    /// Returns the answer of a check of the message, for example that it can be sent unchanged. Only the first call
    /// runs `check`: later calls on any clone return that answer, even if they pass another function.
    pub fn checked(&self, check: impl FnOnce(&Message) -> bool) -> bool {
        *self.0.checked.get_or_init(|| check(&self.0.message))
    }
}

impl SharedMessage {
    /// Returns the message. It is cloned only while another `SharedMessage` shares it.
    pub fn into_message(self) -> Message {
        Arc::try_unwrap(self.0).map_or_else(|shared| shared.message.clone(), |inner| inner.message)
    }
}

impl From<Message> for SharedMessage {
    fn from(message: Message) -> Self {
        Self(Arc::new(SharedState {
            message,
            json: OnceLock::new(),
            measured: OnceLock::new(),
            checked: OnceLock::new(),
        }))
    }
}

impl Deref for SharedMessage {
    type Target = Message;

    fn deref(&self) -> &Message {
        &self.0.message
    }
}

impl fmt::Debug for SharedMessage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.message.fmt(f)
    }
}

impl PartialEq for SharedMessage {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.message == other.0.message
    }
}

impl Eq for SharedMessage {}

impl Serialize for SharedMessage {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.message.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_measured_once() {
        let message = SharedMessage::from(Message::user_text("hi"));
        assert_eq!((message.measured(|_| 7), message.clone().measured(|_| 8)), (7, 7));
    }

    #[test]
    fn a_string_is_one_text_block() {
        let message: Message = serde_json::from_str(r#"{"role":"user","content":"hi"}"#).unwrap();
        assert_eq!(message, Message::user_text("hi"));
    }

    #[test]
    fn json_of_a_shared_message_is_what_serde_writes() {
        let blocks = r#"[{"type":"text","text":"a\n\"b\""},{"type":"tool_use","id":"t","name":"Read","input":{"x": 1.0}},
            {"type":"tool_result","tool_use_id":"t","content":"1\tx"},
            {"type":"tool_result","tool_use_id":"u","content":[{"type":"text","text":"\\"}],"is_error":true},
            {"type":"thinking","thinking":"hm","signature":"s"},{"type":"other","n":1.50}]"#;
        let content: Vec<ContentBlock> = serde_json::from_str(blocks).unwrap();
        for message in [Message::user(content.clone()), Message::assistant(content), Message::user(Vec::new())] {
            assert_eq!(SharedMessage::from(message.clone()).json(), serde_json::to_string(&message).unwrap());
        }
    }

    #[test]
    fn json_is_written_once_and_shared() {
        let message = SharedMessage::from(Message::user_text("x"));
        let clone = message.clone();
        assert_eq!(message.json(), r#"{"role":"user","content":[{"type":"text","text":"x"}]}"#);
        assert!(std::ptr::eq(message.json(), clone.json()));
    }
}
