//! The end of the input, and the end of serving.

use super::answers::Refusal;
use super::io::{Generation, Order, Timer};
use super::turns::Work;
use super::{End, Machine};
use std::time::Duration;

/// How often a host that can no longer write is asked for a sign of life: only
/// writing shows that it is gone.
const KEEP_ALIVE: Duration = Duration::from_secs(5);

impl Machine {
    /// Whether sessions are being closed, or are.
    pub(super) fn is_closing(&self) -> bool {
        matches!(self.end, End::Closing | End::Closed)
    }

    /// The input has ended: what the host has asked for is finished.
    pub(super) fn hung_up(&mut self) {
        if self.end != End::Reading {
            return;
        }
        self.end = End::Draining { wait: None, is_late: false };
        self.close_questions();
        self.order(Order::Wake(Timer::KeepAlive, KEEP_ALIVE));
        if let Some(wait) = self.config.background_wait {
            self.order(Order::Wake(Timer::BackgroundWait, wait));
        }
        self.check_end();
    }

    /// Closes when the input has ended, every prompt has its result and no background work continues, nor a
    /// run that its end began; or when background work has taken too long.
    pub(super) fn check_end(&mut self) {
        let End::Draining { wait, is_late } = self.end else { return };
        if !self.is_finished(is_late) && !self.session.is_over() {
            return;
        }
        if !self.session.is_open() || self.session.is_over() || is_late {
            return self.close();
        }
        if wait.is_none() {
            let wait = self.tickets.number();
            self.end = End::Draining { wait: Some(wait), is_late };
            self.order(Order::AwaitQuiet(wait));
        }
    }

    /// Whether every prompt has its result, and what was ordered of the disk is done, unless that takes too long.
    fn is_finished(&self, is_late: bool) -> bool {
        self.turns.is_idle() && (is_late || !self.tickets.delays_the_end())
    }

    /// No work continued when the wait was over. What came in the meantime is looked at once more.
    pub(super) fn quiet(&mut self, over: u64) {
        match self.end {
            End::Draining { wait: Some(wait), is_late } if wait == over && self.is_finished(is_late) => self.close(),
            End::Draining { wait: Some(wait), is_late } if wait == over => {
                self.end = End::Draining { wait: None, is_late };
            }
            _ => {}
        }
    }

    /// A timer has run out.
    pub(super) fn due(&mut self, timer: Timer) {
        match (timer, &mut self.end) {
            (Timer::KeepAlive, End::Draining { .. }) => {
                self.send(b"{\"type\":\"keep_alive\"}\n".to_vec());
                self.order(Order::Wake(Timer::KeepAlive, KEEP_ALIVE));
            }
            (Timer::BackgroundWait, End::Draining { is_late, .. }) => {
                *is_late = true;
                self.check_end();
            }
            (Timer::Rewind(ticket), _) => self.rewind_is_late(ticket),
            (Timer::KeepAlive | Timer::BackgroundWait, _) => {}
        }
    }

    /// Closes: no run and no order begins.
    pub(super) fn close(&mut self) {
        if self.is_closing() {
            return;
        }
        self.end = End::Closing;
        self.close_questions();
        self.order(Order::Finish);
        if self.session.is_open() {
            self.close_session(self.session.generation);
        }
        self.say_last_lines();
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
        self.say_last_lines();
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
            self.say_idle();
        }
        if is_current {
            // Another session may have taken the place of this one.
            (self.turns.running, self.turns.woken) = (false, false);
        }
        self.release_waiting();
        self.release_questions();
        self.clear_on();
        if is_current && !self.is_closing() {
            // It ended by itself; closing returns the reason.
            return self.close();
        }
        self.say_last_lines();
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

    /// Gives the host the last lines of the log, when no session is left that writes one.
    fn say_last_lines(&mut self) {
        if self.end != End::Closing || !self.session.is_closed() {
            return;
        }
        if self.results.is_mirrored() {
            self.mirror();
        } else {
            self.end_if_closed();
        }
    }

    /// Ends when no session is left. What the host still waits for has an answer then, too.
    pub(super) fn end_if_closed(&mut self) {
        if self.end != End::Closing || !self.session.is_closed() || self.results.is_mirroring() {
            return;
        }
        self.release_waiting();
        for request in self.tickets.close() {
            self.reply(&request, Err(Refusal::new("The session was closed before this was done.")));
        }
        self.end = End::Closed;
        self.order(Order::Closed);
    }
}
