//! Changes of a parent that reach agents at work, and the limit of agents.

use crate::agents::{agent, last, prompt_of, results};
use crate::world::{In, Open, act, model, soon, world};
use async_trait::async_trait;
use serde_json::json;
use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;
use windlass_hook::{Hook, HookContext, HookError, Interest, PreToolUse, PreToolUseAction};
use windlass_model::{ScriptedModel, ScriptedTurn};
use windlass_permission::can_use_tool_fn;
use windlass_tool::{AgentSpec, DynTool, TaskOutcome, TaskSpec, ToolCx, ToolSet, tool_fn};
use windlass_types::{
    Access, Event, EventKind, HookCall, HookEventName, HookOutcome, ModelInfo, NanoUsd, Outcome, PermissionAnswer,
    TaskId, TaskKind, TaskStatus,
};

/// Denies all calls, once it listens.
#[derive(Clone, Default)]
struct Late(Arc<AtomicBool>);

#[async_trait]
impl Hook for Late {
    fn name(&self) -> &str {
        "late"
    }

    fn interests(&self) -> Vec<Interest> {
        let listens = self.0.load(Ordering::SeqCst);
        listens.then(|| Interest::all(HookEventName::PreToolUse)).into_iter().collect()
    }

    async fn pre_tool_use(&self, _: &HookContext, _: &PreToolUse) -> Result<PreToolUseAction, HookError> {
        Ok(PreToolUseAction::deny("It came later."))
    }
}

/// Calls wait for the gate, and say which variables they see.
fn waits(gate: &Arc<Semaphore>) -> Arc<dyn DynTool> {
    let gate = Arc::clone(gate);
    act(move |_, cx| {
        let gate = Arc::clone(&gate);
        async move {
            // The semaphore is closed, never given out.
            let _ = gate.acquire().await;
            let env: Vec<_> = cx.env().iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
            Ok(format!("It sees {env:?}."))
        }
    })
}

/// Agents below each other; the last one makes two calls. Notes what that one is offered.
fn deep(depth: usize, offered: &Arc<Mutex<Vec<String>>>) -> ScriptedModel {
    let offered = Arc::clone(offered);
    model(move |request, _| {
        let level = prompt_of(request).strip_prefix("level ").map_or(0, |level| level.parse().unwrap());
        if level == depth {
            let names: Vec<&str> = request.tools.iter().map(|tool| tool.name.as_str()).collect();
            offered.lock().unwrap().push(names.join(" "));
        }
        match request.messages.len() {
            1 if level < depth => {
                let input = json!({"prompt": format!("level {}", level + 1), "deny": "secret"});
                ScriptedTurn::new().tool_use_with_id(format!("t{level}"), "agent", input)
            }
            1 | 3 if level == depth => ScriptedTurn::new().tool_use("act", json!({})),
            _ => ScriptedTurn::new().text("Done."),
        }
    })
}

/// Time passes when no task can continue any more: all orders have been carried out everywhere.
async fn calm() {
    tokio::time::sleep(Duration::from_millis(1)).await;
}

async fn until_main_ends(open: &mut Open) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    while let Some(event) = soon(open.next()).await {
        let end = event.agent.is_main() && matches!(event.kind, EventKind::RunFinished(_));
        events.push(event);
        if end {
            break;
        }
    }
    events
}

#[tokio::test(start_paused = true)]
async fn agents_at_work_follow_changes_of_their_parent() {
    type Change = fn(&Open, &Late, &[Arc<dyn DynTool>]);
    let changes: [(Change, &str, &str); 3] = [
        (
            |open, late, _| {
                late.0.store(true, Ordering::SeqCst);
                open.handle.renew_hooks().unwrap();
            },
            "It came later.",
            "act agent",
        ),
        (|open, _, _| open.handle.set_environment(vec![("NEW".into(), "1".into())]).unwrap(), "NEW", "act agent"),
        (
            |open, _, others| open.handle.set_tools(ToolSet::new(others.iter().cloned()).unwrap()).unwrap(),
            "There is no tool named \"act\"",
            "act agent other",
        ),
    ];
    for depth in [1, 2] {
        for (change, expected, tools) in changes {
            let (gate, late) = (Arc::new(Semaphore::new(0)), Late::default());
            let offered = Arc::new(Mutex::new(Vec::new()));
            let free = |name: &str| -> Arc<dyn DynTool> {
                let tool = tool_fn(name, "Only looks.", |_: In, _| async { Ok("looked") });
                Arc::new(tool.with_access(Access::NOTHING))
            };
            let model = deep(depth, &offered);
            let mut open = world(model, [agent(), waits(&gate)]).hook(late.clone()).open().await;
            open.say("go");
            soon(open.until(|kind| matches!(kind, EventKind::ToolStarted(started) if started.tool == "act"))).await;
            change(&open, &late, &[agent(), free("other"), free("secret")]);
            calm().await;
            gate.close();
            let texts: Vec<String> =
                results(&until_main_ends(&mut open).await).into_iter().map(|(_, text)| text).collect();
            assert!(texts[0].starts_with("It sees []"), "{texts:?}");
            assert!(texts[1].contains(expected), "{depth}: {texts:?}");
            assert_eq!(*offered.lock().unwrap(), ["act agent", tools, tools], "{depth}: {expected}");
        }
    }
}

/// Agents in the background, each named by its call.
fn background_agent() -> Arc<dyn DynTool> {
    let call = |input: In, cx: ToolCx| async move {
        let id = format!("{}-{}", cx.session_id(), cx.tool_use_id());
        let prompt = input.get("prompt").and_then(|prompt| prompt.as_str()).unwrap_or_default();
        let spec = AgentSpec::new(id.as_str().into(), "scout", prompt);
        let (agents, task) = (Arc::clone(cx.agents()?), TaskSpec::new(TaskKind::LocalAgent, "look around"));
        let task = task.with_agent(id.as_str().into(), "scout");
        let run = move |task: windlass_tool::TaskCx| -> windlass_tool::BoxFuture<'static, TaskOutcome> {
            Box::pin(async move {
                match agents.run(spec, task.cancel).await {
                    Ok(_) => TaskOutcome::new(TaskStatus::Completed, "It is done."),
                    Err(error) => TaskOutcome::new(TaskStatus::Failed, error.model_text()),
                }
            })
        };
        cx.background()?.start(task, Box::new(run))?;
        Ok::<_, windlass_tool::ToolError>("It continues.".to_owned())
    };
    Arc::new(tool_fn("agent", "Runs an agent.", call).with_access(Access::Agents))
}

/// However many are asked for at once, and wherever: some run, and the others are refused.
#[tokio::test(start_paused = true)]
async fn the_number_of_agents_at_a_time_is_limited() {
    for (of_main, of_each, most, refused) in
        [(20, 0, 16, "16 agents are at work"), (5, 16, 64, "64 agents are at work")]
    {
        let (working, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
        let (count, wait) = (Arc::clone(&working), Arc::clone(&gate));
        let act = act(move |_, _| {
            count.fetch_add(1, Ordering::SeqCst);
            let wait = Arc::clone(&wait);
            async move {
                let _ = wait.acquire().await;
                Ok("worked".to_owned())
            }
        });
        let starts = |name: &str, count: usize, prompt: &str| {
            let input = json!({ "prompt": prompt });
            (0..count).fold(ScriptedTurn::new(), |turn, at| {
                turn.tool_use_with_id(format!("{name}{at}"), "agent", input.clone())
            })
        };
        let model = model(move |request, number| match (prompt_of(request).as_str(), request.messages.len()) {
            ("go", 1) => starts("m", of_main, "upper"),
            ("upper", 1) if of_each > 0 => starts(&format!("n{number}-"), of_each, "lower"),
            ("upper", 1) | ("upper", 3) | ("lower", 1) if !last(request).contains("worked") => {
                ScriptedTurn::new().tool_use("act", json!({}))
            }
            _ => ScriptedTurn::new().text("Done."),
        });
        let mut open = world(model, [background_agent(), act]).open().await;
        open.say("go");
        let mut told_of = Vec::new();
        let read = async {
            while let Some(event) = open.next().await {
                if let EventKind::TaskEnded(ended) = event.kind {
                    told_of.push(ended.summary);
                }
            }
        };
        let _ = tokio::time::timeout(Duration::from_secs(1), read).await;
        assert_eq!(working.load(Ordering::SeqCst), most, "{told_of:?}");
        assert!(!told_of.is_empty() && told_of.iter().all(|text| text.contains(refused)), "{told_of:?}");
        soon(open.handle.close()).await.unwrap();
    }
}

/// An agent that is stopped says so, and what it left behind, however long that takes to end.
#[tokio::test(start_paused = true)]
async fn an_agent_that_is_stopped_waits_for_what_it_left_behind() {
    let begins = tool_fn("begin", "Leaves work behind that does not listen.", |_: In, cx: ToolCx| async move {
        let work = |_: windlass_tool::TaskCx| -> windlass_tool::BoxFuture<'static, TaskOutcome> { Box::pin(pending()) };
        cx.background()?.start(TaskSpec::new(TaskKind::LocalBash, "Work"), Box::new(work))?;
        Ok::<_, windlass_tool::ToolError>("It continues.".to_owned())
    });
    let model = model(|request, _| match (prompt_of(request).as_str(), request.messages.len()) {
        ("go", 1) => ScriptedTurn::new().tool_use_with_id("t0", "agent", json!({"prompt": "one"})),
        ("one", 1) => ScriptedTurn::new().tool_use("begin", json!({})),
        ("one", 3) => ScriptedTurn::new().tool_use("act", json!({})),
        _ => ScriptedTurn::new().text("Done."),
    });
    let begins: Arc<dyn DynTool> = Arc::new(begins.with_access(Access::Agents));
    let gate = Arc::new(Semaphore::new(0));
    let mut open = world(model, [background_agent(), begins, waits(&gate)]).open().await;
    open.say("go");
    soon(open.until(|kind| matches!(kind, EventKind::ToolStarted(started) if started.tool == "act"))).await;
    open.handle.stop_task("s-t0".into()).unwrap();
    let mut ended = Vec::new();
    while ended.last() != Some(&TaskKind::LocalAgent) {
        if let EventKind::TaskEnded(task) = soon(open.next()).await.unwrap().kind {
            assert_eq!(task.status, TaskStatus::Stopped);
            ended.push(task.info.kind);
        }
    }
    assert_eq!(ended, [TaskKind::LocalBash, TaskKind::LocalAgent]);
}

/// A host that has read of work can stop it, also if an agent began it.
#[tokio::test(start_paused = true)]
async fn what_an_agent_left_in_the_background_can_be_stopped() {
    let begins = tool_fn("begin", "Leaves work behind.", |_: In, cx: ToolCx| async move {
        let work = |task: windlass_tool::TaskCx| -> windlass_tool::BoxFuture<'static, TaskOutcome> {
            Box::pin(async move {
                task.cancel.cancelled().await;
                TaskOutcome::new(TaskStatus::Completed, "It ended.")
            })
        };
        cx.background()?.start(TaskSpec::new(TaskKind::LocalBash, "Work"), Box::new(work))?;
        Ok::<_, windlass_tool::ToolError>("It continues.".to_owned())
    });
    let gate = Arc::new(Semaphore::new(0));
    let model = model(|request, _| match (prompt_of(request).as_str(), request.messages.len()) {
        ("go", 1) => ScriptedTurn::new().tool_use_with_id("t0", "agent", json!({"prompt": "one"})),
        ("one", 1) => ScriptedTurn::new().tool_use("begin", json!({})),
        ("one", 3) => ScriptedTurn::new().tool_use("act", json!({})),
        _ => ScriptedTurn::new().text("Done."),
    });
    let begins: Arc<dyn DynTool> = Arc::new(begins.with_access(Access::Agents));
    let mut open = world(model, [agent(), begins, waits(&gate)]).open().await;
    open.say("go");
    let mut id: Option<TaskId> = None;
    loop {
        match soon(open.next()).await.unwrap().kind {
            EventKind::TaskStarted(task) => id = Some(task.id),
            EventKind::ToolStarted(started) if started.tool == "act" => break,
            _ => {}
        }
    }
    open.handle.stop_task(id.clone().unwrap()).unwrap();
    let events = soon(open.until(|kind| matches!(kind, EventKind::TaskEnded(_)))).await;
    let EventKind::TaskEnded(ended) = &events.last().unwrap().kind else { panic!() };
    assert_eq!((Some(&ended.info.id), ended.status), (id.as_ref(), TaskStatus::Stopped));
    gate.close();
    until_main_ends(&mut open).await;
}

/// The budget of the session is the user's: the model does not get around it with a model whose price is not known.
#[tokio::test]
async fn no_model_is_chosen_that_the_budget_does_not_hold_for() {
    for (budget, input, refused) in [
        (Some(NanoUsd::new(u64::MAX)), json!({"prompt": "one", "model": "other"}), true),
        (Some(NanoUsd::new(u64::MAX)), json!({"prompt": "one"}), false),
        // The definition may choose another model: the user wrote it, and is warned.
        (Some(NanoUsd::new(u64::MAX)), json!({"prompt": "one", "own_model": "other"}), false),
        (None, json!({"prompt": "one", "model": "other"}), false),
    ] {
        let called = input.clone();
        let model = model(move |request, _| match (prompt_of(request).as_str(), request.messages.len()) {
            ("go", 1) => ScriptedTurn::new().tool_use_with_id("t0", "agent", called.clone()),
            _ => ScriptedTurn::new().text("Done."),
        });
        let mut info = ModelInfo::new(200_000, 8_000);
        info.price = None;
        let mut world = world(model.with_info(info), [agent()]);
        world.budget = budget;
        let mut open = world.open().await;
        open.say("go");
        let answers = results(&until_main_ends(&mut open).await);
        assert_eq!(answers[0].1.contains("its price is not known"), refused, "{input}: {answers:?}");
    }
}

/// A denial of an agent's call with an order to stop ends the run that the user began, however deep the agent is.
#[tokio::test]
async fn a_deny_that_stops_ends_the_run_that_waits_for_the_agent() {
    for (tool, depth, stops) in [(agent(), 1, true), (agent(), 2, true), (background_agent(), 1, false)] {
        let host =
            can_use_tool_fn(|_| async { PermissionAnswer::Deny { message: "Stop it.".to_owned(), interrupt: true } });
        let model = model(move |request, _| {
            let level = prompt_of(request).strip_prefix("level ").map_or(0, |level| level.parse().unwrap());
            match request.messages.len() {
                1 if level < depth => {
                    let input = json!({"prompt": format!("level {}", level + 1)});
                    ScriptedTurn::new().tool_use_with_id(format!("t{level}"), "agent", input)
                }
                1 => ScriptedTurn::new().tool_use("risky", json!({})),
                _ => ScriptedTurn::new().text("Done."),
            }
        });
        let risky = tool_fn("risky", "Needs an answer.", |_: In, _| async { Ok("done") });
        let mut world = world(model, [tool, Arc::new(risky) as Arc<dyn DynTool>]);
        world.host = Some(Arc::new(host));
        let mut open = world.open().await;
        open.say("go");
        let events = until_main_ends(&mut open).await;
        let Some(EventKind::RunFinished(result)) = events.last().map(|event| &event.kind) else { panic!() };
        assert_eq!(matches!(result.outcome, Outcome::Interrupted { .. }), stops, "{depth}: {result:?}");
    }
}

/// Which modes calls are asked about in.
#[derive(Clone, Default)]
struct Modes(Arc<Mutex<Vec<String>>>);

#[async_trait]
impl Hook for Modes {
    fn name(&self) -> &str {
        "modes"
    }

    fn interests(&self) -> Vec<Interest> {
        vec![Interest::all(HookEventName::PreToolUse)]
    }

    async fn answer(&self, cx: &HookContext, _: &HookCall) -> Result<Option<HookOutcome>, HookError> {
        let mode = cx.permission_mode.map_or_else(String::new, |mode| mode.to_string());
        self.0.lock().unwrap().push(if cx.agent.is_some() { format!("agent in {mode}") } else { mode });
        Ok(None)
    }
}

/// Hooks decide by the mode, so they get that of the agent whose call it is.
#[tokio::test]
async fn hooks_get_the_mode_of_the_agent_that_calls() {
    let model = model(|request, _| match (prompt_of(request).as_str(), request.messages.len()) {
        ("go", 1) => ScriptedTurn::new().tool_use_with_id("t0", "agent", json!({"prompt": "one", "mode": "plan"})),
        ("one", 1) => ScriptedTurn::new().tool_use("act", json!({})),
        _ => ScriptedTurn::new().text("Done."),
    });
    let modes = Modes::default();
    let mut open = world(model, [agent(), waits(&Arc::new(Semaphore::new(1)))]).hook(modes.clone()).open().await;
    open.say("go");
    until_main_ends(&mut open).await;
    assert_eq!(*modes.0.lock().unwrap(), ["default", "agent in plan"]);
}
