//! Commands to a session.

pub(crate) mod approval;
pub(crate) mod queue;
pub(crate) mod side_call;

use crate::commands::approval::{Approval, ApprovalAnswer};
use crate::commands::side_call::{SideCall, SideCallResult};
use crate::error::RewindError;
use std::ffi::OsString;
use std::sync::Arc;
use tokio::sync::oneshot;
use windlass_core::Input;
use windlass_session::{Checkpoint, Rewind, RewindPoint};
use windlass_tool::{Agents, ToolSet};
use windlass_types::{ContextUsage, EntryId, HookCall, HookOutcome, PermissionMode, TaskId, ToolUseId};

/// Command to a session.
#[derive(Debug)]
pub(crate) enum SessionCommand {
    /// An input for the `Machine`, passed on unchanged.
    Input(Input),
    /// Call the model of this name from the next request on.
    Model(String),
    /// Offer these tools from the next request on.
    Tools(ToolSet),
    /// Read again which events the hooks listen to.
    Hooks,
    /// Use this environment for programs from the next call on.
    Environment(Vec<(OsString, OsString)>),
    /// Set these variables for programs from the next call on, and remove those without a value.
    Variables(Vec<(OsString, Option<OsString>)>),
    /// A command about file checkpoints.
    Files(FileCommand),
    /// A command about the conversation in the log.
    Conversation(ConversationCommand),
    /// Stop a background task.
    StopTask(TaskId),
    /// Stop all background tasks.
    StopTasks,
    /// Move a call in progress to the background, or all that can.
    MoveToBackground(Option<ToolUseId>, oneshot::Sender<bool>),
    /// Report the use of the context window.
    ContextUsage(oneshot::Sender<ContextUsage>),
    /// Report the permission mode that calls are judged in.
    PermissionMode(oneshot::Sender<PermissionMode>),
    /// Report when no run and no background work is left.
    Quiet(oneshot::Sender<()>),
    /// Report when no run is in progress and none is about to begin.
    Settled(oneshot::Sender<()>),
    /// Run the hooks on an event that only the host sees.
    AskHooks(Box<HookCall>, oneshot::Sender<HookOutcome>),
    /// Return an interface to run agents without a call; their events name this origin.
    Agents(ToolUseId, oneshot::Sender<Arc<dyn Agents>>),
    /// Let a model write a message outside the conversation.
    SideCall(Box<SideCall>, oneshot::Sender<SideCallResult>),
    /// Ask the host about something that no call does.
    Approve(Box<Approval>, oneshot::Sender<ApprovalAnswer>),
}

/// Command of a host about checkpoints, with the sender of the answer.
#[derive(Debug)]
pub(crate) enum FileCommand {
    List(oneshot::Sender<Result<Vec<Checkpoint>, RewindError>>),
    Rewind { to: EntryId, how: RewindMode, leave_conflicts: bool, answer: oneshot::Sender<Result<Rewind, RewindError>> },
}

/// Mode of a rewind: rewind, or only return the changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RewindMode {
    Preview,
    Apply,
}

impl FileCommand {
    pub(crate) fn refuse(self, error: RewindError) {
        match self {
            Self::List(answer) => drop(answer.send(Err(error))),
            Self::Rewind { answer, .. } => drop(answer.send(Err(error))),
        }
    }

    pub(crate) fn is_rewind(&self) -> bool {
        matches!(self, Self::Rewind { how: RewindMode::Apply, .. })
    }
}

/// A rewind that a host waits for.
#[derive(Debug)]
pub(crate) struct ConversationRewind {
    pub(crate) to: EntryId,
    /// The checkpoint that undoes the rewind of the files.
    pub(crate) files: Option<EntryId>,
    pub(crate) answer: oneshot::Sender<Result<(RewindPoint, EntryId), RewindError>>,
}

/// Command of a host about the conversation.
#[derive(Debug)]
pub(crate) enum ConversationCommand {
    /// Return the point.
    FindPoint(EntryId, oneshot::Sender<Result<RewindPoint, RewindError>>),
    Rewind(ConversationRewind),
}

impl ConversationCommand {
    pub(crate) fn refuse(self, error: RewindError) {
        match self {
            Self::FindPoint(_, answer) => drop(answer.send(Err(error))),
            Self::Rewind(wanted) => drop(wanted.answer.send(Err(error))),
        }
    }
}
