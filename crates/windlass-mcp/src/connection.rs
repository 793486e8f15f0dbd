//! A connection to a server.

use crate::calls::Calls;
use crate::content::{lenient_output, output};
use crate::greeting::{Greeting, greet, unknown_version};
use crate::listener::{Heard, Listener};
use crate::process::{Process, Spec};
use crate::program::find;
use crate::text::{LONGEST_ERROR, chain, clipped};
use crate::tools::{Collector, Offered};
use crate::transport::{HostTransport, Lines, SendError, Sent, http_transport, was_not_sent};
use crate::{McpError, McpOptions, McpServerConfig, McpServerInfo, McpTransport};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, CustomRequest, ErrorCode, ListToolsRequest,
    PaginatedRequestParams, ProtocolVersion, RequestId, RequestMetaObject, ServerResult,
};
use rmcp::service::{
    ClientLifecycleMode, Peer, PeerRequestOptions, QuitReason, RequestHandle, RoleClient, RunningService,
    RunningServiceCancellationToken, ServiceError,
};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until, timeout};
use windlass_tool::{Cancel, ToolOutput};
use windlass_types::JsonText;

/// Most pages of a list.
const MOST_PAGES: usize = 200;
/// Longest instructions of a server, in characters.
const LONGEST_INSTRUCTIONS: usize = 10_000;
/// How long telling a server that it is over may take.
const GOODBYE: Duration = Duration::from_millis(1000);
/// How long the end of a program may take, when somebody waits for it.
const END: Duration = Duration::from_millis(2500);

/// A connection to a server. Dropping it ends it, and the server if it is a program.
pub(crate) struct Connection {
    server: String,
    peer: Peer<RoleClient>,
    /// Given when the connection should end.
    stop: Mutex<Option<RunningServiceCancellationToken>>,
    process: Option<Process>,
    over: watch::Receiver<bool>,
    pub(crate) heard: Arc<Heard>,
    pub(crate) info: Option<McpServerInfo>,
    /// What it says of the use of its tools.
    pub(crate) instructions: Option<String>,
    sent: Sent,
    /// Whether it must be replaced before it is used again.
    spent: Arc<AtomicBool>,
    /// Whether a call has seen its end. Whoever else waits for it may see it later.
    ended: AtomicBool,
    calls: Calls,
    /// How long a call may take in all.
    call_limit: Option<Duration>,
    /// How long it may go on without a sign.
    call_timeout: Duration,
}

/// The end of a connection: ready when it has ended by itself or by order.
pub(crate) struct Ended(RunningService<RoleClient, Listener>, watch::Sender<bool>);

impl Ended {
    pub(crate) async fn wait(self) {
        // Dropping the sender tells it.
        let _over = self.1;
        if let Ok(QuitReason::JoinError(error)) | Err(error) = self.0.waiting().await {
            tracing::warn!(%error, "the connection to an MCP server failed");
        }
    }
}

/// Why a call has no result.
pub(crate) enum NotCalled {
    /// It has certainly not reached the server.
    Unsent(McpError),
    /// It may have reached the server, which was lost before it answered.
    Lost {
        /// What the connection says of it.
        detail: String,
    },
    /// Anything else.
    Failed(McpError),
}

/// What a call is given beside its arguments.
#[derive(Clone)]
pub(crate) struct CallCx<'a> {
    pub(crate) tool_use_id: Option<&'a str>,
    pub(crate) cancel: Cancel,
    pub(crate) progress: &'a (dyn Fn(String) + Send + Sync),
    /// How long it may take in all, instead of what is configured.
    pub(crate) timeout: Option<Duration>,
}

impl Connection {
    /// Starts or reaches a server and greets it.
    pub(crate) async fn open(
        name: &str,
        config: &McpServerConfig,
        options: &McpOptions,
    ) -> Result<(Self, Ended), McpError> {
        let legacy = ClientLifecycleMode::Initialize;
        match Self::open_with(name, config, options, legacy).await {
            // Servers of newer protocol versions alone have no handshake.
            Err(Greeting::NoHandshake) => {
                let modern = ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::LATEST] };
                Self::open_with(name, config, options, modern).await.map_err(|failed| failed.into_error(name))
            }
            other => other.map_err(|failed| failed.into_error(name)),
        }
    }

    async fn open_with(
        name: &str,
        config: &McpServerConfig,
        options: &McpOptions,
        lifecycle: ClientLifecycleMode,
    ) -> Result<(Self, Ended), Greeting> {
        let client = (options.client_name.as_str(), options.client_version.as_str());
        let (listener, heard) = Listener::new(name, client, options.elicitation.clone());
        let mut process = None;
        let (sent, spent) = (Sent::default(), Arc::new(AtomicBool::new(false)));
        let greeted = match &config.transport {
            McpTransport::Stdio { command, args, env } => {
                let (started, transport) = start(command, args, env, options, sent.clone())?;
                let greeted = greet(listener, transport, lifecycle).await;
                if greeted.is_err() {
                    // How it ended says more than that the connection did.
                    started.stop();
                    let _ = timeout(Duration::from_millis(100), started.ended()).await;
                    let said = started.words().describe();
                    return Err(match greeted {
                        Err(Greeting::Failed(error)) if !said.is_empty() => {
                            Greeting::Failed(format!("{error}; {said}"))
                        }
                        Err(other) => other,
                        Ok(_) => Greeting::Failed(said),
                    });
                }
                process = Some(started);
                greeted
            }
            McpTransport::Http { url, headers } => {
                let agent = format!("{}/{}", client.0, client.1);
                let transport = http_transport(url, headers, &agent, (sent.clone(), Arc::clone(&spent)))
                    .map_err(Greeting::Failed)?;
                greet(listener, transport, lifecycle).await
            }
            McpTransport::Sse { .. } => return Err(Greeting::Unsupported("the older HTTP transport (`sse`)")),
            McpTransport::InProcess(None) => return Err(Greeting::Failed("the host has no such server".to_owned())),
            McpTransport::InProcess(Some(channel)) => {
                greet(listener, HostTransport::new(Arc::clone(channel), sent.clone()), lifecycle).await
            }
        };
        let service = greeted?;
        let peer = service.peer().clone();
        let said = peer.peer_info();
        if let Some(version) = said.as_ref().and_then(|said| unknown_version(&said.protocol_version)) {
            // Dropping what was opened ends it.
            return Err(Greeting::UnknownVersion(version));
        }
        let info = said.as_ref().and_then(|said| {
            let named = said.server_info.as_ref()?;
            Some(McpServerInfo { name: clipped(&named.name, 200), version: clipped(&named.version, 200) })
        });
        let instructions = said.and_then(|said| Some(clipped(said.instructions.as_ref()?, LONGEST_INSTRUCTIONS)));
        let (over_in, over) = watch::channel(false);
        let connection = Self {
            server: name.to_owned(),
            peer,
            stop: Mutex::new(Some(service.cancellation_token())),
            process,
            over,
            heard,
            info,
            instructions,
            sent,
            spent,
            ended: AtomicBool::new(false),
            calls: Calls::default(),
            call_limit: config.timeout,
            call_timeout: options.call_timeout,
        };
        Ok((connection, Ended(service, over_in)))
    }

    /// Whether the connection has ended, or must be replaced.
    pub(crate) fn is_closed(&self) -> bool {
        self.has_ended() || self.spent.load(Ordering::SeqCst)
    }

    /// Whether it has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.peer.is_transport_closed() || self.ended.load(Ordering::SeqCst)
    }

    /// Whether the server, if it is lost now, was lost in its first call.
    pub(crate) fn ended_in_first_call(&self) -> bool {
        self.calls.ended_in_the_first(&self.sent)
    }

    /// What a program said last.
    pub(crate) fn last_words(&self) -> String {
        self.process.as_ref().map(|process| process.words().describe()).unwrap_or_default()
    }

    /// Ends the connection, and waits a bounded time until the server was told
    /// and nothing is left of a program.
    pub(crate) async fn close(&self) {
        self.stop();
        let _ = timeout(GOODBYE, self.over.clone().wait_for(|over| *over)).await;
        if let Some(process) = &self.process {
            let _ = timeout(END, process.ended()).await;
        }
    }

    fn stop(&self) {
        if let Some(stop) = self.stop.lock().unwrap_or_else(PoisonError::into_inner).take() {
            stop.cancel();
        }
        if let Some(process) = &self.process {
            process.stop();
        }
    }

    /// Waits a moment for the last words of a program that was lost.
    pub(crate) async fn linger(&self) {
        if let Some(process) = &self.process {
            process.stop();
            let _ = timeout(Duration::from_millis(200), process.ended()).await;
        }
    }

    /// What the server offers.
    pub(crate) async fn list_tools(&self, limit: Duration) -> Result<Offered, McpError> {
        let offers = self.peer.peer_info().is_none_or(|info| info.capabilities.tools.is_some());
        if !offers {
            return Ok(Offered::default());
        }
        let pages = async {
            let mut collector = Collector::default();
            let mut cursor = None;
            for _ in 0..MOST_PAGES {
                let mut params = PaginatedRequestParams::default();
                params.cursor = cursor;
                let request = ListToolsRequest {
                    method: Default::default(),
                    params: Some(params),
                    extensions: Default::default(),
                };
                let page = self.ask(ClientRequest::ListToolsRequest(request)).await?;
                match collector.take(&self.server, page) {
                    None => return Err(McpError::BadAnswer { name: self.server.clone() }),
                    Some(Some(next)) if !collector.is_full() => cursor = Some(next),
                    Some(_) => break,
                }
            }
            Ok(collector.finish())
        };
        let timed_out = || McpError::TimedOut { name: self.server.clone(), limit };
        timeout(limit, pages).await.unwrap_or_else(|_| Err(timed_out()))
    }

    /// Calls a tool by its own name.
    pub(crate) async fn call(&self, tool: &str, arguments: &JsonText, cx: CallCx<'_>) -> Result<ToolOutput, NotCalled> {
        let arguments: Map<String, Value> = arguments.to().map_err(|error| {
            let code = i64::from(ErrorCode::INVALID_PARAMS.0);
            NotCalled::Failed(McpError::Refused { code, message: error.to_string() })
        })?;
        let params = CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments);
        let request = CallToolRequest::new(params);
        let mut options = PeerRequestOptions::no_options();
        if let Some(id) = cx.tool_use_id {
            let mut meta = RequestMetaObject::new();
            meta.0.insert("claudecode/toolUseId".to_owned(), Value::from(id));
            options = options.with_meta(meta);
        }
        let one = self.calls.begin();
        let sent = self.peer.send_request_with_option(ClientRequest::CallToolRequest(request), options).await;
        // Who asks whether anything takes requests hears that nothing does: it has gone nowhere.
        let handle = sent.map_err(|error| self.unsent(&error))?;
        one.has_id(&handle.id);
        let answer = self.await_answer(OpenCall(Some(handle)), &cx).await;
        match &answer {
            Ok(_) => one.was_answered(),
            Err(NotCalled::Lost { .. }) => one.was_lost(),
            Err(_) => {}
        }
        match answer? {
            ServerResult::CallToolResult(result) => Ok(output(result)),
            ServerResult::CustomResult(result) => {
                lenient_output(result.0).ok_or_else(|| NotCalled::Failed(self.bad_answer()))
            }
            _ => Err(NotCalled::Failed(self.bad_answer())),
        }
    }

    /// The call has not reached the server, and this connection takes no more.
    fn unsent(&self, error: &ServiceError) -> NotCalled {
        self.spent.store(true, Ordering::SeqCst);
        let reason = match &error {
            ServiceError::TransportSend(failure) => clipped(&chain(&*failure.error), LONGEST_ERROR),
            _ => "the connection ended before the call was sent".to_owned(),
        };
        NotCalled::Unsent(McpError::NotConnected { name: self.server.clone(), reason })
    }

    /// Why a call has no result: whether it may have reached the server is what counts.
    fn unanswered(&self, id: &RequestId, error: ServiceError) -> NotCalled {
        match &error {
            ServiceError::TransportSend(failure) if was_not_sent(&*failure.error) => return self.unsent(&error),
            // It was refused as a whole.
            ServiceError::TransportSend(failure) if is_refusal(&*failure.error) => {}
            ServiceError::TransportSend(_) | ServiceError::TransportClosed if !self.sent.may_have(id) => {
                return self.unsent(&error);
            }
            ServiceError::TransportSend(failure) => {
                // A program to which nothing can be written is of no use any more. An endpoint may be the next time.
                self.ended.fetch_or(self.process.is_some(), Ordering::SeqCst);
                return NotCalled::Lost { detail: format!(": {}", clipped(&chain(&*failure.error), LONGEST_ERROR)) };
            }
            ServiceError::TransportClosed => {
                self.ended.store(true, Ordering::SeqCst);
                return NotCalled::Lost { detail: String::new() };
            }
            _ => {}
        }
        NotCalled::Failed(self.failed(error))
    }

    async fn await_answer(&self, mut call: OpenCall, cx: &CallCx<'_>) -> Result<ServerResult, NotCalled> {
        let limit = cx.timeout.or(self.call_limit).unwrap_or(Duration::MAX);
        let end = deadline(limit);
        let silence = self.call_timeout;
        let Some(handle) = &mut call.0 else { return Err(NotCalled::Failed(self.bad_answer())) };
        let id = handle.id.clone();
        let (mut progress, _listening) = self.heard.listen(handle.progress_token.clone());
        let mut patience = deadline(silence);
        loop {
            tokio::select! {
                biased;
                () = cx.cancel.cancelled() => return Err(NotCalled::Failed(McpError::Stopped)),
                answer = &mut handle.rx => {
                    // It needs no taking back any more.
                    call.0 = None;
                    let answer = answer.unwrap_or(Err(ServiceError::TransportClosed));
                    return answer.map_err(|error| self.unanswered(&id, error));
                }
                Ok(()) = progress.changed() => {
                    (cx.progress)(progress.borrow_and_update().clone());
                    patience = deadline(silence);
                }
                () = sleep_until(end.min(patience)) => {
                    let limit = if end <= patience { limit } else { silence };
                    return Err(NotCalled::Failed(McpError::TimedOut { name: self.server.clone(), limit }));
                }
            }
        }
    }

    /// The result of a request of any kind, as it came.
    pub(crate) async fn request(&self, method: &str, params: Value, limit: Duration) -> Result<JsonText, McpError> {
        let asked = self.ask(ClientRequest::CustomRequest(CustomRequest::new(method, Some(params))));
        let timed_out = || McpError::TimedOut { name: self.server.clone(), limit };
        let result = timeout(limit, asked).await.unwrap_or_else(|_| Err(timed_out()))?;
        JsonText::of(&result).map_err(|_| self.bad_answer())
    }

    async fn ask(&self, request: ClientRequest) -> Result<ServerResult, McpError> {
        let sent = self.peer.send_request_with_option(request, PeerRequestOptions::no_options()).await;
        let mut call = OpenCall(Some(sent.map_err(|error| self.failed(error))?));
        let Some(handle) = &mut call.0 else { return Err(self.bad_answer()) };
        let answer = (&mut handle.rx).await.unwrap_or(Err(ServiceError::TransportClosed));
        call.0 = None;
        answer.map_err(|error| self.failed(error))
    }

    fn bad_answer(&self) -> McpError {
        McpError::BadAnswer { name: self.server.clone() }
    }

    fn failed(&self, error: ServiceError) -> McpError {
        let name = self.server.clone();
        match error {
            ServiceError::McpError(error) => {
                McpError::Refused { code: i64::from(error.code.0), message: clipped(&error.message, LONGEST_ERROR) }
            }
            ServiceError::TransportSend(error) => {
                let reason = clipped(&error.error.to_string(), LONGEST_ERROR);
                if self.is_closed() {
                    McpError::Lost { name, detail: format!(": {reason}") }
                } else {
                    McpError::NotConnected { name, reason }
                }
            }
            ServiceError::TransportClosed => McpError::Lost { name, detail: String::new() },
            ServiceError::Cancelled { .. } => McpError::Stopped,
            _ => McpError::BadAnswer { name },
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.stop();
    }
}

fn start(
    command: &str,
    args: &[String],
    env: &BTreeMap<String, String>,
    options: &McpOptions,
    sent: Sent,
) -> Result<(Process, Lines), Greeting> {
    let cwd = options.cwd.as_deref().unwrap_or(Path::new("."));
    let own = env.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let env: Vec<(OsString, OsString)> = options.env.iter().cloned().chain(own).collect();
    let program = find(command, &env, cwd).map_err(Greeting::Failed)?;
    let spec = Spec { program, args, env, cwd, watch: options.watch.as_deref() };
    let (process, stdin, stdout) =
        Process::start(spec).map_err(|error| Greeting::Failed(format!("{command:?} cannot be started: {error}")))?;
    let lines = Lines::new(stdout, stdin, process.words().fault.clone(), sent);
    Ok((process, lines))
}

/// Whether a request failed because of what it is or what the server answered: it was not lost.
fn is_refusal(error: &(dyn std::error::Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref::<SendError>() {
        return !matches!(error, SendError::Closed | SendError::Write(_));
    }
    matches!(
        error.downcast_ref::<StreamableHttpError<reqwest::Error>>(),
        Some(
            StreamableHttpError::HttpStatus(_)
                | StreamableHttpError::UnexpectedServerResponse(_)
                | StreamableHttpError::UnexpectedContentType(_)
                | StreamableHttpError::AuthRequired(_)
                | StreamableHttpError::InsufficientScope(_)
                | StreamableHttpError::SessionExpired
                | StreamableHttpError::ReinitializationFailed(_)
        )
    )
}

/// A request that is taken back when nobody waits for its answer any more.
struct OpenCall(Option<RequestHandle<RoleClient>>);

impl Drop for OpenCall {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move {
                // A server that does not read must not keep this for ever.
                let _ = timeout(Duration::from_secs(5), handle.cancel(Some("the call was stopped".to_owned()))).await;
            });
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a deadline on the clock of tokio, which tests can hold")]
fn deadline(limit: Duration) -> Instant {
    let now = Instant::now();
    // Far enough for a limit that no clock can hold.
    now.checked_add(limit).unwrap_or_else(|| now + Duration::from_secs(365 * 24 * 3600))
}
