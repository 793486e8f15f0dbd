//! Sessions of a conversation, and the orders that they carry out.

mod jobs;
mod opened;

pub use opened::{OpenFailure, OpenSession};

use crate::calls::CallReference;
use crate::input::{Generation, Input, SessionFacts};
use crate::output::{Order, SessionOrder, Timer};
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, Stream as _};
use opened::SessionExtras;
use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::{Sleep, sleep};
use windlass_runtime::{EventStream, SessionError, SessionHandle};

/// Sessions of one conversation, and the execution of its [`Order`]s.
///
/// For surfaces that have inputs of their own beside those of the conversation, such as a server. Others use
/// [`LiveConversation`](crate::LiveConversation), which is made of a conversation and a driver.
///
/// Inputs come from [`next_input`](Self::next_input), which never waits, and from the three `poll_` methods. Dropping
/// the driver stops its sessions without waiting for them.
#[derive(Default)]
pub struct SessionDriver {
    /// Sessions whose events have not ended, the current one last.
    sessions: Vec<OpenStream>,
    /// Sessions that are not closed.
    handles: BTreeMap<Generation, SessionHandle>,
    /// Silence after which the logs of closing sessions are given up.
    given_up: watch::Sender<Option<Duration>>,
    current: Option<CurrentSession>,
    generation: Generation,
    broken: Option<SessionError>,
    /// Work that takes time. The outcomes are inputs.
    jobs: JoinSet<Input>,
    timers: BTreeMap<Timer, Pin<Box<Sleep>>>,
    /// Inputs that are there already.
    inputs: VecDeque<Input>,
    /// Inputs that hold only if no event comes first.
    quiet: VecDeque<Input>,
}

/// A session whose events have not ended.
struct OpenStream {
    generation: Generation,
    events: EventStream,
}

/// The session that was opened last.
struct CurrentSession {
    handle: SessionHandle,
    extras: SessionExtras,
}

impl fmt::Debug for SessionDriver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionDriver").field("generation", &self.generation).finish_non_exhaustive()
    }
}

impl SessionDriver {
    /// Takes over a session that [`Order::Open`] asked for, which [`Input::Opened`] answers with these facts.
    pub fn opened(&mut self, opened: OpenSession) -> SessionFacts {
        let OpenSession { session, mut facts, extras } = opened;
        for notice in session.notices {
            tracing::warn!("{notice}");
        }
        self.generation += 1;
        let handle = session.handle;
        facts.session_id = handle.session_id().to_string();
        facts.can_be_renamed = extras.rename.is_some();
        facts.pending = session
            .pending_questions
            .iter()
            .map(|stored| CallReference::of(stored.identity.as_ref(), &stored.question.tool_use_id))
            .collect();
        self.sessions.push(OpenStream { generation: self.generation, events: session.events });
        self.handles.insert(self.generation, handle.clone());
        self.current = Some(CurrentSession { handle, extras });
        facts
    }

    /// Carries out an order. Returns those that concern the owner: [`Order::Open`], [`Order::CopyLog`],
    /// [`Order::Unanswered`], [`Order::FailToOpen`], [`Order::Finish`] and [`Order::Closed`].
    pub fn carry_out(&mut self, order: Order) -> Option<Order> {
        match order {
            Order::Session(order) => self.order_session(order),
            Order::Close(generation) => self.close(generation),
            Order::AwaitSettled(wait) => self.await_idle(Input::Settled(wait), |handle| handle.settled().boxed()),
            Order::AwaitQuiet(wait) => self.await_idle(Input::Quiet(wait), |handle| handle.quiet().boxed()),
            Order::Expand { name, arguments } => self.expand(name, arguments),
            Order::Begin(ticket, job) => self.begin(ticket, job),
            Order::Wake(timer, wait) => drop(self.timers.insert(timer, Box::pin(sleep(wait)))),
            Order::Finish => {
                self.timers.clear();
                return Some(Order::Finish);
            }
            other => return Some(other),
        }
        None
    }

    /// The next input that is there already.
    pub fn next_input(&mut self) -> Option<Input> {
        self.inputs.pop_front()
    }

    /// The outcome of an order that took time.
    pub fn poll_outcome(&mut self, cx: &mut Context<'_>) -> Poll<Input> {
        while let Poll::Ready(Some(done)) = self.jobs.poll_join_next(cx) {
            match done {
                Ok(idle @ (Input::Settled(_) | Input::Quiet(_))) => self.quiet.push_back(idle),
                Ok(input) => return Poll::Ready(input),
                Err(error) => tracing::error!(%error, "an order of the conversation failed"),
            }
        }
        Poll::Pending
    }

    /// The next event of a session. Without one, the outcome of a wait for the end of runs.
    ///
    /// Call [`poll_outcome`](Self::poll_outcome) before.
    pub fn poll_event(&mut self, cx: &mut Context<'_>) -> Poll<Input> {
        for index in 0..self.sessions.len() {
            let Some(open) = self.sessions.get_mut(index) else { continue };
            let generation = open.generation;
            match Pin::new(&mut open.events).poll_next(cx) {
                Poll::Pending => {}
                Poll::Ready(None) => return Poll::Ready(self.ended(generation, None)),
                Poll::Ready(Some(Err(error))) => return Poll::Ready(self.ended(generation, Some(error))),
                Poll::Ready(Some(Ok(event))) => return Poll::Ready(Input::Event(generation, event)),
            }
        }
        self.quiet.pop_front().map_or(Poll::Pending, Poll::Ready)
    }

    /// The next timer that has run out.
    pub fn poll_timer(&mut self, cx: &mut Context<'_>) -> Poll<Input> {
        let due =
            self.timers.iter_mut().find_map(|(timer, sleep)| sleep.as_mut().poll(cx).is_ready().then_some(*timer));
        let Some(timer) = due else { return Poll::Pending };
        self.timers.remove(&timer);
        Poll::Ready(Input::Due(timer))
    }

    /// Lets sessions that are closing wait no longer for their logs, which have been silent for `waited`.
    pub fn give_up_logs(&mut self, waited: Duration) {
        self.given_up.send_replace(Some(waited));
    }

    /// Handle of the session that was opened last.
    pub fn session(&self) -> Option<&SessionHandle> {
        self.current.as_ref().map(|current| &current.handle)
    }

    /// Takes the reason why the session that was opened last could not continue.
    pub fn take_failure(&mut self) -> Option<SessionError> {
        self.broken.take()
    }

    fn ended(&mut self, generation: Generation, error: Option<SessionError>) -> Input {
        self.sessions.retain(|open| open.generation != generation);
        let text = error.as_ref().map(ToString::to_string);
        if generation == self.generation {
            self.broken = error;
        }
        Input::Ended(generation, text)
    }

    /// Reports `input` when the session is idle in the sense of `wait`.
    fn await_idle(&mut self, input: Input, wait: fn(&SessionHandle) -> BoxFuture<'static, ()>) {
        match &self.current {
            Some(current) => drop(self.jobs.spawn(wait(&current.handle).map(move |()| input))),
            None => self.inputs.push_back(input),
        }
    }

    fn expand(&mut self, name: String, arguments: String) {
        let expand = self.current.as_ref().and_then(|current| current.extras.expand.as_ref());
        let Some(expand) = expand else { return self.inputs.push_back(Input::Expanded(Ok(None))) };
        // After a panic the turn does not wait for ever.
        let expanded = AssertUnwindSafe(expand(name, arguments)).catch_unwind();
        let failed = |_| Err("the command could not be read: it panicked".to_owned());
        self.jobs.spawn(expanded.map(move |done| Input::Expanded(done.unwrap_or_else(failed))));
    }

    /// Sends a command to the session. This fails only when it has ended, and its events show that.
    fn order_session(&mut self, order: SessionOrder) {
        let Some(CurrentSession { handle, extras }) = &self.current else { return };
        let _ = match order {
            SessionOrder::Prompt(prompt) => {
                if let Some(look) = &extras.before_prompts {
                    self.inputs.extend(look().map(Input::CommandsChanged));
                }
                handle.prompt(prompt)
            }
            SessionOrder::Offer(prompt) => handle.offer(prompt),
            SessionOrder::Withdraw(id) => handle.withdraw(id),
            SessionOrder::Interrupt => handle.interrupt(),
            SessionOrder::PermissionMode(mode) => handle.set_permission_mode(mode),
            SessionOrder::Model(name) => match handle.set_model((extras.models)(name.as_deref())) {
                // Settings have no answer that could be an error.
                Err(refused @ SessionError::UnpricedModel { .. }) => handle.notice(refused.to_string()),
                given => given,
            },
            SessionOrder::Thinking(thinking) => handle.set_thinking(thinking),
            SessionOrder::Effort(effort) => handle.set_effort(effort),
            SessionOrder::Permissions(updates) => handle.update_permissions(updates),
            SessionOrder::StopTask(id) => handle.stop_task(id),
            SessionOrder::Environment(variables) => {
                if let Some(take) = &extras.environment {
                    take(&variables);
                }
                Ok(())
            }
        };
    }

    fn close(&mut self, generation: Generation) {
        let handle = self.handles.remove(&generation);
        let mut given_up = self.given_up.subscribe();
        self.jobs.spawn(async move {
            if let Some(handle) = handle {
                // Entries that could not be stored are reported where the events end.
                let given_up = async { given_up.wait_for(Option::is_some).await.ok().and_then(|waited| *waited) };
                tokio::select! {
                    _ = handle.close() => {}
                    Some(waited) = given_up => handle.give_up_log(waited),
                }
                let _ = handle.close().await;
            }
            Input::SessionClosed(generation)
        });
    }
}
