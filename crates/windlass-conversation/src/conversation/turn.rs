//! One turn: its beginning, its work, and its end.

use super::Conversation;
use crate::command::{BuiltinCommand, Called, Expanded, Expansion, SlashCommand};
use crate::current::SessionStream;
use crate::input::SessionFacts;
use crate::jobs::{PendingJob, RewindStage};
use crate::output::{Job, Order, SessionOpened, SessionOrder, SessionState, TakenMessage, Update};
use crate::queue::QueuedMessage;
use crate::results::TurnResult;
use crate::settings::SessionSettings;
use crate::spent::Spent;
use crate::turns::Work;
use windlass_types::{ContentBlock, Prompt, PromptKind, PromptPart};

impl Conversation {
    /// Continues with the next turn, if one waits and none continues.
    pub(super) fn advance(&mut self) {
        let is_busy = self.turns.has_run() || self.turns.work.is_some() || self.holds > 0;
        let is_busy = is_busy || self.jobs.rewinds_conversation();
        if is_busy || self.is_closing() || self.session.is_over() {
            return;
        }
        if !self.session.is_open() && !self.jobs.rewinds(RewindStage::Early).is_empty() {
            return self.open_session(None);
        }
        let Some(turn) = self.turns.queue.pop() else { return };
        self.turns.stopped = false;
        if self.session.is_open() { self.begin_turn(turn) } else { self.open_session(Some(turn)) }
    }

    fn called(&self, turn: &QueuedMessage) -> Called {
        turn.command().map_or(Called::Text, |text| self.turns.commands.read(text))
    }

    fn order_opening(&mut self, is_fresh: bool) -> Box<SessionSettings> {
        let settings = Box::new(self.requested.for_opening(is_fresh));
        self.order(Order::Open(settings.clone()));
        settings
    }

    fn open_session(&mut self, turn: Option<QueuedMessage>) {
        let is_clear = |turn: &QueuedMessage| self.called(turn) == Called::Builtin(BuiltinCommand::Clear);
        let is_fresh = turn.as_ref().is_some_and(is_clear);
        let settings = self.order_opening(is_fresh);
        self.turns.work = Some(Work::Opening { settings, turn });
    }

    /// Continues with a session that is open.
    pub(super) fn opened(&mut self, facts: SessionFacts) {
        match self.turns.work.take() {
            Some(Work::Opening { settings, turn }) => {
                let before = self.turns.commands.list();
                self.take_over(&settings, facts);
                self.begin_early_rewinds();
                match turn {
                    None => self.advance(),
                    Some(mut turn) => {
                        self.update_commands(&before);
                        if settings.is_fresh {
                            self.begin_local(&mut turn);
                            self.cleared(turn);
                        } else {
                            // The session may have brought commands of its own.
                            self.begin_turn(turn);
                        }
                    }
                }
            }
            Some(Work::Clearing { settings, turn }) => {
                let before = self.session.generation;
                self.take_over(&settings, facts);
                // An entry that could not be stored is reported where the events end.
                self.close_session(before);
                self.turns.work = Some(Work::Closing { turn, before });
            }
            other => self.turns.work = other,
        }
    }

    /// Gives up what needed a session that could not be opened.
    pub(super) fn not_opened(&mut self, error: &str) {
        match self.turns.work.take() {
            Some(Work::Opening { turn: None, .. }) => {
                self.fail_early_rewinds(error);
                self.advance();
            }
            Some(Work::Opening { turn: Some(mut turn), .. }) => {
                self.begin(&mut turn);
                self.refuse(error, turn.id);
                self.refuse_waiting(error);
                self.order(Order::FailToOpen);
            }
            Some(Work::Clearing { turn, .. }) => {
                // The old session continues.
                let error = format!("The conversation was not cleared: no new session could be opened: {error}");
                self.refuse(&error, turn.id);
                self.end_work();
            }
            other => self.turns.work = other,
        }
    }

    /// Takes over an open session in place of the previous one. Settings that changed since its opening began are sent
    /// now.
    fn take_over(&mut self, settings: &SessionSettings, mut facts: SessionFacts) {
        self.questions.shown.clear();
        self.session.generation += 1;
        self.session.streams.insert(self.session.generation, SessionStream::default());
        self.session.spent = Spent::default();
        if let Some(commands) = facts.commands.take() {
            self.turns.commands.set_custom(commands, true);
        }
        if let Some(mode) = facts.permission_mode.filter(|_| self.requested.permission_mode.is_none()) {
            self.session.permission_mode = mode;
        }
        self.update(Update::Opened(SessionOpened {
            id: facts.session_id.clone(),
            transcript: facts.transcript.clone(),
            permission_mode: self.session.permission_mode,
            commands: self.turns.commands.list(),
        }));
        // No question precedes these.
        let orders = self.requested.first_orders(settings, &facts);
        self.questions.pending = std::mem::take(&mut facts.pending);
        self.session.facts = Some(facts);
        for order in orders {
            self.order_session(order);
        }
    }

    /// Replaces the custom commands of the session.
    pub(super) fn commands_changed(&mut self, commands: Vec<SlashCommand>) {
        let previous = self.turns.commands.list();
        self.turns.commands.relist(commands);
        self.update(Update::Commands(self.turns.commands.list()));
        self.update_commands(&previous);
    }

    /// Reports the commands, if they differ from those before.
    fn update_commands(&mut self, previous: &[SlashCommand]) {
        let commands = self.turns.commands.list();
        if commands != previous {
            self.update(Update::CommandsChanged(commands));
        }
    }

    fn begin_turn(&mut self, turn: QueuedMessage) {
        match self.called(&turn) {
            Called::Text => self.start(turn, None),
            Called::Compact(focus) => self.start(turn, Some(Prompt::compact(focus))),
            Called::Builtin(builtin) => self.builtin(builtin, turn),
            Called::Custom { name, arguments, builtin } => {
                self.turns.work = Some(Work::Expanding { turn, name: name.clone(), builtin });
                self.order(Order::Expand { name, arguments });
            }
        }
    }

    /// Continues the turn of a command that was expanded.
    pub(super) fn expanded(&mut self, expanded: Expanded) {
        match self.turns.work.take() {
            Some(Work::Expanding { mut turn, name, builtin }) => match (expanded, builtin) {
                (Ok(Some(Expansion::Prompt(prompt))), _) => self.start(turn, Some(prompt.ignoring_keywords())),
                (Ok(Some(Expansion::Output(text))), _) => {
                    self.begin_local(&mut turn);
                    self.local_result(name, text, turn.id);
                }
                (Ok(None), Some(builtin)) => self.builtin(builtin, turn),
                (Ok(None), None) => self.start(turn, None),
                (Err(problem), _) => self.unexpanded(problem, turn),
            },
            other => self.turns.work = other,
        }
    }

    /// Ends the turn of a command that cannot be expanded: the person reads why, and the model reads nothing.
    fn unexpanded(&mut self, problem: String, mut turn: QueuedMessage) {
        self.begin_local(&mut turn);
        self.turns.last_is_error = true;
        self.turns.work = Some(Work::Result);
        self.give(TurnResult::Unexpanded(problem, turn.id));
    }

    /// Carries out a built-in command.
    fn builtin(&mut self, builtin: BuiltinCommand, mut turn: QueuedMessage) {
        match builtin {
            BuiltinCommand::Compact => return self.start(turn, Some(Prompt::compact(""))),
            BuiltinCommand::ContinueRun => return self.start(turn, Some(Prompt::continue_run())),
            BuiltinCommand::Clear | BuiltinCommand::Context | BuiltinCommand::Cost => {}
        }
        self.begin_local(&mut turn);
        match builtin {
            BuiltinCommand::Clear => {
                let settings = self.order_opening(true);
                self.turns.work = Some(Work::Clearing { settings, turn });
            }
            BuiltinCommand::Context => {
                self.turns.work = Some(Work::Context { turn });
                let ticket = self.jobs.add(PendingJob::Turn);
                self.order(Order::Begin(ticket, Job::Context));
            }
            BuiltinCommand::Cost | BuiltinCommand::Compact | BuiltinCommand::ContinueRun => {
                let text = self.session.spent.text();
                self.local_result(builtin.name().to_owned(), text, turn.id);
            }
        }
    }

    /// Starts a run with a message, or with another prompt in its place.
    fn start(&mut self, mut turn: QueuedMessage, instead: Option<Prompt>) {
        let entry = self.begin(&mut turn);
        let QueuedMessage { content, quoted, id, wants_answer, is_verbatim, .. } = turn;
        let expanded = || {
            let prompt = if wants_answer { Prompt::new(content) } else { Prompt::note(content) };
            if is_verbatim { prompt.ignoring_keywords() } else { prompt }
        };
        let mut prompt = instead.unwrap_or_else(expanded);
        prompt.quoted.extend(quoted);
        if let Some(facts) = self.session.facts.as_mut().filter(|_| prompt.kind == PromptKind::Query) {
            // The blocks that a session begins with stand in front of its first prompt.
            let initial = std::mem::take(&mut facts.initial_prompt);
            if prompt.parts.is_empty() {
                prompt.content.splice(0..0, initial);
            } else {
                let texts = initial.iter().filter_map(ContentBlock::as_text);
                prompt.parts.splice(0..0, texts.map(|text| PromptPart::Text(format!("{text}\n\n"))));
            }
        }
        if prompt.kind == PromptKind::Continue {
            self.questions.taken_up();
        }
        if let Some(id) = id.as_ref().or(entry.as_ref()) {
            // The sender may refer to it later.
            prompt = prompt.with_id(id.as_str().into());
        }
        self.order_session(SessionOrder::Prompt(prompt));
        (self.turns.work, self.turns.running, self.turns.answering) = (None, true, id);
        if std::mem::take(&mut self.turns.stopped) {
            // The turn was stopped before it became a run.
            self.order_session(SessionOrder::Interrupt);
        }
        self.offer_waiting();
    }

    /// Reports the beginning of a turn that is no run.
    fn begin_local(&mut self, turn: &mut QueuedMessage) {
        self.update(Update::State(SessionState::Running));
        self.begin(turn);
    }

    /// Reports the beginning of a turn. Returns the id that the message was given, if it has none of its own.
    fn begin(&mut self, turn: &mut QueuedMessage) -> Option<String> {
        let is_unnamed = turn.id.is_none() && self.options.names_messages;
        let entry = is_unnamed.then(|| self.entry_id());
        self.take(turn, entry.clone().unwrap_or_default(), false);
        entry
    }

    /// Reports that a message is being answered, or has joined a run.
    pub(super) fn take(&mut self, message: &mut QueuedMessage, entry: String, joins: bool) {
        let (id, original) = (message.id.clone(), message.original.take());
        self.update(Update::Taken(TakenMessage { id, entry, original, joins }));
    }

    /// Reports that the conversation continues in the new session.
    pub(super) fn cleared(&mut self, turn: QueuedMessage) {
        self.update(Update::Cleared(turn.id.clone()));
        self.local_result(BuiltinCommand::Clear.name().to_owned(), String::new(), turn.id);
    }

    /// Gives the output of a command that needs no model as the result of its turn.
    pub(super) fn local_result(&mut self, command: String, text: String, id: Option<String>) {
        self.turns.last_is_error = false;
        self.turns.work = Some(Work::Result);
        self.give(TurnResult::Local(command, text, id));
    }

    /// Ends a turn that was no run.
    pub(super) fn end_work(&mut self) {
        (self.turns.work, self.turns.answering) = (None, None);
        self.turns.queue.turn_over();
        self.advance();
        self.update_if_idle();
    }
}
