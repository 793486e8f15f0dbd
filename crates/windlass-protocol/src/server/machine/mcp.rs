//! Control requests of the host about MCP servers.

use super::ServerMachine;
use super::answers::{RequestRefusal, RequestReply, field};
use super::io::{McpJob, ServerJob};
use super::jobs::HostJob;
use crate::line::MAX_LINE;
use crate::server::mcp::McpStatus;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use windlass_types::JsonText;

impl ServerMachine {
    /// In-process servers of the host's command line and `initialize`.
    pub(super) fn in_process(&self, settings: BTreeMap<String, JsonText>) -> BTreeMap<String, Option<JsonText>> {
        self.in_process_with(&self.in_process_servers(), settings)
    }

    fn in_process_servers(&self) -> Vec<String> {
        self.initialize.as_ref().map(|initialize| initialize.sdk_mcp_servers.clone()).unwrap_or_default()
    }

    /// In-process servers, with those of this `initialize`.
    pub(super) fn in_process_with(
        &self,
        initialized: &[String],
        mut settings: BTreeMap<String, JsonText>,
    ) -> BTreeMap<String, Option<JsonText>> {
        let names = self.config.mcp_servers.iter().chain(initialized);
        names.map(|name| (name.clone(), settings.remove(name))).collect()
    }

    /// Begins to carry out a control request about MCP servers.
    pub(super) fn order_mcp(
        &mut self,
        id: &str,
        subtype: &str,
        body: &JsonText,
    ) -> Result<RequestReply, RequestRefusal> {
        if subtype == "mcp_message" {
            let server = field::<String>(body, "server_name")?.unwrap_or_default();
            let message =
                field::<JsonText>(body, "message")?.ok_or_else(|| RequestRefusal::new("`message` is missing"))?;
            let next = self.inboxes.push(&server, message).map_err(RequestRefusal::new)?;
            self.deliver(&server, next);
            return RequestReply::value(json!({}));
        }
        let server = field::<String>(body, "serverName")?.unwrap_or_default();
        if !self.config.has_mcp {
            return Err(RequestRefusal::new(format!("Server not found: {server}")));
        }
        let job = match subtype {
            "mcp_reconnect" => McpJob::Reconnect(server),
            "mcp_authenticate" => McpJob::Authenticate(server),
            "mcp_oauth_callback_url" => {
                let address =
                    field(body, "callbackUrl")?.ok_or_else(|| RequestRefusal::new("`callbackUrl` is missing"))?;
                McpJob::FinishLogin { server, address }
            }
            "mcp_clear_auth" => McpJob::ForgetLogin(server),
            "mcp_toggle" => {
                let enabled = field(body, "enabled")?.ok_or_else(|| RequestRefusal::new("`enabled` is missing"))?;
                McpJob::Toggle(server, enabled)
            }
            "mcp_set_servers" => McpJob::SetServers(field(body, "servers")?.unwrap_or_else(JsonText::empty_object)),
            "mcp_call" => McpJob::Call {
                tool: field::<String>(body, "tool")?.unwrap_or_default(),
                arguments: field(body, "arguments")?.unwrap_or_else(JsonText::empty_object),
                limit: field::<u64>(body, "timeout_ms")?.map(Duration::from_millis),
            },
            _ => {
                let uri = field::<String>(body, "uri")?.ok_or_else(|| RequestRefusal::new("`uri` is missing"))?;
                McpJob::ReadResource { server, uri }
            }
        };
        if !self.jobs.has_room_for_mcp() {
            return Err(RequestRefusal::new("too many orders to MCP servers are being carried out"));
        }
        self.begin_job(id, HostJob::Mcp, ServerJob::Mcp(job))
    }

    /// Answer to `mcp_status`. Servers that are not connected yet are pending.
    pub(super) fn mcp_status(&self, known: &[McpStatus]) -> Value {
        let names: BTreeSet<&str> = known.iter().map(|status| status.name.as_str()).collect();
        let initialized = self.in_process_servers();
        let in_process: BTreeSet<&str> =
            self.config.mcp_servers.iter().chain(&initialized).map(String::as_str).collect();
        let pending = in_process.difference(&names).map(|name| match self.config.has_mcp {
            true => json!({ "name": name, "status": "pending", "source": "sdk" }),
            false => {
                let error = "MCP servers are not supported here";
                json!({ "name": name, "status": "failed", "error": error, "source": "sdk" })
            }
        });
        let entries = known.iter().map(|status| status.entry.to().unwrap_or_default());
        json!({ "mcpServers": fitting(entries.chain(pending).collect(), MAX_STATUS_BYTES) })
    }
}

/// Maximum number of bytes of an `mcp_status` answer in its line.
const MAX_STATUS_BYTES: usize = MAX_LINE - 10_000;

/// Shortens the entries of `mcp_status` to the limit: tools are listed by name alone, and if that is still too much,
/// they are counted.
fn fitting(mut entries: Vec<Value>, max_bytes: usize) -> Vec<Value> {
    let fits = |entries: &[Value]| serde_json::to_vec(entries).is_ok_and(|json| json.len() <= max_bytes);
    let replace_tools = |entries: &mut Vec<Value>, change: &dyn Fn(Vec<Value>) -> (&'static str, Value)| {
        for fields in entries.iter_mut().filter_map(Value::as_object_mut) {
            if let Some(Value::Array(tools)) = fields.remove("tools") {
                let (name, value) = change(tools);
                fields.insert(name.to_owned(), value);
            }
        }
    };
    if !fits(&entries) {
        replace_tools(&mut entries, &|tools| {
            ("tools", tools.iter().map(|tool| json!({ "name": tool.get("name") })).collect())
        });
    }
    if !fits(&entries) {
        replace_tools(&mut entries, &|tools| ("toolCount", json!(tools.len())));
    }
    entries
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
