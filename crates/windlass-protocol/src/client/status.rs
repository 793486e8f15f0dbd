//! The other side's reports of its servers and its context.

use serde::Deserialize;
use windlass_types::{JsonError, JsonText};

/// An MCP server of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpServer {
    /// Its name.
    pub name: String,
    /// `connected`, `failed`, `needs-auth`, `pending` or `disabled`.
    pub status: String,
    /// Why it is not connected.
    pub error: Option<String>,
    /// The whole entry, as it came.
    pub raw: JsonText,
}

/// What a conversation takes up.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextUsage {
    /// Tokens that are used.
    pub total_tokens: u64,
    /// Tokens that there are.
    pub max_tokens: u64,
    /// The model.
    pub model: String,
    /// The whole entry, as it came.
    pub raw: JsonText,
}

impl McpServer {
    pub(super) fn read(raw: JsonText) -> Result<Self, JsonError> {
        #[derive(Deserialize)]
        struct Fields {
            name: String,
            status: String,
            #[serde(default)]
            error: Option<String>,
        }
        let Fields { name, status, error } = raw.to()?;
        Ok(Self { name, status, error, raw })
    }
}

impl ContextUsage {
    pub(super) fn read(raw: JsonText) -> Result<Self, JsonError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Fields {
            total_tokens: u64,
            max_tokens: u64,
            #[serde(default)]
            model: String,
        }
        let Fields { total_tokens, max_tokens, model } = raw.to()?;
        Ok(Self { total_tokens, max_tokens, model, raw })
    }
}
