//! One server of a set.

mod tasks;

use crate::connection::{CallCx, CallOutcome, Connection, ConnectionEnd, ConnectionLifecycle, NotCalled};
use crate::kept::CachedServer;
use crate::review::Reviews;
use crate::tools::{Offered, RemoteTool};
use crate::transport::AbortOnDrop;
use crate::watched::ServerChanges;
use crate::{
    McpError, McpOptions, McpServerConfig, McpServerInfo, McpServerState, McpServerStatus, McpToolLeftOut,
    ProgramConfinement,
};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use windlass_tool::{Cancel, ToolOutput};
use windlass_types::JsonText;

/// Pauses after which a failed server may be connected again: the first pause, doubled after each further failure, and
/// the longest pause.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const MAX_PAUSE: Duration = Duration::from_secs(60);
/// Number of consecutive failures after which the tools of a lost server are no longer offered.
const PATIENCE: u32 = 3;
/// JSON-RPC code of an unknown method.
const METHOD_NOT_FOUND: i64 = -32601;
/// Pause between two reads of a list of tools that keeps changing.
const BETWEEN_LISTS: Duration = Duration::from_millis(250);

/// State shared by the servers of a set.
#[derive(Debug)]
pub(crate) struct ServerSetState {
    pub(crate) options: McpOptions,
    /// Reviewers of elicitations, beside the handler that answers them.
    pub(crate) reviews: Reviews,
    /// Confinement of the programs of servers that are added.
    pub(crate) confinement: Mutex<Option<Arc<dyn ProgramConfinement>>>,
    /// Counter of changes.
    pub(crate) changes: watch::Sender<u64>,
    /// Resources that have changed.
    pub(crate) resource_changes: ServerChanges,
}

impl ServerSetState {
    pub(crate) fn changed(&self) {
        self.changes.send_modify(|count| *count = count.wrapping_add(1));
    }
}

/// One server of a set.
pub(crate) struct PooledServer {
    pub(crate) name: String,
    pub(crate) config: McpServerConfig,
    shared: Arc<ServerSetState>,
    state: Mutex<ServerState>,
    /// Held while the server is being connected, so that only one task connects it.
    connecting: tokio::sync::Mutex<()>,
}

struct ServerState {
    enabled: bool,
    removed: bool,
    phase: ServerPhase,
    about: About,
    tools: Arc<[RemoteTool]>,
    left_out: Vec<McpToolLeftOut>,
    pins: Pins,
    failures: u32,
    retry_at: Option<Instant>,
}

/// Description that the server gave of itself.
struct About {
    info: Option<McpServerInfo>,
    instructions: Option<String>,
    has_prompts: bool,
    has_resources: bool,
    /// Lifecycle of the last connection.
    lifecycle: Option<ConnectionLifecycle>,
}

/// State known from earlier sessions.
struct Pins {
    /// Cached description, from before the server was first connected.
    kept: Option<CachedServer>,
    /// Own names of the tools that had another definition then.
    changed: Vec<String>,
}

enum ServerPhase {
    Pending,
    /// Not started: the tools are known from the cache.
    Idle,
    Connected(Arc<Connection>),
    Failed(McpError),
}

impl PooledServer {
    pub(crate) fn new(name: &str, config: McpServerConfig, shared: Arc<ServerSetState>) -> Self {
        let cache = shared.options.cache.as_deref();
        let kept = cache.and_then(|cache| CachedServer::load(cache, name, &config));
        let idle = kept.clone();
        let state = ServerState {
            enabled: true,
            removed: false,
            phase: if idle.is_some() { ServerPhase::Idle } else { ServerPhase::Pending },
            about: About {
                info: idle.as_ref().and_then(|kept| kept.info.clone()),
                instructions: None,
                has_prompts: false,
                has_resources: idle.as_ref().is_some_and(|kept| kept.has_resources),
                lifecycle: idle.as_ref().and_then(|kept| kept.lifecycle),
            },
            tools: idle.map(|kept| kept.tools).unwrap_or_default().into(),
            left_out: Vec::new(),
            pins: Pins { kept, changed: Vec::new() },
            failures: 0,
            retry_at: None,
        };
        let connecting = tokio::sync::Mutex::new(());
        let config = config.with_logins(&shared.options);
        Self { name: name.to_owned(), config, shared, state: Mutex::new(state), connecting }
    }

    fn lock(&self) -> MutexGuard<'_, ServerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn is_pending(&self) -> bool {
        let state = self.lock();
        state.enabled && !state.removed && matches!(state.phase, ServerPhase::Pending)
    }

    /// `true` if the server waits for its first call.
    pub(crate) fn is_idle(&self) -> bool {
        matches!(self.lock().phase, ServerPhase::Idle)
    }

    /// Starts the server, if it waits for its first call.
    ///
    /// # Errors
    /// Fails if the server cannot be reached, or if its tool differs from the `judged` one.
    pub(crate) async fn wake(self: &Arc<Self>, judged: &RemoteTool, cancel: &Cancel) -> Result<(), McpError> {
        tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(McpError::Stopped),
            connection = self.connect(false) => drop(connection?),
        }
        if self.tools().iter().any(|tool| tool.is_as(judged)) {
            return Ok(());
        }
        Err(McpError::Changed { name: self.name.clone(), tool: judged.info.name.clone() })
    }

    /// Returns the server's tools; empty if they must not be used.
    pub(crate) fn tools(&self) -> Arc<[RemoteTool]> {
        let state = self.lock();
        if state.enabled && !state.removed { Arc::clone(&state.tools) } else { Arc::new([]) }
    }

    /// `true` if the server has announced prompts.
    pub(crate) fn has_prompts(&self) -> bool {
        let state = self.lock();
        state.about.has_prompts && state.enabled && !state.removed
    }

    /// `true` if the server has announced resources.
    pub(crate) fn has_resources(&self) -> bool {
        let state = self.lock();
        state.about.has_resources && state.enabled && !state.removed
    }

    /// Returns the server's instructions on the use of its tools, if the tools may be used.
    pub(crate) fn instructions(&self) -> Option<String> {
        let state = self.lock();
        state.about.instructions.clone().filter(|_| state.enabled && !state.removed && !state.tools.is_empty())
    }

    /// Returns the output that the server's program has written beside the protocol.
    pub(crate) fn output(&self) -> Option<String> {
        let words = self.current()?.last_words().output();
        Some(words.trim_start_matches("; ").to_owned()).filter(|words| !words.is_empty())
    }

    pub(crate) fn status(&self) -> McpServerStatus {
        let state = self.lock();
        let (phase, error) = match &state.phase {
            _ if !state.enabled => (McpServerState::Disabled, None),
            ServerPhase::Pending => (McpServerState::Pending, None),
            ServerPhase::Idle => (McpServerState::Idle, None),
            ServerPhase::Connected(_) => (McpServerState::Connected, None),
            ServerPhase::Failed(error @ McpError::NeedsAuth { .. }) => {
                (McpServerState::NeedsAuth, Some(error.to_string()))
            }
            ServerPhase::Failed(error) => (McpServerState::Failed, Some(error.to_string())),
        };
        let tools = if state.enabled { state.tools.iter().map(|tool| tool.info.clone()).collect() } else { Vec::new() };
        McpServerStatus {
            name: self.name.clone(),
            state: phase,
            server_info: state.about.info.clone(),
            error,
            source: self.config.source.clone(),
            tools,
            tools_left_out: if state.enabled { state.left_out.clone() } else { Vec::new() },
            tools_changed: state.pins.changed.clone(),
        }
    }

    /// Connects the server, if it is not connected. The work continues when the future is dropped.
    pub(crate) async fn connect(self: &Arc<Self>, at_once: bool) -> Result<Arc<Connection>, McpError> {
        let server = Arc::clone(self);
        let work = tokio::spawn(async move { server.connect_now(at_once).await });
        work.await.unwrap_or_else(|error| Err(self.not_connected(error.to_string(), String::new())))
    }

    async fn connect_now(self: &Arc<Self>, at_once: bool) -> Result<Arc<Connection>, McpError> {
        let _one_at_a_time = self.connecting.lock().await;
        if !at_once && let Some(last) = self.current().filter(|last| last.has_ended() && last.ended_in_first_call()) {
            // The task that waits for the end of the connection has not noticed it yet. The pause applies nevertheless.
            last.linger().await;
            self.ended(&last);
        }
        if let Some(connection) = self.usable(at_once)? {
            return Ok(connection);
        }
        let limit = self.shared.options.limits.connect;
        let known = self.lock().about.lifecycle;
        let opened = timeout(limit, async {
            let (connection, ended) = Connection::open(&self.name, &self.config, &self.shared.options, known).await?;
            let tools = connection.list_tools(limit).await?;
            Ok((connection, ended, tools))
        });
        let timed_out = || McpError::TimedOut { name: self.name.clone(), limit };
        let opened = opened.await.unwrap_or_else(|_| Err(timed_out()));
        let mut cached = None;
        let outcome = {
            let mut state = self.lock();
            match opened {
                Ok(_) if state.removed || !state.enabled => Err(McpError::Disabled { name: self.name.clone() }),
                Ok((connection, ended, tools)) => {
                    let connection = Arc::new(connection);
                    state.about.info.clone_from(&connection.introduction.info);
                    state.about.instructions.clone_from(&connection.introduction.instructions);
                    state.about.has_prompts = connection.introduction.has_prompts;
                    state.about.has_resources = connection.introduction.has_resources;
                    state.about.lifecycle = Some(connection.introduction.lifecycle);
                    let current = CachedServer::of(&connection.introduction, &tools);
                    cached = (!state.is_kept(&current, &tools)).then_some(current);
                    state.offered(tools);
                    state.failures = 0;
                    state.retry_at = None;
                    state.phase = ServerPhase::Connected(Arc::clone(&connection));
                    tokio::spawn(attend(Arc::downgrade(self), Arc::downgrade(&connection), ended));
                    Ok(connection)
                }
                Err(error) => {
                    let error = self.advised(error);
                    state.failed(error.clone());
                    Err(error)
                }
            }
        };
        if let (Some(cached), Some(cache)) = (cached, &self.shared.options.cache) {
            cached.store(&**cache, &self.name, &self.config);
        }
        self.shared.changed();
        outcome
    }

    /// Returns the connection, if there is one; `None` if a new one may be made.
    #[expect(clippy::disallowed_methods, reason = "a deadline on the clock of tokio, which tests can hold")]
    fn usable(&self, at_once: bool) -> Result<Option<Arc<Connection>>, McpError> {
        let state = self.lock();
        if state.removed {
            return Err(McpError::UnknownServer { name: self.name.clone() });
        }
        if !state.enabled {
            return Err(McpError::Disabled { name: self.name.clone() });
        }
        match &state.phase {
            ServerPhase::Connected(connection) if !connection.is_closed() => Ok(Some(Arc::clone(connection))),
            ServerPhase::Failed(error) if !at_once && state.retry_at.is_some_and(|at| at > Instant::now()) => {
                Err(error.clone())
            }
            _ => Ok(None),
        }
    }

    fn not_connected(&self, reason: String, output: String) -> McpError {
        McpError::NotConnected { name: self.name.clone(), reason, output }
    }

    /// Closes the connection and makes a new one.
    pub(crate) async fn reconnect(self: &Arc<Self>) -> Result<(), McpError> {
        {
            let state = self.lock();
            if !state.enabled && !state.removed {
                return Err(McpError::Disabled { name: self.name.clone() });
            }
        }
        self.disconnect(ServerPhase::Pending).await;
        self.connect(true).await.map(drop)
    }

    /// Switches the server on or off.
    pub(crate) async fn set_enabled(self: &Arc<Self>, enabled: bool) -> Result<(), McpError> {
        let was_enabled = std::mem::replace(&mut self.lock().enabled, enabled);
        if was_enabled == enabled {
            return Ok(());
        }
        self.disconnect(ServerPhase::Pending).await;
        if enabled { self.connect(true).await.map(drop) } else { Ok(()) }
    }

    /// Closes the connection for good, and waits a bounded time until that is done.
    pub(crate) async fn remove(&self) {
        self.lock().removed = true;
        self.disconnect(ServerPhase::Pending).await;
    }

    /// Closes the connection for good, without waiting.
    pub(crate) fn abandon(&self) {
        let mut state = self.lock();
        state.removed = true;
        state.phase = ServerPhase::Pending;
    }

    async fn disconnect(&self, phase: ServerPhase) {
        let connection = match std::mem::replace(&mut self.lock().phase, phase) {
            ServerPhase::Connected(connection) => Some(connection),
            _ => None,
        };
        self.shared.changed();
        if let Some(connection) = connection {
            connection.close().await;
        }
    }

    /// Calls a tool by its own name.
    pub(crate) async fn call(
        self: &Arc<Self>,
        tool: &str,
        arguments: &JsonText,
        cx: CallCx<'_>,
    ) -> Result<ToolOutput, McpError> {
        let mut is_again = false;
        let mut as_task = self.lock().tools.iter().any(|known| known.info.name == tool && known.as_task);
        loop {
            let connection = tokio::select! {
                biased;
                () = cx.cancel.cancelled() => return Err(McpError::Stopped),
                connection = self.connect(is_again) => connection?,
            };
            match connection.call((tool, as_task), arguments, cx.clone()).await {
                // No part of the call reached the server, so it cannot be executed twice.
                Err(NotCalled::Unsent(error)) if !is_again => {
                    tracing::debug!(server = self.name, %error, "a call is sent again: it had not reached the MCP server");
                    is_again = true;
                }
                Err(NotCalled::Lost { detail }) => {
                    connection.linger().await;
                    if connection.has_ended() {
                        // The status is changed before the caller learns that the call was lost.
                        self.ended(&connection);
                    }
                    let words = connection.last_words();
                    let reason = words.fault.ending();
                    let exit = [reason, Some(words.exit()).filter(|exit| !exit.is_empty())];
                    let exit = exit.into_iter().flatten().collect::<Vec<_>>().join("; ");
                    let detail = if exit.is_empty() { detail } else { format!(": {exit}") };
                    return Err(McpError::Lost { name: self.name.clone(), detail, output: words.output() });
                }
                // Some servers reject calls of task-only tools as an unknown method.
                Err(NotCalled::Failed(McpError::Refused { code: METHOD_NOT_FOUND, .. }))
                    if !as_task && connection.introduction.lifecycle == ConnectionLifecycle::Initialize =>
                {
                    as_task = true;
                }
                Ok(CallOutcome::Task(task)) => return self.follow_task(task, &cx).await,
                Ok(CallOutcome::Done(output)) => {
                    // The end of the connection may be known before its last answer arrives: the server did answer.
                    self.lock().retry_at = None;
                    return Ok(output);
                }
                Err(NotCalled::Unsent(error) | NotCalled::Failed(error)) => {
                    return Err(self.refused(&connection, error));
                }
            }
        }
    }

    /// Sends a request of any kind and returns its result.
    pub(crate) async fn request(
        self: &Arc<Self>,
        method: &str,
        params: serde_json::Value,
        limit: Duration,
    ) -> Result<JsonText, McpError> {
        let connection = self.connect(false).await?;
        connection.request(method, params, limit).await.map_err(|error| self.refused(&connection, error))
    }

    /// Reports the resources that have changed. They are watched again once they are read again.
    fn report_resources(&self, connection: &Arc<Connection>) {
        let changed = connection.heard.watched.take();
        if changed.is_empty() {
            return;
        }
        self.shared.resource_changes.add(&self.name, changed.clone());
        self.shared.changed();
        let connection = Arc::downgrade(connection);
        tokio::spawn(async move {
            for uri in changed {
                let Some(connection) = connection.upgrade() else { return };
                connection.unwatch(&uri).await;
            }
        });
    }

    /// Adds advice for the user to an error.
    fn advised(&self, error: McpError) -> McpError {
        match error {
            McpError::NeedsAuth { .. } => self.config.needs_auth(&self.name, &self.shared.options),
            other => other,
        }
    }

    /// Records that a server requires a login. Open calls on the connection are still answered. The next call connects
    /// anew: meanwhile a user may have logged in, and another tool may need fewer rights.
    fn refused(&self, connection: &Arc<Connection>, error: McpError) -> McpError {
        let error = self.advised(error);
        if matches!(error, McpError::NeedsAuth { .. }) {
            let mut state = self.lock();
            if matches!(&state.phase, ServerPhase::Connected(current) if Arc::ptr_eq(current, connection)) {
                state.phase = ServerPhase::Failed(error.clone());
                state.retry_at = None;
                drop(state);
                self.shared.changed();
            }
        }
        error
    }

    /// Waits for the last output of a connection that has ended, and records its end.
    async fn lost(&self, connection: &Weak<Connection>) {
        let Some(last) = self.current().filter(|current| Weak::ptr_eq(&Arc::downgrade(current), connection)) else {
            return;
        };
        last.linger().await;
        self.ended(&last);
    }

    /// Records the end of a connection, unless it is recorded already or another connection has replaced it.
    ///
    /// A server that ends in its first call is not started for a pause: it would most likely end again. Any other
    /// server is started again by the next call: it has answered calls, or ended while it had none, as servers do that
    /// are updated or put to sleep.
    fn ended(&self, last: &Arc<Connection>) {
        let words = last.last_words();
        let exit = words.exit();
        let reason = if exit.is_empty() { "the connection ended".to_owned() } else { exit };
        {
            let mut state = self.lock();
            match &state.phase {
                ServerPhase::Connected(current) if Arc::ptr_eq(current, last) => {}
                _ => return,
            }
            state.failed(self.not_connected(reason, words.output()));
            if !last.ended_in_first_call() {
                state.retry_at = None;
            }
        }
        self.shared.changed();
    }

    fn current(&self) -> Option<Arc<Connection>> {
        match &self.lock().phase {
            ServerPhase::Connected(current) => Some(Arc::clone(current)),
            _ => None,
        }
    }

    /// Reads the list of tools again.
    async fn refresh(&self, connection: &Arc<Connection>) {
        match connection.list_tools(self.shared.options.limits.connect).await {
            Ok(tools) => {
                {
                    let mut state = self.lock();
                    match &state.phase {
                        ServerPhase::Connected(current) if Arc::ptr_eq(current, connection) => {}
                        _ => return,
                    }
                    if *state.tools == *tools.tools && state.left_out == tools.left_out {
                        return;
                    }
                    state.offered(tools);
                }
                self.shared.changed();
            }
            Err(error) => {
                tracing::warn!(server = self.name, %error, "the tools of an MCP server cannot be listed again")
            }
        }
    }
}

impl ServerState {
    /// Records the differences from the cached tools. Returns `true` if everything is unchanged. Only the first
    /// connection is compared.
    fn is_kept(&mut self, now: &CachedServer, offered: &Offered) -> bool {
        let Some(cached) = self.pins.kept.take() else { return false };
        self.pins.changed = cached.changed(offered);
        cached == *now
    }

    fn offered(&mut self, offered: Offered) {
        self.tools = offered.tools.into();
        self.left_out = offered.left_out;
    }

    #[expect(clippy::disallowed_methods, reason = "a deadline on the clock of tokio, which tests can hold")]
    fn failed(&mut self, error: McpError) {
        let pause = FIRST_PAUSE.saturating_mul(1 << self.failures.min(10)).min(MAX_PAUSE);
        self.failures = self.failures.saturating_add(1);
        self.retry_at = Instant::now().checked_add(pause);
        if self.failures >= PATIENCE {
            self.offered(Offered::default());
        }
        self.phase = ServerPhase::Failed(error);
    }
}

/// Supervises a connection until it ends: reads the tools again when they change, and records the loss of the
/// connection.
async fn attend(server: Weak<PooledServer>, connection: Weak<Connection>, ended: ConnectionEnd) {
    let mut ended = Box::pin(ended.wait());
    let follow = connection.upgrade().map(|connection| tokio::spawn(connection.follow()));
    let _following = follow.map(|task| AbortOnDrop(task.abort_handle()));
    loop {
        let Some(heard) = connection.upgrade().map(|connection| Arc::clone(&connection.heard)) else {
            return ended.await;
        };
        tokio::select! {
            biased;
            () = &mut ended => break,
            () = heard.watched.news.notified() => {
                if let (Some(server), Some(connection)) = (server.upgrade(), connection.upgrade()) {
                    server.report_resources(&connection);
                }
                continue;
            }
            () = heard.tools_changed.notified() => {}
        }
        if let (Some(server), Some(connection)) = (server.upgrade(), connection.upgrade()) {
            tokio::select! {
                biased;
                () = &mut ended => break,
                () = server.refresh(&connection) => {}
            }
        }
        tokio::select! {
            biased;
            () = &mut ended => break,
            () = sleep(BETWEEN_LISTS) => {}
        }
    }
    if let Some(server) = server.upgrade() {
        server.lost(&connection).await;
    }
}
