//! Reminders for the model, and their conditions.

use crate::instructions::{Place, run};
use serde_json::json;
use std::sync::Arc;
use windlass::options::ContextOptions;
use windlass::{ContentBlock, Home, ScriptedModel, ScriptedTurn, SessionBuilder, coding_tools, session};
use windlass_types::{ModelRequest, SharedMessage};

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
        let mut session =
            open(&place, &model).context(ContextOptions::new().reminders(on)).max_turns(8).open().await.unwrap();
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

/// The texts about files that have changed in the last message.
fn changes(model: &ScriptedModel) -> Vec<String> {
    let requests = model.requests();
    let last = &requests.last().unwrap().messages;
    let texts = last.iter().flat_map(|message| &message.content).filter_map(ContentBlock::as_text);
    let texts = texts.filter(|text| text.contains("since you read or wrote"));
    texts.map(|text| text.replace("<system-reminder>\n", "").replace("\n</system-reminder>", "")).collect()
}

#[tokio::test]
async fn files_that_have_changed_since_are_shown_with_the_next_prompt_and_once() {
    let place = Place::new(&[("work/a.txt", "one\ntwo\nthree\n"), ("work/b.txt", "b\n"), ("work/c.txt", "c\n")]);
    let work = place.path("work");
    let prompts = work.clone();
    let model = ScriptedModel::from_fn(move |request, _| {
        let last = request.messages.last().unwrap();
        let prompt = last.content.first().and_then(ContentBlock::as_text).unwrap_or_default();
        match prompt.strip_prefix("read ") {
            Some(name) => ScriptedTurn::new().tool_use("Read", json!({ "file_path": prompts.join(name) })),
            None => ScriptedTurn::new().text("ok"),
        }
    });
    let mut session = open(&place, &model).open().await.unwrap();
    for name in ["a.txt", "b.txt"] {
        run(&mut session, format!("read {name}")).await;
    }
    run(&mut session, "nothing changed").await;
    assert_eq!(changes(&model), [""; 0]);
    // A file that was never read does not count.
    std::fs::write(work.join("c.txt"), "C\n").unwrap();
    std::fs::write(work.join("a.txt"), "one\n2\nthree\n").unwrap();
    std::fs::remove_file(work.join("b.txt")).unwrap();
    run(&mut session, "hello").await;
    let a = format!(
        "\"{}\" has changed since you read or wrote it; the user or a program did that. Read it before you edit it. Line 2 \
         is now:\n<attached>\n2\t2\n</attached>",
        work.join("a.txt").display()
    );
    let b = format!(
        "\"{}\" is gone since you read or wrote it; the user or a program did that.",
        work.join("b.txt").display()
    );
    assert_eq!(changes(&model), [a.clone(), b.clone()]);
    run(&mut session, "again").await;
    assert_eq!(changes(&model), [a, b], "once");
    session.handle.close().await.unwrap();
    let mut off = open(&place, &model).context(ContextOptions::new().reminders(false)).open().await.unwrap();
    run(&mut off, "read c.txt").await;
    std::fs::write(work.join("c.txt"), "changed\n").unwrap();
    run(&mut off, "hello").await;
    assert_eq!(changes(&model), [""; 0]);
    off.handle.close().await.unwrap();
}

/// A file written by a tool has not changed behind the model's back.
#[tokio::test]
async fn an_edit_of_the_model_is_no_change() {
    let place = Place::new(&[("work/a.txt", "one\n")]);
    let path = place.path("work/a.txt");
    let model = ScriptedModel::from_fn(move |request, _| {
        let calls = request.messages.iter().flat_map(|message| &message.content).filter_map(ContentBlock::as_tool_use);
        match calls.count() {
            0 => ScriptedTurn::new().tool_use("Read", json!({ "file_path": path })),
            1 => {
                let input = json!({"file_path": path, "old_string": "one", "new_string": "two"});
                ScriptedTurn::new().tool_use("Edit", input)
            }
            _ => ScriptedTurn::new().text("ok"),
        }
    });
    let permissions = windlass::Permissions::new().mode(windlass::PermissionMode::AcceptEdits);
    let mut session = open(&place, &model).permissions(permissions).open().await.unwrap();
    run(&mut session, "edit").await;
    assert_eq!(std::fs::read_to_string(place.path("work/a.txt")).unwrap(), "two\n");
    run(&mut session, "hello").await;
    assert_eq!(changes(&model), [""; 0]);
    session.handle.close().await.unwrap();
}
