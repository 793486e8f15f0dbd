//! What the parts of a server share.

use super::commands::Commands;
use super::control::CAPABILITIES;
use super::extras::Extras;
use super::flag_settings::{FlagRules, additions};
use super::frames::{Lifecycle, Said, State as StateFrame, answer};
use super::hooks::HostHooks;
use super::joining::Receipt;
use super::mcp::{HostMcp, Orders};
use super::options::ServerOptions;
use super::outbox::{Gone, Outbox};
use super::permission::HostPermissions;
use super::queue::Queue;
use super::requests::Requests;
use super::rewind::Rewinds;
use super::scene::Scene;
use super::setup::{HostSetup, Initialize, Models, Opened};
use super::spent::Spent;
use super::tasks::Outputs;
use super::told::Told;
use crate::FrameMapper;
use crate::line::{self, MAX_LINE};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, watch};
use tokio::task::JoinHandle;
use windlass_runtime::{EventStream, SessionHandle};
use windlass_types::{Effort, EntryId, JsonText, PermissionMode, RunOrigin, RunStarted, Thinking};

pub(crate) struct Core {
    pub(crate) options: ServerOptions,
    pub(crate) outbox: Outbox,
    pub(crate) requests: Arc<Requests>,
    pub(crate) hooks: HostHooks,
    pub(crate) permissions: HostPermissions,
    pub(crate) scene: Arc<Scene>,
    pub(crate) told: Arc<Told>,
    pub(crate) mcp: Orders,
    pub(crate) rewinds: Rewinds,
    mapper: Mutex<FrameMapper>,
    state: Mutex<State>,
    /// Told when a run ends.
    pub(crate) settled: Notify,
    /// Told when the host wants to end the session.
    pub(crate) done: Notify,
    /// Told when a turn waits that needs more than a prompt to an open session.
    pub(crate) work: Notify,
    /// The highest generation of a session that has ended.
    pub(crate) over: watch::Sender<u64>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) initialize: Option<Initialize>,
    pub(crate) model: Option<Option<String>>,
    pub(crate) thinking: Option<Option<Thinking>>,
    /// The mode of the next session: the last one that was ordered or told.
    pub(crate) permission_mode: Option<PermissionMode>,
    /// A mode that was ordered and not told yet: what is told before is older.
    pub(crate) mode_awaited: Option<PermissionMode>,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) session: Option<Live>,
    pub(crate) session_id: String,
    /// How many sessions were opened: `/clear` opens another one.
    pub(crate) generation: u64,
    pub(crate) commands: Commands,
    pub(crate) queue: Queue,
    /// Whether a prompt was given whose result has not come.
    pub(crate) running: bool,
    /// Whether a run goes on that answers no message: background work woke it.
    pub(crate) woken: bool,
    /// Whether a turn is carried out that is no run, or not yet.
    pub(crate) busy: bool,
    /// Whether the host stopped that turn.
    pub(crate) stopped: bool,
    /// The id of the message that is being answered.
    pub(crate) answering: Option<String>,
    /// The ids of those that have joined it.
    pub(crate) joined: Vec<String>,
    /// Whether the host has stopped the run that goes on.
    pub(crate) stopping: bool,
    /// Answers to the host that wait for the session.
    pub(crate) receipts: Vec<Receipt>,
    pub(crate) last_is_error: bool,
    pub(crate) spent: Spent,
    pub(crate) outputs: Outputs,
    /// Rules that the host brought beside those that sessions are opened with.
    pub(crate) flag_rules: FlagRules,
    /// The effort that it asked for.
    pub(crate) effort: Option<Option<Effort>>,
}

/// The open session.
pub(crate) struct Live {
    pub(crate) handle: SessionHandle,
    pub(crate) models: Models,
    pub(crate) extras: Extras,
}

impl State {
    /// Orders what the host has said since a setup was made. Orders fail only when the session is closed.
    fn order_since(&self, setup: &HostSetup, live: &Live) {
        let handle = &live.handle;
        if let Some(mode) = self.permission_mode.filter(|mode| setup.permission_mode != Some(*mode)) {
            let _ = handle.set_permission_mode(mode);
        }
        if let Some(name) = self.model.as_ref().filter(|name| setup.model.as_ref() != Some(name)) {
            let _ = handle.set_model((live.models)(name.as_deref()));
        }
        if let Some(thinking) = self.thinking.filter(|thinking| setup.thinking != Some(*thinking)) {
            let _ = handle.set_thinking(thinking.unwrap_or(live.extras.thinking));
        }
        if let Some(take) = live.extras.environment.as_ref().filter(|_| self.environment != setup.environment) {
            take(&self.environment);
        }
        let body = |initialize: &Option<Initialize>| initialize.as_ref().map(|said| said.body.clone());
        if body(&self.initialize) != body(&setup.initialize) {
            let _ = handle.renew_hooks();
        }
    }

    /// A run has begun.
    pub(crate) fn run_began(&mut self, started: &RunStarted) {
        self.woken = started.origin != RunOrigin::User;
        self.mode_told(started.permission_mode);
    }

    /// A session tells the mode that it is in.
    pub(crate) fn mode_told(&mut self, mode: PermissionMode) {
        if self.mode_awaited.is_none_or(|awaited| awaited == mode) {
            (self.permission_mode, self.mode_awaited) = (Some(mode), None);
        }
    }
}

impl Core {
    pub(crate) fn new(options: ServerOptions, outbox: Outbox) -> Self {
        let requests = Arc::new(Requests::new(outbox.clone(), Arc::clone(&options.ids)));
        let scene = Arc::new(Scene::default());
        let told = Arc::<Told>::default();
        scene.set_permission_mode(options.permission_mode);
        let ids = Arc::clone(&options.ids);
        let mut mapper = FrameMapper::new(options.frames.clone(), move || ids.bits());
        mapper.lists_mcp_servers(options.mcp.clone());
        mapper.lists_plugins(options.plugins.clone());
        let host = HostMcp::new(Arc::clone(&requests));
        let mcp = Orders::new(options.mcp.clone(), host, options.mcp_servers.clone(), outbox.clone());
        let state = State {
            session_id: options.session_id.clone().unwrap_or_default(),
            commands: Commands::new(options.slash_commands, options.commands.clone()),
            ..State::default()
        };
        Self {
            hooks: HostHooks::new(Arc::clone(&requests), Arc::clone(&scene), Arc::clone(&told)),
            permissions: HostPermissions::new(Arc::clone(&requests), Arc::clone(&told)),
            mcp,
            rewinds: Rewinds::new(outbox.clone()),
            mapper: Mutex::new(mapper),
            state: Mutex::new(state),
            settled: Notify::new(),
            work: Notify::new(),
            done: Notify::new(),
            over: watch::Sender::new(0),
            options,
            outbox,
            requests,
            scene,
            told,
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes frames with the session's mapper.
    pub(crate) fn frames(&self, write: impl FnOnce(&mut FrameMapper, &mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        write(&mut self.mapper.lock().unwrap_or_else(PoisonError::into_inner), &mut out);
        out
    }

    pub(crate) fn handle(&self) -> Option<SessionHandle> {
        self.lock().session.as_ref().map(|live| live.handle.clone())
    }

    /// Starts to give the host the lines of the log, if it wants them.
    pub(crate) fn start_mirror(&self) -> Option<JoinHandle<()>> {
        let (mirror, ids) = (self.options.mirror.clone()?, Arc::clone(&self.options.ids));
        Some(tokio::spawn(mirror.run(self.outbox.clone(), move || EntryId::from_bits(ids.bits()).to_string())))
    }

    /// Gives the host the lines of the log that are durable now, if it wants them.
    pub(crate) async fn flush_mirror(&self) -> Result<(), Gone> {
        let Some(mirror) = &self.options.mirror else { return Ok(()) };
        mirror.flush(&self.outbox, || EntryId::from_bits(self.options.ids.bits()).to_string()).await
    }

    /// What the session is to be opened with.
    pub(crate) fn setup(&self, fresh: bool) -> HostSetup {
        // Again, for a host that has sent no `initialize`.
        self.mcp.announce(&self.in_process_servers(), BTreeMap::new());
        let state = self.lock();
        HostSetup {
            initialize: state.initialize.clone(),
            permission_mode: state.permission_mode,
            model: state.model.clone(),
            thinking: state.thinking,
            environment: state.environment.clone(),
            fresh,
            hooks: self.hooks.clone(),
            permissions: self.options.permission_prompts.then(|| self.permissions.clone()),
        }
    }

    /// Takes over an open session, in the place of the one before. Hands out its
    /// events, what was found while it was loaded, and its generation. What the host has ordered
    /// since the session's setup was made is ordered now.
    pub(crate) fn opened(&self, opened: Opened, setup: &HostSetup) -> (EventStream, Vec<String>, u64) {
        let Opened { session, transcript, models, extras } = opened;
        self.scene.set_transcript(transcript);
        self.told.clear();
        self.list_agents(&extras.agents.clone().unwrap_or_else(|| self.agents()));
        let mut state = self.lock();
        state.session_id = session.handle.session_id().to_string();
        state.generation += 1;
        state.spent = Spent::default();
        if let Some((commands, expand)) = &extras.commands {
            state.commands.set_custom(commands.clone(), Arc::clone(expand));
        }
        let names = state.commands.list().into_iter().map(|command| command.name).collect();
        self.frames(|mapper, _| mapper.offers(names, &CAPABILITIES));
        // Nothing is asked of it before these. Orders fail only when the session is closed.
        let updates = additions(&state.flag_rules);
        if !updates.is_empty() {
            let _ = session.handle.update_permissions(updates);
        }
        if let Some(effort) = state.effort {
            let _ = session.handle.set_effort(effort);
        }
        if let Some(mode) = extras.permission_mode.filter(|_| state.permission_mode.is_none()) {
            self.scene.set_permission_mode(mode);
        }
        let live = Live { handle: session.handle, models, extras };
        state.order_since(setup, &live);
        state.session = Some(live);
        (session.events, session.notices, state.generation)
    }

    /// Waits until a session has ended and all its events are written.
    pub(crate) async fn ended(&self, generation: u64) {
        // It fails only when nobody can say so any more.
        drop(self.over.subscribe().wait_for(|ended| *ended >= generation).await);
    }

    /// Waits until the session that is open has ended by itself.
    pub(crate) async fn session_over(&self) {
        let ended = |ended: &u64| {
            let generation = self.lock().generation;
            generation > 0 && *ended >= generation
        };
        drop(self.over.subscribe().wait_for(ended).await);
    }

    pub(crate) fn is_over(&self) -> bool {
        let generation = self.lock().generation;
        generation > 0 && *self.over.borrow() >= generation
    }

    /// Writes the result of a prompt that started no run.
    pub(crate) async fn refuse(&self, error: &str, uuid: Option<&str>) -> Result<(), Gone> {
        let id = {
            let mut state = self.lock();
            state.last_is_error = true;
            state.session_id.clone()
        };
        self.flush_mirror().await?;
        self.outbox.send(self.frames(|mapper, out| mapper.refused(&id, error, out))).await?;
        self.say_lifecycle(uuid, Lifecycle::Completed).await
    }

    pub(crate) async fn succeed(&self, id: &str, response: Option<&JsonText>) -> Result<(), Gone> {
        self.respond(id, &Said::Done(response)).await
    }

    pub(crate) async fn fail(&self, id: &str, error: &str, code: Option<&str>) -> Result<(), Gone> {
        self.respond(id, &Said::Refused { error, code }).await
    }

    async fn respond(&self, id: &str, said: &Said<'_>) -> Result<(), Gone> {
        self.outbox.send(answer(id, said, MAX_LINE)).await
    }

    /// Tells whether the session is busy, to hosts that want to know.
    pub(crate) async fn say_state(&self, state: &'static str) -> Result<(), Gone> {
        if !self.options.session_state {
            return Ok(());
        }
        self.outbox.send(self.state_frame("session_state_changed", Some(state), None)).await
    }

    /// Tells the permission mode beside a run.
    pub(crate) async fn say_mode(&self, mode: PermissionMode) -> Result<(), Gone> {
        self.outbox.send(self.state_frame("status", None, Some(mode.as_str()))).await
    }

    pub(crate) fn uuid(&self) -> String {
        EntryId::from_bits(self.options.ids.bits()).to_string()
    }

    fn state_frame(&self, subtype: &'static str, state: Option<&'static str>, mode: Option<&str>) -> Vec<u8> {
        let session_id = self.lock().session_id.clone();
        let frame = StateFrame {
            kind: "system",
            subtype,
            status: mode.map(|_| ()),
            state,
            sdk_host_only: state.is_some(),
            permission_mode: mode,
            uuid: self.uuid(),
            session_id: &session_id,
        };
        let mut bytes = Vec::new();
        line::push(&mut bytes, &frame);
        bytes
    }
}
