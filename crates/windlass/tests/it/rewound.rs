//! The conversation of an open session, rewound alone or with its files.

use crate::checkpoints::{World, prompt};
use crate::common::log_of;
use serde_json::json;
use windlass::options::StorageOptions;
use windlass::{
    EventKind, Outcome, RunResult, Script, ScriptedModel, ScriptedTurn, Session, SessionBuilder,
    provider::{Message, Role, Usage},
    session,
    session::RewindError,
};
use windlass_model::Gate;
use windlass_runtime::Prompt;

/// A kept session with checkpoints.
fn kept(world: &World, model: &ScriptedModel) -> SessionBuilder {
    world.builder(Script::new()).provider(model.clone()).storage(StorageOptions::new().file_checkpoints(true))
}

/// Text of the user in a message, without reminders.
fn words(message: &Message) -> Option<&str> {
    let mut texts = message.content.iter().filter_map(|block| block.as_text());
    texts.find(|text| !text.starts_with("<system-reminder>") && message.role == Role::User)
}

/// Answers each prompt `write NAME` by writing that file, and others with a text.
fn model(world: &World) -> ScriptedModel {
    let folder = world.path("");
    ScriptedModel::from_fn(move |request, _| {
        match request.messages.last().and_then(|last| words(last)?.strip_prefix("write ")) {
            Some(name) => {
                let input = json!({"file_path": folder.join(name), "content": name});
                ScriptedTurn::new().tool_use("Write", input)
            }
            None => ScriptedTurn::new().text("ok").usage(Usage::new(100, 10)),
        }
    })
}

async fn finished(session: &mut Session) -> RunResult {
    while let Some(event) = session.events.try_next().await.unwrap() {
        if let EventKind::RunFinished(result) = event.kind {
            return result;
        }
    }
    panic!("the session ended")
}

/// Runs a prompt. Returns the input tokens of the whole session.
async fn run(session: &mut Session, number: u128, text: &str) -> u64 {
    session.handle.prompt(Prompt::text(text).with_id(prompt(number))).unwrap();
    let result = finished(session).await;
    assert_eq!(result.outcome, Outcome::Success);
    result.model_usage.values().map(|used| used.usage.input_tokens).sum()
}

/// The prompts in the last request.
fn asked(model: &ScriptedModel) -> Vec<String> {
    let request = model.requests().pop().unwrap();
    request.messages.iter().filter_map(|message| words(message)).map(str::to_owned).collect()
}

#[tokio::test]
async fn the_next_prompt_continues_where_the_conversation_was_rewound_to_also_when_it_is_resumed() {
    let world = World::new();
    let model = model(&world);
    let mut session = kept(&world, &model).open().await.unwrap();
    for (number, text) in [(1, "one"), (2, "two"), (3, "three")] {
        run(&mut session, number, text).await;
    }
    let would = session.handle.conversation_changes(&prompt(2)).await.unwrap();
    assert_eq!((would.dropped, would.is_undo), (4, false));
    let (point, mark) = session.handle.rewind_conversation(&prompt(2)).await.unwrap();
    assert_eq!(point, would);
    // Taken back, then done again and continued.
    assert!(session.handle.rewind_conversation(&mark).await.unwrap().0.is_undo);
    run(&mut session, 4, "four").await;
    assert_eq!(asked(&model), ["one", "two", "three", "four"]);
    session.handle.rewind_conversation(&prompt(2)).await.unwrap();
    // Earlier spending is not forgotten.
    assert_eq!(run(&mut session, 5, "five").await, 500);
    assert_eq!(asked(&model), ["one", "five"]);
    // A prompt that left the conversation cannot be rewound to.
    let gone = session.handle.rewind_conversation(&prompt(3)).await;
    assert_eq!(gone.unwrap_err(), RewindError::NoSuchPrompt(prompt(3)));
    run(&mut session, 6, "six").await;
    assert_eq!(asked(&model), ["one", "five", "six"]);
    let id = session.handle.session_id().to_string();
    session.handle.close().await.unwrap();
    let mut again = kept(&world, &model).resume(id).open().await.unwrap();
    run(&mut again, 7, "seven").await;
    assert_eq!(asked(&model), ["one", "five", "six", "seven"]);
    // The log still has all of it.
    let log = std::fs::read_to_string(log_of(world.home.path())).unwrap();
    assert!(["three", "four"].iter().all(|text| log.contains(text)));
}

#[tokio::test]
async fn files_and_conversation_go_back_together_and_forth_again() {
    let world = World::new();
    let model = model(&world);
    let mut session = kept(&world, &model).open().await.unwrap();
    for (number, name) in [(1, "a"), (2, "b"), (3, "c")] {
        run(&mut session, number, &format!("write {name}")).await;
    }
    let there = |names: [bool; 3]| assert_eq!(["a", "b", "c"].map(|name| world.path(name).exists()), names);
    let done = session.handle.rewind(&prompt(2)).await.unwrap();
    there([true, false, false]);
    assert_eq!(done.files.unwrap().changed().count(), 2);
    let back = session.handle.rewind(&done.undo).await.unwrap();
    there([true, true, true]);
    assert!(back.conversation.is_undo);
    run(&mut session, 4, "more").await;
    assert_eq!(asked(&model).len(), 4);
    // A file that somebody else has changed stays, and is named.
    std::fs::write(world.path("c"), "mine").unwrap();
    let done = session.handle.rewind(&prompt(1)).await.unwrap();
    assert_eq!(done.files.unwrap().left().count(), 1);
    there([false, false, true]);
    run(&mut session, 5, "again").await;
    assert_eq!(asked(&model), ["again"]);
}

/// An edit needs a file that was read in this conversation, not in a part that is gone.
#[tokio::test]
async fn what_was_read_in_the_part_that_is_gone_was_not_read() {
    let world = World::new();
    std::fs::write(world.path("a"), "text").unwrap();
    let path = world.path("a");
    let read = json!({"file_path": path});
    let edit = json!({"file_path": path, "old_string": "text", "new_string": "word"});
    let script = Script::new()
        .turn(|turn| turn.tool_use("Read", read))
        .turn(|turn| turn.text("ok"))
        .turn(|turn| turn.tool_use("Edit", edit))
        .turn(|turn| turn.text("ok"));
    let model = ScriptedModel::new(script);
    let mut session = kept(&world, &model).open().await.unwrap();
    run(&mut session, 1, "read").await;
    session.handle.rewind_conversation(&prompt(1)).await.unwrap();
    run(&mut session, 2, "edit").await;
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "text");
    let request = model.requests().pop().unwrap();
    assert!(format!("{:?}", request.messages.last()).contains("has not been read"), "{:?}", request.messages.last());
}

#[tokio::test]
async fn a_rewind_waits_for_no_run_and_prompts_wait_for_a_rewind() {
    let world = World::new();
    let gate = Gate::new();
    let held = gate.clone();
    let model =
        ScriptedModel::from_fn(move |request, _| match request.messages.last().unwrap().text().contains("late") {
            true => ScriptedTurn::new().text("ok").gate(&held),
            false => ScriptedTurn::new().text("ok"),
        });
    let mut session = kept(&world, &model).open().await.unwrap();
    run(&mut session, 1, "one").await;
    session.handle.prompt(Prompt::text("late").with_id(prompt(2))).unwrap();
    assert_eq!(session.handle.rewind_conversation(&prompt(1)).await.unwrap_err(), RewindError::Running);
    assert_eq!(session.handle.conversation_changes(&prompt(1)).await.unwrap().kept, None);
    gate.open();
    assert_eq!(finished(&mut session).await.outcome, Outcome::Success);
    let handle = session.handle.clone();
    let rewinding = tokio::spawn(async move { handle.rewind_conversation(&prompt(2)).await });
    tokio::task::yield_now().await;
    session.handle.prompt(Prompt::text("three").with_id(prompt(3))).unwrap();
    assert_eq!(finished(&mut session).await.outcome, Outcome::Success);
    rewinding.await.unwrap().unwrap();
    assert_eq!(asked(&model), ["one", "three"]);
    let handle = session.handle.clone();
    session.handle.close().await.unwrap();
    assert_eq!(handle.rewind_conversation(&prompt(1)).await.unwrap_err(), RewindError::Closed);
}

#[tokio::test]
async fn a_session_that_is_not_kept_has_no_conversation_to_rewind() {
    let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("ok")));
    let mut session = session().provider(model).open().await.unwrap();
    run(&mut session, 1, "one").await;
    assert_eq!(session.handle.rewind_conversation(&prompt(1)).await.unwrap_err(), RewindError::NotKept);
    assert_eq!(session.handle.rewind(&prompt(1)).await.unwrap_err(), RewindError::NotKept);
}
