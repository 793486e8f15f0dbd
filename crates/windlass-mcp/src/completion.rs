//! Values that a server suggests for the arguments of prompts and of templates.

use crate::text::clipped;
use crate::{McpError, McpServers};
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;

/// Maximum number of suggestions, and maximum number of characters of one.
const MAX_VALUES: usize = 100;
const MAX_VALUE_CHARS: usize = 1_000;

/// Owner of the argument for which values are suggested.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum McpCompletionOf {
    /// Prompt, by its name at the server.
    Prompt(String),
    /// URI template of resources.
    ResourceTemplate(String),
}

#[derive(Deserialize)]
struct CompletionAnswer {
    completion: CompletionResult,
}

#[derive(Deserialize)]
struct CompletionResult {
    #[serde(default)]
    values: Vec<String>,
}

impl McpServers {
    /// Requests suggestions for an argument with the prefix `begun`, at most 100. `others` are the arguments that have
    /// values already. Untrusted. Cancel safe.
    ///
    /// # Errors
    /// Fails if there is no such server, it cannot be reached, or it suggests nothing for such arguments.
    pub async fn complete(
        &self,
        server: &str,
        of: &McpCompletionOf,
        (argument, begun): (&str, &str),
        others: &BTreeMap<String, String>,
    ) -> Result<Vec<String>, McpError> {
        let reference = match of {
            McpCompletionOf::Prompt(name) => json!({ "type": "ref/prompt", "name": name }),
            McpCompletionOf::ResourceTemplate(uri) => json!({ "type": "ref/resource", "uri": uri }),
        };
        let mut params = json!({ "ref": reference, "argument": { "name": argument, "value": begun } });
        if let (false, Some(params)) = (others.is_empty(), params.as_object_mut()) {
            params.insert("context".to_owned(), json!({ "arguments": others }));
        }
        let given = self.request(server, "completion/complete", params).await?;
        let given: CompletionAnswer = given.to().map_err(|_| McpError::bad_answer(server))?;
        Ok(given.completion.values.iter().take(MAX_VALUES).map(|value| clipped(value, MAX_VALUE_CHARS)).collect())
    }
}
