use super::*;
use crate::{Script, ScriptedModel};
use futures_util::StreamExt;
use std::sync::atomic::{AtomicUsize, Ordering};
use windlass_types::{Message, ModelErrorKind, ModelEvent};

fn model(text: &str, tag: &str) -> ScriptedModel {
    let mut info = ModelInfo::new(1_000, 100);
    info.api = Api::new(tag, Api::MESSAGES);
    let script = Script::new().turn(|turn| turn.text(text)).turn(|turn| turn.text(text));
    ScriptedModel::new(script).with_info(info)
}

fn request(model: &str) -> Arc<ModelRequest> {
    Arc::new(ModelRequest::new(model, vec![Message::user_text("hi").into()], 10))
}

async fn text(router: &Router, model: &str) -> String {
    let mut stream = router.stream(request(model)).await.unwrap();
    let mut text = String::new();
    while let Some(item) = stream.next().await {
        if let ModelEvent::BlockDelta { delta: windlass_types::StreamDelta::Text(piece), .. } = item.unwrap().event {
            text.push_str(&piece);
        }
    }
    text
}

#[test]
fn a_prefix_chooses_and_the_first_has_the_rest() {
    let (one, two) = (model("one", "a"), model("two", "b"));
    let asked = two.clone();
    let router = Router::new("one", one).with("two", two);
    futures_executor::block_on(async {
        assert_eq!(text(&router, "m").await, "one");
        assert_eq!(text(&router, "two/vendor/m").await, "two");
        // A slash in the name of a model is not a prefix.
        assert_eq!(text(&router, "vendor/m").await, "one");
    });
    assert_eq!(asked.requests().first().unwrap().model, "vendor/m", "the provider sees its own name");
    assert_eq!(router.resolve_model(" two/m "), "two/m");
    assert_eq!(router.model_info("two/m").api.provider(), "b");
    assert_eq!(router.similar_models("twoo/m"), ["two/m"]);
    let error = router.ready("twoo/m").unwrap_err().to_string();
    assert_eq!(error, "there is no provider for the model \"twoo/m\": did you mean two/m?");
    assert!(router.ready("vendor/m").is_ok(), "it may be a name of the first provider");
    assert_eq!(format!("{router:?}"), r#"["one", "two"]"#);
}

#[test]
fn what_is_not_used_is_not_set_up_and_a_failed_set_up_is_the_error_of_the_call() {
    let made = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&made);
    let router = Router::new("one", model("one", "a"))
        .lazy("two", move || {
            count.fetch_add(1, Ordering::Relaxed);
            Ok(Arc::new(model("two", "b")) as Arc<dyn ModelProvider>)
        })
        .lazy("broken", || Err(ModelError::new(ModelErrorKind::Authentication, "no key: set BROKEN_KEY")));
    assert_eq!(router.resolve_model("m"), "m");
    assert_eq!(made.load(Ordering::Relaxed), 0);
    futures_executor::block_on(async {
        assert_eq!(text(&router, "two/m").await, "two");
        assert_eq!(text(&router.clone(), "two/m").await, "two");
        let error = router.stream(request("broken/m")).await.err().unwrap();
        assert_eq!(error.kind, ModelErrorKind::Authentication);
    });
    assert_eq!(made.load(Ordering::Relaxed), 1);
    assert!(router.ready("two/m").is_ok());
    assert_eq!(router.ready("broken/m").unwrap_err().to_string(), "no key: set BROKEN_KEY");
    assert_eq!(router.resolve_model("broken/m"), "broken/m");
}

#[test]
fn a_provider_of_the_same_prefix_is_replaced_in_its_place() {
    let router = Router::new("one", model("old", "a")).with("two", model("two", "b")).with("one", model("new", "a"));
    assert_eq!(router.prefixes().collect::<Vec<_>>(), ["one", "two"]);
    futures_executor::block_on(async { assert_eq!(text(&router, "m").await, "new") });
    let empty = ScriptedModel::new(Script::new());
    assert!(Router::new("only", empty).ready("x").is_ok());
}
