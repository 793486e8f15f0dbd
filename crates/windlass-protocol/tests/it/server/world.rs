//! The session that hosts drive here: a scripted model and two tools.

use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use tokio::sync::Notify;
use windlass_hook::{Hook, Hooks};
use windlass_model::{Script, ScriptedModel, ScriptedTurn};
use windlass_permission::{CanUseTool, Policy, PolicyConfig};
use windlass_protocol::{Expansion, HostSetup, OpenFailure, OpenSession, Opened, SlashCommand};
use windlass_runtime::{MachineConfig, ModelProfile, Ports, Session, SessionConfig, UnpricedModels};
use windlass_session::Checkpoints;
use windlass_testkit::Gate;
use windlass_testkit::fake::{MemoryWorkspace, ScriptedProcess};
use windlass_tool::{AgentSpec, DynTool, TaskCx, TaskOutcome, TaskSpec, ToolCx, ToolSet, tool_fn};
use windlass_types::{JsonText, ModelInfo, NanoUsd, Price, SessionId, TaskKind, TaskStatus, Thinking};

type In = BTreeMap<String, Value>;

/// Observations of a session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Seen {
    /// Number of times that `act` ran.
    pub(crate) acted: Arc<AtomicUsize>,
    /// Number of opened sessions.
    pub(crate) opened: Arc<AtomicUsize>,
    /// Waits before a session is open, if it is there.
    pub(crate) door: Arc<Mutex<Option<Gate>>>,
    /// `true` if no session can be opened.
    pub(crate) refuses: Arc<AtomicBool>,
    /// The variables that came while a session was open.
    pub(crate) variables: Arc<Mutex<BTreeMap<String, String>>>,
    /// Store of file checkpoints, if any.
    pub(crate) checkpoints: Arc<Mutex<Option<Arc<dyn Checkpoints>>>>,
    /// Ends work that `leave` left behind.
    pub(crate) let_go: Arc<Notify>,
    /// The titles that the session was given.
    pub(crate) titles: Arc<Mutex<Vec<String>>>,
    /// Waits before a title is written, if it is there.
    pub(crate) titles_wait: Arc<Mutex<Option<Gate>>>,
    /// `true` if the session has a budget that refuses models without a price. The model "free" has none.
    pub(crate) has_budget: Arc<AtomicBool>,
    /// Reference that the session's ports hold while they live.
    alive: Arc<()>,
}

impl Seen {
    pub(crate) fn acted(&self) -> usize {
        self.acted.load(Ordering::SeqCst)
    }

    /// Lets the next session open only when the host does so.
    pub(crate) fn shut_door(&self) -> Gate {
        let door = Gate::new();
        *self.door.lock().unwrap() = Some(door.clone());
        door
    }

    /// Returns `true` if nothing of the session is left.
    pub(crate) fn is_gone(&self) -> bool {
        Arc::strong_count(&self.alive) == 1
    }
}

/// A turn that says something.
pub(crate) fn says(text: &str) -> ScriptedTurn {
    ScriptedTurn::new().text(text)
}

/// A turn that calls `act`.
pub(crate) fn acts() -> ScriptedTurn {
    ScriptedTurn::new().tool_use_with_id("t1", "act", json!({ "what": "it" }))
}

pub(crate) fn script(turns: impl IntoIterator<Item = ScriptedTurn>) -> ScriptedModel {
    ScriptedModel::new(turns.into_iter().fold(Script::new(), Script::then))
}

/// The command that sessions bring here.
pub(crate) fn greet() -> SlashCommand {
    SlashCommand::new("greet", "Greets a person").with_argument_hint("<name>").with_aliases(["hello"])
}

/// A tool that leaves work behind.
fn leave(let_go: Arc<Notify>) -> Arc<dyn DynTool> {
    Arc::new(tool_fn("leave", "Leaves work behind.", move |_: In, cx: ToolCx| {
        let let_go = Arc::clone(&let_go);
        let spec = TaskSpec::new(TaskKind::LocalBash, "Work");
        let work = move |task: TaskCx| -> windlass_tool::BoxFuture<'static, TaskOutcome> {
            Box::pin(async move {
                tokio::select! {
                    () = let_go.notified() => {}
                    () = task.cancel.cancelled() => {}
                }
                TaskOutcome::new(TaskStatus::Completed, "It ended.")
            })
        };
        let started = cx.background().and_then(|background| background.start(spec, Box::new(work)));
        async move { started.map(|id| id.to_string()) }
    }))
}

/// A tool that gives a task to an agent, or to one in the background.
fn delegate() -> Arc<dyn DynTool> {
    Arc::new(tool_fn("delegate", "Gives a task to an agent.", |input: In, cx: ToolCx| {
        let id = input.get("id").and_then(Value::as_str).unwrap_or("a1").to_owned();
        let mut spec = AgentSpec::new(id.as_str().into(), "looker", "Look.");
        spec.rights.permission_mode = input.get("mode").and_then(Value::as_str).map(|mode| mode.parse().unwrap());
        let agents = cx.agents().map(Arc::clone);
        async move {
            let agents = agents?;
            if input.contains_key("later") {
                spec.task = Some(id.as_str().into());
                let about = TaskSpec::new(TaskKind::LocalAgent, "Look").with_agent(id.as_str().into(), "looker");
                let work = move |task: TaskCx| -> windlass_tool::BoxFuture<'static, TaskOutcome> {
                    Box::pin(async move {
                        let text =
                            agents.run(spec, task.cancel).await.map_or_else(|e| e.to_string(), |ended| ended.text);
                        TaskOutcome::new(TaskStatus::Completed, text)
                    })
                };
                return cx.background()?.start(about, Box::new(work)).map(|id| id.to_string());
            }
            agents.run(spec, cx.cancel().clone()).await.map(|ended| ended.text)
        }
    }))
}

/// Opens a session as a host wants it.
pub(crate) async fn open(model: ScriptedModel, seen: Seen, setup: HostSetup) -> Result<Opened, OpenFailure> {
    let door = seen.door.lock().unwrap().take();
    if let Some(door) = door {
        door.pass().await;
    }
    if seen.refuses.load(Ordering::SeqCst) {
        return Err("no session can be opened".into());
    }
    let (acted, alive) = (Arc::clone(&seen.acted), Arc::clone(&seen.alive));
    let act = tool_fn("act", "Has an effect.", move |_: In, _: ToolCx| {
        let _ = &alive;
        acted.fetch_add(1, Ordering::SeqCst);
        async { Ok("acted".to_owned()) }
    });
    let wait = tool_fn("wait", "Never ends by itself.", |_: In, cx: ToolCx| async move {
        cx.cancel().cancelled().await;
        Ok("stopped".to_owned())
    });
    let leave = leave(Arc::clone(&seen.let_go));
    let tools = ToolSet::new([Arc::new(act) as Arc<dyn DynTool>, leave, delegate(), Arc::new(wait)])?;
    let mut policy = Policy::new(PolicyConfig::new("/w"));
    policy.add_rules(
        windlass_types::RuleSource::Session,
        windlass_types::Behavior::Allow,
        &["leave", "wait", "delegate"],
        Path::new("/w"),
    )?;
    policy.set_mode(setup.settings.permission_mode.unwrap_or_default())?;
    let has_budget = seen.has_budget.load(Ordering::SeqCst);
    let profile = move |name: &str| {
        let mut info = ModelInfo::new(10_000_000, 1_000_000);
        info.thinking_budget = true;
        info.price = (has_budget && name != "free").then(|| Price::new(1, 1));
        ModelProfile::new(name, info)
    };
    let model_name = setup.settings.model.clone().flatten().unwrap_or_else(|| "m".to_owned());
    // Each session has an id of its own: s, s2, s3.
    let opened = seen.opened.fetch_add(1, Ordering::SeqCst);
    assert!(setup.settings.is_fresh || opened == 0, "only a cleared session is opened again");
    let id = if opened == 0 { "s".to_owned() } else { format!("s{}", opened + 1) };
    let mut machine = MachineConfig::new(SessionId::from(id), 7, profile(&model_name), policy, "/w".into());
    machine.tools.specs = tools.specs();
    machine.request.raw_frames = true;
    if has_budget {
        machine.limits.max_budget = Some(NanoUsd::from_usd(1_000.0));
        machine.limits.unpriced = UnpricedModels::Refuse;
    }
    machine.request.thinking = setup.settings.thinking.flatten().unwrap_or(Thinking::Budget(1_500));
    let mut ports =
        Ports::new(Arc::new(model), tools, Arc::new(MemoryWorkspace::new()), Arc::new(ScriptedProcess::new()));
    ports.storage.checkpoints.clone_from(&*seen.checkpoints.lock().unwrap());
    ports.hooks = Hooks::new([Arc::new(setup.hooks) as Arc<dyn Hook>]);
    ports.host.callback = setup.permissions.map(|host| Arc::new(host) as Arc<dyn CanUseTool>);
    let session = Session::open(SessionConfig::new(machine, ports)).await?;
    let (variables, titles) = (Arc::clone(&seen.variables), Arc::clone(&seen.titles));
    let titles_wait = Arc::clone(&seen.titles_wait);
    let opened = OpenSession::new(session, move |name| profile(name.unwrap_or("m")))
        .with_transcript("/t.jsonl")
        .with_commands(vec![greet()], |name, arguments| async move {
            match arguments.as_str() {
                _ if name == "unknown" => Ok(None),
                "no" => Err(format!("/{name} may not run")),
                _ if name == "notes" => Ok(Some(Expansion::Output(format!("two notes {arguments}")))),
                _ => Ok(Some(windlass_types::Prompt::text(format!("{name}: {arguments}")).into())),
            }
        })
        .with_environment(move |new| variables.lock().unwrap().extend(new.clone()))
        .with_rename(move |title| {
            titles.lock().unwrap().push(title);
            let gate = titles_wait.lock().unwrap().clone();
            async move {
                if let Some(gate) = gate {
                    gate.pass().await;
                }
                Ok(())
            }
        })
        .with_thinking(Thinking::Budget(1_500));
    Ok(Opened::from(opened).with_settings(JsonText::parse(r#"{"effective":{},"sources":[]}"#)?))
}
