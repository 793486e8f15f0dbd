//! The other side's reports of its servers and its context.

use serde::Deserialize;
use windlass_types::{JsonError, JsonText};

/// An MCP server of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpServer {
    /// Name of the server.
    pub name: String,
    /// `connected`, `failed`, `needs-auth`, `pending` or `disabled`.
    pub status: String,
    /// Reason why it is not connected.
    pub error: Option<String>,
    /// Whole entry, unchanged.
    pub raw: JsonText,
}

/// Context usage of a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContextUsage {
    /// Number of used tokens.
    pub total_tokens: u64,
    /// Number of available tokens.
    pub max_tokens: u64,
    /// Name of the model.
    pub model: String,
    /// Whole entry, unchanged.
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
