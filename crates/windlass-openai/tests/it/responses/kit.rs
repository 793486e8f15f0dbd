//! Tests of the kit itself: providers that break a guarantee over a real socket are found, each by the matching check.

use super::wire::KEY;
use async_trait::async_trait;
use futures_util::{StreamExt, stream};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use windlass_model::{ModelError, ModelInfo, ModelProvider, ModelStream};
use windlass_openai::OpenAi;
use windlass_testkit::provider::{self as kit, Endpoint, Violation};
use windlass_testkit::wire::Dialect;
use windlass_types::{
    ContentBlock, JsonText, Message, ModelErrorKind, ModelEvent, ModelItem, ModelRequest, SharedMessage, ToolUseId,
    Usage,
};

/// Change of a request, with its number.
type Change = fn(&mut ModelRequest, usize);

/// Broken guarantee of a provider.
#[derive(Clone, Copy)]
enum Fault {
    Request(Change),
    Stream(fn(ModelStream) -> ModelStream),
}

/// Correct provider with one fault.
struct Faulty {
    provider: OpenAi,
    fault: Fault,
    requests: AtomicUsize,
}

impl fmt::Debug for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Faulty")
    }
}

#[async_trait]
impl ModelProvider for Faulty {
    fn name(&self) -> &str {
        self.provider.name()
    }

    fn resolve_model(&self, name: &str) -> String {
        self.provider.resolve_model(name)
    }

    fn model_info(&self, model: &str) -> ModelInfo {
        self.provider.model_info(model)
    }

    async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        match self.fault {
            Fault::Request(change) => {
                let mut request = ModelRequest::clone(&request);
                change(&mut request, self.requests.fetch_add(1, Ordering::SeqCst));
                self.provider.stream(Arc::new(request)).await
            }
            Fault::Stream(change) => self.provider.stream(request).await.map(change),
        }
    }

    async fn count_tokens(&self, request: Arc<ModelRequest>) -> Result<u64, ModelError> {
        self.provider.count_tokens(request).await
    }
}

fn endpoint(fault: Fault) -> Endpoint {
    let connect = move |url: &str| Faulty {
        provider: OpenAi::builder().api_key(KEY).base_url(format!("{url}/v1")).build().unwrap(),
        fault,
        requests: AtomicUsize::new(0),
    };
    Endpoint::new(Dialect::Responses, "gpt-5.4", connect).every(211)
}

fn found(result: Result<(), Violation>, words: &str) {
    let text = result.err().map(|violation| violation.to_string()).unwrap_or_default();
    assert!(text.contains(words), "not {words:?}, but {text:?}");
}

/// Changes the blocks of all messages.
fn blocks(request: &mut ModelRequest, change: impl Fn(&mut Vec<ContentBlock>)) {
    for message in &mut request.messages {
        let mut changed = Message::clone(message);
        change(&mut changed.content);
        *message = SharedMessage::from(changed);
    }
}

fn is_result(block: &ContentBlock) -> bool {
    block.as_tool_result().is_some()
}

#[tokio::test]
async fn what_goes_back_wrong_is_found() {
    let cases: [(Change, &str); 5] = [
        (|request, _| blocks(request, |blocks| blocks.retain(|block| !block.is_thinking())), "the reasoning"),
        (
            |request, _| {
                blocks(request, |blocks| {
                    if blocks.iter().filter(|block| is_result(block)).count() > 1 {
                        blocks.reverse();
                    }
                });
            },
            "the ids of results",
        ),
        (
            |request, number| {
                if number > 2 {
                    request.tools = request.tools.iter().skip(1).cloned().collect();
                }
            },
            "the tools of request",
        ),
        (
            |request, _| blocks(request, |blocks| blocks.retain(|block| !is_result(block))),
            "breaks a rule of the vendor",
        ),
        (
            |request, number| {
                blocks(request, |blocks| {
                    for block in blocks {
                        let rename = |id: &mut ToolUseId| *id = format!("{}{number}", id.as_str()).into();
                        match block {
                            ContentBlock::ToolUse(call) => rename(&mut call.id),
                            ContentBlock::ToolResult(result) => rename(&mut result.tool_use_id),
                            _ => {}
                        }
                    }
                });
            },
            "the ids of calls",
        ),
    ];
    for (change, words) in cases {
        found(kit::keeps_a_conversation(&endpoint(Fault::Request(change))).await, words);
    }
}

#[tokio::test]
async fn requests_that_break_rules_are_found() {
    let change: Change = |request, _| request.extra = Some(JsonText::parse(r#"{"max_tokens":3}"#).unwrap());
    found(kit::sends_valid_requests(&endpoint(Fault::Request(change))).await, "max_tokens");
}

/// Ends a cut message as if it were complete.
fn completes_cuts(stream: ModelStream) -> ModelStream {
    let completed = stream.scan((false, None), |(has_begun, open), item| {
        match &item {
            Ok(item) => match item.event {
                ModelEvent::MessageStart { .. } => *has_begun = true,
                ModelEvent::BlockStart { index, .. } => *open = Some(index),
                ModelEvent::BlockStop { .. } => *open = None,
                _ => {}
            },
            Err(error) if error.kind == ModelErrorKind::Cut && *has_begun => {
                let stop = open.map(|index| ModelEvent::BlockStop { index });
                let reason =
                    ModelEvent::MessageDelta { stop_reason: Some("end_turn".into()), usage: Usage::new(1_000, 9) };
                let events = stop.into_iter().chain([reason, ModelEvent::MessageStop]);
                let items: Vec<_> = events.map(|event| Ok(ModelItem::from(event))).collect();
                return std::future::ready(Some(items));
            }
            Err(_) => {}
        }
        std::future::ready(Some(vec![item]))
    });
    Box::pin(completed.flat_map(stream::iter))
}

fn doubles_usage(stream: ModelStream) -> ModelStream {
    Box::pin(stream.map(|item| {
        item.map(|mut item| {
            if let ModelEvent::MessageDelta { usage, .. } = &mut item.event {
                usage.output_tokens *= 2;
            }
            item
        })
    }))
}

fn drops_failures(stream: ModelStream) -> ModelStream {
    Box::pin(stream.take_while(|item| std::future::ready(item.is_ok())))
}

#[tokio::test]
async fn streams_that_are_read_wrong_are_found() {
    found(kit::counts_usage_once(&endpoint(Fault::Stream(doubles_usage))).await, "usage is");
    found(kit::knows_failures_inside_streams(&endpoint(Fault::Stream(drops_failures))).await, "was read as Cut");
    found(kit::reports_cuts_at_every_byte(&endpoint(Fault::Stream(completes_cuts))).await, "it ended as Complete");
}
