//! Agents below the main one: their events for the host, their rights, and their ends.

use crate::world::{In, Open, Ran, act, is_started, key, model, soon, world};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use windlass_hook::{Hook, HookContext, HookError, Interest};
use windlass_model::{ScriptedModel, ScriptedTurn};
use windlass_permission::can_use_tool_fn;
use windlass_session::{MemoryStore, SessionStore};
use windlass_tool::{
    AgentReport, AgentSpec, Annotations, DynTool, InterruptBehavior, PreparedCall, TaskOutcome, TaskSpec, ToolCx,
    ToolError, tool_fn,
};
use windlass_types::{
    Access, AgentPath, Event, EventKind, HookCall, HookEventName, HookOutcome, JsonText, ModelRequest, Outcome,
    PermissionAnswer, PermissionMode, PermissionUpdate, RuleValue, StateChange, TaskKind, TaskStatus, ToolSpec,
    UpdateDestination,
};

/// Runs an agent with a prompt; other fields of the input set its rights.
pub(crate) fn agent() -> Arc<dyn DynTool> {
    let call = |input: In, cx: ToolCx| async move {
        let spec = spec_of(&input, &cx);
        let report = cx.agents()?.run(spec, cx.cancel().clone()).await?;
        Ok(said(&report))
    };
    Arc::new(tool_fn("agent", "Runs an agent.", call).with_access(Access::Agents))
}

/// The same in the background.
pub(crate) fn background_agent() -> Arc<dyn DynTool> {
    let call = |input: In, cx: ToolCx| async move {
        let mut spec = spec_of(&input, &cx);
        spec.task = Some("a1".into());
        let agents = Arc::clone(cx.agents()?);
        let task = TaskSpec::new(TaskKind::LocalAgent, "look around").with_agent("a1".into(), "scout");
        cx.background()?.start(
            task,
            Box::new(move |task| {
                Box::pin(async move {
                    match agents.run(spec, task.cancel).await {
                        Ok(report) => {
                            let mut outcome = TaskOutcome::new(TaskStatus::Completed, "It is done.");
                            (outcome.usage, outcome.report) = (Some(report.usage), Some(said(&report)));
                            outcome
                        }
                        Err(error) => TaskOutcome::new(TaskStatus::Failed, error.model_text()),
                    }
                })
            }),
        )?;
        Ok::<_, ToolError>("It continues.".to_owned())
    };
    Arc::new(tool_fn("agent", "Runs an agent.", call).with_access(Access::Agents))
}

fn spec_of(input: &In, cx: &ToolCx) -> AgentSpec {
    let text = |name: &str| input.get(name).and_then(Value::as_str).map(str::to_owned);
    let id = format!("a-{}", cx.tool_use_id());
    let mut spec = AgentSpec::new(id.as_str().into(), "scout", text("prompt").unwrap_or_default());
    spec.rights.tools = text("tools").map(|tools| tools.split(',').map(str::to_owned).collect());
    spec.rights.disallowed_tools = text("deny").into_iter().collect();
    (spec.model, spec.chooses_model) = (text("model").or(text("own_model")), input.contains_key("model"));
    spec.rights.permission_mode = text("mode").map(|mode| mode.parse().unwrap());
    spec.may_wait = !input.contains_key("never_waits");
    spec
}

fn said(report: &AgentReport) -> String {
    let outcome = match &report.outcome {
        Outcome::Success => "done".to_owned(),
        other => format!("{other:?}"),
    };
    format!("{outcome}: {} ({} tool uses)", report.text, report.usage.tool_uses)
}

/// The first prompt of the agent whose request this is.
pub(crate) fn prompt_of(request: &ModelRequest) -> String {
    request.messages.first().and_then(|message| message.content.first()?.as_text()).unwrap_or_default().to_owned()
}

pub(crate) fn last(request: &ModelRequest) -> String {
    let content = &request.messages.last().unwrap().content;
    content.iter().map(|block| serde_json::to_string(block).unwrap()).collect::<Vec<_>>().join("\n")
}

/// The main agent starts agents with these inputs at once; each of those makes one call of `tool`.
fn starts(inputs: &'static [Value], tool: &'static str) -> ScriptedModel {
    model(move |request, _| {
        let is_first = request.messages.len() == 1;
        match (prompt_of(request).as_str(), is_first) {
            ("go", true) => inputs
                .iter()
                .enumerate()
                .fold(ScriptedTurn::new(), |turn, (at, input)| turn.tool_use_with_id(format!("t{at}"), "agent", input)),
            ("go", false) => ScriptedTurn::new().text("All done."),
            (_, true) => ScriptedTurn::new().tool_use_with_id("c", tool, json!({})),
            (prompt, false) => ScriptedTurn::new().text(format!("Report of {prompt}.")),
        }
    })
}

fn inputs(inputs: Value) -> &'static [Value] {
    let Value::Array(inputs) = inputs else { panic!("not a list") };
    inputs.leak()
}

fn below(id: &str) -> AgentPath {
    AgentPath::default().child(id.into())
}

async fn all(open: &mut Open) -> Vec<Event> {
    open.say("go");
    let mut events = Vec::new();
    loop {
        let event = soon(open.next()).await.unwrap();
        let end = event.agent.is_main() && matches!(event.kind, EventKind::RunFinished(_));
        events.push(event);
        if end {
            return events;
        }
    }
}

pub(crate) fn results(events: &[Event]) -> Vec<(String, String)> {
    let result = |event: &Event| match &event.kind {
        EventKind::ToolFinished(finished) => Some((event.agent.to_string(), finished.result.content.text())),
        _ => None,
    };
    events.iter().filter_map(result).collect()
}

#[tokio::test]
async fn an_agent_reports_and_its_events_come_under_its_path() {
    let ran = Ran::default();
    let (store, model) = (MemoryStore::new(), starts(inputs(json!([{"prompt": "one"}])), "act"));
    let mut open = world(model, [agent(), ran.act()]).stored(&store).open().await;
    let events = all(&mut open).await;
    assert_eq!(
        results(&events),
        [("t0".to_owned(), "done".to_owned()), (String::new(), "done: Report of one. (1 tool uses)".to_owned())]
    );
    assert!(events.iter().enumerate().all(|(at, event)| event.seq == at as u64), "no gap");
    let of_agent: Vec<&Event> = events.iter().filter(|event| !event.agent.is_main()).collect();
    assert!(of_agent.iter().all(|event| event.agent == below("t0")));
    let EventKind::RunStarted(started) = &of_agent.first().unwrap().kind else { panic!("{of_agent:?}") };
    assert_eq!(started.identity.as_ref().unwrap().agent_type, "scout");
    assert!(matches!(of_agent.last().unwrap().kind, EventKind::RunFinished(_)));
    let EventKind::RunFinished(result) = &events.last().unwrap().kind else { panic!() };
    assert_eq!(result.turns, 2);
    // Two calls of the main agent and two of the other one, at 100 tokens each, or as the script has it.
    let calls = events.iter().filter(|event| matches!(event.kind, EventKind::UsageUpdated { .. })).count();
    let all: u64 = events
        .iter()
        .filter_map(|event| match &event.kind {
            EventKind::UsageUpdated { usage, .. } => Some(usage.output_tokens),
            _ => None,
        })
        .sum();
    assert_eq!((calls, result.model_usage.values().map(|usage| usage.usage.output_tokens).sum::<u64>()), (4, all));
    open.handle.close().await.unwrap();
    // Each agent has a log of its own.
    let main = store.load(&key("s")).await.unwrap();
    let agent = store.load(&key("s").of_agent("a-t0".into())).await.unwrap();
    assert_eq!((main.report.messages, agent.report.messages), (4, 4));
    assert_eq!(store.list(&key("s").project).await.unwrap().len(), 1);
}

#[tokio::test]
async fn agents_run_side_by_side() {
    let meeting = Arc::new(tokio::sync::Barrier::new(2));
    let both = act(move |_, _| {
        let meeting = Arc::clone(&meeting);
        async move {
            meeting.wait().await;
            Ok("met".to_owned())
        }
    });
    let model = starts(inputs(json!([{"prompt": "one"}, {"prompt": "two"}])), "act");
    let mut open = world(model, [agent(), both]).open().await;
    let events = all(&mut open).await;
    let of = |path: &str| results(&events).into_iter().filter(|(of, _)| of == path).collect::<Vec<_>>();
    assert_eq!((of("t0").len(), of("t1").len(), of("").len()), (1, 1, 2));
    assert!(of("").contains(&(String::new(), "done: Report of two. (1 tool uses)".to_owned())));
}

#[tokio::test]
async fn an_agent_may_do_less_than_its_parent_and_never_more() {
    for (mut input, expected) in [
        (json!({}), "done"),
        (json!({"deny": "act"}), "There is no tool"),
        (json!({"tools": "look"}), "none of its tools"),
        (json!({"mode": "plan"}), "Plan mode only reads, and act may change something: nobody can lift that here"),
        (json!({"mode": "bypassPermissions", "tools": "risky"}), "Nobody is there"),
    ] {
        input["prompt"] = json!("one");
        let ran = Ran::default();
        let noted = ran.clone();
        let risky = tool_fn("risky", "Needs an answer.", move |_: In, cx: ToolCx| {
            noted.note(&cx);
            async { Ok("done") }
        });
        let tool = if input.get("tools") == Some(&json!("risky")) { "risky" } else { "act" };
        let model = starts(inputs(json!([input])), tool);
        let mut open = world(model, [agent(), ran.act(), Arc::new(risky) as Arc<dyn DynTool>]).open().await;
        let events = all(&mut open).await;
        let first = results(&events).first().unwrap().1.clone();
        assert!(first.starts_with(expected) || first.contains(expected), "{input}: {first}");
        assert_eq!(ran.ids().len(), usize::from(expected == "done"), "{input}");
    }
}

#[tokio::test]
async fn a_question_comes_from_the_agent_and_what_is_kept_of_its_answer_holds_for_all() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&asked);
    let host = can_use_tool_fn(move |request| {
        seen.lock().unwrap().push((request.agent.to_string(), request.identity.map(|who| who.agent_type)));
        async {
            let rule: RuleValue = serde_json::from_value(json!({"toolName": "risky"})).unwrap();
            let update = PermissionUpdate::AddRules {
                rules: vec![rule],
                behavior: windlass_types::Behavior::Allow,
                destination: UpdateDestination::Session,
            };
            PermissionAnswer::Allow { updated_input: None, updates: vec![update] }
        }
    });
    let risky = tool_fn("risky", "Needs an answer.", |_: In, _| async { Ok("done") });
    let model = model(|request, _| match (prompt_of(request).as_str(), request.messages.len()) {
        ("go", 1) => ScriptedTurn::new().tool_use_with_id("t0", "agent", json!({"prompt": "one"})),
        ("go", 3) => ScriptedTurn::new().tool_use("risky", json!({})),
        ("one", 1) => ScriptedTurn::new().tool_use("risky", json!({})),
        _ => ScriptedTurn::new().text("Done."),
    });
    let mut world = world(model, [agent(), Arc::new(risky) as Arc<dyn DynTool>]);
    world.host = Some(Arc::new(host));
    let mut open = world.open().await;
    let events = all(&mut open).await;
    assert_eq!(results(&events).len(), 3);
    assert_eq!(*asked.lock().unwrap(), [("t0".to_owned(), Some("scout".to_owned()))], "asked once, by the agent");
    let shown = events.iter().filter_map(|event| match &event.kind {
        EventKind::PermissionRequested(request) => Some((request.agent.to_string(), event.agent.to_string())),
        _ => None,
    });
    assert_eq!(shown.collect::<Vec<_>>(), [("t0".to_owned(), "t0".to_owned())]);
}

#[tokio::test]
async fn a_new_mode_of_the_parent_holds_for_its_agents() {
    let (begin, begun) = tokio::sync::oneshot::channel::<()>();
    let begun = Arc::new(tokio::sync::Mutex::new(Some(begun)));
    let waits = act(move |_, _| {
        let begun = Arc::clone(&begun);
        async move {
            if let Some(begun) = begun.lock().await.take() {
                let _ = begun.await;
            }
            Ok("waited".to_owned())
        }
    });
    let model = model(|request, _| match (prompt_of(request).as_str(), request.messages.len()) {
        ("go", 1) => ScriptedTurn::new().tool_use_with_id("t0", "agent", json!({"prompt": "one"})),
        ("one", 1 | 3) => ScriptedTurn::new().tool_use("act", json!({})),
        _ => ScriptedTurn::new().text("Done."),
    });
    let mut open = world(model, [agent(), waits]).open().await;
    open.say("go");
    soon(open.until(is_started)).await;
    soon(open.until(is_started)).await;
    open.handle.set_permission_mode(PermissionMode::Plan).unwrap();
    let is_plan = |kind: &EventKind| matches!(kind, EventKind::StateChanged(StateChange::PermissionMode { .. }));
    soon(open.until(is_plan)).await;
    begin.send(()).unwrap();
    let mut texts = Vec::new();
    while let Some(event) = soon(open.next()).await {
        texts.extend(results(std::slice::from_ref(&event)));
        if event.agent.is_main() && matches!(event.kind, EventKind::RunFinished(_)) {
            break;
        }
    }
    assert_eq!(texts.first().unwrap().1, "waited");
    assert!(texts.get(1).unwrap().1.starts_with("Plan mode only reads"), "{texts:?}");
}

#[tokio::test]
async fn stopping_the_run_stops_its_agents_and_the_next_prompt_works() {
    let never = act(|_, cx| async move {
        cx.cancel().cancelled().await;
        Err(ToolError::cancelled())
    });
    let store = MemoryStore::new();
    let model = starts(inputs(json!([{"prompt": "one"}])), "act");
    let mut open = world(model, [agent(), never]).stored(&store).open().await;
    open.say("go");
    soon(open.until(is_started)).await;
    soon(open.until(is_started)).await;
    open.handle.interrupt().unwrap();
    let events = soon(open.until(|kind| matches!(kind, EventKind::RunFinished(_)))).await;
    assert_eq!(events.last().unwrap().agent, below("t0"), "the agent ends first");
    let result = soon(open.result()).await;
    assert!(matches!(result.outcome, Outcome::Interrupted { .. }), "{result:?}");
    open.handle.close().await.unwrap();
    let agent = store.load(&key("s").of_agent("a-t0".into())).await.unwrap();
    assert!(windlass_session::repair(agent.entries).1.synthetic.is_empty(), "every call is answered");
    // The same session continues.
    let mut open = world(model_that_is_done(), [crate::agents::agent()]).stored(&store).open().await;
    open.succeed("again").await;
}

fn model_that_is_done() -> ScriptedModel {
    model(|_, _| ScriptedTurn::new().text("Done."))
}

/// Remembers what it is asked, and keeps the first agent going once.
#[derive(Clone, Default)]
struct Watches(Arc<Mutex<Vec<String>>>);

#[async_trait]
impl Hook for Watches {
    fn name(&self) -> &str {
        "watches"
    }

    fn interests(&self) -> Vec<Interest> {
        use HookEventName::{
            PreToolUse, SessionEnd, SessionStart, Stop, SubagentStart, SubagentStop, UserPromptSubmit,
        };
        [SessionStart, UserPromptSubmit, PreToolUse, SubagentStart, SubagentStop, Stop, SessionEnd]
            .map(Interest::all)
            .into()
    }

    async fn answer(&self, cx: &HookContext, call: &HookCall) -> Result<Option<HookOutcome>, HookError> {
        let who = cx.agent.as_ref().map(|who| who.id.to_string()).unwrap_or_default();
        self.0.lock().unwrap().push(format!("{} {who}", call.event()).trim_end().to_owned());
        let mut outcome = HookOutcome::default();
        match call {
            HookCall::SubagentStart(_) => outcome.additional_context.push("Mind the gap.".to_owned()),
            HookCall::SubagentStop(stop) if !stop.stop_hook_active => {
                let block = windlass_types::HookVerdict::new(windlass_types::Behavior::Deny, "watches", "Once more.");
                outcome.block = Some(block);
            }
            _ => {}
        }
        Ok(Some(outcome))
    }
}

#[tokio::test]
async fn an_agent_has_hooks_of_its_own() {
    let watches = Watches::default();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let requests = Arc::clone(&seen);
    let model = model(move |request, _| {
        requests.lock().unwrap().push((prompt_of(request), last(request)));
        match (prompt_of(request).as_str(), request.messages.len()) {
            ("go", 1) => ScriptedTurn::new().tool_use_with_id("t0", "agent", json!({"prompt": "one"})),
            _ => ScriptedTurn::new().text("Done."),
        }
    });
    let mut open = world(model, [agent()]).hook(watches.clone()).open().await;
    all(&mut open).await;
    open.handle.close().await.unwrap();
    assert_eq!(
        *watches.0.lock().unwrap(),
        [
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse",
            "SubagentStart a-t0",
            "SubagentStop a-t0",
            "SubagentStop a-t0",
            "Stop",
            "SessionEnd"
        ]
    );
    let of_agent: Vec<String> = seen
        .lock()
        .unwrap()
        .iter()
        .filter(|(prompt, _)| prompt.starts_with("one"))
        .map(|(_, last)| last.clone())
        .collect();
    assert_eq!(of_agent.len(), 2);
    assert!(of_agent[0].contains("Mind the gap.") && of_agent[1].contains("Once more."), "{of_agent:?}");
}

#[tokio::test]
async fn an_agent_in_the_background_reports_progress_and_its_report_is_read() {
    let ran = Ran::default();
    let seen = Arc::new(Mutex::new(String::new()));
    let requests = Arc::clone(&seen);
    let model = model(move |request, _| match (prompt_of(request).as_str(), request.messages.len()) {
        ("go", 1) => ScriptedTurn::new().tool_use_with_id("t0", "agent", json!({"prompt": "one"})),
        ("one", 1) => ScriptedTurn::new().tool_use("act", json!({})),
        ("one", _) => ScriptedTurn::new().text("Report of one."),
        _ => {
            *requests.lock().unwrap() = last(request);
            ScriptedTurn::new().text("Noted.")
        }
    });
    let mut open = world(model, [background_agent(), ran.act()]).open().await;
    open.say("go");
    let quiet = tokio::spawn(open.handle.quiet());
    let mut kinds = Vec::new();
    let mut finished = 0;
    while let Some(event) = soon(open.next()).await {
        match &event.kind {
            EventKind::TaskStarted(task) => kinds.push(format!("started {} {:?}", task.id, task.agent_type)),
            EventKind::TaskProgress(progress) => {
                kinds.push(format!("progress {} {:?}", progress.usage.tool_uses, progress.last_tool));
            }
            EventKind::TaskEnded(ended) => kinds.push(format!("ended {:?}", ended.usage.map(|usage| usage.tool_uses))),
            EventKind::RunFinished(_) if event.agent.is_main() => finished += 1,
            _ => {}
        }
        if finished == 2 {
            break;
        }
    }
    soon(quiet).await.unwrap();
    assert_eq!(kinds, ["started a1 Some(\"scout\")", "progress 1 Some(\"act\")", "ended Some(1)"]);
    let read = seen.lock().unwrap().clone();
    assert!(read.contains("<result>\\ndone: Report of one. (1 tool uses)\\n</result>"), "{read}");
}

#[tokio::test]
async fn closing_a_session_ends_its_agents() {
    let never = act(|_, cx| async move {
        cx.cancel().cancelled().await;
        Err(ToolError::cancelled())
    });
    for tool in [agent(), background_agent()] {
        let store = MemoryStore::new();
        let model = starts(inputs(json!([{"prompt": "one"}])), "act");
        let mut open = world(model, [tool, Arc::clone(&never)]).stored(&store).open().await;
        open.say("go");
        soon(open.until(|kind| matches!(kind, EventKind::ToolStarted(started) if started.tool == "act"))).await;
        soon(open.handle.close()).await.unwrap();
        let (events, error) = soon(open.rest()).await;
        assert_eq!(error, None);
        let count = |is: fn(&EventKind) -> bool| events.iter().filter(|event| is(&event.kind)).count();
        assert!(count(|kind| matches!(kind, EventKind::RunFinished(_))) >= 1, "{events:?}");
        // The log of the agent can be opened again at once: its lease is free.
        let owner = windlass_session::Owner::new(2, "test");
        let agent = key("s").of_agent("a-t0".into());
        store.open(&agent, &owner, windlass_session::LogHeader::new("/w", "0", "test")).await.unwrap();
    }
}

/// A tool whose calls are waited for when they are stopped, as those of the real tool are.
struct Waits(Arc<dyn DynTool>);

impl DynTool for Waits {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    fn annotations(&self) -> Annotations {
        Annotations::default().with_interrupt(InterruptBehavior::Block)
    }

    fn is_enabled(&self) -> bool {
        true
    }

    fn prepare(self: Arc<Self>, input: &JsonText) -> Result<Box<dyn PreparedCall>, ToolError> {
        Arc::clone(&self.0).prepare(input)
    }
}

/// The session cannot wait for ever for a host that does not read what an agent does.
#[tokio::test(start_paused = true)]
async fn a_session_whose_events_are_not_read_can_be_closed_while_an_agent_works() {
    let ran = Ran::default();
    let model = model(|request, number| match prompt_of(request).as_str() {
        "go" => ScriptedTurn::new().tool_use_with_id("t0", "agent", json!({"prompt": "one"})),
        _ => (0..50)
            .fold(ScriptedTurn::new(), |turn, at| turn.tool_use_with_id(format!("c{number}-{at}"), "act", json!({}))),
    });
    let waits: Arc<dyn DynTool> = Arc::new(Waits(agent()));
    let open = world(model, [waits, ran.act()]).open().await;
    open.say("go");
    // Time passes when no task can continue any more: all events that may wait for the host are there.
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert!(ran.ids().len() > 100);
    soon(open.handle.close()).await.unwrap();
}
