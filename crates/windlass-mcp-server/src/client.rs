//! Who calls: where progress goes, and who answers questions.

use rmcp::model::{
    ElicitRequestParams, ElicitationAction, ElicitationSchema, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::{Peer, RequestContext, RoleServer};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use windlass::JsonText;

/// Longest text of a progress report, in characters.
const LONGEST_PROGRESS: usize = 1000;

/// The client of one call. Cheap to clone.
#[derive(Clone)]
pub struct Client(Option<Arc<Remote>>);

struct Remote {
    peer: Peer<RoleServer>,
    /// Where the client wants to read progress, if it does.
    progress: Option<ProgressToken>,
    reports: AtomicU64,
    /// Whether a report is on its way.
    busy: AtomicBool,
    can_ask: bool,
}

/// What a client answered to a question.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum ClientAnswer {
    /// The user filled in the form.
    Accepted(JsonText),
    /// The user does not want to.
    Declined,
    /// The user left the question open.
    Cancelled,
    /// The client cannot ask its user, or did not answer as it should.
    Unsupported,
}

impl Client {
    /// A client that reads no progress and cannot be asked, for calls from within the program.
    #[must_use]
    pub fn none() -> Self {
        Self(None)
    }

    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let version = context.protocol_version();
        // Newer versions know no questions of a server while a call runs.
        let takes_requests = version.is_none_or(|version| version.has_initialize());
        let forms = |capabilities: rmcp::model::ClientCapabilities| {
            capabilities.elicitation.is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none())
        };
        Self(Some(Arc::new(Remote {
            peer: context.peer.clone(),
            progress: context.meta.get_progress_token(),
            reports: AtomicU64::new(0),
            busy: AtomicBool::new(false),
            can_ask: takes_requests && context.client_capabilities().is_some_and(forms),
        })))
    }

    /// Whether the client can ask its user.
    #[must_use]
    pub fn can_ask(&self) -> bool {
        self.0.as_ref().is_some_and(|remote| remote.can_ask)
    }

    /// Informs the client of progress, if it wants to know. At most 1,000 characters of the text are sent. Cancel safe.
    pub async fn progress(&self, text: &str) {
        let Some(remote) = &self.0 else { return };
        let Some(token) = remote.progress.clone() else { return };
        let number = remote.reports.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        let text: String = text.chars().take(LONGEST_PROGRESS).collect();
        // As precise as any count of reports gets.
        let progress = u32::try_from(number).map_or(f64::MAX, f64::from);
        let report = ProgressNotificationParam::new(token, progress).with_message(text);
        if let Err(error) = remote.peer.notify_progress(report).await {
            tracing::debug!(%error, "an MCP client does not take progress");
        }
    }

    /// The same without waiting for the client. While it has not taken a report, others are left out.
    pub(crate) fn report(&self, text: String) {
        let Some(remote) = self.0.clone().filter(|remote| remote.progress.is_some()) else { return };
        if remote.busy.swap(true, Ordering::AcqRel) {
            return;
        }
        let client = self.clone();
        tokio::spawn(async move {
            client.progress(&text).await;
            remote.busy.store(false, Ordering::Release);
        });
    }

    /// Asks the user of the client. `schema` is the form: a JSON Schema of an object whose members are texts, numbers, truth
    /// values or choices. Waits as long as the client takes.
    pub async fn ask(&self, message: &str, schema: &JsonText) -> ClientAnswer {
        let Some(remote) = self.0.as_ref().filter(|remote| remote.can_ask) else { return ClientAnswer::Unsupported };
        let Ok(requested_schema) = schema.to::<ElicitationSchema>() else { return ClientAnswer::Unsupported };
        let form =
            ElicitRequestParams::FormElicitationParams { meta: None, message: message.to_owned(), requested_schema };
        match remote.peer.create_elicitation(form).await {
            Ok(answer) => match answer.action {
                ElicitationAction::Accept => {
                    let content = answer.content.unwrap_or_else(|| serde_json::Value::Object(Default::default()));
                    JsonText::of(&content).map_or(ClientAnswer::Unsupported, ClientAnswer::Accepted)
                }
                ElicitationAction::Decline => ClientAnswer::Declined,
                _ => ClientAnswer::Cancelled,
            },
            Err(error) => {
                tracing::debug!(%error, "an MCP client did not answer a question");
                ClientAnswer::Unsupported
            }
        }
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("can_ask", &self.can_ask()).finish_non_exhaustive()
    }
}
