//! Prompts that servers offer.

use crate::content::lenient_output;
use crate::icon::icons;
use crate::text::clipped;
use crate::{McpError, McpIcon, McpServerState, McpServers};
use futures_util::future::join_all;
use serde::Deserialize;
use std::collections::BTreeMap;
use windlass_types::{ContentBlock, JsonText, ToolResultContent, mcp_name};

/// Maximum length of a description, in bytes.
const MAX_DESCRIPTION_BYTES: usize = 1_000;
/// Maximum numbers of prompts of one server and of pages of its list.
const MAX_PROMPTS: usize = 100;
const MAX_PAGES: usize = 10;

/// Prompt that a server offers: users call it as `/mcp__server__prompt`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpPrompt {
    /// Name of the server.
    pub server: String,
    /// Name of the prompt at the server.
    pub name: String,
    /// Purpose of the prompt, in the server's own words; may be empty.
    pub description: String,
    /// Arguments of the prompt, in order.
    pub arguments: Vec<McpPromptArgument>,
    /// Icons, for people. Never fetched.
    pub icons: Vec<McpIcon>,
}

/// Argument of a prompt.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[non_exhaustive]
pub struct McpPromptArgument {
    /// Name of the argument.
    pub name: String,
    /// `true` if the prompt requires the argument. Default: `false`.
    #[serde(default)]
    pub required: bool,
}

impl McpPrompt {
    /// Returns the name under which users call the prompt: `mcp__server__prompt`.
    #[must_use]
    pub fn command(&self) -> String {
        let name: String = self.name.chars().map(|c| if c.is_whitespace() || c == '/' { '_' } else { c }).collect();
        format!("mcp__{}__{name}", mcp_name::server(&self.server))
    }

    /// Maps arguments in order to their names: the last one takes the remaining arguments.
    ///
    /// # Errors
    /// Returns the name of a required argument that is missing.
    pub fn named(&self, given: &[String]) -> Result<BTreeMap<String, String>, String> {
        let last = self.arguments.len().saturating_sub(1);
        let mut named = BTreeMap::new();
        for (index, argument) in self.arguments.iter().enumerate() {
            let value = match index == last {
                true => given.iter().skip(index).cloned().collect::<Vec<_>>().join(" "),
                false => given.get(index).cloned().unwrap_or_default(),
            };
            match value.is_empty() {
                true if argument.required => return Err(argument.name.clone()),
                true => {}
                false => drop(named.insert(argument.name.clone(), value)),
            }
        }
        Ok(named)
    }
}

#[derive(Deserialize)]
struct PromptPage {
    #[serde(default)]
    prompts: Vec<ListedPrompt>,
    #[serde(default, rename = "nextCursor")]
    next: Option<String>,
}

#[derive(Deserialize)]
struct ListedPrompt {
    name: String,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    arguments: Option<Vec<McpPromptArgument>>,
    #[serde(default)]
    icons: serde_json::Value,
}

#[derive(Deserialize)]
struct PromptAnswer {
    #[serde(default)]
    messages: Vec<PromptMessage>,
}

#[derive(Deserialize)]
struct PromptMessage {
    content: JsonText,
}

impl McpServers {
    /// Lists the prompts of the servers that are connected now, sorted by server. A server that has none, or does not
    /// answer in time, is skipped. Cancel safe.
    pub async fn prompts(&self) -> Vec<McpPrompt> {
        let connected = self.status().into_iter().filter(|server| server.state == McpServerState::Connected);
        let names: Vec<String> = connected.map(|server| server.name).filter(|name| self.has_prompts(name)).collect();
        let listed = join_all(names.iter().map(|name| self.prompts_of(name))).await;
        listed.into_iter().flatten().collect()
    }

    pub(crate) async fn prompts_of(&self, server: &str) -> Vec<McpPrompt> {
        let (mut prompts, mut cursor) = (Vec::new(), None::<String>);
        for _ in 0..MAX_PAGES {
            let params =
                cursor.take().map_or_else(|| serde_json::json!({}), |cursor| serde_json::json!({ "cursor": cursor }));
            let page =
                self.request(server, "prompts/list", params).await.ok().and_then(|page| page.to::<PromptPage>().ok());
            let Some(PromptPage { prompts: listed, next }) = page else { break };
            prompts.extend(listed.into_iter().map(|listed| McpPrompt {
                server: server.to_owned(),
                name: listed.name,
                description: clipped(&listed.description.unwrap_or_default(), MAX_DESCRIPTION_BYTES),
                arguments: listed.arguments.unwrap_or_default(),
                icons: icons(&listed.icons),
            }));
            cursor = next.filter(|next| !next.is_empty());
            if cursor.is_none() || prompts.len() >= MAX_PROMPTS {
                break;
            }
        }
        prompts.truncate(MAX_PROMPTS);
        prompts
    }

    /// Returns the content of a server's prompt, message by message.
    ///
    /// # Errors
    /// Fails if there is no such server, it cannot be reached or refuses, or its answer is no prompt.
    pub async fn prompt(
        &self,
        server: &str,
        name: &str,
        arguments: &BTreeMap<String, String>,
    ) -> Result<Vec<ContentBlock>, McpError> {
        let params = serde_json::json!({ "name": name, "arguments": arguments });
        let given: PromptAnswer =
            self.request(server, "prompts/get", params).await?.to().unwrap_or(PromptAnswer { messages: Vec::new() });
        let mut blocks = Vec::new();
        for message in given.messages {
            let content = message.content.to::<serde_json::Value>().unwrap_or_default();
            let output = lenient_output(serde_json::json!({ "content": [content] }));
            match output.map(|output| output.content) {
                Some(ToolResultContent::Text(text)) => blocks.push(ContentBlock::text(text)),
                Some(ToolResultContent::Blocks(more)) => blocks.extend(more),
                _ => {}
            }
        }
        Ok(blocks)
    }
}
