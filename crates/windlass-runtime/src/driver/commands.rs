//! Commands of the session's handles, carried out or handed on to the machine.

use super::Driver;
use crate::agents::AgentsCall;
use crate::commands::{ConversationCommand, SessionCommand};
use crate::error::RewindError;
use crate::hooks::listened;
use crate::log::rewind;
use std::ffi::OsString;
use windlass_core::Input;
use windlass_tool::{Foreground, ToolSet};

impl Driver {
    /// Carries out a command that concerns the driver alone, and hands on the rest.
    pub(super) fn obey(&mut self, command: SessionCommand) -> Option<Input> {
        match command {
            SessionCommand::Input(input) => Some(input),
            SessionCommand::Model(name) => {
                if let Some(doubt) = self.executor.ports.doubt(&name) {
                    self.handle(Input::Notice(doubt));
                }
                Some(Input::SetModel(Box::new(self.executor.ports.model(&name))))
            }
            SessionCommand::Tools(tools) => Some(self.renew_tools(tools)),
            SessionCommand::Hooks => {
                self.executor.renew_hooks();
                Some(Input::SetHooks(listened(&self.executor.ports.hooks)))
            }
            SessionCommand::Files(command) => {
                let busy = !self.machine.is_idle() || self.executor.agents.any_at_work();
                self.executor.files.obey(command, busy, self.machine.policy().directories().to_vec());
                None
            }
            SessionCommand::Conversation(command) => self.obey_conversation(command),
            SessionCommand::StopTask(id) => {
                self.executor.background.stop(&id);
                self.executor.agents.stop_task(&id);
                None
            }
            SessionCommand::StopTasks => {
                self.executor.background.stop_all();
                None
            }
            query @ (SessionCommand::ContextUsage(_)
            | SessionCommand::PermissionMode(_)
            | SessionCommand::MoveToBackground(..)
            | SessionCommand::Quiet(_)
            | SessionCommand::Settled(_)
            | SessionCommand::Agents(..)) => {
                self.query(query);
                None
            }
            SessionCommand::SideCall(call, waiting) => {
                self.executor.begin_side_request(&self.machine, *call, waiting);
                None
            }
            SessionCommand::Approve(approval, waiting) => {
                self.executor.begin_approval(&self.machine, *approval, waiting);
                None
            }
            SessionCommand::AskHooks(call, waiting) => {
                self.executor.reporter(&self.machine).send(*call, Some(waiting));
                None
            }
            SessionCommand::Environment(env) => {
                self.executor.set_environment(env);
                None
            }
            SessionCommand::Variables(changes) => {
                self.change_environment(changes);
                None
            }
        }
    }

    /// Sets variables of the environment of programs, and removes those without a value.
    fn change_environment(&mut self, changes: Vec<(OsString, Option<OsString>)>) {
        let mut env = self.executor.ports.system.env.to_vec();
        env.retain(|(known, _)| !changes.iter().any(|(name, _)| name == known));
        env.extend(changes.into_iter().filter_map(|(name, value)| Some((name, value?))));
        self.executor.set_environment(env);
    }

    /// Replaces the tools, and returns the input that tells the machine.
    fn renew_tools(&mut self, tools: ToolSet) -> Input {
        let specs = tools.specs();
        self.executor.ports.tools = tools.into();
        self.executor.agents.follow_tools(&self.executor.ports.tools, &self.machine);
        Input::SetTools(specs)
    }

    /// Finds a point of the conversation, or begins to rewind it. A rewind is refused while the session or an agent of it
    /// is at work.
    fn obey_conversation(&mut self, command: ConversationCommand) -> Option<Input> {
        match command {
            ConversationCommand::FindPoint(to, answer) => {
                rewind::find_point(&self.log, to, answer);
                None
            }
            command if !self.machine.is_idle() || self.executor.agents.any_at_work() => {
                command.refuse(RewindError::Running);
                None
            }
            ConversationCommand::Rewind(wanted) => {
                let to = wanted.to.clone();
                self.rewind = Some(wanted);
                Some(Input::Rewind(to))
            }
        }
    }

    /// Carries out a read-only command. The requester may have dropped its receiver.
    fn query(&mut self, command: SessionCommand) {
        match command {
            SessionCommand::ContextUsage(waiting) => drop(waiting.send(self.machine.context_usage())),
            SessionCommand::PermissionMode(waiting) => drop(waiting.send(self.machine.policy().mode())),
            SessionCommand::MoveToBackground(call, waiting) => {
                let foreground = self.executor.state().get::<Foreground>();
                let _ = waiting.send(foreground.move_to_background(call.as_ref()));
            }
            SessionCommand::Quiet(waiting) => self.commands.when_quiet(waiting),
            SessionCommand::Settled(waiting) => self.commands.when_settled(waiting),
            SessionCommand::Agents(origin, waiting) => {
                let place = AgentsCall::standing_for(origin, self.machine.state().cwd().to_path_buf());
                drop(waiting.send(self.executor.agents_of(&self.machine, place)));
            }
            _ => {}
        }
    }
}
