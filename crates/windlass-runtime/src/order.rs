//! What a session is asked to do.

use crate::approval::{Approval, ApprovalAnswer};
use crate::error::RewindError;
use crate::{SideAnswer, SideCall, SideCallError};
use std::ffi::OsString;
use std::sync::Arc;
use tokio::sync::oneshot;
use windlass_core::Input;
use windlass_session::{Checkpoint, Rewind, RewindPoint};
use windlass_tool::{Agents, ToolSet};
use windlass_types::{ContextUsage, EntryId, HookCall, HookOutcome, PermissionMode, TaskId, ToolUseId};

/// What a session is asked to do.
#[derive(Debug)]
pub(crate) enum Order {
    /// Something for the machine.
    Input(Input),
    /// The model of this name from the next request on.
    Model(String),
    /// These tools from the next request on.
    Tools(ToolSet),
    /// Hooks listen to something else.
    Hooks,
    /// This environment for programs from the next call on.
    Environment(Vec<(OsString, OsString)>),
    Variables(Vec<(OsString, Option<OsString>)>),
    /// Something about the files that were kept.
    Files(FileOrder),
    /// Something about the conversation in the log.
    Conversation(ConversationOrder),
    /// Background work is to stop.
    StopTask(TaskId),
    /// All of it.
    StopTasks,
    /// A call that is waited for is to continue in the background, or all that can.
    MoveToBackground(Option<ToolUseId>, oneshot::Sender<bool>),
    /// Report what takes up the context window.
    ContextUsage(oneshot::Sender<ContextUsage>),
    /// Report the permission mode that calls are judged in.
    PermissionMode(oneshot::Sender<PermissionMode>),
    /// Report when no run and no background work is left.
    Quiet(oneshot::Sender<()>),
    /// Report when no run is in progress and none is about to begin.
    Settled(oneshot::Sender<()>),
    /// Hooks are to be asked about something that only the host sees.
    AskHooks(Box<HookCall>, oneshot::Sender<HookOutcome>),
    /// Agents are to be run that no call asks for; their events name this origin.
    Agents(ToolUseId, oneshot::Sender<Arc<dyn Agents>>),
    /// A model is to write something that is no part of the conversation.
    SideCall(Box<SideCall>, oneshot::Sender<Result<SideAnswer, SideCallError>>),
    /// The host is to be asked about something that no call does.
    Approve(Box<Approval>, oneshot::Sender<ApprovalAnswer>),
}

/// What a host wants of checkpoints, and where it waits.
#[derive(Debug)]
pub(crate) enum FileOrder {
    List(oneshot::Sender<Result<Vec<Checkpoint>, RewindError>>),
    Rewind { to: EntryId, how: How, leave_conflicts: bool, answer: oneshot::Sender<Result<Rewind, RewindError>> },
}

/// Whether to rewind, or only to say what that would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Say,
    Do,
}

impl FileOrder {
    pub(crate) fn refuse(self, error: RewindError) {
        match self {
            Self::List(answer) => drop(answer.send(Err(error))),
            Self::Rewind { answer, .. } => drop(answer.send(Err(error))),
        }
    }

    pub(crate) fn is_rewind(&self) -> bool {
        matches!(self, Self::Rewind { how: How::Do, .. })
    }
}

/// A rewind that a host waits for.
#[derive(Debug)]
pub(crate) struct Wanted {
    pub(crate) to: EntryId,
    /// The checkpoint that takes back what was done to files.
    pub(crate) files: Option<EntryId>,
    pub(crate) answer: oneshot::Sender<Result<(RewindPoint, EntryId), RewindError>>,
}

/// What a host wants of the conversation.
#[derive(Debug)]
pub(crate) enum ConversationOrder {
    /// To know the point.
    Look(EntryId, oneshot::Sender<Result<RewindPoint, RewindError>>),
    Rewind(Wanted),
}

impl ConversationOrder {
    pub(crate) fn refuse(self, error: RewindError) {
        match self {
            Self::Look(_, answer) => drop(answer.send(Err(error))),
            Self::Rewind(wanted) => drop(wanted.answer.send(Err(error))),
        }
    }
}
