//! Hooks that are asked beside the work, about all calls of a message, or about what only the host sees; and calls that
//! hooks want to be decided later.

use crate::world::{In, Open, Ran, World, calls, key, model, soon, world};
use async_trait::async_trait;
use std::sync::{Arc, Mutex};
use windlass_context::{FileInstructions, InstructionSource};
use windlass_hook::{
    BatchAction, ConfigAction, FeedbackAction, Hook, HookContext, HookError, Interest, PreToolUseAction, hook_fn,
};
use windlass_model::{ScriptedModel, ScriptedTurn};
use windlass_permission::can_use_tool_fn;
use windlass_session::{MemoryStore, PendingAnswers, PendingQuestions, SessionStore, StoredAnswer};
use windlass_tool::{DynTool, tool_fn};
use windlass_types::hook::event::{ConfigChange, Notification};
use windlass_types::{
    ContentBlock, EventKind, HookCall, HookEventName, HookOutcome, ModelRequest, Outcome, PermissionAnswer, Timestamp,
};

/// A hook that is asked about everything, and keeps what it read.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<(HookEventName, String, String)>>>);

impl Seen {
    fn events(&self) -> Vec<HookEventName> {
        self.0.lock().unwrap().iter().map(|(event, ..)| *event).collect()
    }

    fn count(&self, event: HookEventName) -> usize {
        self.events().into_iter().filter(|seen| *seen == event).count()
    }

    fn json(&self, event: HookEventName) -> String {
        let seen = self.0.lock().unwrap();
        seen.iter().find(|(seen, ..)| *seen == event).map(|(.., json)| json.clone()).unwrap_or_default()
    }
}

#[async_trait]
impl Hook for Seen {
    fn name(&self) -> &str {
        "seen"
    }

    fn interests(&self) -> Vec<Interest> {
        HookEventName::ALL.iter().copied().map(Interest::all).collect()
    }

    async fn answer(&self, cx: &HookContext, call: &HookCall) -> Result<Option<HookOutcome>, HookError> {
        let json = serde_json::to_string(call)?;
        self.0.lock().unwrap().push((call.event(), cx.path.to_string(), json));
        Ok(Some(HookOutcome::default()))
    }
}

/// A tool that no rule allows.
fn risky(ran: &Ran) -> Arc<dyn DynTool> {
    let ran = ran.clone();
    Arc::new(tool_fn("risky", "Needs an answer.", move |_: In, cx| {
        ran.note(&cx);
        async { Ok("done") }
    }))
}

fn texts(request: &ModelRequest) -> String {
    let blocks = request.messages.iter().flat_map(|message| &message.content);
    blocks.filter_map(ContentBlock::as_text).collect::<Vec<_>>().join("\n")
}

async fn close(open: Open) {
    open.handle.close().await.unwrap();
}

#[tokio::test]
async fn a_question_and_its_denial_are_occasions() {
    let (seen, ran) = (Seen::default(), Ran::default());
    let mut world = world(calls("risky", 1), [risky(&ran)]).hook(seen.clone());
    world.host = Some(Arc::new(can_use_tool_fn(|_| async { PermissionAnswer::deny("Not today.") })));
    let mut open = world.open().await;
    open.succeed("go").await;
    close(open).await;
    assert_eq!((seen.count(HookEventName::Notification), seen.count(HookEventName::PermissionDenied)), (1, 1));
    assert!(seen.json(HookEventName::Notification).contains("permission_prompt"));
    let denied = seen.json(HookEventName::PermissionDenied);
    assert!(denied.contains("Not today.") && denied.contains(r#""tool_name":"risky""#), "{denied}");
    let batch = seen.json(HookEventName::PostToolBatch);
    assert!(batch.contains(r#""tool_response":"Not today.""#), "{batch}");
}

#[tokio::test]
async fn the_model_reads_what_observing_hooks_say_with_its_next_turn() {
    let ran = Ran::default();
    let asked = calls("risky", 1);
    let notify = hook_fn("notes")
        .on_permission_denied(["*"], |_| async { Ok(FeedbackAction::Feedback("Ask for less.".to_owned())) })
        .on_notification(|_: Notification| async { Err("no bell".into()) });
    let mut world = world(asked.clone(), [risky(&ran)]).hook(notify);
    world.host = Some(Arc::new(can_use_tool_fn(|_| async { PermissionAnswer::deny("No.") })));
    let mut open = world.open().await;
    open.succeed("go").await;
    open.succeed("again").await;
    close(open).await;
    let all: String = asked.requests().iter().map(|request| texts(request)).collect();
    assert!(all.contains(r#"Feedback of the hook "notes": Ask for less."#), "{all}");
    assert!(!all.contains("no bell"));
}

#[tokio::test]
async fn hooks_about_all_calls_add_context_or_end_the_run() {
    let ran = Ran::default();
    let asked = calls("act", 3);
    let adds = hook_fn("adds").after_tools(|batch| async move {
        let text = format!("{} calls were made", batch.tool_calls.len());
        Ok(BatchAction::AddContext(text))
    });
    let mut open = world(asked.clone(), [ran.act()]).hook(adds).open().await;
    open.succeed("go").await;
    close(open).await;
    assert!(texts(&asked.requests()[1]).contains("3 calls were made"));

    let asked = calls("act", 1);
    let stops = hook_fn("stops").after_tools(|_| async { Ok(BatchAction::StopRun { reason: "Enough.".to_owned() }) });
    let mut open = world(asked.clone(), [ran.act()]).hook(stops).open().await;
    let result = soon(open.run("go")).await;
    close(open).await;
    assert_eq!(result.outcome, Outcome::StoppedByHook { reason: "Enough.".to_owned() });
    assert_eq!(asked.requests().len(), 1, "the model was called again");
}

#[tokio::test]
async fn a_run_can_be_stopped_while_hooks_look_at_all_calls() {
    let ran = Ran::default();
    let hangs = hook_fn("hangs").after_tools(|_| std::future::pending());
    let mut open = world(calls("act", 1), [ran.act()]).hook(hangs).open().await;
    open.say("go");
    open.until(|kind| matches!(kind, EventKind::ToolFinished(_))).await;
    open.handle.interrupt().unwrap();
    let result = soon(open.result()).await;
    assert!(matches!(result.outcome, Outcome::Interrupted { .. }), "{:?}", result.outcome);
    soon(close(open)).await;
}

#[tokio::test]
async fn a_slow_observer_holds_nothing_up() {
    let ran = Ran::default();
    let hangs = hook_fn("hangs").on_notification(|_| std::future::pending());
    let mut world = world(calls("risky", 40), [risky(&ran)]).hook(hangs);
    world.host = Some(Arc::new(can_use_tool_fn(|_| async { PermissionAnswer::allow() })));
    let mut open = world.open().await;
    soon(open.succeed("go")).await;
    assert_eq!(ran.ids().len(), 40);
    soon(close(open)).await;
}

#[tokio::test]
async fn the_host_asks_hooks_about_what_only_it_sees() {
    let blocks = hook_fn("guard").on_config_change(|change| async move {
        Ok(match change.source.as_str() {
            "user_settings" => ConfigAction::Block { reason: "Frozen.".to_owned() },
            _ => ConfigAction::Continue,
        })
    });
    let open = world(calls("act", 0), []).hook(blocks).open().await;
    let change = |source: &str| ConfigChange { source: source.to_owned(), file_path: None };
    let outcome = soon(open.handle.ask_hooks(change("user_settings"))).await.unwrap();
    assert_eq!(outcome.block.map(|block| block.reason), Some("Frozen.".to_owned()));
    let outcome = soon(open.handle.ask_hooks(change("local_settings"))).await.unwrap();
    assert_eq!((outcome.block, outcome.ran), (None, vec!["guard".to_owned()]));
    let handle = open.handle.clone();
    close(open).await;
    assert!(handle.ask_hooks(change("user_settings")).await.is_err());
}

#[tokio::test]
async fn each_text_of_instructions_is_an_occasion_once() {
    let seen = Seen::default();
    let mut open = world(model(|_, _| ScriptedTurn::new().text("Done.")), []).hook(seen.clone()).open().await;
    let file = |source, text: &str| FileInstructions::new(source, "/w/sub/CLAUDE.md", text).unwrap();
    for text in ["Use tabs.", "Use tabs.", "Use blanks."] {
        open.handle.add_instructions(vec![file(InstructionSource::Project, text)]).unwrap();
    }
    open.handle.add_instructions(vec![file(InstructionSource::Host, "Not of a file.")]).unwrap();
    open.succeed("go").await;
    close(open).await;
    assert_eq!(seen.count(HookEventName::InstructionsLoaded), 2);
    let loaded = seen.json(HookEventName::InstructionsLoaded);
    assert!(loaded.contains(r#""memory_type":"Project","load_reason":"nested_traversal""#), "{loaded}");
}

/// A session whose hook wants calls to be decided later.
fn deferring(store: &MemoryStore, asked: ScriptedModel, ran: &Ran, waits: bool) -> World {
    let later = hook_fn("later").before_tool(["*"], |_| async { Ok(PreToolUseAction::defer("The owner decides.")) });
    let mut world = world(asked, [ran.act()]).hook(later).stored(store);
    world.wait = waits;
    // The callback would allow the call, and is not asked.
    world.host = Some(Arc::new(can_use_tool_fn(|_| async { PermissionAnswer::allow() })));
    world
}

#[tokio::test]
async fn a_deferred_call_is_kept_until_another_process_answers() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    // A rule allows the call.
    let mut open = deferring(&store, calls("act", 1), &ran, true).open().await;
    let result = soon(open.run("go")).await;
    close(open).await;
    assert!(matches!(result.outcome, Outcome::Pending { .. }), "{:?}", result.outcome);
    assert!(ran.ids().is_empty());
    let token = result.pending_questions[0].token.clone().unwrap();

    let done = || model(|_, _| ScriptedTurn::new().text("Done."));
    // Without an answer it stays open, and the host is not asked.
    let mut open = deferring(&store, done(), &ran, true).open().await;
    open.handle.continue_run().unwrap();
    assert!(matches!(soon(open.result()).await.outcome, Outcome::Pending { .. }));
    close(open).await;
    assert!(ran.ids().is_empty());

    let entries = store.load(&key("s")).await.unwrap().entries;
    let question = PendingQuestions::of(&entries).iter().next().cloned().unwrap();
    let answer = StoredAnswer::new(&key("s"), &question, token, true, Timestamp::default());
    store.give(&key("s"), &answer).await.unwrap();
    let mut open = deferring(&store, done(), &ran, true).open().await;
    open.handle.continue_run().unwrap();
    assert_eq!(soon(open.result()).await.outcome, Outcome::Success);
    close(open).await;
    assert_eq!(ran.ids().len(), 1);
}

#[tokio::test]
async fn a_deferred_call_is_denied_where_no_answer_is_waited_for() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let asked = calls("act", 1);
    let mut open = deferring(&store, asked.clone(), &ran, false).open().await;
    let result = soon(open.run("go")).await;
    close(open).await;
    assert_eq!((result.outcome, result.permission_denials.len(), ran.ids().len()), (Outcome::Success, 1, 0));
    let log = String::from_utf8(store.log(&key("s")).unwrap()).unwrap();
    assert!(log.contains("does not wait for answers"), "{log}");
}
