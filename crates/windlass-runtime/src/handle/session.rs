//! An open session as its host holds it.

use crate::SessionError;
use crate::handle::SessionHandle;
use crate::handle::event_stream::EventStream;
use std::pin::pin;
use windlass_core::Prompt;
use windlass_session::StoredQuestion;
use windlass_types::{EventKind, RunOrigin, RunResult};

/// An open session: orders in, events out.
#[derive(Debug)]
#[non_exhaustive]
pub struct Session {
    /// Orders to the session.
    pub handle: SessionHandle,
    /// Events of the session. Dropping them closes the session.
    pub events: EventStream,
    /// Notices from opening the session, for the host to show.
    pub notices: Vec<String>,
    /// Questions that an earlier opening left open, those of the main agent and of agents that it waits for.
    /// [Continuing](SessionHandle::continue_run) the run answers them; the next prompt withdraws them.
    pub pending_questions: Vec<StoredQuestion>,
}

impl Session {
    /// Sends a prompt and waits for its result, whatever its outcome: for programs that need none of the events. All
    /// events up to the result are dropped, those of earlier prompts too. A question of the run waits until another
    /// task [answers](crate::SessionHandle::answer) it.
    ///
    /// Dropping the future leaves the run as it is; its events stay in the stream. The next prompt of another handle to
    /// the same session may be mistaken for this one, so only one task should send prompts.
    ///
    /// # Errors
    /// The session has ended, or ends before the result.
    pub async fn ask(&mut self, prompt: impl Into<Prompt>) -> Result<RunResult, SessionError> {
        let prompt = prompt.into();
        let mut settled = pin!(self.handle.settled());
        loop {
            tokio::select! {
                biased;
                event = self.events.try_next() => {
                    event?.ok_or(SessionError::Closed)?;
                }
                () = &mut settled => break,
            }
        }
        self.handle.prompt(prompt)?;
        while let Some(event) = self.events.try_next().await? {
            match event.kind {
                EventKind::RunFinished(result) if event.agent.is_main() && result.origin == RunOrigin::User => {
                    return Ok(result);
                }
                _ => {}
            }
        }
        Err(SessionError::Closed)
    }
}
