//! Provider under test, and its dialect.

use std::fmt;
use std::sync::Arc;

use serde_json::json;
use windlass_model::ModelProvider;
use windlass_types::{JsonText, Message, ModelRequest, SectionScope, SharedMessage, SystemSection, Thinking, ToolSpec};

use crate::Violation;
use crate::wire::{Answer, ChatForm, Dialect, WireServer};

type Connect = dyn Fn(&str) -> Arc<dyn ModelProvider> + Send + Sync;

/// A provider under test: its dialect, a model, and a closure that connects it to a server.
pub struct Endpoint {
    pub(super) dialect: Dialect,
    pub(super) model: String,
    pub(super) replay: Replay,
    pub(super) thinking: Thinking,
    pub(super) step: usize,
    connect: Box<Connect>,
}

/// Messages whose reasoning is sent back to the model that wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Replay {
    /// Reasoning of every message.
    Always,
    /// Reasoning of messages that call tools.
    WithCalls,
    /// No reasoning.
    Never,
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("dialect", &self.dialect).field("model", &self.model).finish_non_exhaustive()
    }
}

impl Endpoint {
    /// Returns an endpoint; `connect` makes its provider for the address of a server, such as `http://127.0.0.1:4000`.
    ///
    /// Reasoning is sent back with every message, unless the dialect has none.
    pub fn new<P: ModelProvider + 'static>(
        dialect: Dialect,
        model: &str,
        connect: impl Fn(&str) -> P + Send + Sync + 'static,
    ) -> Self {
        let replay = if dialect == Dialect::Chat(ChatForm::Plain) { Replay::Never } else { Replay::Always };
        let connect: Box<Connect> = Box::new(move |url| Arc::new(connect(url)));
        Self { dialect, model: model.to_owned(), replay, thinking: Thinking::Adaptive, step: 1, connect }
    }

    /// Sets when reasoning is sent back. Default: with every message.
    #[must_use]
    pub fn replay(mut self, replay: Replay) -> Self {
        self.replay = replay;
        self
    }

    /// Sets how requests ask for reasoning. Default: [`Thinking::Adaptive`].
    #[must_use]
    pub fn thinking(mut self, thinking: Thinking) -> Self {
        self.thinking = thinking;
        self
    }

    /// Cuts and splits answers only at every n-th byte, and leaves out slow checks: for the second and later endpoints
    /// of one decoder. Default: 1.
    #[must_use]
    pub fn every(mut self, bytes: usize) -> Self {
        self.step = bytes.max(1);
        self
    }

    pub(super) async fn connect(&self) -> Result<(WireServer, Arc<dyn ModelProvider>), Violation> {
        let server = WireServer::start().await.map_err(|error| Violation::new(format!("no server: {error}")))?;
        let provider = (self.connect)(&server.url());
        Ok((server, provider))
    }

    /// Returns a request like those of a session.
    pub(super) fn request(&self, messages: Vec<SharedMessage>) -> ModelRequest {
        let mut request = ModelRequest::new(&self.model, messages, 8_000);
        request.system = vec![
            SystemSection::new("You are a coding agent.", SectionScope::Global),
            SystemSection::new("Be brief.", SectionScope::Session),
        ];
        request.tools = Arc::from(tools());
        request.thinking = self.thinking;
        request.session_key = Some("session-1".into());
        request
    }

    pub(super) fn first_request(&self) -> ModelRequest {
        self.request(vec![Message::user_text("hi").into()])
    }

    /// Returns a short answer with each kind of part.
    pub(super) fn answer(&self) -> Answer {
        let answer = Answer::new(&self.model).reasoning(["hm"], "dG9rZW4");
        answer.text(["a é", "🌍 b"]).call("callAAAA1", "Read", ["{\"path\":", "\"/x\"}"])
    }

    pub(super) fn has_reasoning(&self) -> bool {
        self.dialect != Dialect::Chat(ChatForm::Plain)
    }
}

/// Tools whose schemas contain constructs that are hard for converters.
fn tools() -> Vec<Arc<ToolSpec>> {
    let read = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Read", "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Where."},
            "limit": {"type": ["integer", "null"], "minimum": 1},
            "range": {"$ref": "#/$defs/Range"},
            "mode": {"enum": ["text", "bytes"]},
            "extra": {},
        },
        "required": ["path"],
        "$defs": {"Range": {"type": "object", "properties": {"from": {"type": "integer"}}}},
    });
    let empty = json!({"type": "object", "properties": {}});
    let search = json!({
        "type": "object", "additionalProperties": false, "required": ["query"],
        "properties": {"query": {"type": "string"}, "kind": {"const": "code"}, "at": {"anyOf": [{"type": "string"}, {"type": "null"}]}},
    });
    let mut tools = Vec::new();
    for (name, schema, strict) in [("Read", read, false), ("Now", empty, false), ("Search", search, true)] {
        let mut tool = ToolSpec::new(
            name,
            format!("The tool {name}."),
            JsonText::of(&schema).unwrap_or_else(|_| JsonText::empty_object()),
        );
        tool.strict = strict;
        tools.push(Arc::new(tool));
    }
    tools
}
