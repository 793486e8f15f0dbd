//! Streams of the Responses API, as in its documentation.

use std::sync::Arc;

use futures_util::StreamExt;
use serde_json::{Value, json};
use windlass_model::{ModelError, ModelProvider};
use windlass_openai::OpenAi;
use windlass_testkit::wire::{Event, Reply, WireServer};
use windlass_types::{BlockStart, ContentBlock, JsonText, Message, ModelEvent, ModelRequest, StreamDelta, ToolUse};

pub(crate) const KEY: &str = "sk-secret-123";

/// Returns the frame of one event.
pub(crate) fn event(data: &Value) -> Event {
    Event::named(data["type"].as_str().unwrap_or_default(), data.to_string())
}

/// Returns the reply of these events.
pub(crate) fn reply(events: &[Value]) -> Reply {
    Reply::events(events.iter().map(event).collect()).header("x-request-id", "req_1")
}

/// Response that is written item by item.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) events: Vec<Value>,
    pub(crate) output: Vec<Value>,
}

impl Answer {
    pub(crate) fn new() -> Self {
        let response = |status: &str| json!({"id": "resp_1", "object": "response", "status": status, "model": "gpt-6.2-sol-2026-11-17", "output": [], "usage": null, "error": null});
        let events = ["created", "in_progress"]
            .map(|kind| json!({"type": format!("response.{kind}"), "response": response("in_progress"), "sequence_number": 0}));
        Self { events: events.to_vec(), output: Vec::new() }
    }

    fn place(&self) -> usize {
        self.output.len()
    }

    pub(crate) fn push(mut self, event: Value) -> Self {
        self.events.push(event);
        self
    }

    /// Adds an item, announced as `added` and complete as `item`, with the events between.
    #[expect(clippy::needless_pass_by_value, reason = "callers pass json!({..}) literals")]
    pub(crate) fn item(mut self, added: Value, between: Vec<Value>, item: Value) -> Self {
        let place = self.place();
        self.events.push(json!({"type": "response.output_item.added", "output_index": place, "item": added}));
        for mut event in between {
            event["output_index"] = json!(place);
            event["item_id"] = item["id"].clone();
            self.events.push(event);
        }
        self.events.push(json!({"type": "response.output_item.done", "output_index": place, "item": item.clone()}));
        self.output.push(item);
        self
    }

    pub(crate) fn text(self, id: &str, deltas: &[&str]) -> Self {
        let part = json!({"type": "output_text", "text": deltas.concat(), "annotations": [], "logprobs": []});
        let mut between = vec![
            json!({"type": "response.content_part.added", "content_index": 0, "part": {"type": "output_text", "text": "", "annotations": []}}),
        ];
        between.extend(deltas.iter().map(|delta| json!({"type": "response.output_text.delta", "content_index": 0, "delta": delta, "logprobs": [], "obfuscation": "xyz"})));
        between.push(json!({"type": "response.output_text.done", "content_index": 0, "text": deltas.concat()}));
        between.push(json!({"type": "response.content_part.done", "content_index": 0, "part": part}));
        let message = |status: &str, content: Value| json!({"id": id, "type": "message", "role": "assistant", "status": status, "phase": "final_answer", "content": content});
        self.item(message("in_progress", json!([])), between, message("completed", json!([part])))
    }

    pub(crate) fn reasoning(self, id: &str, summaries: &[&str], encrypted: Option<&str>) -> Self {
        let mut between = Vec::new();
        for (at, text) in summaries.iter().enumerate() {
            let part = json!({"type": "summary_text", "text": ""});
            between.push(json!({"type": "response.reasoning_summary_part.added", "summary_index": at, "part": part}));
            between.push(json!({"type": "response.reasoning_summary_text.delta", "summary_index": at, "delta": text}));
            between.push(json!({"type": "response.reasoning_summary_text.done", "summary_index": at, "text": text}));
        }
        let summary: Vec<Value> = summaries.iter().map(|text| json!({"type": "summary_text", "text": text})).collect();
        let mut item = json!({"id": id, "type": "reasoning", "summary": summary});
        if let Some(encrypted) = encrypted {
            item["encrypted_content"] = json!(encrypted);
        }
        self.item(json!({"id": id, "type": "reasoning", "summary": []}), between, item)
    }

    pub(crate) fn call(self, id: &str, name: &str, pieces: &[&str]) -> Self {
        let call = |arguments: &str, status: &str| json!({"id": format!("fc_{id}"), "type": "function_call", "call_id": id, "name": name, "arguments": arguments, "status": status});
        let all = pieces.concat();
        let mut between: Vec<Value> = pieces
            .iter()
            .map(|piece| json!({"type": "response.function_call_arguments.delta", "delta": piece}))
            .collect();
        between.push(json!({"type": "response.function_call_arguments.done", "arguments": all}));
        self.item(call("", "in_progress"), between, call(&all, "completed"))
    }

    pub(crate) fn end(&self, kind: &str, more: &Value) -> Value {
        let mut response = json!({
            "id": "resp_1", "object": "response", "status": kind, "model": "gpt-6.2-sol-2026-11-17",
            "output": self.output, "error": null, "incomplete_details": null,
            "tools": [{"type": "function", "name": "Read"}], "instructions": "long",
            "usage": {
                "input_tokens": 100, "input_tokens_details": {"cached_tokens": 60, "cache_write_tokens": 30},
                "output_tokens": 20, "output_tokens_details": {"reasoning_tokens": 5}, "total_tokens": 120,
            },
        });
        for (name, value) in more.as_object().unwrap() {
            response[name] = value.clone();
        }
        json!({"type": format!("response.{kind}"), "response": response})
    }

    pub(crate) fn ended(mut self, kind: &str, more: &Value) -> Vec<Value> {
        let end = self.end(kind, more);
        self.events.push(end);
        self.events
    }

    pub(crate) fn completed(self) -> Vec<Value> {
        self.ended("completed", &json!({}))
    }

    pub(crate) fn reply(self) -> Reply {
        reply(&self.completed())
    }
}

pub(crate) fn provider(server: &WireServer) -> OpenAi {
    OpenAi::builder().api_key(KEY).base_url(server.url()).build().unwrap()
}

pub(crate) fn request() -> ModelRequest {
    ModelRequest::new("gpt-6.2-sol", vec![Message::user_text("hi").into()], 1000)
}

/// Returns all events of a call, and the error that ends it.
pub(crate) async fn read(provider: &OpenAi, request: &ModelRequest) -> (Vec<ModelEvent>, Option<ModelError>) {
    let mut events = Vec::new();
    let mut stream = match provider.stream(Arc::new(request.clone())).await {
        Ok(stream) => stream,
        Err(error) => return (events, Some(error)),
    };
    while let Some(item) = stream.next().await {
        match item {
            Ok(item) => events.push(item.event),
            Err(error) => {
                assert!(stream.next().await.is_none());
                return (events, Some(error));
            }
        }
    }
    (events, None)
}

/// Returns the events and the error of a call with this reply.
pub(crate) async fn answered(reply: Reply) -> (Vec<ModelEvent>, Option<ModelError>) {
    let server = WireServer::start().await.unwrap();
    server.push(reply);
    read(&provider(&server), &request()).await
}

/// Returns the message of a call that is answered by these events.
pub(crate) async fn message(events: &[Value]) -> Message {
    let (events, error) = answered(reply(events)).await;
    assert!(error.is_none(), "{error:?}");
    folded(&events)
}

/// Folds the events to a message, as the loop does.
pub(crate) fn folded(events: &[ModelEvent]) -> Message {
    let mut content: Vec<(ContentBlock, String)> = Vec::new();
    for event in events {
        match event {
            ModelEvent::BlockStart { index, block } => {
                assert_eq!(*index, content.len());
                content.push((first(block), String::new()));
            }
            ModelEvent::BlockDelta { index, delta } => {
                let (block, input) = content.get_mut(*index).unwrap();
                grow(block, input, delta);
            }
            _ => {}
        }
    }
    let finish = |(mut block, input): (ContentBlock, String)| {
        if let ContentBlock::ToolUse(call) = &mut block
            && !input.is_empty()
        {
            call.input = JsonText::parse(input).unwrap();
        }
        block
    };
    Message::assistant(content.into_iter().map(finish).collect())
}

fn first(block: &BlockStart) -> ContentBlock {
    match block {
        BlockStart::Text(text) => ContentBlock::text(text.as_str()),
        BlockStart::Thinking { thinking, signature } => {
            ContentBlock::Thinking { thinking: thinking.clone(), signature: signature.clone() }
        }
        BlockStart::ToolUse { id, name } => {
            ContentBlock::ToolUse(ToolUse::new(id.clone(), name.clone(), JsonText::empty_object()))
        }
        BlockStart::Whole(block) => block.clone(),
        other => panic!("{other:?}"),
    }
}

fn grow(block: &mut ContentBlock, input: &mut String, delta: &StreamDelta) {
    match (block, delta) {
        (ContentBlock::Text { text, .. }, StreamDelta::Text(more)) => text.push_str(more),
        (ContentBlock::Thinking { thinking, .. }, StreamDelta::Thinking(more)) => thinking.push_str(more),
        (ContentBlock::Thinking { signature, .. }, StreamDelta::Signature(more)) => signature.push_str(more),
        (ContentBlock::ToolUse(_), StreamDelta::ToolInput(more)) => input.push_str(more),
        (block, StreamDelta::Replay(json)) => block.set_replay(Some(json.clone())),
        (block, delta) => panic!("{delta:?} in {block:?}"),
    }
}
