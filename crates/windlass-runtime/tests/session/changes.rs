//! Changes while a session is open.

use crate::world::{Ran, key, look, model, soon, world};
use serde_json::json;
use std::sync::{Arc, Mutex};
use windlass_model::ScriptedTurn;
use windlass_runtime::Prompt;
use windlass_session::{MemoryStore, SessionStore};
use windlass_tool::{ToolSet, tool_fn};
use windlass_types::{Access, ContentBlock, EntryKind, EventKind, ModelRequest, Outcome, Role};

fn names(request: &ModelRequest) -> Vec<String> {
    request.tools.iter().map(|tool| tool.name.clone()).collect()
}

#[tokio::test]
async fn new_tools_are_offered_from_the_next_request_on() {
    let offered = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&offered);
    let script = model(move |request, number| {
        seen.lock().unwrap().push(names(request));
        match number {
            0 => ScriptedTurn::new().tool_use("look", json!({})),
            1 => ScriptedTurn::new().tool_use("look", json!({})).tool_use("later", json!({})),
            _ => ScriptedTurn::new().text("Done."),
        }
    });
    let swap = Arc::new(Mutex::new(None::<windlass_runtime::SessionHandle>));
    let handle = Arc::clone(&swap);
    let tool = look(move |_, _| {
        let later = tool_fn("later", "Comes later.", |_: crate::world::In, _| async { Ok("late") });
        let tools = ToolSet::new([Arc::new(later.with_access(Access::NOTHING)) as _]).unwrap();
        if let Some(handle) = &*handle.lock().unwrap() {
            handle.set_tools(tools).unwrap();
        }
        async { Ok("looked".to_owned()) }
    });
    let mut open = world(script, [tool]).open().await;
    *swap.lock().unwrap() = Some(open.handle.clone());
    open.say("go");
    let events = soon(open.until(|kind| matches!(kind, EventKind::RunFinished(_)))).await;
    let results: Vec<(String, bool)> = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::ToolFinished(finished) => Some((finished.tool.clone(), finished.result.is_error)),
            _ => None,
        })
        .collect();
    // The call that was read before the change still ran; afterwards its tool is unknown.
    let mut rest = results.get(1..).unwrap().to_vec();
    rest.sort();
    assert_eq!(results.first(), Some(&("look".to_owned(), false)));
    assert_eq!(rest, [("later".to_owned(), false), ("look".to_owned(), true)]);
    // Listed tools stay in the requests, and new ones are added behind them.
    assert_eq!(*offered.lock().unwrap(), [vec!["look"], vec!["look", "later"], vec!["look", "later"]]);
}

#[tokio::test]
async fn a_note_is_read_with_the_next_prompt_and_not_answered() {
    let requests = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&requests);
    let script = model(move |request, _| {
        seen.lock().unwrap().push(request.messages.clone());
        ScriptedTurn::new().text("Hello.")
    });
    let mut open = world(script, [Ran::default().act()]).open().await;
    open.handle.note(vec![ContentBlock::text("the build is red")]).unwrap();
    let result = soon(open.result()).await;
    assert_eq!((result.outcome, result.turns, result.text.as_str()), (Outcome::Success, 0, ""));
    assert!(requests.lock().unwrap().is_empty());
    open.succeed("why?").await;
    let requests = requests.lock().unwrap();
    let messages = requests.first().unwrap();
    assert_eq!(messages.len(), 1, "one message of the user holds both");
    assert_eq!(messages[0].role, Role::User);
    let texts: Vec<&str> = messages[0].content.iter().filter_map(ContentBlock::as_text).collect();
    assert_eq!(texts, ["the build is red", "why?"]);
}

const UUID: &str = "0e6f2f0a-1111-4111-8111-0123456789ab";

/// A prompt keeps the id that its host gave it, unless the log has that id already.
#[tokio::test]
async fn hosts_may_name_their_prompts() {
    let store = MemoryStore::new();
    let script = || model(|_, _| ScriptedTurn::new().text("Hello."));
    let mut open = world(script(), []).stored(&store).open().await;
    let prompt = |text: &str, id: &str| Prompt::text(text).with_id(id.into());
    for (text, id) in [("one", UUID), ("two", UUID), ("three", "no uuid")] {
        open.handle.prompt(prompt(text, id)).unwrap();
        assert_eq!(soon(open.result()).await.outcome, Outcome::Success);
    }
    soon(open.handle.close()).await.unwrap();
    // Again after it was loaded.
    let mut open = world(script(), []).stored(&store).open().await;
    open.handle.prompt(prompt("four", UUID)).unwrap();
    assert_eq!(soon(open.result()).await.outcome, Outcome::Success);
    soon(open.handle.close()).await.unwrap();
    let log = store.load(&key("s")).await.unwrap();
    let prompts: Vec<(&str, &str)> = log
        .entries
        .iter()
        .filter_map(|entry| match &entry.kind {
            EntryKind::User(user) => Some((entry.id.as_str(), user.content.first()?.as_text()?)),
            _ => None,
        })
        .collect();
    assert_eq!(prompts.iter().map(|(_, text)| *text).collect::<Vec<_>>(), ["one", "two", "three", "four"]);
    assert_eq!(prompts.iter().filter(|(id, _)| *id == UUID).count(), 1);
    assert_eq!(prompts[0].0, UUID);
    let ids: std::collections::BTreeSet<&str> = prompts.iter().map(|(id, _)| *id).collect();
    assert_eq!(ids.len(), 4);
}
