//! The provider kit itself: good providers pass, and each broken promise is found.

use async_trait::async_trait;
use futures_util::stream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use windlass_model::{ModelError, ModelInfo, ModelProvider, ModelStream, ScriptedModel, ScriptedTurn};
use windlass_testkit::provider::{self, Ending, Violation};
use windlass_types::{
    BlockStart, JsonText, Message, ModelErrorKind, ModelEvent as E, ModelItem, ModelRequest, StreamDelta, Usage,
};

fn request(text: &str) -> ModelRequest {
    ModelRequest::new("m", vec![Message::user_text(text).into()], 100)
}

/// A provider that answers every request with the same items, valid or not.
#[derive(Debug, Clone)]
struct Canned {
    items: Vec<Result<E, ModelErrorKind>>,
    raw: bool,
}

#[async_trait]
impl ModelProvider for Canned {
    fn name(&self) -> &str {
        "canned"
    }

    fn resolve_model(&self, name: &str) -> String {
        format!("{name}+")
    }

    fn model_info(&self, _: &str) -> ModelInfo {
        ModelInfo::new(10, 20)
    }

    async fn stream(&self, _: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        let raw = self.raw;
        let item = move |event: E| match raw {
            true => ModelItem::with_raw(event, JsonText::empty_object()),
            false => ModelItem::from(event),
        };
        let items = self.items.clone().into_iter();
        Ok(Box::pin(stream::iter(items.map(move |it| it.map(item).map_err(|kind| ModelError::new(kind, "secret!"))))))
    }

    async fn count_tokens(&self, _: Arc<ModelRequest>) -> Result<u64, ModelError> {
        Ok(0)
    }
}

fn canned(events: Vec<E>) -> Canned {
    Canned { items: events.into_iter().map(Ok).collect(), raw: false }
}

fn start() -> E {
    E::MessageStart { id: "msg".into(), model: "m".to_owned(), usage: Usage::new(3, 1) }
}

fn text() -> E {
    E::BlockStart { index: 0, block: BlockStart::Text(String::new()) }
}

fn delta(delta: StreamDelta) -> E {
    E::BlockDelta { index: 0, delta }
}

fn close() -> E {
    E::BlockStop { index: 0 }
}

fn reason() -> E {
    E::MessageDelta { stop_reason: Some("end_turn".into()), usage: Usage::new(3, 2) }
}

/// Returns the violation in words; an empty text if there is none.
fn found<T>(result: Result<T, Violation>) -> String {
    result.err().map(|violation| violation.to_string()).unwrap_or_default()
}

#[tokio::test]
async fn a_good_provider_passes() {
    let model = ScriptedModel::from_fn(|request, _| {
        ScriptedTurn::new().thinking("hm", "s").text(request.messages[0].text()).tool_use("Read", [("a", 1)])
    });
    let answer = provider::answers(&model, &request("hi")).await.unwrap();
    assert_eq!((answer.text().as_str(), answer.ending()), ("hi", Ending::Complete));
    assert_eq!(answer.tool_inputs(), [("Read".to_owned(), r#"[["a",1]]"#.to_owned())]);
    provider::gives_frames(&model, &request("hi")).await.unwrap();
    provider::survives_cancellation(&model, &request("hi")).await.unwrap();
    provider::runs_in_parallel(&model, &[request("a"), request("b"), request("c")]).await.unwrap();
    provider::describes_models(&model, &["m", ""]).unwrap();
}

#[tokio::test]
async fn a_good_provider_fails_well() {
    let failing = |kind| ScriptedModel::from_fn(move |_, _| ScriptedTurn::new().text("x").fail_after(2, kind));
    for kind in [ModelErrorKind::Overloaded, ModelErrorKind::Authentication] {
        let error = provider::fails(&failing(kind), &request("hi"), kind, &["sk-1"]).await.unwrap();
        assert_eq!(error.kind, kind);
    }
    let model = failing(ModelErrorKind::Server);
    provider::does_not_retry(&model, &request("hi"), || model.asked()).await.unwrap();
    provider::reports_a_cut(&failing(ModelErrorKind::Cut), &request("hi")).await.unwrap();
    for events in 0..6 {
        let model = ScriptedModel::from_fn(move |_, _| ScriptedTurn::new().text("x").cut_after(events));
        assert_eq!(provider::reports_a_cut(&model, &request("hi")).await.unwrap().items.len(), events);
    }
}

#[tokio::test]
async fn impossible_streams_are_found() {
    let other = |index| E::BlockStart { index, block: BlockStart::Text(String::new()) };
    let call = E::BlockStart { index: 0, block: BlockStart::ToolUse { id: "".into(), name: "n".to_owned() } };
    let shrunk = E::MessageDelta { stop_reason: None, usage: Usage::new(2, 1) };
    let input = StreamDelta::ToolInput("{".to_owned());
    for (events, violation) in [
        (vec![text()], "the message has not begun"),
        (vec![start(), start()], "the message has begun already"),
        (vec![start(), other(1)], "block 0 is due"),
        (vec![start(), text(), other(1)], "a block is still open"),
        (vec![start(), text(), close(), close()], "that block is not open"),
        (vec![start(), text(), delta(input)], "it does not belong to its block"),
        (vec![start(), call], "the tool use has no id or no name"),
        (vec![start(), text(), reason()], "a block is still open"),
        (vec![start(), reason(), text()], "it follows the stop reason"),
        (vec![start(), E::MessageStop], "there was no stop reason"),
        (vec![start(), reason(), E::MessageStop, E::Ping], "it follows the end of the message"),
        (vec![start(), shrunk], "usage shrinks"),
        (vec![start(), text()], "the message is whole, but its stream ended as Cut"),
        (vec![], "the message is whole, but its stream ended as Cut"),
    ] {
        let text = found(provider::answers(&canned(events), &request("hi")).await);
        assert!(text.contains(violation), "{text}");
    }
}

#[tokio::test]
async fn other_broken_promises_are_found() {
    let whole = vec![start(), text(), close(), reason(), E::MessageStop];
    let good = canned(whole.clone());
    assert!(found(provider::reports_a_cut(&good, &request("hi")).await).contains("ended as Complete"));
    assert!(found(provider::gives_frames(&good, &request("hi")).await).starts_with("frames were wanted: true"));
    let always = Canned { raw: true, ..good.clone() };
    assert!(found(provider::gives_frames(&always, &request("hi")).await).starts_with("frames were wanted: false"));
    assert!(found(provider::describes_models(&good, &["m"])).contains("m resolves to m+, but that to m++"));

    let mut late = good.clone();
    late.items.push(Err(ModelErrorKind::Server));
    assert!(found(provider::answers(&late, &request("hi")).await).contains("fails after its message is complete"));
    let revived = Canned { items: vec![Err(ModelErrorKind::Server), Ok(start())], raw: false };
    let text = found(provider::fails(&revived, &request("hi"), ModelErrorKind::Server, &[]).await);
    assert!(text.contains("continues after its error"), "{text}");

    let failing = Canned { items: vec![Err(ModelErrorKind::Server)], raw: false };
    let text = found(provider::fails(&failing, &request("hi"), ModelErrorKind::Timeout, &[]).await);
    assert_eq!(text, "expected a failure of kind Timeout, but got Failed(Server)");
    let text = found(provider::fails(&failing, &request("hi"), ModelErrorKind::Server, &["secret!"]).await);
    assert!(text.contains("shows the secret"), "{text}");
    let sent = AtomicUsize::new(0);
    let text = found(provider::does_not_retry(&failing, &request("hi"), || sent.fetch_add(2, Ordering::SeqCst)).await);
    assert_eq!(text, "one failing request was sent 2 times");

    let call = E::BlockStart { index: 0, block: BlockStart::ToolUse { id: "t".into(), name: "Read".to_owned() } };
    let input = delta(StreamDelta::ToolInput("{\"a\":".to_owned()));
    let broken = canned(vec![start(), call, input, close(), reason(), E::MessageStop]);
    assert!(found(provider::answers(&broken, &request("hi")).await).starts_with("the input of Read is not the JSON"));
}
