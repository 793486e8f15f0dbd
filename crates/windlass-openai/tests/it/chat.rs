//! Chat Completions over a real socket.

#![allow(clippy::needless_pass_by_value, reason = "literals of JSON are passed to helpers")]

mod conformance;
mod errors;
mod ollama;
mod overflow;
mod reasoning;
mod requests;
mod setup;
mod stream;
mod tool_calls;
mod usage;

use serde_json::{Value, json};
use std::sync::Arc;
use windlass_model::{ModelError, ModelProvider};
use windlass_openai::{ChatCompletions, ChatCompletionsBuilder};
use windlass_testkit::wire::{Reply, WireServer};
use windlass_types::{
    BlockStart, ContentBlock, JsonText, Message, ModelEvent, ModelRequest, Origin, SharedMessage, StopReason,
    StreamDelta, ToolUse, Usage,
};

const KEY: &str = "sk-secret-123";

fn preset(name: &str) -> ChatCompletionsBuilder {
    ChatCompletions::preset(name).unwrap().api_key(KEY)
}

fn request() -> ModelRequest {
    ModelRequest::new("model-1", vec![Message::user_text("hi").into()], 1000)
}

/// Returns a chunk with this delta.
fn delta(delta: Value) -> Value {
    json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "model-1-0601",
           "choices": [{"index": 0, "delta": delta, "finish_reason": null}]})
}

fn content(text: &str) -> Value {
    delta(json!({"content": text}))
}

fn calls(pieces: Value) -> Value {
    delta(json!({"tool_calls": pieces}))
}

fn finish(reason: &str) -> Value {
    json!({"id": "chatcmpl-1", "model": "model-1-0601",
           "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

fn usage(input: u64, output: u64) -> Value {
    json!({"id": "chatcmpl-1", "model": "model-1-0601", "choices": [],
           "usage": {"prompt_tokens": input, "completion_tokens": output, "total_tokens": input + output}})
}

/// Returns a stream of these chunks and no more.
fn open_reply(chunks: &[Value]) -> Reply {
    let frames: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    Reply::stream_bytes(frames)
}

/// Returns a stream of these chunks with its end mark.
fn reply(chunks: &[Value]) -> Reply {
    let frames: String = chunks.iter().map(|chunk| format!("data: {chunk}\n\n")).collect();
    Reply::stream_bytes(format!("{frames}data: [DONE]\n\n"))
}

/// Block, as a consumer folds it from its events.
#[derive(Clone, Debug, Default, PartialEq)]
struct Block {
    kind: &'static str,
    id: String,
    name: String,
    text: String,
    signature: String,
    replay: Option<JsonText>,
}

/// Message, as a consumer folds it from the events.
#[derive(Debug, Default, PartialEq)]
struct Answer {
    id: String,
    model: String,
    blocks: Vec<Block>,
    stop: Option<StopReason>,
    usage: Usage,
    is_complete: bool,
}

impl Answer {
    fn of(&self, kind: &str) -> Vec<&Block> {
        self.blocks.iter().filter(|block| block.kind == kind).collect()
    }

    fn text(&self) -> String {
        self.of("text").iter().map(|block| &*block.text).collect()
    }

    /// Returns the name and the input of each call.
    fn calls(&self) -> Vec<(&str, &str)> {
        self.of("call").iter().map(|block| (&*block.name, &*block.text)).collect()
    }

    fn ids(&self) -> Vec<&str> {
        self.of("call").iter().map(|block| &*block.id).collect()
    }

    fn kinds(&self) -> Vec<&str> {
        self.blocks.iter().map(|block| block.kind).collect()
    }

    /// Returns the message in the form in which the loop sends it back.
    fn message(&self, provider: &ChatCompletions) -> SharedMessage {
        let block = |block: &Block| match block.kind {
            "text" => ContentBlock::Text { text: block.text.clone(), replay: block.replay.clone() },
            "thinking" => ContentBlock::Thinking { thinking: block.text.clone(), signature: block.signature.clone() },
            _ => {
                let mut call = ToolUse::new(&*block.id, &*block.name, JsonText::parse(&*block.text).unwrap());
                call.replay = block.replay.clone();
                ContentBlock::ToolUse(call)
            }
        };
        let origin = Origin::new(provider.model_info("model-1").api, "model-1", &*self.model);
        let message = Message::assistant(self.blocks.iter().map(block).collect());
        message.with_origin(Some(Arc::new(origin))).into()
    }

    fn accept(&mut self, event: ModelEvent) {
        match event {
            ModelEvent::MessageStart { id, model, .. } => {
                (self.id, self.model) = (id.to_string(), model);
            }
            ModelEvent::BlockStart { index, block } => {
                assert_eq!(index, self.blocks.len());
                self.blocks.push(match block {
                    BlockStart::Text(text) => Block { kind: "text", text, ..Block::default() },
                    BlockStart::Thinking { .. } => Block { kind: "thinking", ..Block::default() },
                    BlockStart::ToolUse { id, name } => {
                        Block { kind: "call", id: id.to_string(), name, ..Block::default() }
                    }
                    other => panic!("{other:?}"),
                });
            }
            ModelEvent::BlockDelta { index, delta } => {
                let block = self.blocks.get_mut(index).unwrap();
                match delta {
                    StreamDelta::Text(text) | StreamDelta::Thinking(text) | StreamDelta::ToolInput(text) => {
                        block.text.push_str(&text);
                    }
                    StreamDelta::Signature(signature) => block.signature.push_str(&signature),
                    StreamDelta::Replay(replay) => block.replay = Some(replay),
                    other => panic!("{other:?}"),
                }
            }
            ModelEvent::MessageDelta { stop_reason, usage } => {
                (self.stop, self.usage) = (stop_reason, usage);
            }
            ModelEvent::MessageStop => self.is_complete = true,
            _ => {}
        }
    }
}

/// Returns all events of a call, checked against the grammar of a message, and the error that ends it.
async fn ask(provider: &ChatCompletions, request: ModelRequest) -> (Answer, Option<ModelError>) {
    let mut answer = Answer::default();
    let stream = match provider.stream(Arc::new(request)).await {
        Ok(stream) => stream,
        Err(error) => return (answer, Some(error)),
    };
    let transcript = windlass_testkit::provider::read(stream).await.unwrap();
    for item in transcript.items {
        answer.accept(item.event);
    }
    (answer, transcript.error)
}

/// Returns a reply as read with a preset.
async fn read(name: &str, reply: Reply) -> (Answer, Option<ModelError>) {
    let server = WireServer::start().await.unwrap();
    server.push(reply);
    ask(&preset(name).base_url(server.url()).build().unwrap(), request()).await
}

/// Returns the message of a reply as read with a preset.
async fn whole(name: &str, reply: Reply) -> Answer {
    let (answer, error) = read(name, reply).await;
    assert!(error.is_none(), "{error:?} after {answer:?}");
    assert!(answer.is_complete);
    answer
}

/// Returns the body that a provider sends for a request.
async fn sent(builder: ChatCompletionsBuilder, request: ModelRequest) -> Value {
    let server = WireServer::start().await.unwrap();
    server.push(reply(&[content("ok"), finish("stop")]));
    let provider = builder.base_url(server.url()).build().unwrap();
    let (_, error) = ask(&provider, request).await;
    assert!(error.is_none(), "{error:?}");
    server.requests().remove(0).json().unwrap()
}
