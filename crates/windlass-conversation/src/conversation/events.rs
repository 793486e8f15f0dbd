//! Events of sessions.

use super::Conversation;
use crate::input::Generation;
use crate::output::{MessageState, Order, SessionState, Ticket, Update};
use crate::results::TurnResult;
use windlass_types::{ContentBlock, Event, EventKind, HookEventName, RunOrigin, RunStarted, StateChange, TaskKind};

impl Conversation {
    /// Takes in an event of a session.
    pub(super) fn event(&mut self, generation: Generation, event: Box<Event>) {
        if let EventKind::TaskStarted(task) = &event.kind {
            self.session.outputs.add(task.id.clone(), task.output_file.clone());
        }
        self.questions.shown.note(&event.agent, &event.kind);
        if event.agent.is_main() {
            self.of_main(generation, event);
        } else {
            self.of_agent(event);
        }
        self.release_questions();
    }

    fn of_main(&mut self, generation: Generation, event: Box<Event>) {
        match &event.kind {
            EventKind::RunStarted(started) => {
                self.run_began(started);
                if let Some(stream) = self.session.streams.get_mut(&generation) {
                    (stream.settling, stream.begun) = (None, Some(event));
                }
                return self.update(Update::State(SessionState::Running));
            }
            EventKind::UsageUpdated { usage, cost, .. } => self.session.spent.call(usage, *cost),
            EventKind::RunFinished(result) => self.session.spent.run(result),
            EventKind::StateChanged(StateChange::PermissionMode { mode }) => {
                self.requested.mode_reported(*mode);
                self.set_permission_mode(*mode);
            }
            _ => {}
        }
        let is_begin = matches!(
            event.kind,
            EventKind::HookRan { event: HookEventName::SessionStart | HookEventName::InstructionsLoaded, .. }
                | EventKind::HooksStarted { .. }
        );
        if !is_begin
            && let Some(begun) = self.session.streams.get_mut(&generation).and_then(|stream| stream.begun.take())
        {
            self.update(Update::Event(begun));
        }
        if matches!(event.kind, EventKind::MessageFinished { .. } | EventKind::RunFinished(_)) {
            self.give_title();
        }
        if matches!(event.kind, EventKind::MessageFinished { .. } | EventKind::RunFinished(_)) {
            self.give_title();
        }
        if matches!(event.kind, EventKind::RunFinished(_)) {
            return self.give(TurnResult::Run(generation, event));
        }
        match &event.kind {
            EventKind::BlockFinished { block: ContentBlock::ToolUse(call), .. } => {
                self.questions.shown.show(&event.agent, &call.id);
                self.update(Update::Event(event));
            }
            EventKind::TaskEnded(ended) => {
                let kind = ended.info.kind;
                self.update(Update::Event(event));
                self.task_ended(generation, kind);
            }
            EventKind::Steered(steered) => {
                let steered = steered.clone();
                self.update(Update::Event(event));
                self.steered(&steered);
            }
            _ => self.update(Update::Event(event)),
        }
    }

    fn run_began(&mut self, started: &RunStarted) {
        self.turns.woken = started.origin != RunOrigin::User;
        self.requested.mode_reported(started.permission_mode);
    }

    /// An event of an agent below the main one does not change the session's own run.
    fn of_agent(&mut self, event: Box<Event>) {
        match &event.kind {
            EventKind::RunStarted(started) => self.questions.shown.began(&event.agent, started.identity.as_ref()),
            EventKind::UsageUpdated { cost, .. } => self.session.spent.call_of_agent(*cost),
            _ => {}
        }
        match &event.kind {
            EventKind::BlockFinished { block: ContentBlock::ToolUse(call), .. } => {
                self.questions.shown.show(&event.agent, &call.id);
            }
            EventKind::RunFinished(_) => self.questions.shown.forget(&event.agent),
            _ => {}
        }
        self.update(Update::Event(event));
    }

    /// Background work has ended.
    fn task_ended(&mut self, generation: Generation, kind: TaskKind) {
        if let Some(stream) = self.session.streams.get_mut(&generation) {
            stream.unsettled = true;
        }
        // While commands continue the session is idle, while agents do it is not.
        if kind == TaskKind::LocalAgent {
            self.rewind_again();
            if self.turns.is_idle() {
                self.settle(generation);
            }
        }
    }

    /// Reports that the session is idle, if it is and stays so by itself.
    fn settle(&mut self, generation: Generation) {
        let wait = self.jobs.number();
        match self.session.streams.get_mut(&generation).filter(|stream| stream.unsettled) {
            Some(stream) => {
                (stream.unsettled, stream.settling) = (false, Some(wait));
                self.order(Order::AwaitSettled(wait));
            }
            None => self.update_if_idle(),
        }
    }

    /// No run was begun by the end of background work, unless an event has shown one since.
    pub(super) fn settled(&mut self, wait: Ticket) {
        let stream = self.session.streams.values_mut().find(|stream| stream.settling == Some(wait));
        if let Some(stream) = stream {
            stream.settling = None;
            self.update_if_idle();
        }
    }

    /// A run of the main agent is over. The next prompt is given before the session is reported idle.
    pub(super) fn finished(&mut self, generation: Generation, is_error: bool, origin: RunOrigin) {
        self.turns.last_is_error = is_error;
        let answered = if origin == RunOrigin::User {
            self.turns.running = false;
            self.turns.answering.take()
        } else {
            self.turns.woken = false;
            None
        };
        self.rewind_again();
        self.update_message(answered.as_deref(), MessageState::Completed);
        self.complete_joined();
        self.advance();
        self.settle(generation);
        self.release_questions();
    }
}
