//! Call of a tool, from its request to its result.

use super::rounds::InputRounds;
use super::{CallOutcome, Connection, ConnectionLifecycle};
use crate::text::{LONGEST_ERROR, chain, clipped};
use crate::transport::{SendError, UNANSWERED, was_not_sent};
use crate::{McpError, RoundLimits};
use rmcp::model::{
    CallToolRequest, CallToolRequestParams, ClientRequest, ErrorCode, ProgressToken, RequestId, RequestMetaObject,
    ServerResult,
};
use rmcp::service::{PeerRequestOptions, RequestHandle, RoleClient, ServiceError};
use rmcp::transport::streamable_http_client::StreamableHttpError;
use serde_json::{Map, Value};
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::{Instant, sleep_until, timeout};
use windlass_tool::Cancel;
use windlass_types::JsonText;

/// Maximum durations of the calls of a connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct CallLimits {
    /// Maximum duration in all; `None` if unlimited.
    pub(super) whole: Option<Duration>,
    /// Maximum duration without progress.
    pub(super) silence: Duration,
    /// Limits of rounds in which the server asks for input in place of a result.
    pub(super) rounds: RoundLimits,
}

/// Deadline of a call.
#[derive(Debug, Clone, Copy)]
struct CallDeadline {
    at: Instant,
    /// Duration from the begin of the call to the deadline.
    limit: Duration,
}

impl CallDeadline {
    fn after(begun: Instant, limit: Duration) -> Self {
        // Far enough for a limit that no clock can hold.
        let at = begun.checked_add(limit).unwrap_or_else(|| begun + Duration::from_secs(365 * 24 * 3600));
        Self { at, limit }
    }

    fn or_earlier(self, other: Self) -> Self {
        if other.at < self.at { other } else { self }
    }
}

/// Reason why a call has no result.
pub(crate) enum NotCalled {
    /// The call has certainly not reached the server.
    Unsent(McpError),
    /// The call may have reached the server, which was lost before it answered.
    Lost {
        /// Description of the loss by the connection.
        detail: String,
    },
    /// Any other failure.
    Failed(McpError),
}

/// Context of a call beside its arguments.
#[derive(Clone)]
pub(crate) struct CallCx<'a> {
    pub(crate) tool_use_id: Option<&'a str>,
    pub(crate) cancel: Cancel,
    pub(crate) progress: &'a (dyn Fn(String) + Send + Sync),
    /// Maximum duration in all, instead of the configured one.
    pub(crate) timeout: Option<Duration>,
}

impl Connection {
    /// Calls a tool by its own name. `as_task` is `true` if the server takes calls of the tool as tasks.
    pub(crate) async fn call(
        &self,
        (tool, as_task): (&str, bool),
        arguments: &JsonText,
        cx: CallCx<'_>,
    ) -> Result<CallOutcome, NotCalled> {
        let arguments: Map<String, Value> = arguments.to().map_err(|error| {
            let code = i64::from(ErrorCode::INVALID_PARAMS.0);
            NotCalled::Failed(McpError::Refused { code, message: error.to_string() })
        })?;
        let outcome = if as_task && self.introduction.lifecycle == ConnectionLifecycle::Initialize {
            let end = self.end_of_call(now(), &cx);
            let answered = self.call_once(self.call_as_task(tool, &arguments, &cx), &cx, end).await;
            answered.and_then(|(answer, token)| self.called(answer, token))
        } else {
            self.call_in_rounds(CallToolRequestParams::new(tool.to_owned()).with_arguments(arguments), &cx).await
        };
        if let Err(NotCalled::Failed(error)) = &outcome {
            self.put_to_person(error, &cx).await;
        }
        outcome
    }

    fn end_of_call(&self, started: Instant, cx: &CallCx<'_>) -> CallDeadline {
        CallDeadline::after(started, cx.timeout.or(self.limits.whole).unwrap_or(Duration::MAX))
    }

    fn timed_out(&self, limit: Duration) -> NotCalled {
        NotCalled::Failed(McpError::TimedOut { name: self.server.clone(), limit })
    }

    async fn call_in_rounds(
        &self,
        mut params: CallToolRequestParams,
        cx: &CallCx<'_>,
    ) -> Result<CallOutcome, NotCalled> {
        let (mut rounds, started) = (InputRounds::default(), now());
        let mut end = self.end_of_call(started, cx);
        loop {
            let request = ClientRequest::CallToolRequest(CallToolRequest::new(params.clone()));
            let wanted = match self.call_once(request, cx, end).await {
                Ok((ServerResult::InputRequiredResult(wanted), _)) => wanted,
                Ok((answer, token)) => return self.called(answer, token),
                // An earlier round has reached the server.
                Err(NotCalled::Unsent(error)) if params.input_responses.is_some() || params.request_state.is_some() => {
                    return Err(NotCalled::Failed(error));
                }
                Err(failed) => return Err(failed),
            };
            end = end.or_earlier(CallDeadline::after(started, self.limits.rounds.time));
            let input = tokio::select! {
                biased;
                () = cx.cancel.cancelled() => return Err(NotCalled::Failed(McpError::Stopped)),
                () = sleep_until(end.at) => return Err(self.timed_out(end.limit)),
                input = self.input(wanted, &mut rounds) => input.map_err(NotCalled::Failed)?,
            };
            params.input_responses = input.responses;
            params.request_state = input.state;
        }
    }

    /// Asks a person to visit pages if the call failed for lack of these visits.
    async fn put_to_person(&self, error: &McpError, cx: &CallCx<'_>) {
        let McpError::VisitNeeded { visits, .. } = error else { return };
        tokio::select! {
            biased;
            () = cx.cancel.cancelled() => {}
            () = self.answers.visit(visits) => {}
        }
    }

    /// Sends one round of a call.
    async fn call_once(
        &self,
        request: ClientRequest,
        cx: &CallCx<'_>,
        end: CallDeadline,
    ) -> Result<(ServerResult, ProgressToken), NotCalled> {
        let mut options = PeerRequestOptions::no_options();
        if let Some(id) = cx.tool_use_id {
            let mut meta = RequestMetaObject::new();
            meta.0.insert("claudecode/toolUseId".to_owned(), Value::from(id));
            options = options.with_meta(meta);
        }
        let open_call = self.calls.begin();
        let sent = self.peer.send_request_with_option(request, options).await;
        // The receiver of the queue is gone: the request has not been sent.
        let handle = sent.map_err(|error| self.unsent(&error))?;
        open_call.has_id(&handle.id);
        let token = handle.progress_token.clone();
        let answer = self.await_answer(OpenCall(Some(handle)), cx, end).await;
        match &answer {
            Ok(_) => open_call.was_answered(),
            Err(NotCalled::Lost { .. }) => open_call.was_lost(),
            Err(_) => {}
        }
        answer.map(|answer| (answer, token))
    }

    /// Returns the outcome of a call that has not reached the server; the connection takes no more calls.
    fn unsent(&self, error: &ServiceError) -> NotCalled {
        self.spent.store(true, Ordering::SeqCst);
        let reason = match &error {
            ServiceError::TransportSend(failure) => clipped(&chain(&*failure.error), LONGEST_ERROR),
            _ => "the connection ended before the call was sent".to_owned(),
        };
        NotCalled::Unsent(McpError::NotConnected { name: self.server.clone(), reason, output: String::new() })
    }

    /// Returns the reason why a call has no result; decisive is whether the call may have reached the server.
    fn unanswered(&self, id: &RequestId, error: ServiceError) -> NotCalled {
        if let Some(detail) = outcome_unknown(&error) {
            return NotCalled::Failed(McpError::OutcomeUnknown { name: self.server.clone(), detail });
        }
        match &error {
            ServiceError::TransportSend(failure) if was_not_sent(&*failure.error) => return self.unsent(&error),
            // The request was refused as a whole.
            ServiceError::TransportSend(failure) if is_refusal(&*failure.error) => {}
            ServiceError::TransportSend(_) | ServiceError::TransportClosed if !self.sent.may_have(id) => {
                return self.unsent(&error);
            }
            ServiceError::TransportSend(failure) => {
                // A program that takes no input is of no further use. An endpoint may accept the next request.
                self.ended.fetch_or(self.ending.is_of_program(), Ordering::SeqCst);
                return NotCalled::Lost { detail: format!(": {}", clipped(&chain(&*failure.error), LONGEST_ERROR)) };
            }
            ServiceError::TransportClosed => {
                // Over HTTP, the answer of this call alone may be lost.
                self.ended.fetch_or(self.ending.is_of_program(), Ordering::SeqCst);
                return NotCalled::Lost { detail: String::new() };
            }
            _ => {}
        }
        NotCalled::Failed(self.failed(error))
    }

    async fn await_answer(
        &self,
        mut call: OpenCall,
        cx: &CallCx<'_>,
        end: CallDeadline,
    ) -> Result<ServerResult, NotCalled> {
        let silence = self.limits.silence;
        let Some(handle) = &mut call.0 else { return Err(NotCalled::Failed(self.bad_answer())) };
        let id = handle.id.clone();
        let (mut progress, _listening) = self.heard.listen(handle.progress_token.clone());
        let mut patience = CallDeadline::after(now(), silence);
        loop {
            tokio::select! {
                biased;
                () = cx.cancel.cancelled() => return Err(NotCalled::Failed(McpError::Stopped)),
                answer = &mut handle.rx => {
                    // The request is answered and need not be cancelled.
                    call.0 = None;
                    let answer = answer.unwrap_or(Err(ServiceError::TransportClosed));
                    return answer.map_err(|error| self.unanswered(&id, error));
                }
                Ok(()) = progress.changed() => {
                    (cx.progress)(progress.borrow_and_update().clone());
                    patience = CallDeadline::after(now(), silence);
                }
                () = sleep_until(end.or_earlier(patience).at) => {
                    return Err(self.timed_out(end.or_earlier(patience).limit));
                }
            }
        }
    }
}

/// Describes the fault of a server that received a request and did not answer it as the protocol requires; `None` for
/// other errors. The server may have executed the request.
fn outcome_unknown(error: &ServiceError) -> Option<String> {
    let with_status = |status: &str| format!("answered with the status {status}");
    let error = match error {
        ServiceError::McpError(error) if error.code == UNANSWERED => {
            return Some(clipped(&error.message, LONGEST_ERROR));
        }
        ServiceError::TransportSend(failure) if !was_not_sent(&*failure.error) => &*failure.error,
        _ => return None,
    };
    if let Some(error) = error.downcast_ref::<SendError>() {
        return match error {
            SendError::Status(status) if status.starts_with('5') => Some(with_status(status)),
            SendError::NoStatus => Some("did not say in time that it has it".to_owned()),
            SendError::Http(_) => Some(format!("broke the connection: {}", clipped(&chain(error), LONGEST_ERROR))),
            SendError::BadAnswer(problem) => Some(format!("gave an answer that is no message: {problem}")),
            _ => None,
        };
    }
    let name =
        |status: u16| reqwest::StatusCode::from_u16(status).map_or_else(|_| status.to_string(), |s| s.to_string());
    match error.downcast_ref::<StreamableHttpError<reqwest::Error>>()? {
        StreamableHttpError::HttpStatus(error) if error.status >= 500 => Some(with_status(&name(error.status))),
        // The library has put the status into the text. The remaining text comes from the server.
        StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("HTTP 4") => None,
        StreamableHttpError::UnexpectedServerResponse(_) => {
            Some("gave an answer that is no message of the protocol".to_owned())
        }
        StreamableHttpError::UnexpectedContentType(_) => {
            Some("gave an answer that is neither JSON nor a stream of events".to_owned())
        }
        StreamableHttpError::ResponseBodyTooLarge { max_size } => {
            Some(format!("gave an answer of more than {max_size} bytes"))
        }
        StreamableHttpError::Client(error) => {
            Some(format!("broke the connection: {}", clipped(&chain(error), LONGEST_ERROR)))
        }
        StreamableHttpError::SessionRecoveryTimeout => Some("lost its session meanwhile".to_owned()),
        _ => None,
    }
}

/// `true` if the server refused a request as a whole, so that it was neither carried out nor lost.
fn is_refusal(error: &(dyn std::error::Error + 'static)) -> bool {
    if let Some(error) = error.downcast_ref::<SendError>() {
        return !matches!(error, SendError::Closed | SendError::Write(_));
    }
    matches!(
        error.downcast_ref::<StreamableHttpError<reqwest::Error>>(),
        Some(
            StreamableHttpError::HttpStatus(_)
                | StreamableHttpError::UnexpectedServerResponse(_)
                | StreamableHttpError::AuthRequired(_)
                | StreamableHttpError::InsufficientScope(_)
                | StreamableHttpError::SessionExpired
                | StreamableHttpError::ReinitializationFailed(_)
        )
    )
}

/// Request that is cancelled when its answer is no longer awaited.
pub(super) struct OpenCall(pub(super) Option<RequestHandle<RoleClient>>);

impl Drop for OpenCall {
    fn drop(&mut self) {
        if let Some(handle) = self.0.take()
            && let Ok(runtime) = tokio::runtime::Handle::try_current()
        {
            runtime.spawn(async move {
                // A server that does not read must not block this task for ever.
                let _ = timeout(Duration::from_secs(5), handle.cancel(Some("the call was stopped".to_owned()))).await;
            });
        }
    }
}

#[expect(clippy::disallowed_methods, reason = "a deadline on the clock of tokio, which tests can hold")]
pub(super) fn now() -> Instant {
    Instant::now()
}
