//! Origins of model messages.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// A provider, and the wire dialect that it speaks.
#[derive(Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Api {
    provider: Arc<str>,
    dialect: Arc<str>,
}

impl Api {
    /// The dialect of the Anthropic Messages API.
    pub const MESSAGES: &'static str = "messages";
    /// The dialect of the OpenAI Responses API.
    pub const RESPONSES: &'static str = "responses";
    /// The dialect of Chat Completions, which many vendors speak.
    pub const CHAT_COMPLETIONS: &'static str = "chat-completions";
    /// The dialect of the Gemini API.
    pub const GEMINI: &'static str = "gemini";
    /// The dialect of the Bedrock Converse API.
    pub const CONVERSE: &'static str = "converse";

    /// A provider (`anthropic`, `openrouter`) with its dialect (`messages`, `chat-completions`).
    pub fn new(provider: impl Into<Arc<str>>, dialect: impl Into<Arc<str>>) -> Self {
        Self { provider: provider.into(), dialect: dialect.into() }
    }

    /// The short name of the provider.
    pub fn provider(&self) -> &str {
        &self.provider
    }

    /// The wire dialect.
    pub fn dialect(&self) -> &str {
        &self.dialect
    }
}

impl Default for Api {
    /// A provider without a name that speaks the dialect of the Messages API.
    fn default() -> Self {
        Self::new("", Self::MESSAGES)
    }
}

impl fmt::Display for Api {
    /// `provider/dialect`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.dialect)
    }
}

impl fmt::Debug for Api {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Origin of a model's message. Data that only the model behind it can read (signatures, encrypted reasoning, ids of a
/// vendor) is sent back only to the same origin.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Origin {
    /// The provider and its dialect.
    #[serde(flatten)]
    pub api: Api,
    /// The model that was asked, as it was asked for.
    pub model: String,
    /// The model that answered, as the provider names it.
    pub answered: String,
}

impl Origin {
    /// An origin.
    pub fn new(api: Api, model: impl Into<String>, answered: impl Into<String>) -> Self {
        Self { api, model: model.into(), answered: answered.into() }
    }
}
