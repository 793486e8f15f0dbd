//! Frames of subagents: their calls, and their texts if the host requests them.

use super::{FrameEnvelope, FrameMapper};
use windlass_types::{AgentIdentity, ContentBlock, Event, EventKind, MessageId, Status, TaskKind, ToolUseId};

/// Names of the tool that starts agents: for the model, and in lists of tools.
const AGENT_TOOL_NAMES: (&str, &str) = ("Agent", "Task");

/// Name of a tool in `system/init`.
pub(super) fn wire_name(tool: &str) -> &str {
    if tool == AGENT_TOOL_NAMES.0 { AGENT_TOOL_NAMES.1 } else { tool }
}

/// `true` if the model has the tool that starts agents.
pub(super) fn can_be_started(tools: &[String]) -> bool {
    tools.iter().any(|tool| tool == AGENT_TOOL_NAMES.0)
}

/// A running agent.
#[derive(Debug)]
pub(super) struct MappedAgent {
    identity: Option<AgentIdentity>,
    /// Message that was partly shown, until it is complete.
    shown_message: Option<MessageId>,
}

impl FrameMapper {
    /// Appends the frames of a subagent's event.
    ///
    /// Hosts take frames without a parent for actions of the session itself. So most events about an agent's own run
    /// have no frame: its begin and end, waits for its model, retries, and the compaction of its conversation.
    pub(super) fn of_agent(&mut self, event: &Event, out: &mut Vec<u8>) {
        let path = &event.agent;
        if let EventKind::RunStarted(started) = &event.kind {
            let agent = MappedAgent { identity: started.identity.clone(), shown_message: None };
            self.agents.insert(path.clone(), agent);
            return;
        }
        let identity = self.agents.get(path).and_then(|agent| agent.identity.clone());
        let envelope = FrameEnvelope {
            session_id: event.session_id.as_str(),
            parent: path.spawned_by().map(ToolUseId::as_str),
            agent: identity.as_ref(),
            depth: path.tool_uses().len(),
        };
        match &event.kind {
            EventKind::BlockFinished { message_id, block, .. } if self.shows(block) => {
                self.frames(envelope, &event.kind, out);
                if let Some(agent) = self.agents.get_mut(path) {
                    agent.shown_message = Some(message_id.clone());
                }
            }
            EventKind::MessageFinished { .. } => {
                if let Some(agent) = self.agents.get_mut(path) {
                    agent.shown_message = None;
                }
            }
            EventKind::MessageWithdrawn { reason, .. } => {
                let shown = self.agents.get_mut(path).and_then(|agent| agent.shown_message.take());
                if shown.is_some() {
                    self.withdrawn(envelope, shown.as_ref(), *reason, out);
                }
            }
            EventKind::ToolStarted(_)
            | EventKind::ToolProgress(_)
            | EventKind::ToolFinished(_)
            | EventKind::PermissionResolved { .. }
            | EventKind::HooksStarted { .. }
            | EventKind::HookRan { .. }
            | EventKind::TaskStarted(_)
            | EventKind::TaskProgress(_)
            | EventKind::TaskEnded(_)
            // Events about the whole session: its budget, and its user.
            | EventKind::Status(Status::PriceUnknown { .. } | Status::Notice { .. }) => {
                self.frames(envelope, &event.kind, out);
            }
            EventKind::RunFinished(_) => {
                self.agents.remove(path);
            }
            // The rest is about the agent's own run.
            _ => {}
        }
    }

    /// Removes the agents of a call once the call, or the task that continues it, has ended. Their own runs may not
    /// have reported that. Background work without a reported end has ended, too.
    pub(super) fn forget_ended(&mut self, event: &Event, out: &mut Vec<u8>) {
        let call = match &event.kind {
            EventKind::TaskStarted(task) => return self.task_is_of(&task.id, &event.agent),
            _ if self.agents.is_empty() && !self.agents_have_tasks() => return,
            EventKind::ToolFinished(finished) if !self.left_behind(&finished.result.tool_use_id) => {
                &finished.result.tool_use_id
            }
            EventKind::TaskEnded(ended) if ended.info.kind == TaskKind::LocalAgent => &ended.info.tool_use_id,
            _ => return,
        };
        let start = event.agent.child(call.clone());
        self.agents.retain(|path, _| !path.tool_uses().starts_with(start.tool_uses()));
        self.end_tasks_below(&start, event.session_id.as_str(), out);
    }

    fn shows(&self, block: &ContentBlock) -> bool {
        self.options.forward_subagent_text || matches!(block, ContentBlock::ToolUse(_) | ContentBlock::ToolResult(_))
    }
}

#[cfg(test)]
mod tests;
