//! Client of a call: receiver of progress and log lines, and answerer of questions.

use crate::rounds::QuestionRounds;
use crate::{ClientAbility, ClientAnswer, Question};
use rmcp::model::{
    ClientCapabilities, InputRequest, InputResponses, ProgressNotificationParam, ProgressToken, ServerRequest,
};
#[expect(deprecated, reason = "revisions that have logs stay in use")]
use rmcp::model::{LoggingLevel, LoggingMessageNotificationParam};
use rmcp::service::{Peer, RequestContext, RoleServer, ServiceError};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use windlass::JsonText;

/// Maximum length of a progress report or of a log line, in characters.
const LONGEST_TEXT: usize = 1000;

/// Client of one call. Cheap to clone.
#[derive(Clone)]
pub struct Client(Option<Arc<RemoteClient>>);

struct RemoteClient {
    link: Mutex<CallLink>,
    reports: AtomicU64,
    questions: AtomicU64,
    /// `true` while a report is being sent.
    busy: AtomicBool,
    /// Latest report, for polls of a task.
    said: Mutex<Option<String>>,
    declared: ClientCapabilities,
    /// Rounds of questions, if the client cannot be asked while a call runs.
    rounds: Option<Arc<QuestionRounds>>,
}

/// Current request: a call that has asked continues with another request.
#[derive(Clone)]
struct CallLink {
    peer: Peer<RoleServer>,
    /// Progress token, if the client wants progress.
    progress: Option<ProgressToken>,
    /// Lowest level of log lines that the client wants, if any.
    log: Option<LogLevel>,
}

/// Level of a log line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[expect(clippy::exhaustive_enums, reason = "the levels of syslog")]
#[allow(missing_docs, reason = "the names say it")]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

#[expect(deprecated, reason = "revisions that have logs stay in use")]
impl LogLevel {
    pub(crate) fn of(level: LoggingLevel) -> Self {
        match level {
            LoggingLevel::Debug => Self::Debug,
            LoggingLevel::Info => Self::Info,
            LoggingLevel::Notice => Self::Notice,
            LoggingLevel::Warning => Self::Warning,
            LoggingLevel::Error => Self::Error,
            LoggingLevel::Critical => Self::Critical,
            LoggingLevel::Alert => Self::Alert,
            LoggingLevel::Emergency => Self::Emergency,
        }
    }

    fn wire(self) -> LoggingLevel {
        match self {
            Self::Debug => LoggingLevel::Debug,
            Self::Info => LoggingLevel::Info,
            Self::Notice => LoggingLevel::Notice,
            Self::Warning => LoggingLevel::Warning,
            Self::Error => LoggingLevel::Error,
            Self::Critical => LoggingLevel::Critical,
            Self::Alert => LoggingLevel::Alert,
            Self::Emergency => LoggingLevel::Emergency,
        }
    }
}

/// `true` if the client of a request uses a revision in which servers send no requests.
pub(crate) fn is_asked_in_rounds(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_some_and(|version| !version.has_initialize())
}

impl Client {
    /// Creates a client that reads no progress and cannot be asked, for calls from within the program.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    /// Creates the client of a request. `level` is the log level that it has set for its connection.
    pub(crate) fn of(
        context: &RequestContext<RoleServer>,
        level: LogLevel,
        rounds: Option<Arc<QuestionRounds>>,
    ) -> Self {
        Self(Some(Arc::new(RemoteClient {
            link: Mutex::new(CallLink::of(context, level)),
            reports: AtomicU64::new(0),
            questions: AtomicU64::new(0),
            busy: AtomicBool::new(false),
            said: Mutex::default(),
            declared: context.client_capabilities().unwrap_or_default(),
            rounds,
        })))
    }

    /// Continues with another request of the same client.
    pub(crate) fn continue_with(&self, context: &RequestContext<RoleServer>, level: LogLevel) {
        if let Some(remote) = &self.0 {
            *remote.link() = CallLink::of(context, level);
        }
    }

    /// `true` if the client can ask its user to fill in a form.
    #[must_use]
    pub fn can_ask(&self) -> bool {
        self.can(ClientAbility::Forms)
    }

    /// `true` if the client has declared the ability.
    #[must_use]
    pub fn can(&self, ability: ClientAbility) -> bool {
        self.0.as_ref().is_some_and(|remote| ability.is_in(&remote.declared))
    }

    /// Reports progress to the client, if it wants that. At most 1,000 characters of the text are sent. Cancel safe.
    pub async fn progress(&self, text: &str) {
        let Some(remote) = &self.0 else { return };
        let number = remote.reports.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        // As precise as any count of reports gets.
        let done = u32::try_from(number).map_or(f64::MAX, f64::from);
        self.report_progress(done, None, Some(text)).await;
    }

    /// Reports that `done` of `total` is finished, in any unit. `done` has to grow with each report of a call; use
    /// either this or [`progress`](Self::progress) in one. Cancel safe.
    pub async fn progress_of(&self, done: f64, total: f64) {
        self.report_progress(done, Some(total), None).await;
    }

    /// Returns the latest report to the client.
    pub(crate) fn said(&self) -> Option<String> {
        self.0.as_ref().and_then(|remote| remote.said().clone())
    }

    async fn report_progress(&self, done: f64, total: Option<f64>, text: Option<&str>) {
        if let Some(remote) = &self.0 {
            remote.says(text, done, total);
        }
        let Some(link) = self.0.as_ref().map(|remote| remote.link().clone()) else { return };
        let Some(token) = link.progress else { return };
        let mut report = ProgressNotificationParam::new(token, done);
        report.total = total;
        report.message = text.map(|text| text.chars().take(LONGEST_TEXT).collect());
        if let Err(error) = link.peer.notify_progress(report).await {
            tracing::debug!(%error, "an MCP client does not take progress");
        }
    }

    /// Reports progress without waiting for the client. Further reports are dropped until the client has taken the
    /// previous one.
    pub(crate) fn report(&self, text: String) {
        let Some(remote) = self.0.clone() else { return };
        if remote.link().progress.is_none() {
            remote.says(Some(&text), 0.0, None);
            return;
        }
        if remote.busy.swap(true, Ordering::AcqRel) {
            return;
        }
        let client = self.clone();
        tokio::spawn(async move {
            client.progress(&text).await;
            remote.busy.store(false, Ordering::Release);
        });
    }

    /// Sends a log line, if the client wants lines of this level. At most 1,000 characters are sent. Cancel safe.
    #[expect(deprecated, reason = "revisions that have logs stay in use")]
    pub async fn log(&self, level: LogLevel, text: &str) {
        let Some(link) = self.0.as_ref().map(|remote| remote.link().clone()) else { return };
        if link.log.is_none_or(|least| level < least) {
            return;
        }
        let text: String = text.chars().take(LONGEST_TEXT).collect();
        let line = LoggingMessageNotificationParam::new(level.wire(), text.into());
        if let Err(error) = link.peer.notify_logging_message(line).await {
            tracing::debug!(%error, "an MCP client does not take lines of the log");
        }
    }

    /// Asks the user of the client to fill in a form, see [`Question::form`]. Waits as long as the client takes; a
    /// client of 2026-07-28 has ten minutes.
    pub async fn ask(&self, message: &str, schema: &JsonText) -> ClientAnswer {
        let Some(remote) = &self.0 else { return ClientAnswer::Unsupported };
        let number = remote.questions.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let question = Question::form(message, schema.clone()).named(format!("question_{number}"));
        self.ask_all(vec![question]).await.pop().unwrap_or(ClientAnswer::Unsupported)
    }

    /// Asks several questions, and returns the answers in the same order. A client of 2026-07-28 is asked all of them at
    /// once, and has ten minutes; another one is asked one after the other.
    pub async fn ask_all(&self, questions: Vec<Question>) -> Vec<ClientAnswer> {
        let Some(remote) = &self.0 else { return vec![ClientAnswer::Unsupported; questions.len()] };
        let (asked, left): (Vec<_>, Vec<_>) =
            questions.into_iter().enumerate().partition(|(_, question)| self.can(question.needs()));
        let (places, asked): (Vec<_>, Vec<_>) = asked.into_iter().unzip();
        let answers = match &remote.rounds {
            Some(_) if asked.is_empty() => Vec::new(),
            Some(rounds) => rounds.ask(asked).await,
            None => {
                let mut answers = Vec::with_capacity(asked.len());
                for question in &asked {
                    answers.push(remote.ask(question).await);
                }
                answers
            }
        };
        let unasked = left.into_iter().map(|(place, _)| (place, ClientAnswer::Unsupported));
        let mut answers: Vec<_> = places.into_iter().zip(answers).chain(unasked).collect();
        answers.sort_by_key(|(place, _)| *place);
        answers.into_iter().map(|(_, answer)| answer).collect()
    }

    /// Takes the answers of a client of 2026-07-28.
    pub(crate) fn give(&self, responses: InputResponses) {
        if let Some(rounds) = self.0.as_ref().and_then(|remote| remote.rounds.as_ref()) {
            rounds.give(responses);
        }
    }
}

impl RemoteClient {
    fn link(&self) -> MutexGuard<'_, CallLink> {
        self.link.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn said(&self) -> MutexGuard<'_, Option<String>> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Stores the latest report.
    fn says(&self, text: Option<&str>, done: f64, total: Option<f64>) {
        let said = match (text, total) {
            (Some(text), _) => text.chars().take(LONGEST_TEXT).collect(),
            (None, Some(total)) => format!("{done} of {total}"),
            (None, None) => done.to_string(),
        };
        *self.said() = Some(said);
    }

    /// Asks a client that takes requests while a call runs.
    async fn ask(&self, question: &Question) -> ClientAnswer {
        let number = self.reports.fetch_add(1, Ordering::Relaxed);
        let Some(request) = question.request(&format!("{}_{number}", question.name())) else {
            return ClientAnswer::Unsupported;
        };
        let request = match request {
            InputRequest::Elicitation(request) => ServerRequest::ElicitRequest(request),
            InputRequest::CreateMessage(request) => ServerRequest::CreateMessageRequest(request),
            InputRequest::ListRoots(request) => ServerRequest::ListRootsRequest(request),
            _ => return ClientAnswer::Unsupported,
        };
        let peer = self.link().peer.clone();
        let answered = peer.send_request(request).await;
        let answered = answered.and_then(|answer| serde_json::to_value(answer).map_err(unreadable));
        match answered {
            Ok(answer) => question.answer(&answer).unwrap_or(ClientAnswer::Unsupported),
            Err(error) => {
                tracing::debug!(%error, "an MCP client did not answer a question");
                ClientAnswer::Unsupported
            }
        }
    }
}

fn unreadable(_: serde_json::Error) -> ServiceError {
    ServiceError::UnexpectedResponse
}

impl CallLink {
    fn of(context: &RequestContext<RoleServer>, level: LogLevel) -> Self {
        // Newer clients request log lines with each request.
        let log = if is_asked_in_rounds(context) { context.meta.log_level().map(LogLevel::of) } else { Some(level) };
        Self { peer: context.peer.clone(), progress: context.meta.get_progress_token(), log }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("can_ask", &self.can_ask()).finish_non_exhaustive()
    }
}
