//! One turn: how it begins, what it is, and how it ends.

use super::Machine;
use super::answers::CAPABILITIES;
use super::current::Stream;
use super::io::{Facts, Job, Order, SessionOrder, Wish};
use super::queue::Waiting;
use super::results::Held;
use super::tickets::{Pending, Stage};
use super::turns::Work;
use crate::server::commands::{Builtin, Called, Expanded, Expansion, SlashCommand};
use crate::server::plugins::PluginOffer;
use std::collections::BTreeMap;
use windlass_runtime::{Prompt, PromptKind};
use windlass_types::{ContentBlock, PromptPart};

impl Machine {
    /// Continues with the next turn, if one waits and none continues.
    pub(super) fn advance(&mut self) {
        let is_busy = self.turns.has_run() || self.turns.work.is_some() || self.tickets.prepares();
        let is_busy = is_busy || self.tickets.rewinds_conversation();
        if is_busy || self.is_closing() || self.session.is_over() {
            return;
        }
        if !self.session.is_open() && !self.tickets.rewinds(Stage::Early).is_empty() {
            return self.open_session(None);
        }
        let Some(turn) = self.turns.queue.pop() else { return };
        self.turns.stopped = false;
        if self.session.is_open() { self.begin_turn(turn) } else { self.open_session(Some(turn)) }
    }

    fn called(&self, turn: &Waiting) -> Called {
        turn.command().map_or(Called::Text, |text| self.turns.commands.read(text))
    }

    fn wish(&mut self, fresh: bool) -> Box<Wish> {
        // Again, for a host that has sent no `initialize`.
        let in_process = self.in_process(BTreeMap::new());
        self.order(Order::Announce(in_process));
        let wish = Box::new(self.wishes.wish(fresh));
        self.order(Order::Open(wish.clone()));
        wish
    }

    fn open_session(&mut self, turn: Option<Waiting>) {
        let fresh = turn.as_ref().is_some_and(|turn| self.called(turn) == Called::Builtin(Builtin::Clear));
        let wish = self.wish(fresh);
        self.turns.work = Some(Work::Opening { wish, turn });
    }

    /// A session is open.
    pub(super) fn opened(&mut self, facts: Facts, offer: Option<&PluginOffer>) {
        match self.turns.work.take() {
            Some(Work::Opening { wish, turn }) => {
                let before = self.turns.commands.list();
                self.take_over(&wish, facts, offer);
                self.begin_early_rewinds();
                match turn {
                    None => self.advance(),
                    Some(turn) => {
                        self.say_commands(&before);
                        if wish.fresh {
                            self.begin_local(&turn);
                            self.cleared(turn);
                        } else {
                            // The session may have brought commands of its own.
                            self.begin_turn(turn);
                        }
                    }
                }
            }
            Some(Work::Clearing { wish, turn }) => {
                let before = self.session.generation;
                self.take_over(&wish, facts, offer);
                // What could not be stored is reported where its events end.
                self.close_session(before);
                self.turns.work = Some(Work::Closing { turn, before });
            }
            other => self.turns.work = other,
        }
    }

    /// A session could not be opened.
    pub(super) fn not_opened(&mut self, error: &str) {
        match self.turns.work.take() {
            Some(Work::Opening { turn: None, .. }) => {
                self.fail_early_rewinds(error);
                self.advance();
            }
            Some(Work::Opening { turn: Some(turn), .. }) => {
                self.begin(&turn);
                self.refuse(error, turn.uuid);
                self.refuse_waiting(error);
                self.order(Order::FailToOpen);
            }
            Some(Work::Clearing { turn, .. }) => {
                // The old session continues.
                let error = format!("The conversation was not cleared: no new session could be opened: {error}");
                self.refuse(&error, turn.uuid);
                self.end_work();
            }
            other => self.turns.work = other,
        }
    }

    /// Takes over an open session, in the place of the one before. What the host has ordered since the wish for it was
    /// made is ordered now.
    fn take_over(&mut self, wish: &Wish, mut facts: Facts, offer: Option<&PluginOffer>) {
        self.take_offer(offer);
        self.questions.shown.clear();
        let agents = facts.agents.clone().unwrap_or_else(|| self.agents());
        self.list_agents(&agents);
        self.session.id.clone_from(&facts.session_id);
        self.session.generation += 1;
        self.session.streams.insert(self.session.generation, Stream::default());
        self.session.spent = super::spent::Spent::default();
        if let Some(commands) = facts.commands.take() {
            self.turns.commands.set_custom(commands, true);
        }
        self.list_commands();
        if let Some(style) = facts.output_style.take() {
            self.mapper.uses_output_style(style);
        }
        self.session.scene.transcript = facts.transcript.take();
        if let Some(mode) = facts.permission_mode.filter(|_| self.wishes.permission_mode.is_none()) {
            self.session.scene.permission_mode = mode;
        }
        self.show_scene();
        // No question precedes these.
        let orders = self.wishes.first_orders(wish, &facts);
        self.questions.pending = std::mem::take(&mut facts.pending);
        self.session.facts = Some(facts);
        for order in orders {
            self.order_session(order);
        }
    }

    /// The session has other commands from now on.
    pub(super) fn relisted(&mut self, commands: Vec<SlashCommand>) {
        let before = self.turns.commands.list();
        self.turns.commands.relist(commands);
        self.list_commands();
        self.say_commands(&before);
    }

    /// Lists the commands in `system/init`.
    pub(super) fn list_commands(&mut self) {
        let commands = self.turns.commands.list();
        let skills = commands.iter().filter(|command| command.is_skill).map(|command| command.name.clone()).collect();
        self.mapper.offers(commands.into_iter().map(|command| command.name).collect(), skills, &CAPABILITIES);
    }

    fn begin_turn(&mut self, turn: Waiting) {
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

    /// It is known what a command becomes.
    pub(super) fn expanded(&mut self, expanded: Expanded) {
        match self.turns.work.take() {
            Some(Work::Expanding { turn, name, builtin }) => match (expanded, builtin) {
                (Ok(Some(Expansion::Prompt(prompt))), _) => self.start(turn, Some(prompt.ignoring_keywords())),
                (Ok(Some(Expansion::Output(text))), _) => {
                    self.begin_local(&turn);
                    self.local_result(name, text, turn.uuid);
                }
                (Ok(None), Some(builtin)) => self.builtin(builtin, turn),
                (Ok(None), None) => self.start(turn, None),
                (Err(problem), _) => self.unsent(problem, turn),
            },
            other => self.turns.work = other,
        }
    }

    /// A command becomes no prompt: the host is shown why, and the model reads nothing.
    fn unsent(&mut self, problem: String, turn: Waiting) {
        self.begin_local(&turn);
        self.turns.last_is_error = true;
        self.turns.work = Some(Work::Result);
        self.give(Held::Unsent(problem, turn.uuid));
    }

    /// Carries out a command of the server itself.
    fn builtin(&mut self, builtin: Builtin, turn: Waiting) {
        match builtin {
            Builtin::Compact => return self.start(turn, Some(Prompt::compact(""))),
            Builtin::ContinueRun => return self.start(turn, Some(Prompt::continue_run())),
            Builtin::Clear | Builtin::Context | Builtin::Cost => {}
        }
        self.begin_local(&turn);
        match builtin {
            Builtin::Clear => {
                let wish = self.wish(true);
                self.turns.work = Some(Work::Clearing { wish, turn });
            }
            Builtin::Context => {
                self.turns.work = Some(Work::Context { turn });
                let ticket = self.tickets.add(Pending::Turn);
                self.order(Order::Begin(ticket, Job::Context));
            }
            Builtin::Cost | Builtin::Compact | Builtin::ContinueRun => {
                let text = self.session.spent.text();
                self.local_result(builtin.name().to_owned(), text, turn.uuid);
            }
        }
    }

    /// Starts a run with a message, or with another prompt in its place.
    fn start(&mut self, turn: Waiting, instead: Option<Prompt>) {
        let shown = self.begin(&turn);
        let Waiting { content, uuid, should_query, verbatim, .. } = turn;
        let own = || {
            let prompt = if should_query { Prompt::new(content) } else { Prompt::note(content) };
            if verbatim { prompt.ignoring_keywords() } else { prompt }
        };
        let mut prompt = instead.unwrap_or_else(own);
        if let Some(facts) = self.session.facts.as_mut().filter(|_| prompt.kind == PromptKind::Query) {
            // What the session begins with stands in front of its first prompt.
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
        if let Some(uuid) = uuid.as_ref().or(shown.as_ref()) {
            // The host may refer to it later.
            prompt = prompt.with_id(uuid.as_str().into());
        }
        self.order_session(SessionOrder::Prompt(prompt));
        (self.turns.work, self.turns.running, self.turns.answering) = (None, true, uuid);
        if std::mem::take(&mut self.turns.stopped) {
            // The host stopped the turn before it became a run.
            self.order_session(SessionOrder::Interrupt);
        }
        self.offer_waiting();
    }

    /// Reports that a turn begins which is no run.
    fn begin_local(&mut self, turn: &Waiting) {
        self.say_state("running");
        self.begin(turn);
    }

    /// Reports that a turn begins. Returns the id that the message was shown with, if it has none of its own.
    fn begin(&mut self, turn: &Waiting) -> Option<String> {
        let unnamed = turn.uuid.is_none() && self.config.replay_user_messages;
        let own = unnamed.then(|| self.uuid());
        self.say_taken(turn, own.as_deref().unwrap_or_default());
        self.mapper.answers(turn.uuid.clone());
        own
    }

    /// The conversation continues in the new session.
    pub(super) fn cleared(&mut self, turn: Waiting) {
        self.say_reset(turn.uuid.as_deref());
        self.local_result(Builtin::Clear.name().to_owned(), String::new(), turn.uuid);
    }

    /// Gives the output of a command that needs no model as the result of its turn.
    pub(super) fn local_result(&mut self, command: String, text: String, uuid: Option<String>) {
        self.turns.last_is_error = false;
        self.turns.work = Some(Work::Result);
        self.give(Held::Local(command, text, uuid));
    }

    /// A turn that was no run is over.
    pub(super) fn end_work(&mut self) {
        (self.turns.work, self.turns.answering) = (None, None);
        self.turns.queue.turn_over();
        self.advance();
        self.say_idle();
    }
}
