//! Messages that a server sends by itself.

use crate::{Elicitation, ElicitationAnswer, ElicitationKind, ElicitationRequest};
use rmcp::handler::client::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
    ErrorData, FormElicitationCapability, Implementation, ProgressNotificationParam, ProgressToken, ProtocolVersion,
    UrlElicitationCapability,
};
use rmcp::service::{NotificationContext, RequestContext, RoleClient};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{Notify, Semaphore, watch};
use windlass_types::JsonText;

/// Most questions of a server that wait for a person.
const MOST_QUESTIONS: usize = 4;
/// Longest text of a question or a sign of progress, in characters.
const LONGEST_TEXT: usize = 4000;

/// Takes what a server sends by itself.
pub(crate) struct Listener {
    server: String,
    config: ClientConfig,
    elicitation: Option<Arc<dyn Elicitation>>,
    questions: Semaphore,
    heard: Arc<Heard>,
}

/// What has arrived, for the tasks that wait for it.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    /// Notified when the list of tools has changed.
    pub(crate) tools_changed: Notify,
    progress: Mutex<HashMap<ProgressToken, watch::Sender<String>>>,
}

impl Heard {
    fn progress(&self) -> MutexGuard<'_, HashMap<ProgressToken, watch::Sender<String>>> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens to the signs of progress of a call, for as long as the guard lives.
    pub(crate) fn listen(self: &Arc<Self>, token: ProgressToken) -> (watch::Receiver<String>, Listening) {
        let (sender, receiver) = watch::channel(String::new());
        self.progress().insert(token.clone(), sender);
        (receiver, Listening { heard: Arc::clone(self), token })
    }
}

/// Ends listening when it is dropped.
#[derive(Debug)]
pub(crate) struct Listening {
    heard: Arc<Heard>,
    token: ProgressToken,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.heard.progress().remove(&self.token);
    }
}

impl Listener {
    pub(crate) fn new(
        server: &str,
        client: (&str, &str),
        elicitation: Option<Arc<dyn Elicitation>>,
    ) -> (Self, Arc<Heard>) {
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = elicitation.is_some().then(|| {
            ElicitationCapability::new()
                .with_form(FormElicitationCapability::default())
                .with_url(UrlElicitationCapability::default())
        });
        let config = ClientConfig::new(capabilities, Implementation::new(client.0, client.1))
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE);
        let heard = Arc::new(Heard::default());
        let listener = Self {
            server: server.to_owned(),
            config,
            elicitation,
            questions: Semaphore::new(MOST_QUESTIONS),
            heard: Arc::clone(&heard),
        };
        (listener, heard)
    }

    fn question(&self, params: ElicitRequestParams) -> Option<ElicitationRequest> {
        let (message, kind) = match params {
            ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } => {
                (message, ElicitationKind::Form { schema: JsonText::of(&requested_schema).ok()? })
            }
            ElicitRequestParams::UrlElicitationParams { message, url, elicitation_id, .. } => {
                (message, ElicitationKind::Url { url, id: elicitation_id })
            }
            _ => return None,
        };
        Some(ElicitationRequest::new(&self.server, clipped(&message), kind))
    }
}

fn clipped(text: &str) -> String {
    text.chars().take(LONGEST_TEXT).collect()
}

impl ClientHandler for Listener {
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let declined = Ok(ElicitResult::new(ElicitationAction::Decline));
        let (Some(elicitation), Ok(_place)) = (&self.elicitation, self.questions.try_acquire()) else {
            return declined;
        };
        let Some(question) = self.question(request) else {
            return declined;
        };
        let answer = tokio::select! {
            answer = elicitation.elicit(question) => answer,
            () = context.ct.cancelled() => ElicitationAnswer::Cancel,
        };
        Ok(match answer {
            ElicitationAnswer::Accept(content) => {
                let accepted = ElicitResult::new(ElicitationAction::Accept);
                match content.and_then(|content| content.to::<serde_json::Value>().ok()) {
                    Some(content) => accepted.with_content(content),
                    None => accepted,
                }
            }
            ElicitationAnswer::Decline => ElicitResult::new(ElicitationAction::Decline),
            ElicitationAnswer::Cancel => ElicitResult::new(ElicitationAction::Cancel),
        })
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let text = match (params.message, params.total) {
            (Some(message), _) => clipped(&message),
            (None, Some(total)) => format!("{} of {total}", params.progress),
            (None, None) => params.progress.to_string(),
        };
        if let Some(call) = self.heard.progress().get(&params.progress_token) {
            call.send_replace(text);
        }
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.heard.tools_changed.notify_one();
    }

    fn get_info(&self) -> ClientConfig {
        self.config.clone()
    }
}
