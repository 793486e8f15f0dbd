//! What the model is reminded of, and when.

use crate::instructions::{Place, run};
use serde_json::json;
use std::sync::Arc;
use windlass::crates::types::{ModelRequest, SharedMessage};
use windlass::{ContentBlock, Home, ScriptedModel, ScriptedTurn, SessionBuilder, coding_tools, session};

/// A model that writes a list, reads a file so many times, and is done.
fn working(place: &Place, turns: usize) -> ScriptedModel {
    let path = place.path("work/a.txt");
    ScriptedModel::from_fn(move |request, _| {
        let calls = request.messages.iter().flat_map(|message| &message.content).filter_map(ContentBlock::as_tool_use);
        match calls.count() {
            0 => ScriptedTurn::new().tool_use(
                "TodoWrite",
                json!({"todos": [
                    {"content": "Look", "status": "in_progress", "activeForm": "Looking"},
                    {"content": "Test", "status": "pending", "activeForm": "Testing"},
                ]}),
            ),
            count if count <= turns => ScriptedTurn::new().tool_use("Read", json!({ "file_path": path })),
            _ => ScriptedTurn::new().text("ok"),
        }
    })
}

fn open(place: &Place, model: &ScriptedModel) -> SessionBuilder {
    session().provider(model.clone()).tools(coding_tools(place.path("work")))
}

/// The reminders in messages, each by its first words, with the place of its message.
fn reminders(messages: &[SharedMessage]) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        for text in message.content.iter().filter_map(ContentBlock::as_text) {
            let inner = text.strip_prefix("<system-reminder>\n").unwrap_or_default();
            if inner.starts_with("The todo list") || inner.starts_with("Of the ") {
                found.push((at, inner.split(['.', ':']).next().unwrap_or_default().to_owned()));
            }
        }
    }
    found
}

fn prefixes_hold(requests: &[Arc<ModelRequest>]) {
    for pair in requests.windows(2) {
        assert_eq!(pair[0].messages[..], pair[1].messages[..pair[0].messages.len()]);
    }
}

#[tokio::test]
async fn a_list_that_is_not_touched_is_brought_up_behind_results_and_once() {
    let place = Place::new(&[("work/a.txt", "one\n")]);
    let home = Home::new(place.path("kept"));
    let model = working(&place, 25);
    let mut session = open(&place, &model).persist(home.clone()).open().await.unwrap();
    let id = session.handle.session_id().clone();
    run(&mut session, "go").await;
    session.handle.close().await.unwrap();
    let requests = model.requests();
    // The message that wrote the list, and the ten after it.
    let expected = [(22, "The todo list was not touched for 10 messages".to_owned())];
    assert_eq!(reminders(&requests.last().unwrap().messages), expected);
    prefixes_hold(&requests);
    let later = working(&place, 40);
    let mut session = open(&place, &later).persist(home).resume(&id).open().await.unwrap();
    run(&mut session, "again").await;
    session.handle.close().await.unwrap();
    assert_eq!(reminders(&later.requests().last().unwrap().messages), expected, "a resumed session knows it");
}

#[tokio::test]
async fn it_can_be_switched_off_and_the_last_turns_are_announced() {
    let place = Place::new(&[("work/a.txt", "one\n")]);
    for (on, expected) in [(false, 0), (true, 1)] {
        let model = working(&place, 25);
        let mut session = open(&place, &model).reminders(on).max_turns(8).open().await.unwrap();
        session.handle.prompt("go").unwrap();
        while let Some(event) = session.events.try_next().await.unwrap() {
            if matches!(event.kind, windlass::EventKind::RunFinished(_)) {
                break;
            }
        }
        let found = reminders(&model.requests().last().unwrap().messages);
        assert_eq!(found.len(), expected, "{found:?}");
        assert!(found.iter().all(|(_, text)| text == "Of the 8 turns of this run 2 are left, the next one included"));
        prefixes_hold(&model.requests());
        session.handle.close().await.unwrap();
    }
}
