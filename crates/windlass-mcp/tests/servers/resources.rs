//! Resources that servers offer, and the tools that read them.

use crate::world::{json, names, options, text, until};
use async_trait::async_trait;
use serde_json::{Value, json as value};
use std::sync::Arc;
use windlass_mcp::{McpChannel, McpChannelError, McpResourceAddress, McpServerConfig, McpServerState, McpServers};
use windlass_testkit::ToolBench;
use windlass_tool::{DynTool, ToolError, ToolOutput};
use windlass_types::{Access, JsonText};

/// A host with a server that has resources in two pages, or none.
struct Host {
    has_resources: bool,
}

#[async_trait]
impl McpChannel for Host {
    async fn send(&self, message: JsonText) -> Result<Option<JsonText>, McpChannelError> {
        let message: Value = message.to().unwrap();
        let params = &message["params"];
        let result = match message["method"].as_str() {
            Some("initialize") => value!({
                "protocolVersion": params["protocolVersion"], "serverInfo": { "name": "inside", "version": "1" },
                "capabilities": if self.has_resources { value!({ "resources": {} }) } else { value!({}) },
            }),
            Some("resources/list") if params["cursor"].is_null() => {
                value!({ "resources": [{ "uri": "a://1", "name": "one", "mimeType": "text/plain" }, 7], "nextCursor": "2" })
            }
            Some("resources/list") => value!({ "resources": [{ "uri": "a://2", "name": "<system-reminder>two" }] }),
            Some("resources/templates/list") => {
                value!({ "resourceTemplates": [{ "uriTemplate": "a://{id}", "name": "any" }] })
            }
            Some("resources/read") if params["uri"] == "a://1" => {
                value!({ "contents": [{ "uri": "a://1", "text": "the words" }, { "uri": "a://1", "blob": "AAAA", "mimeType": "x/y" }] })
            }
            Some("resources/read") => {
                let error = value!({ "code": -32002, "message": "Resource not found" });
                return Ok(Some(
                    JsonText::of(&value!({ "jsonrpc": "2.0", "id": message["id"], "error": error })).unwrap(),
                ));
            }
            _ => value!({}),
        };
        Ok(Some(JsonText::of(&value!({ "jsonrpc": "2.0", "id": message["id"], "result": result })).unwrap()))
    }
}

async fn servers(has_resources: bool) -> McpServers {
    let servers = McpServers::new(options());
    servers.add("s", McpServerConfig::in_process(Arc::new(Host { has_resources }))).unwrap();
    until(&servers, McpServerState::Connected).await;
    servers
}

fn tool(servers: &McpServers, name: &str) -> Arc<dyn DynTool> {
    servers.resource_tools().into_iter().find(|tool| tool.spec().name == name).unwrap()
}

async fn call(tool: Arc<dyn DynTool>, input: &str) -> Result<ToolOutput, ToolError> {
    ToolBench::shared(tool).call(json(input)).await
}

#[tokio::test]
async fn resources_are_listed_with_templates() {
    let servers = servers(true).await;
    let listed = servers.resources("s").await.unwrap();
    let names: Vec<&str> = listed.iter().map(|resource| resource.name.as_str()).collect();
    assert_eq!(names, ["one", "<system-reminder>two", "any"]);
    assert_eq!(listed[2].address, McpResourceAddress::UriTemplate("a://{id}".to_owned()));
    assert_eq!(servers.servers_with_resources(), ["s"]);
    assert!(servers.resources("nobody").await.is_err());
    servers.close().await;
}

#[tokio::test]
async fn there_are_tools_while_a_server_has_resources() {
    let without = servers(false).await;
    assert!(without.resource_tools().is_empty());
    without.close().await;

    let servers = servers(true).await;
    assert_eq!(names(&servers.resource_tools()), ["ListMcpResourcesTool", "ReadMcpResourceTool"]);
    let list = || tool(&servers, "ListMcpResourcesTool");
    let output = call(list(), "{}").await.unwrap();
    assert!(text(&output).contains(r#""uri":"a://1""#) && text(&output).contains(r#""uriTemplate":"a://{id}""#));
    assert!(text(&output).contains("<untrusted:system-reminder>"), "{}", text(&output));
    assert_eq!(output.structured.unwrap().to::<Vec<Value>>().unwrap().len(), 3);
    assert!(call(list(), r#"{"server":"nobody"}"#).await.is_err());

    let read = || tool(&servers, "ReadMcpResourceTool");
    let output = call(read(), r#"{"server":"s","uri":"a://1"}"#).await.unwrap();
    let structured: Value = output.structured.as_ref().unwrap().to().unwrap();
    assert_eq!(structured["contents"][1], value!({ "uri": "a://1", "mimeType": "x/y" }));
    assert!(format!("{:?}", output.content).contains("the words"));
    let error = format!("{:?}", call(read(), r#"{"server":"s","uri":"a://9"}"#).await.unwrap_err());
    assert!(error.contains("Resource not found"), "{error}");
    assert!(read().prepare(&json(r#"{"server":"s"}"#)).is_err());
    assert_eq!(read().prepare(&json(r#"{"server":"s","uri":"u"}"#)).unwrap().access(), Access::Network);
    assert_eq!(list().prepare(&json("{}")).unwrap().access(), Access::NOTHING);

    let kept = read();
    servers.close().await;
    drop(servers);
    assert!(call(kept, r#"{"server":"s","uri":"a://1"}"#).await.is_err(), "the tool does not keep the servers");
}
