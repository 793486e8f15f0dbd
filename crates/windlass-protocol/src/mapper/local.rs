//! Frames of commands that are carried out without the model.

use super::{FrameEnvelope, FrameMapper};
use crate::frame::{LocalCommandBody, LocalOutputFrame, UserText};
use crate::line;
use crate::outcome::WireEnding;
use std::collections::BTreeMap;
use windlass_types::{ModelUsage, NanoUsd, Outcome, RunResult};

/// Output of a command.
#[derive(Debug)]
pub(crate) struct CommandOutput<'a> {
    /// Name of the command, without the slash.
    pub(crate) command: &'a str,
    /// Text of the output; may be empty.
    pub(crate) text: &'a str,
    /// Cost of the session so far.
    pub(crate) cost: NanoUsd,
    /// Cost by model.
    pub(crate) models: &'a BTreeMap<String, ModelUsage>,
}

impl FrameMapper {
    /// Sets lists of `system/init`: slash commands, those of them that are skills, and the supported control requests.
    pub(crate) fn offers(
        &mut self,
        slash_commands: Vec<String>,
        skills: Vec<String>,
        capabilities: &'static [&'static str],
    ) {
        (self.lists.slash_commands, self.lists.skills) = (slash_commands, skills);
        self.lists.capabilities = capabilities;
    }

    /// Sets the agents that the model can start: `system/init` lists them if there is a tool for it. Default: none.
    pub fn lists_agents(&mut self, callable: Vec<String>) {
        self.lists.callable = callable;
    }

    /// Output style in `system/init`.
    pub(crate) fn output_style(&self) -> &str {
        &self.options.output_style
    }

    /// Sets the output style in `system/init`.
    pub fn uses_output_style(&mut self, name: impl Into<String>) {
        self.options.output_style = name.into();
    }

    /// Shows the texts of agents as well, not only their calls.
    pub(crate) fn forwards_text(&mut self) {
        self.options.forward_subagent_text = true;
    }

    /// Sets the message of the host that the next result answers.
    pub(crate) fn answers(&mut self, uuid: Option<String>) {
        self.answering.begin(uuid);
    }

    /// Adds another message of the host that the next result answers.
    pub(crate) fn joined(&mut self, uuid: String) {
        self.answering.join(uuid);
    }

    /// Appends a notice for the user.
    pub(crate) fn warn(&mut self, session_id: &str, content: &str, out: &mut Vec<u8>) {
        self.inform(FrameEnvelope::of_main(session_id), content, None, out);
    }

    /// Appends the output of a slash command that was carried out without a model and without a session of its own, and
    /// its result. `command`: name of the command, without the slash.
    pub fn local_output(&mut self, session_id: &str, command: &str, text: &str, out: &mut Vec<u8>) {
        let models = BTreeMap::new();
        self.local(session_id, &CommandOutput { command, text, cost: NanoUsd::default(), models: &models }, out);
    }

    /// Appends the output of a command, and its result.
    pub(crate) fn local(&mut self, session_id: &str, output: &CommandOutput<'_>, out: &mut Vec<u8>) {
        let envelope = FrameEnvelope::of_main(session_id);
        let text = output.text;
        if !text.is_empty() {
            let content = format!("<local-command-stdout>{text}</local-command-stdout>");
            let mut frame = LocalOutputFrame {
                kind: "user",
                message: UserText { role: "user", content: &content },
                parent_tool_use_id: None,
                session_id,
                uuid: self.uuid(),
                is_replay: true,
            };
            if !line::push(out, &frame) {
                frame.message.content = "<local-command-stdout>[too long for one frame]</local-command-stdout>";
                line::push(out, &frame);
            }
            self.system(envelope, "local_command_output", LocalCommandBody { content: text }, out);
        }
        let mut result = RunResult::new(Outcome::Success, session_id.into());
        result.text = text.to_owned();
        result.cost = output.cost;
        result.model_usage.clone_from(output.models);
        let ending = WireEnding { local_command: Some(output.command.to_owned()), ..WireEnding::of(&result) };
        self.result(envelope, &result, &ending, out);
    }
}
