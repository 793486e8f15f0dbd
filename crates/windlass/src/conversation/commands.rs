//! Slash commands of an open session: custom commands, skills, and prompts of MCP servers.

use super::server_prompts::ServerPrompts;
use crate::memory::MemoryDirectory;
use crate::options::Options;
use crate::project::LoadedProject;
use crate::session_tools::SessionTools;
use std::sync::{Mutex, PoisonError};
use windlass_conversation::{Expanded, Expansion, SlashCommand};
use windlass_project::{Command, MEMORY_COMMAND};
use windlass_runtime::SessionHandle;

/// Commands of a project and of its MCP servers.
#[derive(Clone)]
pub(super) struct SessionCommands {
    project: LoadedProject,
    session: SessionHandle,
    memory: Option<MemoryDirectory>,
    servers: ServerPrompts,
}

impl SessionCommands {
    /// The commands of a session, if it has a project. Servers that have connected are asked for their prompts.
    pub(super) async fn of(options: &Options, session: &SessionHandle, tools: &SessionTools) -> Option<Self> {
        let project = options.project.applied()?.clone();
        Some(Self {
            memory: project.memory_of_sessions(),
            project,
            session: session.weak(),
            servers: ServerPrompts::of(tools).await,
        })
    }

    /// All commands. A custom one hides a prompt of its name.
    pub(super) fn list(&self) -> Vec<SlashCommand> {
        let mut commands = self.project.slash_commands();
        self.servers.add_to(&mut commands);
        commands
    }

    /// Checks settings and skills for changes. Changed settings apply as soon as hooks allow them, which may need a
    /// person's answer; calls that have not begun are judged again then. Returns the commands if they have changed.
    pub(super) fn look(&self, listed: &Mutex<Vec<SlashCommand>>) -> Option<Vec<SlashCommand>> {
        // Fails only when the session is closed, and then no prompt is answered.
        let _ = self.project.refresh_skills(&self.session);
        let (project, session) = (self.project.clone(), self.session.weak());
        tokio::spawn(async move { project.refresh_unasked(&session).await });
        let now = self.list();
        let mut listed = listed.lock().unwrap_or_else(PoisonError::into_inner);
        if *listed == now {
            return None;
        }
        listed.clone_from(&now);
        Some(now)
    }

    /// The expansion of a command with the text behind its name.
    pub(super) async fn expand(self, name: String, arguments: String) -> Expanded {
        let (project, session) = (self.project.clone(), self.session.session_id().clone());
        let (called, given) = (name.clone(), arguments.clone());
        // Blocking, because this reads files.
        let expanded = tokio::task::spawn_blocking(move || project.called(&called, &given, Some(&session))).await;
        match expanded.map_err(|error| error.to_string())?.map_err(|error| error.to_string())? {
            Some(prompt) => Ok(Some(prompt.into())),
            None if name == MEMORY_COMMAND.0 => {
                let memory = self.memory.ok_or(
                    "there is no memory here: settings, a variable or a flag switch it off, or sessions are not kept",
                )?;
                let answer = tokio::task::spawn_blocking(move || memory.asked(&arguments)).await;
                let text = answer.map_err(|error| error.to_string())?.map_err(|error| error.to_string())?;
                Ok(Some(Expansion::Output(text)))
            }
            None => self.servers.expand(&name, &arguments).await,
        }
    }
}

impl LoadedProject {
    /// The slash commands of the project's sessions before one is open: custom commands and skills, with their authors.
    pub fn slash_commands(&self) -> Vec<SlashCommand> {
        let commands = self.commands();
        let listed = |command: &Command| {
            SlashCommand::new(&command.name, format!("{} ({})", command.description, command.source))
                .with_argument_hint(&command.argument_hint)
                .as_skill(command.skill.is_some())
        };
        let (name, hint) = MEMORY_COMMAND;
        let has_memory = self.memory_of_sessions().is_some() && commands.get(name).is_none();
        let memory = has_memory.then(|| {
            SlashCommand::new(name, "Show the notes of earlier sessions").with_argument_hint(hint).as_builtin()
        });
        memory.into_iter().chain(commands.for_users().map(listed)).collect()
    }
}
