//! Slash commands as a host sees them: custom commands, skills, and prompts of MCP servers.

use super::configuration::Host;
use crate::memory::asked;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use windlass::crates::mcp::McpPrompt;
use windlass::crates::project::{Command, Commands, MEMORY_COMMAND, split_arguments};
use windlass::crates::types::Prompt;
use windlass::mcp::McpServers;
use windlass::memory::MemoryDirectory;
use windlass::project::LoadedProject;
use windlass::session::SessionHandle;
use windlass_protocol::{Expanded, Expansion, SlashCommand};

/// How long servers may take to list their prompts when a session opens.
const LISTING: Duration = Duration::from_secs(2);

/// The commands for a list; each entry names its author. `memory`: whether there is one to ask for.
pub(super) fn listed(commands: Option<&Commands>, memory: bool) -> Vec<SlashCommand> {
    let listed = |command: &Command| {
        SlashCommand::new(&command.name, format!("{} ({})", command.description, command.source))
            .with_argument_hint(&command.argument_hint)
            .as_skill(command.skill.is_some())
    };
    let Some(commands) = commands else { return Vec::new() };
    let own = (memory && commands.get(asked::NAME).is_none()).then(|| {
        SlashCommand::new(asked::NAME, "Show the notes of earlier sessions")
            .with_argument_hint(MEMORY_COMMAND.1)
            .as_builtin()
    });
    own.into_iter().chain(commands.for_users().map(listed)).collect()
}

/// The commands of an open session.
#[derive(Clone)]
pub(super) struct SessionCommands {
    project: LoadedProject,
    servers: McpServers,
    session: SessionHandle,
    prompts: Arc<[McpPrompt]>,
    memory: Result<MemoryDirectory, String>,
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
        let memory = host.memory();
        Self { project, servers, session: session.weak(), prompts: prompts.into(), memory, enabled }
    }

    /// All of them; a custom command counts before a prompt of its name.
    pub(super) fn list(&self) -> Vec<SlashCommand> {
        if !self.enabled {
            return Vec::new();
        }
        let mut all = listed(Some(&*self.project.commands()), self.memory.is_ok());
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
    /// answer first: calls that have not begun are judged again then. Returns the commands, if they have changed.
    pub(super) fn look(&self, listed: &Mutex<Vec<SlashCommand>>) -> Option<Vec<SlashCommand>> {
        // It fails only when the session is closed, and then no prompt is answered.
        let _ = self.project.refresh_skills(&self.session);
        let (project, session) = (self.project.clone(), self.session.weak());
        tokio::spawn(async move { project.refresh(&session).await });
        let now = self.list();
        let mut listed = listed.lock().unwrap_or_else(PoisonError::into_inner);
        if *listed == now {
            return None;
        }
        listed.clone_from(&now);
        Some(now)
    }

    /// What a command with what follows its name becomes.
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
            Some(prompt) => Ok(Some(prompt.into())),
            None if name == asked::NAME => {
                let memory = self.memory?;
                let answer = tokio::task::spawn_blocking(move || memory.asked(&arguments)).await;
                let text = answer.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
                Ok(Some(Expansion::Output(text)))
            }
            None => self.of_server(&name, &arguments).await,
        }
    }

    /// The prompt of an MCP server.
    async fn of_server(&self, name: &str, arguments: &str) -> Expanded {
        let Some(prompt) = self.prompts.iter().find(|prompt| prompt.command() == name) else { return Ok(None) };
        let blocks = self.servers.call_prompt(prompt, &split_arguments(arguments)).await;
        let prompt = Prompt::new(blocks.map_err(|error| error.to_string())?).ignoring_keywords();
        Ok(Some(prompt.into()))
    }
}

fn hint_of(argument: &windlass::crates::mcp::McpPromptArgument) -> String {
    if argument.required { format!("<{}>", argument.name) } else { format!("[{}]", argument.name) }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
