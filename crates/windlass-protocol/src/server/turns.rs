//! The turns of a session, one after another: opening it, runs, and commands
//! that the server carries out itself.

use super::commands::{Asked, Builtin};
use super::core::Core;
use super::outbox::Gone;
use super::pump::{PumpEnd, pump};
use super::queue::Waiting;
use super::reader::Stop;
use super::setup::{HostSetup, Opened};
use super::{OpenFailure, ServerError};
use std::convert::Infallible;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use tokio::task::JoinHandle;
use windlass_runtime::Prompt;

/// Carries out what a plain prompt in an open session does not need.
pub(crate) struct Turns<'a, F> {
    pub(crate) core: Arc<Core>,
    pub(crate) open: &'a F,
    /// Those that write the events of sessions, the current one last.
    pub(crate) pumps: Mutex<Vec<JoinHandle<PumpEnd>>>,
}

impl<F, O> Turns<'_, F>
where
    F: Fn(HostSetup) -> O,
    O: Future<Output = Result<Opened, OpenFailure>>,
{
    /// Works until the session cannot be opened or nobody reads any more.
    pub(crate) async fn run(&self) -> Result<Infallible, Stop> {
        loop {
            self.core.work.notified().await;
            self.early_rewinds().await;
            while let Some(turn) = self.core.begin_work() {
                self.turn(turn).await?;
                self.core.end_work().await?;
            }
        }
    }

    /// Opens the session for rewinds that came before anything else.
    async fn early_rewinds(&self) {
        if !self.core.has_early_rewinds() {
            return;
        }
        let opened = match self.core.handle() {
            Some(_) => Ok(()),
            None => self.open_session(false).await,
        };
        let failure = opened.err().map(|error| error.to_string());
        self.core.begin_early_rewinds(failure.as_deref());
        // A prompt that came meanwhile found no session.
        self.core.advance();
    }

    async fn turn(&self, turn: Waiting) -> Result<(), Stop> {
        let core = &self.core;
        let asked = |turn: &Waiting| turn.command().map_or(Asked::Text, |text| core.commands().read(text));
        let mut command = asked(&turn);
        if core.handle().is_none() {
            let known = core.commands();
            let fresh = command == Asked::Builtin(Builtin::Clear);
            if let Err(error) = self.open_session(fresh).await {
                core.begin(&turn);
                core.refuse(&error.to_string(), turn.uuid.as_deref()).await?;
                core.refuse_waiting(&error.to_string()).await?;
                return Err(Stop::Error(ServerError::Open(error)));
            }
            core.say_commands(&known).await?;
            if fresh {
                core.begin_local(&turn).await?;
                return Ok(self.cleared(&turn).await?);
            }
            // The session may have brought commands of its own.
            command = asked(&turn);
        }
        match command {
            Asked::Text => core.start(turn, None),
            Asked::Prompt(blocks) => core.start(turn, Some(Prompt::new(blocks))),
            Asked::Compact(focus) => core.start(turn, Some(Prompt::compact(focus))),
            Asked::Builtin(Builtin::Clear) => {
                core.begin_local(&turn).await?;
                self.clear(&turn).await?;
            }
            Asked::Builtin(builtin) => {
                core.begin_local(&turn).await?;
                let text = core.local_output(builtin);
                core.local_result(builtin, &text, &turn).await?;
            }
        }
        Ok(())
    }

    /// Opens a session and lets it take the place of the one before.
    async fn open_session(&self, fresh: bool) -> Result<(), OpenFailure> {
        let core = &self.core;
        let setup = core.setup(fresh);
        let opened = (self.open)(setup.clone()).await?;
        let (events, notices, generation) = core.opened(opened, &setup);
        for notice in notices {
            tracing::warn!("{notice}");
        }
        let task = tokio::spawn(pump(Arc::clone(core), events, generation));
        self.pumps.lock().unwrap_or_else(PoisonError::into_inner).push(task);
        Ok(())
    }

    /// Goes on with a new session. The old one goes on if there is no new one.
    async fn clear(&self, turn: &Waiting) -> Result<(), Stop> {
        let core = &self.core;
        let (before, generation) = (core.handle(), core.lock().generation);
        if let Err(error) = self.open_session(true).await {
            let error = format!("The conversation was not cleared: no new session could be opened: {error}");
            return Ok(core.refuse(&error, turn.uuid.as_deref()).await?);
        }
        if let Some(before) = before {
            // What could not be stored is said where its events end.
            let _ = before.close().await;
            core.ended(generation).await;
        }
        Ok(self.cleared(turn).await?)
    }

    async fn cleared(&self, turn: &Waiting) -> Result<(), Gone> {
        self.core.say_reset(turn.uuid.as_deref()).await?;
        self.core.local_result(Builtin::Clear, "", turn).await
    }

    /// Closes the session and waits until its last event is written.
    pub(crate) async fn close(&self) -> Option<PumpEnd> {
        if let Some(handle) = self.core.handle() {
            // What could not be stored is said where its events end.
            let _ = handle.close().await;
        }
        let tasks = std::mem::take(&mut *self.pumps.lock().unwrap_or_else(PoisonError::into_inner));
        let mut end = None;
        for task in tasks {
            end = task.await.ok();
        }
        end
    }
}
