//! Questions of agents that outlive the process: answered by another process, and the agent continues where it waited.

use crate::agents::{agent, background_agent, last, prompt_of, results};
use crate::pending::{close, risky};
use crate::world::{Open, Ran, World, key, model, soon, world};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use windlass_hook::{Hook, HookContext, HookError, Interest};
use windlass_model::{ScriptedModel, ScriptedTurn};
use windlass_permission::can_use_tool_fn;
use windlass_session::{
    Durability, LogHeader, MemoryStore, Owner, PendingAnswers, SessionKey, SessionStore, StoredAnswer, StoredQuestion,
    stored_questions,
};
use windlass_tool::{DynTool, ToolCx, tool_fn};
use windlass_types::{
    Access, AgentIdentity, CallDigest, Entry, EntryId, EntryKind, EventKind, HookCall, HookEventName, HookOutcome,
    ModelRequest, Outcome, PermissionAnswer, PermissionRequest, QuestionToken, RunResult, Timestamp, WaitingCall,
};

/// The main agent starts agents with these inputs; each of them makes so many calls that need an answer, then reports.
fn starts(inputs: &'static [Value], calls: usize) -> ScriptedModel {
    starts_heard(inputs, calls, |_| {})
}

/// The same, and each request is looked at.
fn starts_heard(
    inputs: &'static [Value],
    calls: usize,
    hear: impl Fn(&ModelRequest) + Send + Sync + 'static,
) -> ScriptedModel {
    model(move |request, _| {
        hear(request);
        let is_first = request.messages.len() == 1;
        let asks = |turn: ScriptedTurn, at| turn.tool_use_with_id(format!("c{at}"), "risky", json!({}));
        match (prompt_of(request).as_str(), is_first) {
            ("go", true) => inputs
                .iter()
                .enumerate()
                .fold(ScriptedTurn::new(), |turn, (at, input)| turn.tool_use_with_id(format!("t{at}"), "agent", input)),
            ("go", false) => ScriptedTurn::new().text(format!("All done: {}", last(request))),
            ("nest", true) => ScriptedTurn::new().tool_use_with_id("n0", "agent", json!({"prompt": "inner"})),
            (_, true) => (0..calls).fold(ScriptedTurn::new(), asks),
            (prompt, false) => ScriptedTurn::new().text(format!("Report of {prompt}: {}", last(request))),
        }
    })
}

fn one() -> &'static [Value] {
    inputs(json!([{"prompt": "one"}]))
}

fn inputs(inputs: Value) -> &'static [Value] {
    let Value::Array(inputs) = inputs else { panic!("not a list") };
    inputs.leak()
}

fn waiting(model: ScriptedModel, store: &MemoryStore, ran: &Ran) -> World {
    let mut world = world(model, [agent(), risky(ran)]).stored(store);
    world.wait = true;
    world
}

fn pending(result: &RunResult, count: usize) -> Vec<PermissionRequest> {
    let Outcome::Pending { questions } = &result.outcome else { panic!("{:?}", result.outcome) };
    assert_eq!((questions.len(), result.pending_questions.len()), (count, count));
    result.pending_questions.clone()
}

/// A first process, which has ended without answers.
async fn suspended(model: ScriptedModel, store: &MemoryStore, ran: &Ran, count: usize) -> Vec<PermissionRequest> {
    let mut open = waiting(model, store, ran).open().await;
    let result = soon(open.run("go")).await;
    close(open).await;
    assert!(ran.ids().is_empty());
    pending(&result, count)
}

async fn listed(store: &MemoryStore) -> Vec<StoredQuestion> {
    stored_questions(store, &key("s")).await.unwrap()
}

async fn give(store: &MemoryStore, asked: &StoredQuestion, token: &QuestionToken, allow: bool) {
    let answer = StoredAnswer::new(&asked.key, &asked.question, token.clone(), allow, Timestamp::default());
    store.give(&asked.key, &answer).await.unwrap();
}

/// Answers all of them.
async fn answer(store: &MemoryStore, requests: &[PermissionRequest], allow: bool) {
    let listed = listed(store).await;
    assert_eq!(listed.len(), requests.len());
    for request in requests {
        let asked = listed.iter().find(|asked| asked.question.id == request.id).expect("it is not listed");
        assert_eq!(asked.agent, request.agent);
        give(store, asked, request.token.as_ref().unwrap(), allow).await;
    }
}

/// Another process that continues the run: its result, and what calls gave.
async fn continued(model: ScriptedModel, store: &MemoryStore, ran: &Ran) -> (RunResult, Vec<(String, String)>) {
    let mut open = waiting(model, store, ran).open().await;
    go_on(&mut open).await
}

async fn go_on(open: &mut Open) -> (RunResult, Vec<(String, String)>) {
    open.handle.continue_run().unwrap();
    let mut events = Vec::new();
    loop {
        let event = soon(open.next()).await.unwrap();
        let ended = match &event.kind {
            EventKind::RunFinished(result) if event.agent.is_main() => Some(result.clone()),
            _ => None,
        };
        events.push(event);
        if let Some(result) = ended {
            soon(open.handle.close()).await.unwrap();
            return (result, results(&events));
        }
    }
}

#[tokio::test]
async fn an_answer_from_elsewhere_lets_the_agent_go_on_where_it_waited() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let requests = suspended(starts(one(), 1), &store, &ran, 1).await;
    assert_eq!((requests[0].agent.to_string(), requests[0].tool.as_str()), ("t0".to_owned(), "risky"));
    assert_eq!(requests[0].identity.as_ref().unwrap().agent_type, "scout");
    answer(&store, &requests, true).await;
    let (result, given) = continued(starts(one(), 1), &store, &ran).await;
    assert_eq!((result.outcome, ran.ids()), (Outcome::Success, vec!["c0".to_owned()]));
    assert!(result.text.contains("Report of one"), "{}", result.text);
    assert_eq!(given.len(), 2, "{given:?}");
    assert_eq!((given[0].0.as_str(), given[0].1.as_str()), ("t0", "done"));
    assert!(listed(&store).await.is_empty());
    // There is nothing left to continue.
    assert!(matches!(continued(starts(one(), 1), &store, &ran).await.0.outcome, Outcome::Failed(_)));
    assert_eq!(ran.ids().len(), 1);
}

#[tokio::test]
async fn the_same_process_continues_as_well() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let mut open = waiting(starts(one(), 1), &store, &ran).open().await;
    let requests = pending(&soon(open.run("go")).await, 1);
    answer(&store, &requests, true).await;
    let (result, _) = go_on(&mut open).await;
    assert_eq!((result.outcome, ran.ids().len()), (Outcome::Success, 1));
}

#[tokio::test]
async fn a_denial_is_read_by_the_agent() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let requests = suspended(starts(one(), 1), &store, &ran, 1).await;
    answer(&store, &requests, false).await;
    let (result, _) = continued(starts(one(), 1), &store, &ran).await;
    assert_eq!((result.outcome, ran.ids().len()), (Outcome::Success, 0));
    assert!(result.text.contains("Report of one") && result.text.contains("was not approved"), "{}", result.text);
}

/// A run that continues without waiting denies unanswered questions, and a host that is asked answers now.
#[tokio::test]
async fn an_agent_continues_in_a_run_that_does_not_wait() {
    for asks in [false, true] {
        let (store, ran) = (MemoryStore::new(), Ran::default());
        suspended(starts(one(), 1), &store, &ran, 1).await;
        let mut world = waiting(starts(one(), 1), &store, &ran);
        world.wait = false;
        if asks {
            world.host = Some(Arc::new(can_use_tool_fn(|_| async { PermissionAnswer::allow() })));
        }
        let mut open = world.open().await;
        let (result, _) = go_on(&mut open).await;
        assert_eq!((result.outcome, ran.ids().len()), (Outcome::Success, usize::from(asks)));
        assert!(result.text.contains("Report of one"), "{}", result.text);
    }
}

/// A host answers what an earlier opening has asked, also while it waits for answers of others.
#[tokio::test]
async fn a_host_answers_an_agent_that_continues() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let requests = suspended(starts(one(), 1), &store, &ran, 1).await;
    let mut world = waiting(starts(one(), 1), &store, &ran);
    let id = requests[0].id.clone();
    world.host = Some(Arc::new(can_use_tool_fn(move |request: PermissionRequest| {
        assert_eq!((&request.id, request.agent.to_string()), (&id, "t0".to_owned()));
        async { PermissionAnswer::allow() }
    })));
    let mut open = world.open().await;
    let (result, _) = go_on(&mut open).await;
    assert_eq!((result.outcome, ran.ids().len()), (Outcome::Success, 1));
}

#[tokio::test]
async fn several_questions_of_an_agent_are_answered_one_by_one() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let requests = suspended(starts(one(), 2), &store, &ran, 2).await;
    let first = listed(&store).await.into_iter().find(|asked| asked.question.id == requests[0].id).unwrap();
    give(&store, &first, requests[0].token.as_ref().unwrap(), true).await;
    let (result, _) = continued(starts(one(), 2), &store, &ran).await;
    let left = pending(&result, 1);
    // The same question: who opens the session gets a token of their own, and the one before still counts.
    assert_eq!((&left[0].id, left[0].token.is_some(), ran.ids().len()), (&requests[1].id, true, 1));
    assert_ne!(left[0].token, requests[1].token);
    answer(&store, &requests[1..], true).await;
    let (result, _) = continued(starts(one(), 2), &store, &ran).await;
    assert_eq!((result.outcome, ran.ids().len()), (Outcome::Success, 2));
}

#[tokio::test]
async fn without_an_answer_it_waits_on_under_the_same_name() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let requests = suspended(starts(one(), 1), &store, &ran, 1).await;
    for _ in 0..3 {
        let (result, _) = continued(starts(one(), 1), &store, &ran).await;
        assert_eq!(pending(&result, 1)[0].id, requests[0].id);
    }
    let asked = listed(&store).await.remove(0);
    // Each opening has a token of its own; the first one still counts.
    let first = windlass_session::token_hash(requests[0].token.as_ref().unwrap());
    assert_eq!((asked.question.earlier_tokens.len(), asked.question.earlier_tokens.last()), (3, Some(&first)));
    let entries = store.load(&asked.key).await.unwrap().entries;
    let questions = entries.iter().filter_map(|entry| match &entry.kind {
        EntryKind::Question(question) => Some(&question.id),
        _ => None,
    });
    assert!(questions.clone().count() > 0 && questions.clone().all(|id| *id == requests[0].id));
    answer(&store, &requests, true).await;
    let (result, _) = continued(starts(one(), 1), &store, &ran).await;
    assert_eq!((result.outcome, ran.ids().len()), (Outcome::Success, 1));
}

#[tokio::test]
async fn an_answer_that_does_not_fit_never_runs_the_call() {
    let wrong: [fn(&mut StoredAnswer); 5] = [
        |answer| answer.token = QuestionToken::new("wrong"),
        |answer| answer.session = "another".into(),
        |answer| answer.agent = Some("another".into()),
        |answer| answer.agent = None,
        |answer| answer.digest = CallDigest::new("another"),
    ];
    for (at, change) in wrong.into_iter().enumerate() {
        let (store, ran) = (MemoryStore::new(), Ran::default());
        let requests = suspended(starts(one(), 1), &store, &ran, 1).await;
        let asked = listed(&store).await.remove(0);
        let token = requests[0].token.clone().unwrap();
        let mut answer = StoredAnswer::new(&asked.key, &asked.question, token, true, Timestamp::default());
        change(&mut answer);
        store.give(&asked.key, &answer).await.unwrap();
        let (result, _) = continued(starts(one(), 1), &store, &ran).await;
        let left = pending(&result, 1);
        assert!(left[0].id != requests[0].id && left[0].token.is_some() && ran.ids().is_empty(), "{at}");
    }
}

#[tokio::test]
async fn a_question_of_an_agent_of_an_agent_goes_up_and_its_answer_down() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let nested = inputs(json!([{"prompt": "nest"}]));
    let requests = suspended(starts(nested, 1), &store, &ran, 1).await;
    assert_eq!(requests[0].agent.to_string(), "t0/n0");
    answer(&store, &requests, true).await;
    let (result, _) = continued(starts(nested, 1), &store, &ran).await;
    assert_eq!((result.outcome, ran.ids().len()), (Outcome::Success, 1));
    assert!(result.text.contains("Report of nest") && result.text.contains("Report of inner"), "{}", result.text);
}

#[tokio::test]
async fn two_agents_wait_and_one_of_them_ends_first() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let two = inputs(json!([{"prompt": "one"}, {"prompt": "two"}]));
    let requests = suspended(starts(two, 1), &store, &ran, 2).await;
    let listed = listed(&store).await;
    let first = listed.iter().find(|asked| asked.question.id == requests[0].id).unwrap();
    give(&store, first, requests[0].token.as_ref().unwrap(), true).await;
    let (result, _) = continued(starts(two, 1), &store, &ran).await;
    assert_eq!((pending(&result, 1)[0].id.clone(), ran.ids().len()), (requests[1].id.clone(), 1));
    answer(&store, &requests[1..], true).await;
    let (result, _) = continued(starts(two, 1), &store, &ran).await;
    assert_eq!((result.outcome, ran.ids().len()), (Outcome::Success, 2));
    assert!(result.text.contains("Report of one") && result.text.contains("Report of two"), "{}", result.text);
}

/// An agent in the background, one that the tool does not run again, and one of a session that is not kept.
#[tokio::test]
async fn agents_that_cannot_be_continued_are_denied_with_words() {
    let never = inputs(json!([{"prompt": "one", "never_waits": true}]));
    for (inputs, background, kept) in [(one(), true, true), (never, false, true), (one(), false, false)] {
        let (store, ran) = (MemoryStore::new(), Ran::default());
        let heard = Arc::new(AtomicUsize::new(0));
        let hears = Arc::clone(&heard);
        let script = starts_heard(inputs, 1, move |request| {
            let reads = last(request).contains("Calls of this agent do not wait") && prompt_of(request) == "one";
            hears.fetch_add(usize::from(reads), Relaxed);
        });
        let tool = if background { background_agent() } else { agent() };
        let mut world = world(script, [tool, risky(&ran)]);
        if kept {
            world = world.stored(&store);
        }
        world.wait = true;
        let mut open = world.open().await;
        let result = soon(open.run("go")).await;
        assert_eq!(result.outcome, Outcome::Success, "{background} {kept}");
        soon(open.handle.quiet()).await;
        close(open).await;
        assert_eq!((heard.load(Relaxed), ran.ids().len()), (1, 0), "{background} {kept}");
    }
}

#[tokio::test]
async fn another_prompt_withdraws_the_questions_of_agents() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let requests = suspended(starts(one(), 1), &store, &ran, 1).await;
    let asked = listed(&store).await.remove(0);
    let mut open = waiting(starts(one(), 1), &store, &ran).open().await;
    let result = soon(open.run("something else")).await;
    close(open).await;
    assert!(result.text.contains("the user sent another message instead"), "{}", result.text);
    assert!(listed(&store).await.is_empty());
    // An answer comes too late.
    give(&store, &asked, requests[0].token.as_ref().unwrap(), true).await;
    assert!(matches!(continued(starts(one(), 1), &store, &ran).await.0.outcome, Outcome::Failed(_)));
    assert!(ran.ids().is_empty());
}

#[tokio::test]
async fn an_agent_whose_log_is_lost_ends_its_call_with_an_error() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    suspended(starts(one(), 1), &store, &ran, 1).await;
    let agent = listed(&store).await.remove(0).key;
    store.delete(&agent).await.unwrap();
    assert!(listed(&store).await.is_empty());
    let (result, given) = continued(starts(one(), 1), &store, &ran).await;
    assert_eq!(result.outcome, Outcome::Success);
    assert!(given[0].1.contains("The agent could not be continued"), "{given:?}");
    assert!(ran.ids().is_empty());
}

/// The process dies between the question and the end of the run: the run continues, the agent of the call does not.
#[tokio::test]
async fn a_question_whose_call_the_log_does_not_keep_open_is_not_listed() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    suspended(starts(one(), 1), &store, &ran, 1).await;
    let entries = store.load(&key("s")).await.unwrap().entries;
    let cut = entries.iter().position(|entry| matches!(entry.kind, EntryKind::AgentWaits(_))).unwrap();
    let copy = copied(&store, entries[..cut].to_vec()).await;
    assert!(listed(&copy).await.is_empty());
    let (result, _) = continued(starts(one(), 1), &copy, &ran).await;
    assert_eq!(result.outcome, Outcome::Success);
    assert!(result.text.contains("The outcome of this call is unknown"), "{}", result.text);
    assert!(ran.ids().is_empty());
}

/// Another store with another main log and the same logs of agents.
async fn copied(store: &MemoryStore, main: Vec<Entry>) -> MemoryStore {
    let (copy, owner) = (MemoryStore::new(), Owner::new(1, "test"));
    copy.create(&key("s"), &owner, LogHeader::new("/w", "0", "test"), main).await.unwrap();
    for agent in store.agents(&key("s")).await.unwrap() {
        let key = key("s").of_agent(agent.id);
        let entries = store.load(&key).await.unwrap().entries;
        copy.create(&key, &owner, LogHeader::new("/w", "0", "test"), entries).await.unwrap();
    }
    copy
}

/// The process dies while a host is asked: what is stored then is all that is left.
#[tokio::test]
async fn a_kill_while_an_agent_asks_leaves_its_question() {
    for nested in [false, true] {
        let prompts = if nested { inputs(json!([{"prompt": "nest"}])) } else { one() };
        let (store, ran) = (MemoryStore::new(), Ran::default());
        let mut world = waiting(starts(prompts, 1), &store, &ran);
        world.ask_via_events = true;
        let mut open = world.open().await;
        open.say("go");
        let events = soon(open.until(|kind| matches!(kind, EventKind::PermissionRequested(_)))).await;
        let Some(EventKind::PermissionRequested(request)) = events.last().map(|event| event.kind.clone()) else {
            panic!()
        };
        let entries = store.load(&key("s")).await.unwrap().entries;
        let killed = copied(&store, entries).await;
        answer(&killed, &[request], true).await;
        let (result, _) = continued(starts(prompts, 1), &killed, &ran).await;
        assert_eq!((result.outcome, ran.ids().len()), (Outcome::Success, 1), "{nested}");
        assert!(result.text.contains(if nested { "Report of nest" } else { "Report of one" }), "{}", result.text);
        close(open).await;
    }
}

/// The process dies when the call has begun again and its agent has not: the question is still open.
#[tokio::test]
async fn a_kill_before_the_agent_continues_leaves_its_question() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let requests = suspended(starts(one(), 1), &store, &ran, 1).await;
    let mut entries = store.load(&key("s")).await.unwrap().entries;
    let mut begun = entries.iter().find(|entry| matches!(entry.kind, EntryKind::Intent { .. })).unwrap().clone();
    begun.id = EntryId::from_bits(7);
    entries.push(begun);
    let killed = copied(&store, entries).await;
    answer(&killed, &requests, true).await;
    let (result, _) = continued(starts(one(), 1), &killed, &ran).await;
    assert_eq!((result.outcome, ran.ids().len()), (Outcome::Success, 1));
    assert!(listed(&killed).await.is_empty());
}

/// The process dies when the agent is at work again: what came of that is not known, and nothing runs again.
#[tokio::test]
async fn a_kill_behind_the_answer_leaves_nothing_to_continue() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let begun = Arc::new(tokio::sync::Notify::new());
    let begins = Arc::clone(&begun);
    let call = move |_: crate::world::In, _: ToolCx| {
        begins.notify_one();
        async { std::future::pending::<Result<String, windlass_tool::ToolError>>().await }
    };
    let never: Arc<dyn DynTool> = Arc::new(tool_fn("risky", "Never ends.", call));
    let mut world = world(starts(one(), 1), [agent(), never]).stored(&store);
    (world.wait, world.ask_via_events) = (true, true);
    let mut open = world.open().await;
    open.say("go");
    let events = soon(open.until(|kind| matches!(kind, EventKind::PermissionRequested(_)))).await;
    let Some(EventKind::PermissionRequested(request)) = events.last().map(|event| &event.kind) else { panic!() };
    open.handle.answer(&request.id, PermissionAnswer::allow()).unwrap();
    soon(begun.notified()).await;
    let killed = copied(&store, store.load(&key("s")).await.unwrap().entries).await;
    assert!(listed(&killed).await.is_empty());
    let mut again = waiting(starts(one(), 1), &killed, &ran).open().await;
    assert!(again.pending.is_empty());
    let result = soon(again.run("and now?")).await;
    assert!(result.text.contains("is unknown"), "{}", result.text);
    close(again).await;
    assert!(ran.ids().is_empty());
    soon(open.handle.close()).await.unwrap();
}

/// A log that names itself as that of an agent is read once, and makes no call run.
#[tokio::test]
async fn a_log_that_names_agents_in_a_circle_is_read_once() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    suspended(starts(one(), 1), &store, &ran, 1).await;
    let agent = listed(&store).await.remove(0);
    let itself = AgentIdentity::new(agent.key.agent.clone().unwrap(), "scout");
    let (call, line) = (agent.question.tool_use_id.clone(), agent.question.assistant.clone());
    let circle = WaitingCall::new(call.clone(), line.clone(), itself);
    let digest = agent.question.digest.clone();
    let begun = EntryKind::Intent { tool_use_id: call, assistant: line, digest };
    let lease = store.open(&agent.key, &Owner::new(1, "evil"), LogHeader::default()).await.unwrap();
    let at = |bits, kind| Entry::new(EntryId::from_bits(bits), None, Timestamp::default(), kind);
    let entries = vec![at(5, begun), at(6, EntryKind::AgentWaits(circle))];
    store.append(&lease, lease.seq(), entries, Durability::Durable).await.unwrap();
    store.close(lease).await.unwrap();
    assert!(listed(&store).await.is_empty());
    assert!(matches!(continued(starts(one(), 1), &store, &ran).await.0.outcome, Outcome::Failed(_)));
    assert!(ran.ids().is_empty());
}

/// The occasions of agents that hooks were asked on.
#[derive(Debug, Clone, Default)]
struct Seen(Arc<Mutex<Vec<HookEventName>>>);

#[async_trait::async_trait]
impl Hook for Seen {
    fn name(&self) -> &str {
        "seen"
    }

    fn interests(&self) -> Vec<Interest> {
        [HookEventName::SubagentStart, HookEventName::SubagentStop].map(Interest::all).into()
    }

    async fn answer(&self, _: &HookContext, call: &HookCall) -> Result<Option<HookOutcome>, HookError> {
        self.0.lock().unwrap().push(call.event());
        Ok(None)
    }
}

#[tokio::test]
async fn hooks_of_an_agent_see_its_beginning_and_its_end_once() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let hooks = Seen::default();
    let mut world = waiting(starts(one(), 1), &store, &ran).hook(hooks.clone());
    world.wait = true;
    let mut open = world.open().await;
    let requests = pending(&soon(open.run("go")).await, 1);
    close(open).await;
    assert_eq!(std::mem::take(&mut *hooks.0.lock().unwrap()), [HookEventName::SubagentStart]);
    answer(&store, &requests, true).await;
    let mut open = waiting(starts(one(), 1), &store, &ran).hook(hooks.clone()).open().await;
    assert_eq!(go_on(&mut open).await.0.outcome, Outcome::Success);
    assert_eq!(std::mem::take(&mut *hooks.0.lock().unwrap()), [HookEventName::SubagentStop]);
}

/// A tool that reads the error of an agent that waits, in place of handing it on, has ended: its result counts.
#[tokio::test]
async fn a_tool_that_answers_by_itself_does_not_stay_open() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    let call = |_: crate::world::In, cx: ToolCx| async move {
        let mut spec = windlass_tool::AgentSpec::new("a1".into(), "scout", "one");
        spec.may_wait = true;
        let ended = cx.agents()?.run(spec, cx.cancel().clone()).await;
        Ok(ended.map_or_else(|error| error.model_text().to_owned(), |report| report.text))
    };
    let tool: Arc<dyn DynTool> = Arc::new(tool_fn("agent", "Runs an agent.", call).with_access(Access::Agents));
    let mut world = world(starts(one(), 1), [tool, risky(&ran)]).stored(&store);
    world.wait = true;
    let mut open = world.open().await;
    let result = soon(open.run("go")).await;
    close(open).await;
    assert!(result.text.contains("The agent waits for an answer"), "{}", result.text);
    assert!(listed(&store).await.is_empty(), "no call is open for it");
}

fn keys(store: &[StoredQuestion]) -> Vec<SessionKey> {
    store.iter().map(|asked| asked.key.clone()).collect()
}

/// An opening reports the same questions as the store lists.
#[tokio::test]
async fn an_opening_names_the_questions_of_agents() {
    let (store, ran) = (MemoryStore::new(), Ran::default());
    suspended(starts(one(), 1), &store, &ran, 1).await;
    let open = waiting(starts(one(), 1), &store, &ran).open().await;
    assert_eq!(keys(&open.pending), keys(&listed(&store).await));
    assert_eq!(open.pending.len(), 1);
    close(open).await;
}
