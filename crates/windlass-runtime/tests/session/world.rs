//! Configuration of the sessions of these tests.

use serde_json::Value;
use std::collections::BTreeMap;
use std::future::Future;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use windlass_hook::{Hook, Hooks};
use windlass_model::{ModelProvider, ScriptedModel, ScriptedTurn};
use windlass_permission::{CanUseTool, Policy, PolicyConfig};
use windlass_runtime::{
    Diagnostics, EventStream, MachineConfig, Mentions, ModelProfile, Persistence, Ports, Prompt, Session,
    SessionConfig, SessionError, SessionHandle,
};
use windlass_session::{LogHeader, MemoryStore, Owner, ProjectKey, SessionKey, SessionStore, StoredQuestion};
use windlass_testkit::fake::{MemoryWorkspace, ScriptedProcess};
use windlass_tool::{Clock, DynTool, ToolCx, ToolError, ToolSet, Workspace, tool_fn};
use windlass_types::{
    Access, Behavior, Event, EventKind, HookEventName, ModelInfo, ModelRequest, NanoUsd, Outcome, Price, RuleSource,
    RunResult, SessionId,
};

pub(crate) type In = BTreeMap<String, Value>;

/// A tool that has effects; `act` is allowed by a rule.
pub(crate) fn act<F, Fut>(call: F) -> Arc<dyn DynTool>
where
    F: Fn(In, ToolCx) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<String, ToolError>> + Send + 'static,
{
    Arc::new(tool_fn("act", "Has an effect.", call))
}

/// A tool that only reads.
pub(crate) fn look<F, Fut>(call: F) -> Arc<dyn DynTool>
where
    F: Fn(In, ToolCx) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<String, ToolError>> + Send + 'static,
{
    Arc::new(tool_fn("look", "Only looks.", call).with_access(Access::NOTHING))
}

/// Remembers the calls that it ran.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ran(Arc<Mutex<Vec<String>>>);

impl Ran {
    pub(crate) fn note(&self, cx: &ToolCx) {
        self.0.lock().unwrap().push(cx.tool_use_id().as_str().to_owned());
    }

    pub(crate) fn ids(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }

    pub(crate) fn act(&self) -> Arc<dyn DynTool> {
        let ran = self.clone();
        act(move |_, cx| {
            ran.note(&cx);
            async { Ok("done".to_owned()) }
        })
    }
}

/// Configuration of a session.
pub(crate) struct World {
    pub(crate) provider: Arc<dyn ModelProvider>,
    pub(crate) tools: Vec<Arc<dyn DynTool>>,
    pub(crate) hooks: Vec<Arc<dyn Hook>>,
    pub(crate) host: Option<Arc<dyn CanUseTool>>,
    pub(crate) ask_via_events: bool,
    /// `true` if runs wait for answers.
    pub(crate) wait: bool,
    pub(crate) workspace: Arc<dyn Workspace>,
    pub(crate) store: Option<Arc<dyn SessionStore>>,
    pub(crate) id: String,
    /// The most money, at a price for the model.
    pub(crate) budget: Option<NanoUsd>,
    pub(crate) clock: Option<Arc<dyn Clock>>,
    pub(crate) mentions: Option<Mentions>,
    pub(crate) diagnostics: Option<Arc<dyn Diagnostics>>,
    pub(crate) previews_edits: bool,
}

pub(crate) fn world(model: impl ModelProvider, tools: impl IntoIterator<Item = Arc<dyn DynTool>>) -> World {
    World {
        provider: Arc::new(model),
        tools: tools.into_iter().collect(),
        hooks: Vec::new(),
        host: None,
        ask_via_events: false,
        wait: false,
        workspace: Arc::new(MemoryWorkspace::new()),
        store: None,
        id: "s".to_owned(),
        budget: None,
        clock: None,
        mentions: None,
        diagnostics: None,
        previews_edits: false,
    }
}

pub(crate) fn key(id: &str) -> SessionKey {
    SessionKey::new(ProjectKey::of(Path::new("/w")), SessionId::from(id))
}

impl World {
    pub(crate) fn stored(mut self, store: &MemoryStore) -> Self {
        self.store = Some(Arc::new(store.clone()));
        self
    }

    pub(crate) fn hook(mut self, hook: impl Hook) -> Self {
        self.hooks.push(Arc::new(hook));
        self
    }

    pub(crate) async fn open(self) -> Open {
        let mut policy = Policy::new(PolicyConfig::new("/w"));
        policy.add_rules(RuleSource::Session, Behavior::Allow, &["act"], Path::new("/w")).unwrap();
        let mut info = ModelInfo::new(200_000, 8_000);
        info.price = self.budget.map(|_| Price::new(1, 1));
        let model = ModelProfile::new("m", info);
        let tools = ToolSet::new(self.tools).unwrap();
        let seed = u128::from(std::process::id()) << 64 | Arc::as_ptr(&self.workspace).cast::<u8>() as u128;
        let mut machine = MachineConfig::new(SessionId::from(self.id.clone()), seed, model, policy, "/w".into());
        machine.tools.specs = tools.specs();
        machine.limits.max_budget = self.budget;
        // Scripts of these tests repeat their calls on purpose.
        machine.limits.max_repeated_turns = 0;
        let mut ports = Ports::new(self.provider, tools, self.workspace, Arc::new(ScriptedProcess::new()));
        ports.hooks = Hooks::new(self.hooks);
        ports.host.callback = self.host;
        ports.context.mentions = self.mentions;
        ports.context.diagnostics = self.diagnostics;
        ports.reports.edits = self.previews_edits;
        ports.host.through_handles = self.ask_via_events;
        ports.host.wait = self.wait;
        if let Some(clock) = self.clock {
            ports.system.clock = clock;
        }
        let mut config = SessionConfig::new(machine, ports);
        if let Some(store) = self.store {
            let header = LogHeader::new("/w", "0", "test");
            config = config.with_persistence(Persistence::new(store, key(&self.id), Owner::new(1, "test"), header));
        }
        let Session { handle, events, pending_questions: pending, .. } = Session::open(config).await.unwrap();
        Open { handle, events, pending }
    }
}

/// An open session.
pub(crate) struct Open {
    pub(crate) handle: SessionHandle,
    pub(crate) events: EventStream,
    /// The questions that an earlier opening left open.
    pub(crate) pending: Vec<StoredQuestion>,
}

impl Open {
    pub(crate) fn say(&self, text: &str) {
        self.handle.prompt(Prompt::text(text)).unwrap();
    }

    pub(crate) async fn next(&mut self) -> Option<Event> {
        self.events.try_next().await.unwrap().map(|event| *event)
    }

    /// Reads up to the event that is looked for, and returns all of them.
    pub(crate) async fn until(&mut self, found: impl Fn(&EventKind) -> bool) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.next().await {
            let end = found(&event.kind);
            events.push(event);
            if end {
                return events;
            }
        }
        panic!("it never came: {events:#?}");
    }

    /// Reads to the end of the run of the main agent.
    pub(crate) async fn result(&mut self) -> RunResult {
        while let Some(event) = self.next().await {
            if let (true, EventKind::RunFinished(result)) = (event.agent.is_main(), event.kind) {
                return result;
            }
        }
        panic!("the run never ended")
    }

    /// Says something and reads to the end of its run.
    pub(crate) async fn run(&mut self, text: &str) -> RunResult {
        self.say(text);
        self.result().await
    }

    pub(crate) async fn succeed(&mut self, text: &str) {
        assert_eq!(self.run(text).await.outcome, Outcome::Success);
    }

    /// Everything that comes until the stream ends.
    pub(crate) async fn rest(&mut self) -> (Vec<Event>, Option<SessionError>) {
        let mut events = Vec::new();
        loop {
            match self.events.try_next().await {
                Ok(Some(event)) => events.push(*event),
                Ok(None) => return (events, None),
                Err(error) => return (events, Some(error)),
            }
        }
    }
}

/// A model that answers what the function says of the number of the call.
pub(crate) fn model(answer: impl Fn(&ModelRequest, usize) -> ScriptedTurn + Send + Sync + 'static) -> ScriptedModel {
    ScriptedModel::from_fn(answer)
}

/// A model that calls a tool so many times in one message, then is done.
pub(crate) fn calls(tool: &'static str, count: usize) -> ScriptedModel {
    model(move |_, number| match number {
        0 => (0..count).fold(ScriptedTurn::new(), |turn, _| turn.tool_use(tool, serde_json::json!({}))),
        _ => ScriptedTurn::new().text("Done."),
    })
}

pub(crate) fn is_started(kind: &EventKind) -> bool {
    matches!(kind, EventKind::ToolStarted(_))
}

/// A generous bound for what must happen at once.
pub(crate) async fn soon<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), future).await.expect("it never happens")
}

pub(crate) fn interest(event: HookEventName) -> Vec<windlass_hook::Interest> {
    vec![windlass_hook::Interest::all(event)]
}
