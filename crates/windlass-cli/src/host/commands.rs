//! Slash commands as a host sees them: custom commands, skills, and prompts of MCP servers.

use super::Host;
use std::sync::Arc;
use std::time::Duration;
use windlass::crates::mcp::McpPrompt;
use windlass::crates::project::{Command, Commands, split_arguments};
use windlass::crates::types::Prompt;
use windlass::mcp::McpServers;
use windlass::project::LoadedProject;
use windlass::session::SessionHandle;
use windlass_protocol::{Expanded, SlashCommand};

/// How long servers may take to list their prompts when a session opens.
const LISTING: Duration = Duration::from_secs(2);

/// The commands for a list; each entry names its author.
pub(super) fn listed(commands: Option<&Commands>) -> Vec<SlashCommand> {
    let listed = |command: &Command| {
        SlashCommand::new(&command.name, format!("{} ({})", command.description, command.source))
            .with_argument_hint(&command.argument_hint)
            .as_skill(command.skill.is_some())
    };
    commands.into_iter().flat_map(Commands::for_users).map(listed).collect()
}

/// The commands of an open session.
#[derive(Clone)]
pub(super) struct SessionCommands {
    project: LoadedProject,
    servers: McpServers,
    session: SessionHandle,
    prompts: Arc<[McpPrompt]>,
    enabled: bool,
}

impl SessionCommands {
    /// Asks the servers that have connected for their prompts.
    pub(super) async fn of(host: &Host, project: LoadedProject, session: &SessionHandle) -> Self {
        let (servers, enabled) = (host.mcp.set().clone(), host.commands().is_some());
        let prompts = match enabled {
            true => tokio::time::timeout(LISTING, servers.prompts()).await.unwrap_or_default(),
            false => Vec::new(),
        };
        Self { project, servers, session: session.weak(), prompts: prompts.into(), enabled }
    }

    /// All of them; a custom command counts before a prompt of its name.
    pub(super) fn list(&self) -> Vec<SlashCommand> {
        if !self.enabled {
            return Vec::new();
        }
        let mut all = listed(Some(&*self.project.commands()));
        for prompt in self.prompts.iter() {
            let name = prompt.command();
            if !all.iter().any(|known| known.name == name) {
                let hint: Vec<String> = prompt.arguments.iter().map(hint_of).collect();
                let description = format!("{} (MCP)", one_line(&prompt.description));
                all.push(SlashCommand::new(name, description).with_argument_hint(hint.join(" ")));
            }
        }
        all
    }

    /// Looks whether settings and skills have changed. Settings count as soon as hooks have let them, which the host may have to
    /// answer first: calls that have not begun are judged again then.
    pub(super) fn look(&self) {
        // It fails only when the session is closed, and then no prompt is answered.
        let _ = self.project.refresh_skills(&self.session);
        let (project, session) = (self.project.clone(), self.session.weak());
        tokio::spawn(async move { project.refresh(&session).await });
    }

    /// The prompt of a command with what follows its name.
    pub(super) async fn expand(self, name: String, arguments: String) -> Expanded {
        if !self.enabled {
            return Ok(None);
        }
        let (project, session) = (self.project.clone(), self.session.session_id().clone());
        let called = name.clone();
        let given = arguments.clone();
        // Files are read.
        let expanded = tokio::task::spawn_blocking(move || project.called(&called, &given, Some(&session))).await;
        match expanded.map_err(|error| error.to_string())?.map_err(|error| error.to_string())? {
            Some(prompt) => Ok(Some(prompt)),
            None => self.of_server(&name, &arguments).await,
        }
    }

    /// The prompt of an MCP server.
    async fn of_server(&self, name: &str, arguments: &str) -> Expanded {
        let Some(prompt) = self.prompts.iter().find(|prompt| prompt.command() == name) else { return Ok(None) };
        let blocks = self.servers.call_prompt(prompt, &split_arguments(arguments)).await;
        Ok(Some(Prompt::new(blocks.map_err(|error| error.to_string())?).ignoring_keywords()))
    }
}

fn hint_of(argument: &windlass::crates::mcp::McpPromptArgument) -> String {
    if argument.required { format!("<{}>", argument.name) } else { format!("[{}]", argument.name) }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
