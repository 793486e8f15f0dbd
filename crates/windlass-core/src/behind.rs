//! A log that does not keep up.
//!
//! The model is called, and a call that reads begins, without waiting for the log. But only once: while a durable
//! append that was handed out before the last request is not answered, neither happens. So a disk that hangs stops
//! the run after one more model call, and what waits in memory is bounded.

use crate::compaction::Compaction;
use crate::machine::Phase;
use crate::outbox::Outbox;
use crate::retry::Retry;
use crate::{Machine, StoreFailure};
use std::time::Duration;
use windlass_types::{Continuation, EventKind, Status};

/// How long the log of a session that is closed may be silent. What it has not answered for then may be lost.
const LONGEST_SILENCE: Duration = Duration::from_secs(30);

/// A request that is sent when the log has answered.
#[derive(Debug)]
pub(crate) enum Unsent {
    /// That of a turn.
    Turn(Continuation, Retry),
    /// The one for a summary.
    Summary(Box<Compaction>),
}

impl Machine {
    /// How many events wait until the log has answered. While there are many, a driver should begin no effect and
    /// read no stream of a model: everything else continues.
    pub fn backlog(&self) -> usize {
        self.out.backlog()
    }

    /// Sends the request that waited for the log, if the log has answered.
    pub(crate) fn send_unsent(&mut self) {
        if !matches!(self.phase, Phase::Behind(_)) || self.out.is_behind() {
            return;
        }
        if let Phase::Behind(unsent) = std::mem::replace(&mut self.phase, Phase::Idle) {
            match unsent {
                Unsent::Turn(continuation, retry) => self.request(continuation, retry),
                Unsent::Summary(compaction) => self.request_summary(*compaction),
            }
        }
    }

    /// The user stopped the run before its request was sent.
    pub(crate) fn interrupt_unsent(&mut self, unsent: Unsent) {
        match unsent {
            Unsent::Turn(..) => self.interrupted_streaming(),
            Unsent::Summary(compaction) => self.interrupt_compaction(*compaction),
        }
    }

    /// The log has not answered for so long. The host hears of it, out of turn; a session that is being closed ends.
    pub(crate) fn log_is_silent(&mut self, silence: Duration) {
        if matches!(self.phase, Phase::Closed) && silence >= LONGEST_SILENCE {
            return self.broken(StoreFailure::unanswered(silence));
        }
        if self.silence.is_none() {
            self.silence = Some(silence);
            self.tell_of_silence();
        }
    }

    /// Tells the host that the log does not answer, if it does not: what else there is to tell waits for that.
    pub(crate) fn tell_of_silence(&mut self) {
        let Some(silence) = self.silence else { return };
        let message = format!(
            "The session log has not answered for {} seconds: the disk may hang. The session waits for it.",
            silence.as_secs()
        );
        let run = self.run.as_ref().map(|run| (run.id.clone(), run.turns));
        let run = run.or_else(|| Some((self.last_run.clone()?, 0)));
        self.out.at_once(run, EventKind::Status(Status::Notice { message }));
    }
}

impl Outbox {
    /// Notes that a request is sent.
    pub(crate) fn requested(&mut self) {
        self.before_request = self.awaited.last().copied().unwrap_or(self.durable);
    }

    /// Whether a durable append is not answered that was handed out before the last request.
    pub(crate) fn is_behind(&self) -> bool {
        self.awaited.first().is_some_and(|append| *append <= self.before_request)
    }
}
