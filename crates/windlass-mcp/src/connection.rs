//! Connection to a server.

mod call;
mod ending;
mod lifecycle;
mod open;
mod reports;
mod rounds;
mod tasks;

pub(crate) use call::{CallCx, NotCalled};
pub(crate) use ending::ConnectionEnd;
pub(crate) use lifecycle::ConnectionLifecycle;
pub(crate) use tasks::CallOutcome;

use crate::McpError;
use crate::answers::{Answers, visits};
use crate::calls::ConnectionCalls;
use crate::listener::ServerNotifications;
use crate::process::LastWords;
use crate::text::{LONGEST_ERROR, chain, clipped};
use crate::tools::{Collector, Offered};
use crate::transport::{Sent, UNANSWERED, UNREADABLE, lacks_rights};
use call::{CallLimits, OpenCall, now};
use ending::ConnectionCloser;
pub(crate) use open::Introduction;
use rmcp::model::{
    ClientRequest, CustomRequest, InputRequiredResult, ListToolsRequest, PaginatedRequestParams, ServerResult,
};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};
use rounds::InputRounds;
use serde_json::Value;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tokio::time::timeout;
use windlass_types::JsonText;

/// Maximum number of pages of a list.
const MAX_PAGES: usize = 200;

/// Connection to a server. Dropping it closes the connection and ends a server that is a program.
pub(crate) struct Connection {
    server: String,
    peer: Peer<RoleClient>,
    pub(crate) heard: Arc<ServerNotifications>,
    answers: Arc<Answers>,
    pub(crate) introduction: Introduction,
    ending: ConnectionCloser,
    sent: Sent,
    /// `true` if the connection must be replaced before it is used again.
    spent: Arc<AtomicBool>,
    /// `true` if a call has seen the end of the connection. The task that waits for the end may see it later.
    ended: AtomicBool,
    calls: ConnectionCalls,
    limits: CallLimits,
}

impl Connection {
    /// `true` if the connection has ended or must be replaced.
    pub(crate) fn is_closed(&self) -> bool {
        self.has_ended() || self.spent.load(Ordering::SeqCst)
    }

    /// `true` if the connection has ended.
    pub(crate) fn has_ended(&self) -> bool {
        self.peer.is_transport_closed() || self.ended.load(Ordering::SeqCst) || self.ending.is_over()
    }

    /// `true` if a loss of the server now would be a loss in its first call.
    pub(crate) fn ended_in_first_call(&self) -> bool {
        self.calls.ended_in_the_first(&self.sent)
    }

    /// Returns the last output of a program.
    pub(crate) fn last_words(&self) -> LastWords {
        self.ending.last_words()
    }

    /// Closes the connection, and waits a bounded time until the server is informed and no process of a program is
    /// left.
    pub(crate) async fn close(&self) {
        self.ending.close().await;
    }

    /// Waits a bounded time for the last output of a lost program.
    pub(crate) async fn linger(&self) {
        self.ending.linger().await;
    }

    /// Lists the tools of the server.
    pub(crate) async fn list_tools(&self, limit: Duration) -> Result<Offered, McpError> {
        let offers = self.peer.peer_info().is_none_or(|info| info.capabilities.tools.is_some());
        if !offers {
            return Ok(Offered::default());
        }
        let pages = async {
            let mut collector = Collector::default();
            let mut cursor = None;
            for _ in 0..MAX_PAGES {
                let mut params = PaginatedRequestParams::default();
                params.cursor = cursor;
                let request = ListToolsRequest {
                    method: Default::default(),
                    params: Some(params),
                    extensions: Default::default(),
                };
                let page = self.ask(ClientRequest::ListToolsRequest(request)).await?;
                match collector.take(&self.server, page) {
                    None => return Err(self.bad_answer()),
                    Some(Some(next)) if !collector.is_full() => cursor = Some(next),
                    Some(_) => break,
                }
            }
            Ok(collector.finish())
        };
        let timed_out = || McpError::TimedOut { name: self.server.clone(), limit };
        timeout(limit, pages).await.unwrap_or_else(|_| Err(timed_out()))
    }

    /// Sends a request of any kind and returns its result unchanged. `limit` applies to each round.
    pub(crate) async fn request(&self, method: &str, params: Value, limit: Duration) -> Result<JsonText, McpError> {
        let started = now();
        let wanted = match self.ask_for(method, &params, limit).await? {
            ServerResult::InputRequiredResult(wanted) => wanted,
            result => return JsonText::of(&result).map_err(|_| self.bad_answer()),
        };
        let time_limit = self.limits.rounds.time;
        let timed_out = || McpError::TimedOut { name: self.server.clone(), limit: time_limit };
        let time_left = time_limit.saturating_sub(started.elapsed());
        timeout(time_left, self.in_rounds(method, params, wanted, limit)).await.unwrap_or_else(|_| Err(timed_out()))
    }

    async fn in_rounds(
        &self,
        method: &str,
        mut params: Value,
        mut wanted: InputRequiredResult,
        limit: Duration,
    ) -> Result<JsonText, McpError> {
        let mut rounds = InputRounds::default();
        loop {
            self.input(wanted, &mut rounds).await?.add_to(&mut params);
            match self.ask_for(method, &params, limit).await? {
                ServerResult::InputRequiredResult(more) => wanted = more,
                result => return JsonText::of(&result).map_err(|_| self.bad_answer()),
            }
        }
    }

    async fn ask_for(&self, method: &str, params: &Value, limit: Duration) -> Result<ServerResult, McpError> {
        let asked = self.ask(ClientRequest::CustomRequest(CustomRequest::new(method, Some(params.clone()))));
        let timed_out = || McpError::TimedOut { name: self.server.clone(), limit };
        timeout(limit, asked).await.unwrap_or_else(|_| Err(timed_out()))
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
        McpError::bad_answer(&self.server)
    }

    fn failed(&self, error: ServiceError) -> McpError {
        let name = self.server.clone();
        match error {
            ServiceError::McpError(error) if !visits(&error).is_empty() => {
                McpError::VisitNeeded { name, message: clipped(&error.message, LONGEST_ERROR), visits: visits(&error) }
            }
            ServiceError::McpError(error) if error.code == UNREADABLE => {
                McpError::BadAnswer { name, detail: format!(": {}", clipped(&error.message, LONGEST_ERROR)) }
            }
            ServiceError::McpError(error) if error.code == UNANSWERED => {
                let reason = format!("it {}", clipped(&error.message, LONGEST_ERROR));
                McpError::NotConnected { name, reason, output: String::new() }
            }
            ServiceError::McpError(error) => {
                McpError::Refused { code: i64::from(error.code.0), message: clipped(&error.message, LONGEST_ERROR) }
            }
            ServiceError::TransportSend(error) if lacks_rights(&*error.error) => {
                McpError::NeedsAuth { name, advice: String::new() }
            }
            ServiceError::TransportSend(error) => {
                let (reason, output) = (clipped(&chain(&*error.error), LONGEST_ERROR), String::new());
                if self.is_closed() {
                    McpError::Lost { name, detail: format!(": {reason}"), output }
                } else {
                    McpError::NotConnected { name, reason, output }
                }
            }
            ServiceError::TransportClosed => McpError::Lost { name, detail: String::new(), output: String::new() },
            ServiceError::Cancelled { .. } => McpError::Stopped,
            _ => self.bad_answer(),
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.ending.stop();
    }
}
