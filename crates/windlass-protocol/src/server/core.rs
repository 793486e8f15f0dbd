//! What the parts of a server share.

use super::frames::{Response, State as StateFrame};
use super::hooks::HostHooks;
use super::options::ServerOptions;
use super::outbox::{Gone, Outbox};
use super::permission::HostPermissions;
use super::requests::Requests;
use super::scene::Scene;
use super::setup::{HostSetup, Initialize, Models, Opened};
use crate::input::{Priority, UserMessage};
use crate::{FrameMapper, line};
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, watch};
use windlass_hook::{Hook, Interest};
use windlass_runtime::{EventStream, Prompt, SessionHandle};
use windlass_types::{ContentBlock, EntryId, JsonText, PermissionMode, Thinking};

/// Most prompts that wait for the run before them, and most bytes of them.
const MAX_WAITING: usize = 256;
const MAX_WAITING_BYTES: usize = 64 * 1024 * 1024;

pub(crate) struct Core {
    pub(crate) options: ServerOptions,
    pub(crate) outbox: Outbox,
    pub(crate) requests: Arc<Requests>,
    pub(crate) hooks: HostHooks,
    pub(crate) permissions: HostPermissions,
    pub(crate) scene: Arc<Scene>,
    mapper: Mutex<FrameMapper>,
    state: Mutex<State>,
    /// Told when a run ends.
    pub(crate) settled: Notify,
    /// Whether the session has ended by itself.
    pub(crate) over: watch::Sender<bool>,
}

#[derive(Default)]
pub(crate) struct State {
    pub(crate) initialize: Option<Initialize>,
    pub(crate) model: Option<Option<String>>,
    pub(crate) thinking: Option<Option<Thinking>>,
    pub(crate) permission_mode: Option<PermissionMode>,
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) session: Option<Live>,
    pub(crate) session_id: String,
    waiting: VecDeque<Waiting>,
    waiting_bytes: usize,
    /// Whether a prompt was given whose result has not come.
    pub(crate) running: bool,
    pub(crate) last_is_error: bool,
    /// Tokens of the last model call.
    pub(crate) context_tokens: u64,
}

/// The open session.
pub(crate) struct Live {
    pub(crate) handle: SessionHandle,
    pub(crate) models: Models,
    /// What it listens to, which is fixed.
    pub(crate) interests: Vec<Interest>,
}

struct Waiting {
    content: Vec<ContentBlock>,
    uuid: Option<String>,
    size: usize,
}

impl Core {
    pub(crate) fn new(options: ServerOptions, outbox: Outbox) -> Self {
        let requests = Arc::new(Requests::new(outbox.clone(), Arc::clone(&options.ids)));
        let scene = Arc::new(Scene::default());
        scene.set_permission_mode(options.permission_mode);
        let ids = Arc::clone(&options.ids);
        let mapper = FrameMapper::new(options.frames.clone(), move || ids.bits());
        let session_id = options.session_id.clone().unwrap_or_default();
        Self {
            hooks: HostHooks::new(Arc::clone(&requests), Arc::clone(&scene)),
            permissions: HostPermissions::new(Arc::clone(&requests)),
            mapper: Mutex::new(mapper),
            state: Mutex::new(State { session_id, ..State::default() }),
            settled: Notify::new(),
            over: watch::Sender::new(false),
            options,
            outbox,
            requests,
            scene,
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

    /// What the session is to be opened with.
    pub(crate) fn setup(&self) -> HostSetup {
        let state = self.lock();
        HostSetup {
            initialize: state.initialize.clone(),
            permission_mode: state.permission_mode,
            model: state.model.clone(),
            thinking: state.thinking,
            environment: state.environment.clone(),
            hooks: self.hooks.clone(),
            permissions: self.options.permission_prompts.then(|| self.permissions.clone()),
        }
    }

    /// Takes over an open session and hands out its events and what was found while it was loaded.
    pub(crate) fn opened(&self, opened: Opened) -> (EventStream, Vec<String>) {
        let Opened { session, transcript, models } = opened;
        self.scene.set_transcript(transcript);
        let mut state = self.lock();
        state.session_id = session.handle.session_id().to_string();
        state.session = Some(Live { handle: session.handle, models, interests: self.hooks.interests() });
        (session.events, session.notices)
    }

    /// Lets a prompt wait for its turn, or says why it cannot.
    pub(crate) fn enqueue(&self, message: UserMessage) -> Result<(), String> {
        let content = message.content?;
        if !message.should_query {
            return Err("messages with `shouldQuery: false` are not supported".to_owned());
        }
        let mut state = self.lock();
        if state.waiting.len() >= MAX_WAITING || state.waiting_bytes + message.size > MAX_WAITING_BYTES {
            return Err(format!(
                "too many messages wait for the run to end ({}): this one was not taken",
                state.waiting.len()
            ));
        }
        let waiting = Waiting { content, uuid: message.uuid, size: message.size };
        state.waiting_bytes += waiting.size;
        match message.priority {
            Priority::Later => state.waiting.push_back(waiting),
            Priority::Now | Priority::Next => state.waiting.push_front(waiting),
        }
        Ok(())
    }

    /// Starts the next run, if one waits and none goes on.
    pub(crate) fn advance(&self) {
        let mut state = self.lock();
        if state.running {
            return;
        }
        let (Some(handle), Some(waiting)) =
            (state.session.as_ref().map(|live| live.handle.clone()), state.waiting.pop_front())
        else {
            return;
        };
        state.waiting_bytes = state.waiting_bytes.saturating_sub(waiting.size);
        state.running = handle.prompt(Prompt::new(waiting.content)).is_ok();
    }

    /// Whether nothing runs and nothing waits.
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.lock();
        !state.running && state.waiting.is_empty()
    }

    /// The ids of the prompts that wait.
    pub(crate) fn waiting_ids(&self) -> Vec<String> {
        self.lock().waiting.iter().filter_map(|waiting| waiting.uuid.clone()).collect()
    }

    /// Forgets waiting prompts, all of them or the one with an id. Returns their ids.
    pub(crate) fn forget_waiting(&self, id: Option<&str>) -> Vec<String> {
        let mut state = self.lock();
        let (gone, kept) = std::mem::take(&mut state.waiting)
            .into_iter()
            .partition::<VecDeque<_>, _>(|waiting| id.is_none() || waiting.uuid.as_deref() == id);
        state.waiting_bytes = kept.iter().map(|waiting| waiting.size).sum();
        state.waiting = kept;
        gone.into_iter().filter_map(|waiting| waiting.uuid).collect()
    }

    /// Writes the result of a prompt that started no run.
    pub(crate) async fn refuse(&self, error: &str) -> Result<(), Gone> {
        let id = {
            let mut state = self.lock();
            state.last_is_error = true;
            state.session_id.clone()
        };
        self.outbox.send(self.frames(|mapper, out| mapper.refused(&id, error, out))).await
    }

    pub(crate) async fn succeed(&self, id: &str, response: Option<&JsonText>) -> Result<(), Gone> {
        self.respond(&Response::success(id, response)).await
    }

    pub(crate) async fn fail(&self, id: &str, error: &str, code: Option<&str>) -> Result<(), Gone> {
        self.respond(&Response::error(id, error, code)).await
    }

    async fn respond(&self, response: &Response<'_>) -> Result<(), Gone> {
        let mut bytes = Vec::new();
        line::push(&mut bytes, response);
        self.outbox.send(bytes).await
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

    fn state_frame(&self, subtype: &'static str, state: Option<&'static str>, mode: Option<&str>) -> Vec<u8> {
        let session_id = self.lock().session_id.clone();
        let frame = StateFrame {
            kind: "system",
            subtype,
            state,
            sdk_host_only: state.is_some(),
            permission_mode: mode,
            uuid: EntryId::from_bits(self.options.ids.bits()).to_string(),
            session_id: &session_id,
        };
        let mut bytes = Vec::new();
        line::push(&mut bytes, &frame);
        bytes
    }
}
