//! Frames outside of runs.

use super::ServerMachine;
use crate::line::{self, MAX_LINE};
use crate::server::frames::{
    CommandLifecycle, CommandsChanged, ControlResponse, McpServerNews, McpStatusFrame, MessageLifecycle,
    ReplayedMessage, Reset, StateChanged, TitleChanged, answer,
};
use serde_json::json;
use windlass_conversation::{SlashCommand, TakenMessage};
use windlass_types::{JsonText, PermissionMode};

use super::answers::{RequestAnswer, RequestRefusal};

impl ServerMachine {
    /// Answers a request of the host.
    pub(super) fn reply(&mut self, request: &str, outcome: RequestAnswer) {
        let line = match outcome {
            Ok(None) => answer(request, &ControlResponse::Done(None), MAX_LINE),
            Ok(Some(value)) => match JsonText::of(&value) {
                Ok(json) => answer(request, &ControlResponse::Done(Some(&json)), MAX_LINE),
                Err(error) => {
                    answer(request, &ControlResponse::Refused { error: &error.to_string(), code: None }, MAX_LINE)
                }
            },
            Err(RequestRefusal { error, code }) => {
                answer(request, &ControlResponse::Refused { error: &error, code }, MAX_LINE)
            }
        };
        self.send(line);
    }

    /// Reports the state of the session to hosts that request it.
    pub(super) fn say_state(&mut self, state: &'static str) {
        if self.config.session_state {
            self.say_system("session_state_changed", Some(state), None);
        }
    }

    /// Reports the permission mode beside a run.
    pub(super) fn say_mode(&mut self, mode: PermissionMode) {
        self.say_system("status", None, Some(mode.as_str()));
    }

    fn say_system(&mut self, subtype: &'static str, state: Option<&'static str>, mode: Option<&str>) {
        let frame = StateChanged {
            kind: "system",
            subtype,
            status: mode.map(|_| ()),
            state,
            sdk_host_only: state.is_some(),
            permission_mode: mode,
            uuid: self.uuid(),
            session_id: &self.session_id,
        };
        let mut bytes = Vec::new();
        line::push(&mut bytes, &frame);
        self.send(bytes);
    }

    /// Reports the state of a message, if it has an id.
    pub(super) fn say_lifecycle(&mut self, uuid: Option<&str>, state: MessageLifecycle) {
        let Some(command_uuid) = uuid else { return };
        let (kind, uuid, session_id) = ("command_lifecycle", self.uuid(), self.session_id.as_str());
        let mut bytes = Vec::new();
        line::push(&mut bytes, &CommandLifecycle { kind, command_uuid, state, uuid, session_id });
        self.send(bytes);
    }

    /// Reports news about an MCP server.
    pub(super) fn say_mcp_server(&mut self, news: &McpServerNews) {
        let (kind, subtype, uuid, session_id) = ("system", "mcp_server_status", self.uuid(), self.session_id.as_str());
        let mut bytes = Vec::new();
        line::push(&mut bytes, &McpStatusFrame { kind, subtype, mcp_server: news, uuid, session_id });
        self.send(bytes);
    }

    /// Reports that a message is being answered. Hosts that request it also get the message back, with an id from the
    /// log if it has none.
    pub(super) fn say_taken(&mut self, taken: &TakenMessage) {
        self.say_lifecycle(taken.id.as_deref(), MessageLifecycle::Started);
        if !self.config.replay_user_messages {
            return;
        }
        let mut bytes = Vec::new();
        let uuid = taken.id.as_deref().unwrap_or(&taken.entry);
        let mut replay = |message: &JsonText| {
            let (kind, session_id) = ("user", self.session_id.as_str());
            let frame = ReplayedMessage { kind, message, parent_tool_use_id: None, session_id, uuid, is_replay: true };
            line::push(&mut bytes, &frame)
        };
        let empty = JsonText::empty_object();
        if !replay(taken.original.as_ref().unwrap_or(&empty)) {
            let note = "[This message is too long for one frame. It was taken.]";
            let note = JsonText::of(&json!({ "role": "user", "content": note }));
            if let Ok(note) = &note {
                replay(note);
            }
        }
        self.send(bytes);
    }

    /// Reports that the conversation continues in another session.
    pub(super) fn say_reset(&mut self, user_message_uuid: Option<&str>) {
        let frame = Reset {
            kind: "conversation_reset",
            new_conversation_id: &self.session_id,
            trigger: "clear",
            user_message_uuid,
            uuid: self.uuid(),
            session_id: &self.session_id,
        };
        let mut bytes = Vec::new();
        line::push(&mut bytes, &frame);
        self.send(bytes);
    }

    /// Reports that the session has a new title.
    pub(super) fn say_title(&mut self, title: &str) {
        let (kind, subtype) = ("system", "session_title_changed");
        let mut bytes = Vec::new();
        let mut frame = TitleChanged { kind, subtype, title, uuid: self.uuid(), session_id: &self.session_id };
        if !line::push(&mut bytes, &frame) {
            frame.title = "[a title that is too long for one frame]";
            line::push(&mut bytes, &frame);
        }
        self.send(bytes);
    }

    /// Reports the commands, if the host has read another list before.
    pub(super) fn say_commands(&mut self, commands: &[SlashCommand]) {
        if self.initialize.is_none() {
            return;
        }
        let (kind, subtype) = ("system", "commands_changed");
        let mut frame = CommandsChanged { kind, subtype, commands, uuid: self.uuid(), session_id: &self.session_id };
        let mut bytes = Vec::new();
        if !line::push(&mut bytes, &frame) {
            // A host without a list needs no report; a host with the old list would be misled.
            frame.commands = &[];
            line::push(&mut bytes, &frame);
        }
        self.send(bytes);
    }
}
