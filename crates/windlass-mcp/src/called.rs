//! Prompts of servers as slash commands: `/mcp__server__prompt argument`.

use crate::{McpError, McpPrompt, McpServers};
use futures_util::future::join_all;
use windlass_context::foreign_text;
use windlass_types::{ContentBlock, mcp_name};

/// Reason why the prompt of a slash command is not available.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpPromptError {
    /// A required argument is missing.
    #[error("/{command} needs the argument {argument}: write it after the name")]
    MissingArgument {
        /// The command, without the slash.
        command: String,
        /// The name of the argument.
        argument: String,
    },
    /// The server gave no text.
    #[error("/{command}: the server gave an empty prompt")]
    Empty {
        /// The command, without the slash.
        command: String,
    },
    /// The server cannot be reached, or refuses.
    #[error("/{command}: {error}")]
    Server {
        /// The command, without the slash.
        command: String,
        /// Error of the server or of its connection.
        #[source]
        error: McpError,
    },
}

impl McpServers {
    /// Returns the content of the prompt with this command (`mcp__server__prompt`, without a slash), with arguments in
    /// order. Only servers of that name are asked. `None` if no connected server has such a prompt. Cancel safe.
    ///
    /// # Errors
    /// The errors of [`call_prompt`](Self::call_prompt).
    pub async fn named_prompt(
        &self,
        command: &str,
        arguments: &[String],
    ) -> Result<Option<Vec<ContentBlock>>, McpPromptError> {
        let is_meant = |server: &String| command.starts_with(&format!("mcp__{}__", mcp_name::server(server)));
        let servers = self.status().into_iter().map(|status| status.name).filter(is_meant);
        let servers: Vec<String> = servers.filter(|server| self.has_prompts(server)).collect();
        let listed = join_all(servers.iter().map(|server| self.prompts_of(server))).await;
        match listed.into_iter().flatten().find(|prompt| prompt.command() == command) {
            Some(prompt) => self.call_prompt(&prompt, arguments).await.map(Some),
            None => Ok(None),
        }
    }

    /// Returns the content of a prompt, message by message, with arguments in order: the last one takes the remaining
    /// arguments. Texts that imitate those of the runtime are marked. Cancel safe.
    ///
    /// # Errors
    /// An argument is missing, the server cannot be reached or refuses, or the prompt is empty.
    pub async fn call_prompt(
        &self,
        prompt: &McpPrompt,
        arguments: &[String],
    ) -> Result<Vec<ContentBlock>, McpPromptError> {
        let command = prompt.command();
        let named = match prompt.named(arguments) {
            Ok(named) => named,
            Err(argument) => return Err(McpPromptError::MissingArgument { command, argument }),
        };
        match self.prompt(&prompt.server, &prompt.name, &named).await {
            Ok(blocks) if blocks.is_empty() => Err(McpPromptError::Empty { command }),
            Ok(blocks) => Ok(blocks.into_iter().map(marked).collect()),
            Err(error) => Err(McpPromptError::Server { command, error }),
        }
    }
}

fn marked(block: ContentBlock) -> ContentBlock {
    match block.as_text() {
        Some(text) => ContentBlock::text(foreign_text(text)),
        None => block,
    }
}
