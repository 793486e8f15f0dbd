//! A conversation without a model, whose session does what the test says.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use windlass_conversation::{
    Conversation, ConversationOptions, Generation, Input, Message, Order, Output, Presenter, SessionFacts, SessionOrder,
};
use windlass_types::{
    AgentPath, Delta, Event, EventKind, JsonText, Outcome, PermissionMode, RunId, RunResult, RunStarted, SessionId,
    ToolFinished, ToolResult, ToolStarted,
};

#[derive(Debug, Default)]
struct CountedIds(AtomicU64);

impl windlass_tool::Ids for CountedIds {
    fn bits(&self) -> u128 {
        u128::from(self.0.fetch_add(1, Ordering::Relaxed)) + 1
    }
}

/// A conversation and its presenter.
pub(crate) struct World<P> {
    conversation: Conversation,
    pub(crate) presenter: P,
    generation: Generation,
    is_running: bool,
}

impl<P: Presenter> World<P> {
    pub(crate) fn new(presenter: P) -> Self {
        let mut options = ConversationOptions::default();
        options.has_commands = true;
        let conversation = Conversation::new(options, Arc::new(CountedIds::default()));
        Self { conversation, presenter, generation: 0, is_running: false }
    }

    pub(crate) fn give(&mut self, input: Input) {
        self.conversation.handle(input);
        while let Some(output) = self.conversation.poll() {
            match output {
                Output::Update(update) => self.presenter.present(update),
                Output::Order(order) => self.carry_out(&order),
            }
        }
    }

    /// A message that the presenter has been told of.
    pub(crate) fn message(text: &str, id: &str) -> Message {
        Message::text(text).with_id(id)
    }

    pub(crate) fn event(&mut self, kind: EventKind) {
        self.event_of(AgentPath::default(), kind);
    }

    pub(crate) fn event_of(&mut self, agent: AgentPath, kind: EventKind) {
        let mut event = Event::new(0, SessionId::from("s"), RunId::from("r"), 1, kind);
        event.agent = agent;
        self.give(Input::Event(self.generation, Box::new(event)));
    }

    pub(crate) fn text(&mut self, text: &str) {
        self.event(EventKind::BlockDelta { index: 0, delta: Delta::Text(text.to_owned()) });
    }

    pub(crate) fn call(&mut self, id: &str, tool: &str, input: &str, title: &str) {
        let input = JsonText::parse(input).unwrap();
        self.event(EventKind::ToolStarted(ToolStarted::new(id.into(), tool.to_owned(), input, title.to_owned())));
    }

    pub(crate) fn result(&mut self, id: &str, tool: &str, text: &str) {
        let mut finished = ToolFinished::new(tool.to_owned(), ToolResult::ok(id, text));
        finished.duration_ms = 1_234;
        self.event(EventKind::ToolFinished(finished));
    }

    pub(crate) fn finish(&mut self) {
        if std::mem::take(&mut self.is_running) {
            let mut result = RunResult::new(Outcome::Success, SessionId::from("s"));
            result.turns = 2;
            result.duration_ms = 12_300;
            self.event(EventKind::RunFinished(result));
        }
    }

    fn carry_out(&mut self, order: &Order) {
        match order {
            Order::Open(_) => {
                self.generation += 1;
                let mut facts = SessionFacts::default();
                facts.session_id = "s".to_owned();
                self.give(Input::Opened(Box::new(facts)));
            }
            Order::Session(SessionOrder::Prompt(_)) => {
                self.is_running = true;
                let mode = PermissionMode::Default;
                let started = RunStarted::new("/w".into(), "model-x".into(), Vec::new(), mode, false);
                self.event(EventKind::RunStarted(started));
            }
            Order::AwaitSettled(wait) => self.give(Input::Settled(*wait)),
            Order::AwaitQuiet(wait) => self.give(Input::Quiet(*wait)),
            _ => {}
        }
    }
}
