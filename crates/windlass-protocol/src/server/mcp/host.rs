//! The in-process servers of the host.

use crate::channel::requests::AskError;
use crate::server::asking::{HostRequests, RequestSender};
use crate::server::frames::McpServerNews;
use serde::{Deserialize, Serialize};
use windlass_conversation::Asker;
use windlass_types::JsonText;

/// Maximum length of an error text in a report, in characters.
const MAX_ERROR_CHARS: usize = 2_000;

/// Connection to the in-process MCP servers of the host, and to its user. Cheap to clone.
#[derive(Debug, Clone)]
pub struct HostMcp(HostRequests);

/// Reason why a message did not reach a server of the host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HostMcpError(String);

impl From<AskError> for HostMcpError {
    fn from(error: AskError) -> Self {
        Self(error.to_string())
    }
}

impl HostMcp {
    pub(crate) fn new(asking: HostRequests) -> Self {
        Self(asking)
    }

    /// Connection to one server of the host. A missing server is only noticed when it is used.
    pub fn server(&self, name: impl Into<String>) -> HostMcpServer {
        let name = name.into();
        self.0.listen(&name);
        HostMcpServer { asking: self.0.clone(), name }
    }

    /// Reports news about a server to the host, such as the end of a login: a frame `system/mcp_server_status`.
    /// `status` is one of those of `mcp_status`; `error` gives the reason why it is not connected, and is cut to 2,000
    /// characters.
    pub fn report(&self, server: &str, status: &str, error: Option<&str>) {
        let error = error.map(|error| error.chars().take(MAX_ERROR_CHARS).collect());
        self.0.report(McpServerNews { name: server.to_owned(), status: status.to_owned(), error });
    }

    /// Sends an elicitation of an MCP server to the user behind the host. A host that cannot be asked declines.
    ///
    /// Cancel safe: the elicitation is withdrawn.
    pub async fn elicit(&self, question: &HostElicitation) -> HostElicitationAnswer {
        #[derive(Serialize)]
        struct McpMessageBody<'a> {
            subtype: &'static str,
            #[serde(flatten)]
            question: &'a HostElicitation,
        }
        let declined = HostElicitationAnswer { action: "decline".to_owned(), content: None };
        match self.0.ask(RequestSender::of(Asker::Run), &McpMessageBody { subtype: "elicitation", question }).await {
            Ok(Some(answer)) => answer.to().unwrap_or(declined),
            Ok(None) | Err(_) => declined,
        }
    }
}

/// An elicitation of an MCP server. Its texts are untrusted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the request")]
pub struct HostElicitation {
    /// Server that asks.
    pub mcp_server_name: String,
    /// Text of the question.
    pub message: String,
    /// `form` or `url`.
    pub mode: &'static str,
    /// Page to visit, for `url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Server's id of the elicitation, for `url`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub elicitation_id: Option<String>,
    /// Schema of the requested values, for `form`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested_schema: Option<JsonText>,
}

/// A user's answer to an elicitation.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "the fields of the answer")]
pub struct HostElicitationAnswer {
    /// `accept`, `decline` or `cancel`.
    pub action: String,
    /// Values, if values were requested.
    #[serde(default)]
    pub content: Option<JsonText>,
}

/// Connection to one in-process server of the host. Cheap to clone.
#[derive(Debug, Clone)]
pub struct HostMcpServer {
    asking: HostRequests,
    name: String,
}

impl HostMcpServer {
    /// Name of the server.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sends one JSON-RPC message to the server. Returns the host's answer: for a request, its response.
    ///
    /// A tool call is withdrawn when the run is stopped. Cancel safe: a message whose future is dropped is withdrawn.
    ///
    /// # Errors
    /// The host is gone, refused the message, or the run was stopped.
    pub async fn send(&self, message: JsonText) -> Result<Option<JsonText>, HostMcpError> {
        #[derive(Serialize)]
        struct McpMessageBody<'a> {
            subtype: &'static str,
            server_name: &'a str,
            message: &'a JsonText,
        }
        #[derive(Deserialize)]
        struct Method {
            #[serde(default)]
            method: String,
        }
        #[derive(Deserialize)]
        struct HostMcpAnswer {
            #[serde(default)]
            mcp_response: Option<JsonText>,
        }
        let method: Method = message.to().map_err(|error| HostMcpError(error.to_string()))?;
        let body = McpMessageBody { subtype: "mcp_message", server_name: &self.name, message: &message };
        let asker = match method.method.as_str() {
            "tools/call" => caller(&message),
            // Handshakes and lists belong to no run.
            _ => Asker::None,
        };
        let response = self.asking.ask(RequestSender::of(asker), &body).await?;
        let Some(response) = response else { return Ok(None) };
        let answer: HostMcpAnswer = response.to().map_err(|error| HostMcpError(error.to_string()))?;
        Ok(answer.mcp_response)
    }

    /// Waits for an unsolicited message of the server; `None` when none will come any more. Cancel safe. Of several
    /// receivers, one gets it.
    pub async fn receive(&self) -> Option<JsonText> {
        self.asking.receive(&self.name).await
    }
}

/// Call that a request to a server is made for, if it names one.
fn caller(request: &JsonText) -> Asker {
    #[derive(Deserialize)]
    struct HostMcpRequest {
        params: Params,
    }
    #[derive(Deserialize)]
    struct Params {
        #[serde(rename = "_meta")]
        meta: McpMessageMeta,
    }
    #[derive(Deserialize)]
    struct McpMessageMeta {
        #[serde(rename = "claudecode/toolUseId")]
        tool_use_id: String,
    }
    request.to::<HostMcpRequest>().map_or(Asker::Run, |request| Asker::Call(request.params.meta.tool_use_id.into()))
}
