//! Prompts of MCP servers as slash commands.

use crate::session_tools::SessionTools;
use std::sync::Arc;
use std::time::Duration;
use windlass_conversation::{Expanded, SlashCommand};
use windlass_mcp::{McpPrompt, McpPromptArgument, McpServers};
use windlass_project::split_arguments;
use windlass_types::Prompt;

/// Time limit for listing the prompts of all servers when a session opens.
const LISTING_TIMEOUT: Duration = Duration::from_secs(2);

/// MCP servers of a session, and the prompts that they listed when it opened.
#[derive(Clone)]
pub(super) struct ServerPrompts {
    servers: Option<McpServers>,
    prompts: Arc<[McpPrompt]>,
}

impl ServerPrompts {
    pub(super) async fn of(tools: &SessionTools) -> Self {
        let servers = tools.servers().0.clone();
        let prompts = match &servers {
            Some(servers) => tokio::time::timeout(LISTING_TIMEOUT, servers.prompts()).await.unwrap_or_default(),
            None => Vec::new(),
        };
        Self { servers, prompts: prompts.into() }
    }

    pub(super) fn add_to(&self, commands: &mut Vec<SlashCommand>) {
        for prompt in self.prompts.iter() {
            let name = prompt.command();
            if !commands.iter().any(|known| known.name == name) {
                let hints: Vec<String> = prompt.arguments.iter().map(argument_hint).collect();
                let description = format!("{} (MCP)", one_line(&prompt.description));
                commands.push(SlashCommand::new(name, description).with_argument_hint(hints.join(" ")));
            }
        }
    }

    pub(super) async fn expand(&self, name: &str, arguments: &str) -> Expanded {
        let Some(servers) = &self.servers else { return Ok(None) };
        let Some(prompt) = self.prompts.iter().find(|prompt| prompt.command() == name) else { return Ok(None) };
        let blocks = servers.call_prompt(prompt, &split_arguments(arguments)).await;
        let prompt = Prompt::new(blocks.map_err(|error| error.to_string())?).ignoring_keywords();
        Ok(Some(prompt.into()))
    }
}

fn argument_hint(argument: &McpPromptArgument) -> String {
    if argument.required { format!("<{}>", argument.name) } else { format!("[{}]", argument.name) }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
