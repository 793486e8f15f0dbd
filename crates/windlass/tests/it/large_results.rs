//! Results that are too much together: texts of one message, and images of a conversation.

use crate::instructions::{Place, run};
use std::collections::BTreeSet;
use windlass::tool::tool_json;
use windlass::{
    ContentBlock, EventKind, Home, JsonText, Permissions, ScriptedModel, ScriptedTurn, SessionBuilder, ToolCx,
    ToolOutput, session,
};
use windlass_types::{ModelErrorKind, ModelInfo, ModelRequest, ToolResultContent, Usage};

/// A PNG image, by its beginning, that takes so many bytes.
fn image(bytes: usize) -> Vec<u8> {
    let mut image = b"\x89PNG\r\n\x1a\n".to_vec();
    image.resize(bytes, 0);
    image
}

fn open(model: &ScriptedModel, place: &Place) -> SessionBuilder {
    let schema = || JsonText::parse(r#"{"type":"object"}"#).unwrap();
    let texts = tool_json("texts", "Many lines.", schema(), |_: JsonText, _: ToolCx| async {
        Ok::<_, windlass::ToolError>(ToolOutput::text("line\n".repeat(18_000)))
    });
    let shot = tool_json("shot", "An image.", schema(), |_: JsonText, _: ToolCx| async {
        ToolOutput::image("image/png", image(2 << 20))
    });
    let permissions = Permissions::new().allow(["texts", "shot"]);
    let builder = session().provider(model.clone()).tools(texts).tools(shot);
    builder.permissions(permissions).persist(Home::new(place.path("kept")))
}

fn results(request: &ModelRequest) -> Vec<&ToolResultContent> {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    blocks.filter_map(ContentBlock::as_tool_result).map(|result| &result.content).collect()
}

fn images(request: &ModelRequest) -> usize {
    let has_image = |content: &&&ToolResultContent| matches!(content, ToolResultContent::Blocks(_));
    results(request).iter().filter(has_image).count()
}

#[tokio::test]
async fn the_results_of_one_message_share_a_budget() {
    let place = Place::new(&[]);
    let model = ScriptedModel::from_fn(|_, asked| match asked {
        0 | 1 => (0..10).fold(ScriptedTurn::new(), |turn, _| turn.tool_use("texts", serde_json::json!({}))),
        _ => ScriptedTurn::new().text("ok"),
    });
    let model = model.with_info(ModelInfo::new(1_000_000, 32_000));
    let mut session = open(&model, &place).open().await.unwrap();
    run(&mut session, "go").await;
    let requests = model.requests();
    let sizes: Vec<usize> = results(&requests[2]).iter().map(|content| content.text().len()).collect();
    assert_eq!(sizes.len(), 20);
    for message in sizes.chunks(10) {
        assert_eq!(message.iter().filter(|size| **size == 90_000).count(), 4, "{sizes:?}");
        assert!(message.iter().sum::<usize>() < 470_000, "{sizes:?}");
        assert!(message.iter().all(|size| *size > 6_000), "{sizes:?}");
    }
    let texts: Vec<String> = results(&requests[2]).iter().map(|content| content.text()).collect();
    let named = texts.iter().filter_map(|text| Some(text.split_once("The whole is in ")?.1.split_once(": ")?.0));
    let named: BTreeSet<&str> = named.collect();
    assert_eq!(named.len(), 12);
    assert!(named.iter().all(|path| std::fs::read_to_string(path).unwrap().len() == 90_000));
}

/// In a small window they share what it has left, and the whole of each is kept.
#[tokio::test]
async fn the_results_of_one_message_fit_a_small_window() {
    for (window, calls) in [(32_000, 3), (16_000, 1), (16_000, 6)] {
        let place = Place::new(&[]);
        let model = ScriptedModel::from_fn(move |_, asked| match asked {
            0 => (0..calls).fold(ScriptedTurn::new(), |turn, _| turn.tool_use("texts", serde_json::json!({}))),
            _ => ScriptedTurn::new().text("ok"),
        });
        let model = model.with_info(ModelInfo::new(window, 4_000));
        let mut session = open(&model, &place).open().await.unwrap();
        run(&mut session, "go").await;
        let requests = model.requests();
        assert_eq!(requests.len(), 2);
        let texts: Vec<String> = results(&requests[1]).iter().map(|content| content.text()).collect();
        let tokens = texts.iter().map(String::len).sum::<usize>() as u64 / 3;
        assert!(texts.len() == calls && tokens < window / 4 * 3, "{tokens} of {window}");
        assert!(texts.iter().all(|text| text.contains("The whole is in ") && text.starts_with("line\n")), "{texts:?}");
    }
}

#[tokio::test]
async fn the_oldest_images_go_before_a_request_is_too_large() {
    let place = Place::new(&[]);
    let model = ScriptedModel::from_fn(|_, asked| match asked {
        // The model's token count is no reason to take anything out.
        0..10 => ScriptedTurn::new().tool_use("shot", serde_json::json!({})).usage(Usage::default()),
        // The service takes less than was thought.
        10 => ScriptedTurn::new().fail(ModelErrorKind::RequestTooLarge),
        _ => ScriptedTurn::new().text("ok"),
    });
    let mut session = open(&model, &place).open().await.unwrap();
    run(&mut session, "go").await;
    let requests = model.requests();
    let counts: Vec<usize> = requests.iter().map(|request| images(request)).collect();
    assert_eq!(counts, [0, 1, 2, 3, 4, 5, 6, 7, 5, 6, 7, 2]);
    let first = results(&requests[11])[0].text();
    assert!(first.starts_with("[An image or document of this result was taken out"), "{first}");
    let id = session.handle.session_id().clone();
    session.handle.close().await.unwrap();

    // Another process sends the same.
    let again = ScriptedModel::from_fn(|_, _| ScriptedTurn::new().text("ok"));
    let mut session = open(&again, &place).resume(id).open().await.unwrap();
    run(&mut session, "once more").await;
    assert_eq!(images(&again.requests()[0]), 2);
}

#[tokio::test]
async fn each_model_has_the_images_that_it_takes() {
    let place = Place::new(&[]);
    let mut info = ModelInfo::new(200_000, 8_000);
    (info.vision, info.media.count) = (true, 2);
    let small = ScriptedModel::from_fn(|_, asked| match asked {
        0..4 => ScriptedTurn::new().tool_use("shot", serde_json::json!({})).usage(Usage::default()),
        _ => ScriptedTurn::new().text("ok"),
    });
    let mut session = open(&small.clone().with_info(info.clone()), &place).open().await.unwrap();
    run(&mut session, "go").await;
    let counts: Vec<usize> = small.requests().iter().map(|request| images(request)).collect();
    assert_eq!(counts, [0, 1, 2, 2, 2]);
    let id = session.handle.session_id().clone();
    session.handle.close().await.unwrap();

    // Another model takes smaller images: those that it does not take go.
    (info.media.count, info.media.image_bytes) = (90, 1 << 20);
    let other = ScriptedModel::from_fn(|_, _| ScriptedTurn::new().text("ok"));
    let mut session = open(&other.clone().with_info(info), &place).resume(id).open().await.unwrap();
    run(&mut session, "once more").await;
    assert_eq!(images(&other.requests()[0]), 0);
}

#[tokio::test]
async fn a_request_without_images_that_is_too_large_is_not_sent_again() {
    let place = Place::new(&[]);
    let model = ScriptedModel::from_fn(|_, _| ScriptedTurn::new().fail(ModelErrorKind::RequestTooLarge));
    let mut session = open(&model, &place).open().await.unwrap();
    session.handle.prompt("go").unwrap();
    while let Some(event) = session.events.try_next().await.unwrap() {
        if matches!(event.kind, EventKind::RunFinished(_)) {
            break;
        }
    }
    assert_eq!(model.asked(), 1);
}
