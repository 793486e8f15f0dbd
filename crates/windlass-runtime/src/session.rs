//! Opening a session.

use crate::agents::parts::AgentParts;
use crate::budget::price_check::PriceCheck;
use crate::config::SessionConfig;
use crate::driver::{Driver, DriverParts};
use crate::events::queue::EventQueue;
use crate::files::keeper::Keeper;
use crate::handle::event_stream::EventStream;
use crate::handle::session::Session;
use crate::handle::{Ended, SessionHandle};
use crate::hooks::listened;
use crate::log::opening::{OpenedLog, open_log};
use crate::questions::open_questions::{OpenQuestions, unanswered};
use crate::tasks::AbortOnDrop;
use crate::{OpenError, SessionError};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use windlass_core::Machine;
use windlass_session::{TokenSecret, questions_below};
use windlass_tool::BoxFuture;
use windlass_types::HookEventName;

/// Time limit for the store to give back the log of a session that has ended.
const GIVING_BACK: Duration = Duration::from_secs(30);

impl Session {
    /// Opens a session from its parts and starts its task on the current tokio runtime. Programs that use the crate
    /// `windlass` call `SessionBuilder::open` instead, which puts the parts together.
    ///
    /// A log with open calls (the program was killed) is repaired first: each gets a result that states what is known
    /// of it, and the repair is written.
    ///
    /// # Errors
    /// The store refused, the session is in use, it does not exist, or it cannot
    /// continue at the point that was given. Then nothing was written.
    pub async fn open(config: SessionConfig) -> Result<Self, OpenError> {
        let keeper = config.ports.storage.checkpoints.clone().map(Keeper::new);
        let questions = OpenQuestions::default();
        let (main, waiting, budget, parent_call) = (None, None, None, None);
        open(config, AgentParts { keeper, depth: 0, main, waiting, budget, questions, parent_call }).await
    }
}

/// Opens the session of an agent below another one.
fn open_agent(config: SessionConfig, agent: AgentParts) -> BoxFuture<'static, Result<Session, OpenError>> {
    Box::pin(open(config, agent))
}

/// Opens the session of an agent, the main one or one below it.
async fn open(config: SessionConfig, agent: AgentParts) -> Result<Session, OpenError> {
    let SessionConfig { mut machine, ports, persistence } = config;
    machine.listeners.can_ask |= ports.host.are_possible();
    machine.listeners.classifies |= ports.classifier.is_some();
    if ports.host.wait {
        machine.listeners.waits = Some(TokenSecret::new(ports.system.ids.bits(), ports.system.ids.bits()));
    }
    machine.listeners.hooks.extend(listened(&ports.hooks));
    machine.context.attachments |= ports.context.mentions.is_some() || ports.reports.file_changes;
    let (commands_in, commands) = mpsc::unbounded_channel();
    let (results, inputs) = mpsc::unbounded_channel();
    let (ended_in, ended) = watch::channel(None);
    let queue = Arc::new(EventQueue::default());
    let kept = persistence.clone();
    let opened = match persistence {
        None => OpenedLog::unkept(),
        Some(persistence) => open_log(persistence, &machine, &ports, results.clone()).await?,
    };
    machine.ids.taken.extend(opened.taken_ids);
    let opening = format!("{:032x}", ports.system.ids.bits()).into();
    let shared = (agent.questions.clone(), Arc::clone(&queue), opening);
    let prices = PriceCheck::new(&machine.limits, &ports);
    let handle = SessionHandle::new(machine.ids.session_id.clone(), commands_in.clone(), ended, shared, prices);
    // Agents below the main one read the same instructions.
    let listens = |event| machine.listeners.hooks.iter().any(|(on, _)| *on == event);
    let first = match listens(HookEventName::InstructionsLoaded) && machine.agent.is_none() {
        true => machine.context.instructions.to_vec(),
        false => Vec::new(),
    };
    let pending_questions = match &kept {
        Some(kept) if agent.depth == 0 => {
            let pending = questions_below(&*kept.store, &kept.key, &opened.entries).await;
            agent.questions.leave_pending(unanswered(&*kept.store, &pending).await);
            pending
        }
        _ => Vec::new(),
    };
    let machine = Machine::new(machine, &opened.entries);
    let driver = Driver::new(DriverParts {
        machine,
        ports,
        commands,
        inputs,
        results,
        queue: Arc::clone(&queue),
        log: opened.log,
        agent,
        opener: open_agent,
        kept,
        first,
    });
    let (writer, ending) = (opened.writer, Arc::clone(&queue));
    tokio::spawn(async move {
        let mut last = EndReport { queue: ending, ended: ended_in };
        let mut outcome = driver.drive().await;
        if let Some(writer) = writer {
            outcome = let_go(writer, outcome).await;
        }
        last.say(outcome);
    });
    let events = EventStream::new(queue, handle.guard(commands_in));
    Ok(Session { handle, events, notices: opened.notices, pending_questions })
}

/// Reports to the host that the session has ended, also when its task panicked.
struct EndReport {
    queue: Arc<EventQueue>,
    ended: watch::Sender<Ended>,
}

impl EndReport {
    /// Ends the event stream last, after the log is released, because a program may end its runtime once it has read
    /// the events.
    fn say(&mut self, outcome: Result<(), SessionError>) {
        let error = outcome.clone().err();
        self.ended.send_replace(Some(outcome));
        self.queue.end(error);
    }
}

/// Waits until the writer of a log, which the driver has let go of, has given the lease back. A writer that hangs is
/// dropped with its lease: its pending entries may still be written.
async fn let_go(writer: tokio::task::JoinHandle<()>, outcome: Result<(), SessionError>) -> Result<(), SessionError> {
    let mut writer = AbortOnDrop(writer);
    let patience = if matches!(outcome, Err(SessionError::LogSilent { .. })) { Duration::ZERO } else { GIVING_BACK };
    if tokio::time::timeout(patience, &mut writer.0).await.is_ok() || outcome.is_err() {
        return outcome;
    }
    let message = format!(
        "the session log did not close within {} seconds; everything is stored, but the session may be in use for a \
         while: look at the disk",
        patience.as_secs()
    );
    Err(SessionError::LogSilent { message })
}

impl Drop for EndReport {
    fn drop(&mut self) {
        // Only a panic or the end of its runtime drops a driver before it has reported the end of the session.
        let error = if std::thread::panicking() { SessionError::Internal } else { SessionError::RuntimeEnded };
        self.ended.send_if_modified(|ended| {
            let is_first = ended.is_none();
            ended.get_or_insert_with(|| Err(error.clone()));
            is_first
        });
        self.queue.end(Some(error));
    }
}
