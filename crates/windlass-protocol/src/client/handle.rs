//! Control requests to the other side.

use super::error::ClientError;
use super::inbox::Switches;
use super::options::ClientOptions;
use super::outbox::LineOutbox;
use super::priority::Priority;
use super::requests::PendingRequests;
use super::status::{ContextUsage, McpServer};
use crate::line;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use windlass_tool::Ids;
use windlass_types::{ContentBlock, EntryId, JsonText, PermissionMode, Prompt, PromptKind, Quotation};

/// State shared by the parts of a client.
pub(super) struct ClientState {
    pub(super) outbox: LineOutbox,
    pub(super) requests: PendingRequests,
    pub(super) switches: Switches,
    pub(super) max_line: usize,
    order_timeout: Duration,
    ids: Arc<dyn Ids>,
    /// `true` if a prompt was sent since the last result.
    pub(super) in_turn: AtomicBool,
    pub(super) last_is_error: AtomicBool,
    /// Reason why reading ended before the stream did.
    end: Mutex<Option<ClientError>>,
}

impl ClientState {
    pub(super) fn new(options: &ClientOptions, outbox: LineOutbox) -> Self {
        let requests =
            PendingRequests::new(outbox.clone(), Arc::clone(&options.ids)).with_max_line(options.limits.max_line);
        Self {
            outbox,
            requests,
            switches: Switches::default(),
            max_line: options.limits.max_line,
            order_timeout: options.limits.order_timeout,
            ids: Arc::clone(&options.ids),
            in_turn: AtomicBool::new(false),
            last_is_error: AtomicBool::new(false),
            end: Mutex::default(),
        }
    }

    pub(super) fn end_with(&self, error: ClientError) {
        *self.end.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }

    pub(super) fn take_end(&self) -> Option<ClientError> {
        self.end.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// Sends prompts and control requests to the other side. Cheap to clone; usable from any task, also from within
/// callbacks, while its client exists.
#[derive(Clone)]
pub struct ClientHandle(pub(super) Arc<ClientState>);

impl fmt::Debug for ClientHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientHandle").finish_non_exhaustive()
    }
}

#[derive(Serialize)]
struct UserLine<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    session_id: &'static str,
    uuid: &'a EntryId,
    message: UserContent<'a>,
    parent_tool_use_id: Option<&'static str>,
    #[serde(rename = "shouldQuery", skip_serializing_if = "Option::is_none")]
    should_query: Option<bool>,
    /// Absent for the default.
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<Priority>,
    #[serde(rename = "windlass_quoted", skip_serializing_if = "Vec::is_empty")]
    quoted: Vec<Quoted<'a>>,
}

/// Text of another author in a prompt.
#[derive(Serialize)]
struct Quoted<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<&'a str>,
    text: &'a str,
}

#[derive(Serialize)]
struct UserContent<'a> {
    role: &'static str,
    content: &'a [ContentBlock],
}

#[derive(Serialize)]
struct ControlBody<'a, B> {
    subtype: &'a str,
    #[serde(flatten)]
    body: &'a B,
}

impl ClientHandle {
    /// Sends a prompt. It waits behind earlier ones, and each gets exactly one
    /// [`Message::Result`](crate::client::Message::Result). Returns its id.
    ///
    /// Waits for a side that does not read. Cancel safe: the prompt is sent as a whole or not at all.
    ///
    /// # Errors
    /// The other side can no longer be reached, or the prompt is too long for a line.
    pub async fn prompt(&self, prompt: impl Into<Prompt>) -> Result<EntryId, ClientError> {
        self.prompt_with_priority(prompt, Priority::Later).await
    }

    /// Sends a prompt with a [`Priority`], for one that is not to wait for the end of the current turn. Returns its id.
    ///
    /// Waits for a side that does not read. Cancel safe: the prompt is sent as a whole or not at all.
    ///
    /// # Errors
    /// The same as [`ClientHandle::prompt`].
    pub async fn prompt_with_priority(
        &self,
        prompt: impl Into<Prompt>,
        priority: Priority,
    ) -> Result<EntryId, ClientError> {
        let mut prompt = prompt.into();
        if prompt.kind == PromptKind::Compact {
            let focus: Vec<&str> = prompt.content.iter().filter_map(ContentBlock::as_text).collect();
            prompt.content = vec![ContentBlock::text(format!("/compact {}", focus.join("\n")))];
        }
        let quoted =
            prompt.quoted.iter().map(|Quotation { source, text, .. }| Quoted { source: source.as_deref(), text });
        let quoted: Vec<Quoted<'_>> = quoted.collect();
        let uuid = prompt.id.take().unwrap_or_else(|| EntryId::from_bits(self.0.ids.bits()));
        let message = UserContent { role: "user", content: &prompt.content };
        let should_query = (prompt.kind == PromptKind::Note).then_some(false);
        let priority = Some(priority).filter(|priority| *priority != Priority::Later);
        let (kind, session_id, parent_tool_use_id) = ("user", "", None);
        let line =
            UserLine { kind, session_id, uuid: &uuid, message, parent_tool_use_id, should_query, priority, quoted };
        let mut bytes = Vec::new();
        if !line::push_within(&mut bytes, &line, self.0.max_line) {
            return Err(ClientError::RequestTooLong { limit: self.0.max_line });
        }
        let slot = self.0.outbox.reserve(bytes.len()).await.map_err(|_| ClientError::Closed)?;
        self.0.in_turn.store(true, Ordering::Relaxed);
        slot.send(bytes);
        Ok(uuid)
    }

    /// Cancels a prompt that waits for its turn, or to be read in the current one. Returns `true` if it did.
    ///
    /// # Errors
    /// The same as [`ClientHandle::control`].
    pub async fn cancel_prompt(&self, id: &EntryId) -> Result<bool, ClientError> {
        #[derive(Deserialize)]
        struct CancelledPrompt {
            cancelled: bool,
        }
        let answer = self.send_request("cancel_async_message", &json!({ "message_uuid": id })).await?;
        Ok(read::<CancelledPrompt>(&answer)?.cancelled)
    }

    /// Stops the current turn, if there is one. Its result still follows.
    ///
    /// # Errors
    /// The same as [`ClientHandle::control`].
    pub async fn interrupt(&self) -> Result<(), ClientError> {
        self.send_request("interrupt", &json!({})).await.map(drop)
    }

    /// Changes to another model; the default one for `None`.
    ///
    /// # Errors
    /// The same as [`ClientHandle::control`].
    pub async fn set_model(&self, name: Option<&str>) -> Result<(), ClientError> {
        self.send_request("set_model", &json!({ "model": name })).await.map(drop)
    }

    /// Changes the permission mode.
    ///
    /// # Errors
    /// The same as [`ClientHandle::control`]; refused if the program was not started for such a mode.
    pub async fn set_permission_mode(&self, mode: PermissionMode) -> Result<(), ClientError> {
        self.send_request("set_permission_mode", &json!({ "mode": mode })).await.map(drop)
    }

    /// Sets the maximum number of thinking tokens: 0 turns thinking off, `None` is the default.
    ///
    /// # Errors
    /// The same as [`ClientHandle::control`].
    pub async fn set_thinking(&self, max_tokens: Option<u32>) -> Result<(), ClientError> {
        self.send_request("set_max_thinking_tokens", &json!({ "max_thinking_tokens": max_tokens })).await.map(drop)
    }

    /// Returns the MCP servers of the session.
    ///
    /// # Errors
    /// The same as [`ClientHandle::control`].
    pub async fn mcp_status(&self) -> Result<Vec<McpServer>, ClientError> {
        #[derive(Deserialize)]
        struct ServerList {
            #[serde(rename = "mcpServers", default)]
            servers: Vec<JsonText>,
        }
        let servers: ServerList = read(&self.send_request("mcp_status", &json!({})).await?)?;
        servers.servers.into_iter().map(|raw| Ok(McpServer::read(raw)?)).collect()
    }

    /// Returns the context usage of the conversation.
    ///
    /// # Errors
    /// The same as [`ClientHandle::control`].
    pub async fn context_usage(&self) -> Result<ContextUsage, ClientError> {
        Ok(ContextUsage::read(self.send_request("get_context_usage", &json!({})).await?)?)
    }

    /// Reconnects an MCP server.
    ///
    /// # Errors
    /// The same as [`ClientHandle::control`]; refused if the server does not exist.
    pub async fn reconnect_mcp_server(&self, name: &str) -> Result<(), ClientError> {
        self.send_request("mcp_reconnect", &json!({ "serverName": name })).await.map(drop)
    }

    /// Begins to log in to an MCP server. Returns the address of the page that the user has to visit, or `None` if that
    /// is unnecessary. When the user has returned from it, the server is connected: [`mcp_status`](Self::mcp_status)
    /// shows it.
    ///
    /// # Errors
    /// The same as [`ClientHandle::control`]; refused if the server does not exist, or takes no logins.
    pub async fn authenticate_mcp_server(&self, name: &str) -> Result<Option<String>, ClientError> {
        let answer = self.send_request("mcp_authenticate", &json!({ "serverName": name })).await?;
        let fields: std::collections::BTreeMap<String, JsonText> = answer.to()?;
        Ok(fields.get("authUrl").map(JsonText::to).transpose()?)
    }

    /// Switches an MCP server on or off.
    ///
    /// # Errors
    /// The same as [`ClientHandle::control`]; refused if the server does not exist.
    pub async fn toggle_mcp_server(&self, name: &str, enabled: bool) -> Result<(), ClientError> {
        self.send_request("mcp_toggle", &json!({ "serverName": name, "enabled": enabled })).await.map(drop)
    }

    /// Stops a background task.
    ///
    /// # Errors
    /// The same as [`ClientHandle::control`].
    pub async fn stop_task(&self, id: &str) -> Result<(), ClientError> {
        self.send_request("stop_task", &json!({ "task_id": id })).await.map(drop)
    }

    /// Sends any control request of the protocol: `body` is an object with its fields except the `subtype`. Returns the
    /// unchanged answer; an empty object if the answer holds no data.
    ///
    /// Cancel safe: a request whose future is dropped is cancelled.
    ///
    /// # Errors
    /// The request was refused or not answered in time, `body` is not an object, or the other side can no longer be
    /// reached.
    pub async fn control(&self, subtype: &str, body: &impl Serialize) -> Result<JsonText, ClientError> {
        let body = JsonText::of(body)?;
        let fields = body.to::<std::collections::BTreeMap<String, JsonText>>()?;
        self.send_request(subtype, &fields).await
    }

    async fn send_request(&self, subtype: &str, body: &impl Serialize) -> Result<JsonText, ClientError> {
        self.order_within(subtype, body, self.0.order_timeout).await
    }

    pub(super) async fn order_within(
        &self,
        subtype: &str,
        body: &impl Serialize,
        limit: Duration,
    ) -> Result<JsonText, ClientError> {
        let _pending = self.0.switches.order();
        let answer = self.0.requests.ask(&ControlBody { subtype, body }, Some(limit)).await;
        let answer = answer.map_err(|error| ClientError::of_order(subtype, error, self.0.max_line))?;
        Ok(answer.unwrap_or_else(JsonText::empty_object))
    }
}

fn read<T: DeserializeOwned>(answer: &JsonText) -> Result<T, ClientError> {
    Ok(answer.to()?)
}
