//! Tools with which a model finds and reads the resources of servers.

use crate::content::lenient_output;
use crate::servers::Set;
use crate::{McpError, McpResource, McpServers};
use futures_util::future::join_all;
use serde::Deserialize;
use serde_json::{Value, json};
use std::future::Future;
use std::sync::{Arc, Weak};
use windlass_context::foreign_text;
use windlass_tool::{Annotations, BoxFuture, DynTool, PreparedCall, ToolCx, ToolError, ToolOutput};
use windlass_types::{Access, JsonText, ToolSpec};

const LIST_SCHEMA: &str = r#"{"type":"object","properties":{"server":{"type":"string","description":"The server whose resources are listed. Default: all servers"}},"additionalProperties":false}"#;
const READ_SCHEMA: &str = r#"{"type":"object","properties":{"server":{"type":"string","description":"The server that has the resource"},"uri":{"type":"string","description":"The address of the resource, as it was listed or made from a template"}},"required":["server","uri"],"additionalProperties":false}"#;

impl McpServers {
    /// Returns the two tools with which a model finds and reads resources, `ListMcpResourcesTool` and
    /// `ReadMcpResourceTool`; none if no connected server has resources. They do not keep the servers alive.
    ///
    /// Listing needs no permission, like listing tools. Reading is judged as access to other machines.
    #[must_use]
    pub fn resource_tools(&self) -> Vec<Arc<dyn DynTool>> {
        if self.servers_with_resources().is_empty() {
            return Vec::new();
        }
        [Kind::List, Kind::Read].map(|kind| Arc::new(ResourceTool { kind, servers: self.downgrade() }) as _).into()
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    List,
    Read,
}

struct ResourceTool {
    kind: Kind,
    servers: Weak<Set>,
}

impl DynTool for ResourceTool {
    fn spec(&self) -> ToolSpec {
        let (name, description, schema) = match self.kind {
            Kind::List => (
                "ListMcpResourcesTool",
                "Lists the resources of MCP servers: data that they offer for reading. Of a kind of resources the list has \
                 a template in place of an address.",
                LIST_SCHEMA,
            ),
            Kind::Read => ("ReadMcpResourceTool", "Reads a resource of an MCP server.", READ_SCHEMA),
        };
        ToolSpec::new(name, description, JsonText::parse(schema).unwrap_or_else(|_| JsonText::empty_object()))
    }

    fn annotations(&self) -> Annotations {
        Annotations::default().with_foreign_output().with_bounded_output(true).with_hinted_read_only(true)
    }

    fn is_enabled(&self) -> bool {
        true
    }

    fn prepare(self: Arc<Self>, input: &JsonText) -> Result<Box<dyn PreparedCall>, ToolError> {
        let input: ResourceInput = input.to().map_err(|error| ToolError::rejected(error.to_string()))?;
        let servers = self.servers.clone();
        match (self.kind, input) {
            (Kind::List, ResourceInput { server, .. }) => Ok(Box::new(ResourceList { server, servers })),
            (Kind::Read, ResourceInput { server: Some(server), uri: Some(uri) }) => {
                Ok(Box::new(ResourceRead { server, uri, servers }))
            }
            _ => Err(ToolError::rejected("A server and an address are needed.")),
        }
    }
}

#[derive(Deserialize)]
struct ResourceInput {
    #[serde(default)]
    server: Option<String>,
    #[serde(default)]
    uri: Option<String>,
}

/// Returns the servers, if they still exist.
fn open(servers: &Weak<Set>) -> Result<McpServers, ToolError> {
    McpServers::upgrade(servers).ok_or_else(|| ToolError::rejected("The servers are closed."))
}

/// Runs a call unless it is stopped.
async fn stoppable(
    cx: &ToolCx,
    call: impl Future<Output = Result<ToolOutput, McpError>> + Send,
) -> Result<ToolOutput, ToolError> {
    let called = tokio::select! {
        biased;
        () = cx.cancel().cancelled() => return Err(ToolError::cancelled()),
        called = call => called,
    };
    called.map_err(|error| ToolError::rejected(error.without_output().to_string()))
}

struct ResourceList {
    server: Option<String>,
    servers: Weak<Set>,
}

impl ResourceList {
    async fn list(wanted: Option<String>, servers: McpServers) -> Result<ToolOutput, McpError> {
        let names = match &wanted {
            Some(server) => vec![server.clone()],
            None => servers.servers_with_resources(),
        };
        let listed = join_all(names.iter().map(|name| servers.resources(name))).await;
        let (mut resources, mut problems) = (Vec::<McpResource>::new(), Vec::new());
        for (name, listed) in names.iter().zip(listed) {
            match listed {
                // Icons are for people.
                Ok(listed) => {
                    resources.extend(listed.into_iter().map(|resource| McpResource { icons: Vec::new(), ..resource }));
                }
                Err(error) if wanted.is_some() => return Err(error),
                Err(error) => {
                    problems.push(format!("The resources of {name} cannot be listed: {}.", error.without_output()))
                }
            }
        }
        let mut text = match resources.is_empty() {
            true => "There are no resources.".to_owned(),
            false => json!(resources).to_string(),
        };
        for problem in problems {
            text.push('\n');
            text.push_str(&problem);
        }
        let output = ToolOutput::text(foreign_text(&text));
        Ok(output.clone().with_structured(&resources).unwrap_or(output))
    }
}

impl PreparedCall for ResourceList {
    fn access(&self) -> Access {
        Access::NOTHING
    }

    fn title(&self) -> String {
        "List resources".to_owned()
    }

    fn call(self: Box<Self>, cx: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(async move { stoppable(&cx, Self::list(self.server, open(&self.servers)?)).await })
    }
}

struct ResourceRead {
    server: String,
    uri: String,
    servers: Weak<Set>,
}

impl ResourceRead {
    async fn read(server: String, uri: String, servers: McpServers) -> Result<ToolOutput, McpError> {
        let read = servers.follow_resource(&server, &uri).await?;
        let bad = || McpError::bad_answer(&server);
        let result: Value = read.to().map_err(|_| bad())?;
        let contents = result.get("contents").and_then(Value::as_array).ok_or_else(bad)?;
        let parts = contents.iter().map(|part| json!({ "type": "resource", "resource": part }));
        let output = lenient_output(json!({ "content": parts.collect::<Vec<_>>() })).ok_or_else(bad)?;
        let described: Vec<Value> = contents.iter().map(without_data).collect();
        Ok(output.clone().with_structured(&json!({ "contents": described })).unwrap_or(output))
    }
}

/// Removes the data of a resource part for hosts: the data is in the blocks of the result already.
fn without_data(part: &Value) -> Value {
    let mut part = part.clone();
    if let Some(fields) = part.as_object_mut() {
        fields.remove("blob");
    }
    part
}

impl PreparedCall for ResourceRead {
    fn access(&self) -> Access {
        Access::Network
    }

    fn title(&self) -> String {
        let shown = |text: &str| text.chars().filter(|c| !c.is_control()).take(200).collect::<String>();
        format!("{} ({})", shown(&self.uri), shown(&self.server))
    }

    fn call(self: Box<Self>, cx: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(async move { stoppable(&cx, Self::read(self.server, self.uri, open(&self.servers)?)).await })
    }
}
