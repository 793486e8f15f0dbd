//! What the host may order of MCP servers.

use super::host::HostMcp;
use crate::channel::outbox::Outbox;
use crate::line::MAX_LINE;
use crate::server::control::{Refusal, field};
use crate::server::frames::{Said, answer};
use async_trait::async_trait;
use futures_util::FutureExt;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use windlass_types::JsonText;

/// Most orders that are being carried out.
const MOST_ORDERS: usize = 64;

/// MCP servers, as the host may see and order them.
#[async_trait]
pub trait McpControl: fmt::Debug + Send + Sync + 'static {
    /// Gives the way to the host's in-process servers. Called once, before anything else.
    fn attach(&self, host: HostMcp);

    /// The host has these in-process servers, some with settings: objects with
    /// `timeout` and `tools`. May be called again.
    fn announce(&self, servers: &BTreeMap<String, Option<JsonText>>);

    /// The host gives these servers with `initialize` instead of on its command
    /// line: an object of configurations by name. Whether they were taken,
    /// which does not mean that each can be reached. Default: they are not.
    fn configure(&self, servers: &JsonText) -> bool {
        let _ = servers;
        false
    }

    /// What is known of each server.
    fn status(&self) -> Vec<McpStatus>;

    /// Ends the connection to a server and makes a new one.
    ///
    /// # Errors
    /// There is no such server, or it cannot be reached.
    async fn reconnect(&self, server: &str) -> Result<(), McpControlError>;

    /// Switches a server on or off.
    ///
    /// # Errors
    /// There is no such server, or it cannot be reached.
    async fn toggle(&self, server: &str, enabled: bool) -> Result<(), McpControlError>;

    /// Replaces the servers that the host added by such an order before: an
    /// object of configurations by name.
    ///
    /// # Errors
    /// The object cannot be read. What is wrong with one server is in the answer.
    async fn set_servers(&self, servers: JsonText) -> Result<McpServersChanged, McpControlError>;

    /// Calls a tool by its whole name (`mcp__server__tool`), for the host
    /// itself: an MCP result, an object.
    ///
    /// # Errors
    /// There is no such tool, or the call failed.
    async fn call(&self, tool: &str, arguments: JsonText, limit: Option<Duration>)
    -> Result<JsonText, McpControlError>;

    /// Reads a resource: `{"contents":[…]}`.
    ///
    /// # Errors
    /// There is no such server or resource.
    async fn read_resource(&self, server: &str, uri: &str) -> Result<JsonText, McpControlError>;
}

/// What is known of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct McpStatus {
    /// Its name.
    pub name: String,
    /// `connected`, `failed`, `needs-auth`, `pending` or `disabled`.
    pub status: String,
    /// Who configured it.
    pub source: String,
    /// The whole entry of the answer to `mcp_status`, an object.
    pub entry: JsonText,
}

impl McpStatus {
    /// What is known of a server.
    pub fn new(name: impl Into<String>, status: impl Into<String>, source: impl Into<String>, entry: JsonText) -> Self {
        Self { name: name.into(), status: status.into(), source: source.into(), entry }
    }
}

/// What an order has changed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct McpServersChanged {
    /// Servers that were added.
    pub added: Vec<String>,
    /// Servers that were removed.
    pub removed: Vec<String>,
    /// What is wrong with others, by name.
    pub errors: BTreeMap<String, String>,
}

/// Why an order was not carried out, for the host.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct McpControlError(String);

impl McpControlError {
    /// With the reason, for people.
    pub fn new(reason: impl Into<String>) -> Self {
        Self(reason.into())
    }

    /// There is no such server.
    pub fn unknown_server(name: &str) -> Self {
        Self(format!("Server not found: {name}"))
    }
}

type Outcome = Result<Value, McpControlError>;

/// Carries out the orders that concern MCP servers, beside everything else:
/// they may wait for the host's own answers.
pub(crate) struct Orders {
    control: Option<Arc<dyn McpControl>>,
    host: HostMcp,
    /// In-process servers that the host's command line named.
    named: Vec<String>,
    outbox: Outbox,
    places: Arc<Semaphore>,
}

impl Orders {
    pub(crate) fn new(control: Option<Arc<dyn McpControl>>, host: HostMcp, named: Vec<String>, outbox: Outbox) -> Self {
        if let Some(control) = &control {
            control.attach(host.clone());
        }
        Self { control, host, named, outbox, places: Arc::new(Semaphore::new(MOST_ORDERS)) }
    }

    /// Makes the in-process servers known, with those that `initialize` named.
    pub(crate) fn announce(&self, initialized: &[String], mut settings: BTreeMap<String, JsonText>) {
        if let Some(control) = &self.control {
            let all = self.named.iter().chain(initialized);
            control.announce(&all.map(|name| (name.clone(), settings.remove(name))).collect());
        }
    }

    /// Takes the servers that the host gives with `initialize`.
    pub(crate) fn configure(&self, servers: &JsonText) -> bool {
        self.control.as_ref().is_some_and(|control| control.configure(servers))
    }

    /// The answer to `mcp_status`. Servers that nobody has taken up yet are pending.
    pub(crate) fn status(&self, initialized: &[String]) -> Value {
        let known = self.control.as_ref().map(|control| control.status()).unwrap_or_default();
        let names: BTreeSet<&str> = known.iter().map(|status| status.name.as_str()).collect();
        let in_process: BTreeSet<&str> = self.named.iter().chain(initialized).map(String::as_str).collect();
        let waiting = in_process.difference(&names).map(|name| match self.control {
            Some(_) => json!({ "name": name, "status": "pending", "source": "sdk" }),
            None => {
                let error = "MCP servers are not supported here";
                json!({ "name": name, "status": "failed", "error": error, "source": "sdk" })
            }
        });
        let entries = known.iter().map(|status| status.entry.to().unwrap_or_default());
        json!({ "mcpServers": fitting(entries.chain(waiting).collect(), MOST_STATUS) })
    }

    /// Whether an order is one of these.
    pub(crate) fn concerns(subtype: &str) -> bool {
        matches!(
            subtype,
            "mcp_reconnect" | "mcp_toggle" | "mcp_set_servers" | "mcp_call" | "mcp_read_resource" | "mcp_message"
        )
    }

    /// Begins to carry out an order; its answer is written when it is done.
    ///
    /// # Errors
    /// It cannot be carried out.
    pub(crate) fn begin(&self, id: &str, subtype: &str, body: &JsonText) -> Result<(), Refusal> {
        if subtype == "mcp_message" {
            let server = field::<String>(body, "server_name")?.unwrap_or_default();
            let message = field::<JsonText>(body, "message")?.ok_or_else(|| Refusal::new("`message` is missing"))?;
            self.host.deliver(&server, message).map_err(Refusal::new)?;
            self.answer(id, async { Ok(json!({})) });
            return Ok(());
        }
        let server = field::<String>(body, "serverName")?.unwrap_or_default();
        let Some(control) = self.control.clone() else {
            return Err(Refusal::new(format!("Server not found: {server}")));
        };
        match subtype {
            "mcp_reconnect" => self.answer(id, async move {
                control.reconnect(&server).await?;
                Ok(json!({}))
            }),
            "mcp_toggle" => {
                let enabled = field(body, "enabled")?.ok_or_else(|| Refusal::new("`enabled` is missing"))?;
                self.answer(id, async move {
                    control.toggle(&server, enabled).await?;
                    Ok(json!({}))
                });
            }
            "mcp_set_servers" => {
                let servers = field(body, "servers")?.unwrap_or_else(JsonText::empty_object);
                self.answer(id, async move {
                    let McpServersChanged { added, removed, errors } = control.set_servers(servers).await?;
                    Ok(json!({ "added": added, "removed": removed, "errors": errors }))
                });
            }
            "mcp_call" => {
                let tool = field::<String>(body, "tool")?.unwrap_or_default();
                let arguments = field(body, "arguments")?.unwrap_or_else(JsonText::empty_object);
                let limit = field::<u64>(body, "timeout_ms")?.map(Duration::from_millis);
                self.answer(id, async move { read(&control.call(&tool, arguments, limit).await?) });
            }
            _ => {
                let uri = field::<String>(body, "uri")?.ok_or_else(|| Refusal::new("`uri` is missing"))?;
                self.answer(id, async move { read(&control.read_resource(&server, &uri).await?) });
            }
        }
        Ok(())
    }

    fn answer(&self, id: &str, outcome: impl Future<Output = Outcome> + Send + 'static) {
        let (id, outbox, places) = (id.to_owned(), self.outbox.clone(), Arc::clone(&self.places));
        tokio::spawn(async move {
            let outcome = match places.try_acquire_owned() {
                Ok(_place) => AssertUnwindSafe(outcome)
                    .catch_unwind()
                    .await
                    .unwrap_or_else(|_| Err(McpControlError::new("carrying out the order failed: it panicked"))),
                Err(_) => Err(McpControlError::new("too many orders to MCP servers are being carried out")),
            };
            let json =
                outcome.and_then(|value| JsonText::of(&value).map_err(|error| McpControlError(error.to_string())));
            let bytes = match json {
                Ok(json) => answer(&id, &Said::Done(Some(&json)), MAX_LINE),
                Err(error) => answer(&id, &Said::Refused { error: &error.to_string(), code: None }, MAX_LINE),
            };
            // A host that is gone needs no answer.
            let _ = outbox.send(bytes).await;
        });
    }
}

/// What an answer to `mcp_status` may take up of its line.
const MOST_STATUS: usize = MAX_LINE - 10_000;

/// The entries of `mcp_status` in so many bytes: where they are more, tools are listed by name alone, and where that
/// is still too much, they are counted.
fn fitting(mut entries: Vec<Value>, most: usize) -> Vec<Value> {
    let fits = |entries: &[Value]| serde_json::to_vec(entries).is_ok_and(|json| json.len() <= most);
    let each = |entries: &mut Vec<Value>, change: &dyn Fn(Vec<Value>) -> (&'static str, Value)| {
        for fields in entries.iter_mut().filter_map(Value::as_object_mut) {
            if let Some(Value::Array(tools)) = fields.remove("tools") {
                let (name, value) = change(tools);
                fields.insert(name.to_owned(), value);
            }
        }
    };
    if !fits(&entries) {
        each(&mut entries, &|tools| ("tools", tools.iter().map(|tool| json!({ "name": tool.get("name") })).collect()));
    }
    if !fits(&entries) {
        each(&mut entries, &|tools| ("toolCount", json!(tools.len())));
    }
    entries
}

fn read(json: &JsonText) -> Outcome {
    json.to().map_err(|error| McpControlError(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_that_is_too_long_names_its_tools_or_counts_them() {
        let tool = |n: usize| json!({ "name": format!("t{n}"), "description": "x".repeat(50) });
        let entry = |many: usize| json!({ "name": "s", "tools": (0..many).map(tool).collect::<Vec<_>>() });
        let entries = |many| vec![entry(many), json!({ "name": "none" })];
        assert_eq!(fitting(entries(2), 1_000), entries(2));
        assert_eq!(fitting(entries(20), 1_000)[0]["tools"][19], json!({ "name": "t19" }));
        let counted = fitting(entries(200), 1_000);
        assert_eq!(counted, [json!({ "name": "s", "toolCount": 200 }), json!({ "name": "none" })]);
    }
}
