//! Gives results, each behind the lines of the log that were durable.

use super::Machine;
use super::io::Order;
use super::questions::About;
use super::results::Held;
use crate::mapper::LocalResult;
use crate::server::frames::Lifecycle;
use windlass_types::EventKind;

impl Machine {
    /// Gives the host a result, behind the lines of the log.
    pub(super) fn give(&mut self, result: Held) {
        if !self.results.is_mirrored {
            return self.give_now(result);
        }
        if self.results.held.is_empty() {
            self.mirror();
        }
        self.results.held.push_back(result);
    }

    /// Gives the host the lines of the log that are durable now.
    pub(super) fn mirror(&mut self) {
        self.results.mirroring += 1;
        self.order(Order::Mirror);
    }

    /// The host has the lines.
    pub(super) fn mirrored(&mut self) {
        self.results.mirroring = self.results.mirroring.saturating_sub(1);
        for result in std::mem::take(&mut self.results.held) {
            self.give_now(result);
        }
        self.end_if_closed();
    }

    fn give_now(&mut self, result: Held) {
        match result {
            Held::Run(generation, event) => {
                self.write(&event);
                if let EventKind::RunFinished(result) = &event.kind {
                    self.questions.shown.forget(&event.agent);
                    let pending = result.pending_questions.iter();
                    let pending = pending.map(|asked| About::of(asked.identity.as_ref(), &asked.tool_use_id));
                    self.questions.pending = pending.collect();
                    self.finished(generation, crate::is_error(&result.outcome), result.origin);
                }
            }
            Held::Refused(error, uuid) => {
                self.frames(|mapper, session, out| mapper.refused(session, &error, out));
                self.say_lifecycle(uuid.as_deref(), Lifecycle::Completed);
            }
            Held::Unsent(problem, uuid) => {
                self.frames(|mapper, session, out| mapper.refused(session, &problem, out));
                self.say_lifecycle(uuid.as_deref(), Lifecycle::Completed);
                self.end_work();
            }
            Held::Local(command, text, uuid) => {
                let spent = self.session.spent.clone();
                let result = LocalResult { command: &command, text: &text, cost: spent.cost, models: &spent.models };
                self.frames(|mapper, session, out| mapper.local(session, &result, out));
                self.say_lifecycle(uuid.as_deref(), Lifecycle::Completed);
                self.end_work();
            }
        }
    }

    /// Gives the result of a prompt that started no run.
    pub(super) fn refuse(&mut self, error: &str, uuid: Option<String>) {
        self.turns.last_is_error = true;
        self.give(Held::Refused(error.to_owned(), uuid));
    }

    /// Gives the results of all messages that wait for a session which cannot continue.
    pub(super) fn refuse_waiting(&mut self, error: &str) {
        while let Some(waiting) = self.turns.queue.pop() {
            self.refuse(error, waiting.uuid);
        }
    }
}
