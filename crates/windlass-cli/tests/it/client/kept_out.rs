//! MCP servers that a host sets and settings keep out.

use crate::client::turns::program;
use crate::place::{Place, text};
use serde_json::{Value, json};
use windlass::tool::ToolSet;
use windlass_protocol::client::{Client, ClientOptions};

const DENIED: &str = r#"{"deniedMcpServers":[{"serverName":"s"},{"serverName":"own"}]}"#;
const WHY: &str = "`deniedMcpServers` of --settings keeps it out";

async fn listed(client: &Client) -> Vec<(String, String, Option<String>)> {
    let servers = client.handle().mcp_status().await.unwrap();
    servers.into_iter().map(|server| (server.name, server.status, server.error)).collect()
}

async fn set(client: &Client, servers: Value) -> Value {
    let answer = client.handle().control("mcp_set_servers", &json!({ "servers": servers })).await.unwrap();
    answer.to().unwrap()
}

#[tokio::test]
async fn a_server_that_the_host_sets_is_kept_out_but_not_one_inside_it() {
    let place = Place::with_turns(&[text("Done.")]);
    let options = ClientOptions::new().tools("own", ToolSet::new([]).unwrap());
    let client = Client::spawn(program(&place).settings(DENIED), options).await.unwrap();
    let own = listed(&client).await;
    assert!(matches!(own.as_slice(), [(name, status, None)] if name == "own" && status != "disabled"), "{own:?}");

    let server = json!({"command": "touch", "args": [place.path("started")]});
    let answer = set(&client, json!({ "s": server })).await;
    assert_eq!(answer, json!({"added": [], "removed": [], "errors": {"s": WHY}}));
    let kept_out = ("s".to_owned(), "disabled".to_owned(), Some(WHY.to_owned()));
    assert!(listed(&client).await.contains(&kept_out));
    let refused = client.handle().toggle_mcp_server("s", true).await.unwrap_err().to_string();
    assert!(refused.contains(WHY), "{refused}");
    assert!(!place.path("started").exists());

    set(&client, json!({})).await;
    assert_eq!(listed(&client).await.len(), 1);
}
