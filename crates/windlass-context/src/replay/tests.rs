use super::*;
use std::sync::Arc;
use windlass_types::{JsonText, ToolUse};

fn json(text: &str) -> JsonText {
    JsonText::parse(text).unwrap()
}

fn origin(provider: &str, dialect: &str, model: &str) -> Option<Arc<Origin>> {
    Some(Arc::new(Origin::new(Api::new(provider, dialect), model, "whatever-answered")))
}

/// Returns a message with reasoning, a text with an id, a block of the vendor and a signed call.
fn answer(origin: Option<Arc<Origin>>) -> SharedMessage {
    let mut text = ContentBlock::text("hi");
    text.set_replay(Some(json(r#"{"id":"msg_1"}"#)));
    let mut call = ContentBlock::ToolUse(ToolUse::new("t", "Read", JsonText::empty_object()));
    call.set_replay(Some(json(r#"{"thoughtSignature":"c2ln"}"#)));
    let thinking = ContentBlock::Thinking { thinking: "hm".to_owned(), signature: "s".to_owned() };
    let foreign = ContentBlock::Unknown(json(r#"{"type":"server_tool_use","id":"x"}"#));
    Message::assistant(vec![thinking, text, foreign, call]).with_origin(origin).into()
}

fn sent(message: &SharedMessage, api: &Api, model: &str, dropped: usize) -> (usize, usize) {
    let sent = readable_messages(std::iter::once(message), api, model, dropped);
    let content = &sent.first().unwrap().content;
    (content.len(), content.iter().filter(|block| block.replay().is_some()).count())
}

#[test]
fn what_is_private_goes_back_to_its_origin_alone() {
    let api = Api::new("openai", Api::RESPONSES);
    let message = answer(origin("openai", Api::RESPONSES, "gpt-5"));
    assert_eq!(sent(&message, &api, "gpt-5", 0), (4, 2));
    assert_eq!(sent(&message, &api, "gpt-5-mini", 0), (3, 0), "another model reads the vendor's blocks at most");
    assert_eq!(sent(&message, &Api::new("azure", Api::RESPONSES), "gpt-5", 0), (2, 0), "another service");
    assert_eq!(sent(&message, &Api::new("openai", Api::CHAT_COMPLETIONS), "gpt-5", 0), (2, 0));
    assert_eq!(sent(&message, &api, "openai/gpt-5", 0), (4, 2), "a router puts the provider in front");
    assert_eq!(sent(&message, &api, "gpt-5", 1), (2, 0), "the provider refused it");
}

#[test]
fn a_message_without_known_provider_is_of_the_messages_api() {
    let legacy = Some(Arc::new(Origin::new(Api::default(), "claude-opus-5-5", "claude-opus-5-5")));
    let message = answer(legacy);
    assert_eq!(sent(&message, &Api::new("anthropic", Api::MESSAGES), "claude-opus-5-5-20261001", 0), (4, 2));
    assert_eq!(sent(&message, &Api::new("openai", Api::RESPONSES), "claude-opus-5-5", 0), (2, 0));
}

#[test]
fn a_message_that_is_all_private_keeps_its_place_and_one_without_is_shared() {
    let thinking = ContentBlock::Thinking { thinking: "hm".to_owned(), signature: "s".to_owned() };
    let other = Api::new("b", Api::GEMINI);
    let alone = Message::assistant(vec![thinking]).with_origin(origin("a", Api::GEMINI, "m")).into();
    let sent = readable_messages([alone].iter(), &other, "m", 0);
    assert_eq!(sent.first().unwrap().content, [ContentBlock::text(NO_CONTENT)]);
    let plain: SharedMessage =
        Message::assistant(vec![ContentBlock::text("x")]).with_origin(origin("a", Api::GEMINI, "m")).into();
    let sent = readable_messages([plain.clone()].iter(), &other, "m", 0);
    assert!(std::ptr::eq(plain.json(), sent.first().unwrap().json()), "it is not made again");
}
