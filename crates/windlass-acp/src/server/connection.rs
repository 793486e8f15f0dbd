//! The requests of a client, each given to its session or answered in a task of its own.

use crate::agent::{AcpAgent, AcpSession, AcpStart, SessionQuery};
use crate::client::AcpClient;
use crate::error::{AcpError, AcpErrorKind};
use crate::line::{Line, LineReader};
use crate::options::AcpOptions;
use crate::rpc::{self, Incoming, RequestId, Unreadable};
use crate::session::{Beginning, SessionInput, SessionStart};
use crate::v1::client::ClientAbilities;
use crate::v1::initialize;
use crate::v1::params::{
    self, AuthParams, ListParams, ModeParams, OptionParams, PromptParams, SessionId, SessionParams,
};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::AsyncRead;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{mpsc, watch};
use tokio::task::JoinSet;
use windlass_types::EntryId;

/// Messages that wait in one session.
const WAITING_MESSAGES: usize = 256;
/// Requests outside of sessions that are answered at the same time.
const MOST_REQUESTS: usize = 64;

/// Limit of the end of a connection. Sessions close in four seconds, and the client reads the rest.
const CLOSING: Duration = Duration::from_secs(6);

/// State of one connection.
pub(super) struct Connection<A> {
    options: AcpOptions,
    agent: Arc<A>,
    out: mpsc::Sender<Vec<u8>>,
    /// Abilities of the client; `None` before `initialize`.
    client: Option<ClientAbilities>,
    sessions: HashMap<String, OpenSession>,
    next_session: u64,
    tasks: JoinSet<Finished>,
}

/// Way to an open session.
struct OpenSession {
    number: u64,
    inbox: mpsc::Sender<SessionInput>,
    alive: watch::Receiver<()>,
}

/// Task that has ended.
enum Finished {
    /// A session, with its number.
    Session(String, u64),
    /// A request outside of sessions.
    Request,
}

impl<A: AcpAgent> Connection<A> {
    pub(super) fn new(options: AcpOptions, agent: Arc<A>, out: mpsc::Sender<Vec<u8>>) -> Self {
        Self { options, agent, out, client: None, sessions: HashMap::new(), next_session: 0, tasks: JoinSet::new() }
    }

    pub(super) async fn serve<R: AsyncRead + Unpin>(
        mut self,
        input: R,
        shutdown: impl Future<Output = ()>,
    ) -> io::Result<()> {
        let mut lines = LineReader::new(input, self.options.max_message);
        let mut shutdown = pin!(shutdown);
        let served = loop {
            tokio::select! {
                () = &mut shutdown => break Ok(()),
                () = self.out.closed() => break Ok(()),
                Some(finished) = self.tasks.join_next() => self.finished(finished),
                line = lines.next() => match line {
                    // A client that does not read must not keep the server from its end.
                    Ok(Some(line)) => tokio::select! {
                        () = self.line(line) => {}
                        () = &mut shutdown => break Ok(()),
                    },
                    Ok(None) => break Ok(()),
                    Err(error) => break Err(error),
                },
            }
        };
        // Without their inboxes sessions close.
        self.sessions.clear();
        let closed = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(CLOSING, closed).await.is_err() {
            tracing::warn!("the client does not read its last messages");
            self.tasks.shutdown().await;
        }
        served
    }

    fn finished(&mut self, finished: Result<Finished, tokio::task::JoinError>) {
        match finished {
            Ok(Finished::Session(id, number)) => {
                if self.sessions.get(&id).is_some_and(|open| open.number == number) {
                    self.sessions.remove(&id);
                }
            }
            Ok(Finished::Request) => {}
            Err(error) => {
                tracing::error!(%error, "a task of the connection failed");
                self.sessions.retain(|_, open| !open.inbox.is_closed());
            }
        }
    }

    async fn answer(&self, id: &RequestId, result: &Result<Value, AcpError>) {
        // A message fails when the client is gone, and then serving ends.
        let _ = self.out.send(rpc::line(&rpc::answer(id, result))).await;
    }

    async fn line(&mut self, line: Line) {
        let bytes = match line {
            Line::Bytes(bytes) if bytes.iter().all(u8::is_ascii_whitespace) => return,
            Line::Bytes(bytes) => bytes,
            Line::TooLong => {
                let limit = self.options.max_message;
                let error = AcpError::new(
                    AcpErrorKind::NotJson,
                    format!("the message is longer than {limit} bytes and was not read"),
                );
                return self.answer(&RequestId::NULL, &Err(error)).await;
            }
        };
        match rpc::parse(&bytes) {
            Ok(Incoming::Request { id, method, params }) => {
                if let Err(error) = self.request(&id, &method, params).await {
                    self.answer(&id, &Err(error)).await;
                }
            }
            Ok(Incoming::Notification { method, params }) => self.notification(&method, &params).await,
            Ok(Incoming::Response { id, result }) => self.response(&id, result).await,
            Err(Unreadable { id, error }) => self.answer(&id, &Err(error)).await,
        }
    }

    /// Takes a request. One that fails at once is answered by the caller.
    async fn request(&mut self, id: &RequestId, method: &str, params: Value) -> Result<(), AcpError> {
        if method == "initialize" {
            let (result, client) = initialize::answer(&self.options, &params)?;
            self.client = Some(client);
            self.answer(id, &Ok(result)).await;
            return Ok(());
        }
        let Some(client) = self.client else {
            return Err(AcpError::invalid_request(format!("{method} came before initialize: send initialize first")));
        };
        match method {
            "authenticate" => self.authenticate(id.clone(), params::read(method, params)?),
            "session/new" => self.begin(id, AcpStart::New, params::read(method, params)?, client),
            "session/load" => self.begin(id, AcpStart::Load, params::read(method, params)?, client),
            "session/resume" => self.begin(id, AcpStart::Resume, params::read(method, params)?, client),
            "session/list" => self.list(id.clone(), params::read(method, object(params))?),
            "session/delete" => self.delete(id.clone(), params::read(method, params)?),
            "session/prompt" => {
                let session: SessionId = params::read(method, params.clone())?;
                let PromptParams { prompt } = params::read(method, params)?;
                self.to_session(&session, SessionInput::Prompt(id.clone(), prompt))
            }
            "session/set_mode" => {
                let session: SessionId = params::read(method, params.clone())?;
                let ModeParams { mode_id } = params::read(method, params)?;
                self.to_session(&session, SessionInput::Mode(id.clone(), mode_id))
            }
            "session/set_config_option" => {
                let session: SessionId = params::read(method, params.clone())?;
                let OptionParams { config_id, value } = params::read(method, params)?;
                self.to_session(&session, SessionInput::Option(id.clone(), config_id, value))
            }
            "session/close" => {
                let session: SessionId = params::read(method, params)?;
                self.to_session(&session, SessionInput::Close(Some(id.clone())))
            }
            _ => Err(AcpError::new(AcpErrorKind::UnknownMethod, format!("the method {method:?} is unknown"))),
        }
    }

    /// Takes a notification. Unknown ones are ignored.
    async fn notification(&mut self, method: &str, params: &Value) {
        match method {
            "session/cancel" => {
                let id = params.get("sessionId").and_then(Value::as_str).unwrap_or_default();
                if let Some(open) = self.sessions.get(id) {
                    // A message fails when the session has ended.
                    let _ = open.inbox.send(SessionInput::Cancel).await;
                }
            }
            "$/cancel_request" => {
                let Some(request) = params.get("requestId").and_then(RequestId::of) else { return };
                for open in self.sessions.values() {
                    let _ = open.inbox.send(SessionInput::CancelRequest(request.clone())).await;
                }
            }
            _ => {}
        }
    }

    /// Gives an answer to the session that has asked. Others are ignored.
    async fn response(&mut self, id: &RequestId, result: Result<Value, String>) {
        let Some((session, number)) = id.as_str().and_then(|id| id.split_once('-')) else { return };
        let (Ok(session), Ok(number)) = (session.parse::<u64>(), number.parse()) else { return };
        if let Some(open) = self.sessions.values().find(|open| open.number == session) {
            // A message fails when the session has ended.
            let _ = open.inbox.send(SessionInput::Answered(number, result)).await;
        }
    }

    fn to_session(&self, session: &SessionId, input: SessionInput) -> Result<(), AcpError> {
        let id = &session.session_id;
        let not_open =
            || AcpError::not_found(format!("the session {id:?} is not open: use session/new, load or resume"));
        let open = self.sessions.get(id).ok_or_else(not_open)?;
        open.inbox.try_send(input).map_err(|error| match error {
            TrySendError::Full(_) => AcpError::internal("too many requests wait in the session: wait for an answer"),
            TrySendError::Closed(_) => not_open(),
        })
    }

    fn begin(
        &mut self,
        request: &RequestId,
        start: AcpStart,
        given: SessionParams,
        client: ClientAbilities,
    ) -> Result<(), AcpError> {
        given.check()?;
        let mcp_servers = given.servers()?;
        let id = match (start, given.session_id) {
            (AcpStart::New, _) => EntryId::from_bits(self.options.ids.bits()).to_string(),
            (_, Some(id)) => id,
            (_, None) => return Err(AcpError::invalid_params("the parameters have no sessionId")),
        };
        if !self.sessions.contains_key(&id) && self.sessions.len() >= self.options.max_sessions {
            let most = self.options.max_sessions;
            return Err(AcpError::internal(format!("{most} sessions are open: close one with session/close")));
        }
        let before = self.sessions.remove(&id);
        self.next_session += 1;
        let number = self.next_session;
        let (inbox, messages) = mpsc::channel(WAITING_MESSAGES);
        let alive = watch::Sender::new(());
        let to_client = AcpClient::new(id.clone(), inbox.downgrade(), client);
        self.sessions.insert(id.clone(), OpenSession { number, inbox, alive: alive.subscribe() });
        let start_of_task = SessionStart {
            id: id.clone(),
            number,
            cwd: given.cwd.clone(),
            inbox: messages,
            out: self.out.clone(),
            ids: Arc::clone(&self.options.ids),
            client,
            alive,
            // Without its inbox that session closes.
            before: before.map(|open| open.alive),
        };
        let session = AcpSession {
            id: id.clone(),
            start,
            cwd: given.cwd,
            additional_directories: given.additional_directories,
            mcp_servers,
            client: to_client,
        };
        let (agent, beginning) = (Arc::clone(&self.agent), Beginning { request: request.clone(), session });
        self.tasks.spawn(async move {
            start_of_task.run(agent, beginning).await;
            Finished::Session(id, number)
        });
        Ok(())
    }

    fn authenticate(&mut self, request: RequestId, params: AuthParams) -> Result<(), AcpError> {
        let AuthParams { method_id } = params;
        if !self.options.auth_methods.iter().any(|method| method.id == method_id) {
            return Err(AcpError::invalid_params(format!("there is no login method {method_id:?}")));
        }
        let agent = Arc::clone(&self.agent);
        self.spawn(request, async move { agent.authenticate(&method_id).await.map(|()| json!({})) })
    }

    fn list(&mut self, request: RequestId, params: ListParams) -> Result<(), AcpError> {
        if let Some(cwd) = &params.cwd {
            params::absolute("cwd", cwd)?;
        }
        let agent = Arc::clone(&self.agent);
        let query = SessionQuery { cwd: params.cwd, cursor: params.cursor };
        self.spawn(request, async move {
            let page = agent.list(query).await?;
            let sessions: Vec<Value> = page
                .sessions
                .iter()
                .map(|session| {
                    json!({
                        "sessionId": session.id, "cwd": session.cwd.to_string_lossy(), "title": session.title,
                        "updatedAt": session.updated_at.map(|time| time.to_string()),
                    })
                })
                .collect();
            Ok(json!({ "sessions": sessions, "nextCursor": page.next_cursor }))
        })
    }

    /// Deletes a session, after it is closed.
    fn delete(&mut self, request: RequestId, params: SessionId) -> Result<(), AcpError> {
        let id = params.session_id;
        let open = self.sessions.remove(&id);
        let agent = Arc::clone(&self.agent);
        self.spawn(request, async move {
            if let Some(OpenSession { inbox, mut alive, .. }) = open {
                drop(inbox);
                while alive.changed().await.is_ok() {}
            }
            agent.delete(&id).await.map(|()| json!({}))
        })
    }

    /// Answers a request in a task of its own.
    fn spawn(
        &mut self,
        request: RequestId,
        work: impl Future<Output = Result<Value, AcpError>> + Send + 'static,
    ) -> Result<(), AcpError> {
        if self.tasks.len() >= self.options.max_sessions + MOST_REQUESTS {
            return Err(AcpError::internal("too many requests wait: wait for an answer"));
        }
        let out = self.out.clone();
        self.tasks.spawn(async move {
            let result = work.await;
            // A message fails when the client is gone.
            let _ = out.send(rpc::line(&rpc::answer(&request, &result))).await;
            Finished::Request
        });
        Ok(())
    }
}

/// Parameters that may be left out.
fn object(params: Value) -> Value {
    if params.is_null() { json!({}) } else { params }
}
