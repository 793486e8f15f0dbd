//! Parts of an agent's session that its parent gives it.

use crate::OpenError;
use crate::agents::open_calls::ParentCall;
use crate::budget::Budget;
use crate::config::SessionConfig;
use crate::files::keeper::Keeper;
use crate::handle::session::Session;
use crate::questions::open_questions::OpenQuestions;
use std::sync::Arc;
use tokio::sync::mpsc;
use windlass_core::Input;
use windlass_tool::BoxFuture;

/// Parts of an agent's session in addition to those of every session.
#[derive(Debug)]
pub(crate) struct AgentParts {
    /// Keeps files before calls change them.
    pub(crate) keeper: Option<Keeper>,
    /// Depth of the agent: zero for the main one.
    pub(crate) depth: u32,
    /// The inputs of the main agent, if this is another one.
    pub(crate) main: Option<mpsc::UnboundedSender<Input>>,
    /// Inputs of the highest agent that waits for this one: no agent waits for one in the background.
    pub(crate) waiting: Option<mpsc::UnboundedSender<Input>>,
    /// Budget that all agents of the session share. `None` for the main one, whose driver makes it.
    pub(crate) budget: Option<Budget>,
    /// The questions of the session, as this agent asks them.
    pub(crate) questions: OpenQuestions,
    /// The call that runs the agent, if its questions wait for answers.
    pub(crate) parent_call: Option<Arc<ParentCall>>,
}

/// Opens the session of an agent. Given to the driver from above, which opens sessions with a driver of their own.
pub(crate) type SessionOpener = fn(SessionConfig, AgentParts) -> BoxFuture<'static, Result<Session, OpenError>>;
