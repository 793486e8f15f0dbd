//! The end of the input, and the end of the conversation.

use super::{Conversation, Stage};
use crate::input::Generation;
use crate::output::{Order, Refusal, Ticket, Timer, Update};
use crate::turns::Work;

impl Conversation {
    /// Finishes everything that was asked for.
    pub(super) fn input_ended(&mut self) {
        if self.stage != Stage::Open {
            return;
        }
        self.stage = Stage::Draining { wait: None, is_late: false };
        self.close_questions();
        if let Some(wait) = self.options.background_wait {
            self.order(Order::Wake(Timer::BackgroundWait, wait));
        }
        self.check_end();
    }

    /// Closes when the input has ended, every prompt has its result and no background work continues, nor a
    /// run that its end began; or when background work has taken too long.
    pub(super) fn check_end(&mut self) {
        let Stage::Draining { wait, is_late } = self.stage else { return };
        if !self.is_finished(is_late) && !self.session.is_over() {
            return;
        }
        if !self.session.is_open() || self.session.is_over() || is_late {
            return self.close();
        }
        if wait.is_none() {
            let wait = self.jobs.number();
            self.stage = Stage::Draining { wait: Some(wait), is_late };
            self.order(Order::AwaitQuiet(wait));
        }
    }

    /// `true` if every prompt has its result, and the jobs of a disk are done, unless they take too long.
    fn is_finished(&self, is_late: bool) -> bool {
        self.turns.is_idle() && (is_late || (self.holds == 0 && !self.jobs.delays_the_end()))
    }

    /// No work continued when the wait was over. What came in the meantime is looked at once more.
    pub(super) fn quiet(&mut self, over: Ticket) {
        match self.stage {
            Stage::Draining { wait: Some(wait), is_late } if wait == over && self.is_finished(is_late) => self.close(),
            Stage::Draining { wait: Some(wait), is_late } if wait == over => {
                self.stage = Stage::Draining { wait: None, is_late };
            }
            _ => {}
        }
    }

    /// A timer has run out.
    pub(super) fn due(&mut self, timer: Timer) {
        match (timer, &mut self.stage) {
            (Timer::BackgroundWait, Stage::Draining { is_late, .. }) => {
                *is_late = true;
                self.check_end();
            }
            (Timer::Rewind(ticket), _) => self.rewind_is_late(ticket),
            (Timer::PermissionMode(ticket), _) => self.mode_is_late(ticket),
            (Timer::BackgroundWait, _) => {}
        }
    }

    /// Closes: no run and no order begins.
    pub(super) fn close(&mut self) {
        if self.is_closing() {
            return;
        }
        self.stage = Stage::Closing;
        self.close_questions();
        self.order(Order::Finish);
        if self.session.is_open() {
            self.close_session(self.session.generation);
        }
        self.copy_last_lines();
    }

    /// Closes a session. One that has ended by itself may still have to tidy up.
    pub(super) fn close_session(&mut self, generation: Generation) {
        if self.session.closing.insert(generation) {
            self.order(Order::Close(generation));
        }
    }

    /// A session is closed.
    pub(super) fn session_closed(&mut self, generation: Generation) {
        self.session.closing.remove(&generation);
        self.clear_on();
        self.copy_last_lines();
    }

    /// Continues with the new session when the one before is closed and all of its events are written.
    fn clear_on(&mut self) {
        match self.turns.work.take() {
            Some(Work::Closing { turn, before })
                if !self.session.streams.contains_key(&before) && !self.session.closing.contains(&before) =>
            {
                self.cleared(turn);
            }
            other => self.turns.work = other,
        }
    }

    /// The events of a session have ended, because it could not continue if there is a reason.
    pub(super) fn ended(&mut self, generation: Generation, broken: Option<&str>) {
        let is_current = self.session.generation == generation;
        if let Some(error) = broken {
            self.broken(error);
        }
        let Some(stream) = self.session.streams.remove(&generation) else { return };
        if stream.settling.is_some() && broken.is_none() {
            // No run begins any more, so what was uncertain is certain now.
            self.update_if_idle();
        }
        if is_current {
            // Another session may have taken the place of this one.
            (self.turns.running, self.turns.woken) = (false, false);
        }
        self.release_waiting();
        self.release_questions();
        self.clear_on();
        if is_current && !self.is_closing() {
            // The session ended by itself; closing returns the reason.
            return self.close();
        }
        self.copy_last_lines();
    }

    /// Every prompt gets its result, also when the session breaks under it.
    fn broken(&mut self, error: &str) {
        let answered = self.turns.answering.take();
        if self.turns.running {
            self.refuse(error, answered);
        }
        self.complete_joined();
        self.release_waiting();
        self.refuse_waiting(error);
    }

    /// Copies the last lines of the log, when no session is left that writes one.
    fn copy_last_lines(&mut self) {
        if self.stage != Stage::Closing || !self.session.is_closed() {
            return;
        }
        if self.results.is_copied {
            self.copy_log();
        } else {
            self.end_if_closed();
        }
    }

    /// Ends when no session is left. Requests that are still open have an answer then, too.
    pub(super) fn end_if_closed(&mut self) {
        if self.stage != Stage::Closing || !self.session.is_closed() || self.results.copies > 0 {
            return;
        }
        self.release_waiting();
        for request in self.jobs.close() {
            let refusal = Refusal::new("The session was closed before this was done.");
            self.update(Update::Answer(request, Err(refusal)));
        }
        self.stage = Stage::Closed;
        self.order(Order::Closed);
    }
}
