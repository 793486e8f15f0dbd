//! A driver without a model: each session answers each prompt with its text, in capitals.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use windlass_conversation::{
    Conversation, ConversationOptions, Generation, Input, Job, Message, Order, Outcome, Output, Presenter,
    SessionFacts, SessionOrder, SlashCommand,
};
use windlass_types::{
    ContentBlock, Delta, Event, EventKind, Outcome as RunOutcome, PermissionMode, Prompt, RunId, RunResult, RunStarted,
    SessionId,
};

#[derive(Debug, Default)]
struct CountedIds(AtomicU64);

impl windlass_tool::Ids for CountedIds {
    fn bits(&self) -> u128 {
        u128::from(self.0.fetch_add(1, Ordering::Relaxed)) + 1
    }
}

/// A conversation, the driver of its sessions, and a presenter.
pub(crate) struct World<P> {
    pub(crate) conversation: Conversation,
    pub(crate) presenter: P,
    generation: Generation,
    /// The prompt of the run that continues.
    running: Option<Prompt>,
    pub(crate) is_closed: bool,
}

impl<P: Presenter> World<P> {
    pub(crate) fn new(presenter: P) -> Self {
        let mut options = ConversationOptions::default();
        options.has_commands = true;
        options.commands = vec![SlashCommand::new("review", "Review the changes")];
        let conversation = Conversation::new(options, Arc::new(CountedIds::default()));
        Self { conversation, presenter, generation: 0, running: None, is_closed: false }
    }

    pub(crate) fn say(&mut self, text: &str, id: &str) {
        self.give(Input::Message(Box::new(Message::text(text).with_id(id))));
    }

    pub(crate) fn give(&mut self, input: Input) {
        self.conversation.handle(input);
        while let Some(output) = self.conversation.poll() {
            match output {
                Output::Update(update) => self.presenter.present(update),
                Output::Order(order) => {
                    for input in self.carry_out(order) {
                        self.give(input);
                    }
                }
            }
        }
    }

    /// Ends the run that continues, if there is one.
    pub(crate) fn finish_run(&mut self) {
        let Some(prompt) = self.running.take() else { return };
        let text: String = prompt.content.iter().filter_map(ContentBlock::as_text).collect();
        let text = text.to_uppercase();
        let delta = Delta::Text(text.clone());
        self.event(EventKind::BlockDelta { index: 0, delta });
        let mut result = RunResult::new(RunOutcome::Success, self.session());
        result.text = text;
        self.event(EventKind::RunFinished(result));
    }

    pub(crate) fn event(&mut self, kind: EventKind) {
        let event = Event::new(0, self.session(), RunId::from("r"), 0, kind);
        self.give(Input::Event(self.generation, Box::new(event)));
    }

    fn session(&self) -> SessionId {
        SessionId::from(format!("s{}", self.generation))
    }

    fn carry_out(&mut self, order: Order) -> Vec<Input> {
        match order {
            Order::Open(_) => {
                self.generation += 1;
                let mut facts = SessionFacts::default();
                facts.session_id = self.session().to_string();
                vec![Input::Opened(Box::new(facts))]
            }
            Order::Session(SessionOrder::Prompt(prompt)) => {
                self.running = Some(prompt);
                let started = RunStarted::new("/w".into(), "m".into(), Vec::new(), PermissionMode::Default, false);
                let kind = EventKind::RunStarted(started);
                let event = Event::new(0, self.session(), RunId::from("r"), 0, kind);
                vec![Input::Event(self.generation, Box::new(event))]
            }
            Order::Session(SessionOrder::Interrupt) => {
                self.running = None;
                let during = windlass_types::Interrupted::Starting;
                let result = RunResult::new(RunOutcome::Interrupted { during }, self.session());
                let kind = EventKind::RunFinished(result);
                let event = Event::new(0, self.session(), RunId::from("r"), 0, kind);
                vec![Input::Event(self.generation, Box::new(event))]
            }
            Order::Close(generation) => vec![Input::SessionClosed(generation), Input::Ended(generation, None)],
            Order::AwaitSettled(wait) => vec![Input::Settled(wait)],
            Order::AwaitQuiet(wait) => vec![Input::Quiet(wait)],
            Order::Begin(ticket, Job::Context) => vec![Input::Done(ticket, Outcome::Context(None))],
            Order::Expand { .. } => vec![Input::Expanded(Ok(None))],
            Order::Closed => {
                self.is_closed = true;
                Vec::new()
            }
            _ => Vec::new(),
        }
    }
}
