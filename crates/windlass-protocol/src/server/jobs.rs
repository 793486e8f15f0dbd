//! Control requests that take time and need no state of the pump.

use super::machine::io::McpJob;
use super::mcp::{McpControl, McpControlError, McpServersChanged};
use serde_json::{Value, json};
use std::sync::Arc;
use windlass_types::JsonText;

/// Carries out a control request that concerns MCP servers.
pub(super) async fn order_mcp(control: Arc<dyn McpControl>, job: McpJob) -> Result<Value, String> {
    let read = |json: JsonText| json.to::<Value>().map_err(|error| McpControlError::new(error.to_string()));
    let outcome = async move {
        match job {
            McpJob::Reconnect(server) => control.reconnect(&server).await.map(|()| json!({})),
            McpJob::Toggle(server, enabled) => control.toggle(&server, enabled).await.map(|()| json!({})),
            McpJob::SetServers(servers) => {
                let McpServersChanged { added, removed, errors } = control.set_servers(servers).await?;
                Ok(json!({ "added": added, "removed": removed, "errors": errors }))
            }
            McpJob::Call { tool, arguments, limit } => read(control.call(&tool, arguments, limit).await?),
            McpJob::ReadResource { server, uri } => read(control.read_resource(&server, &uri).await?),
            McpJob::Authenticate(server) => Ok(match control.authenticate(&server).await? {
                Some(address) => json!({ "requiresUserAction": true, "authUrl": address }),
                None => json!({ "requiresUserAction": false }),
            }),
            McpJob::FinishLogin { server, address } => {
                control.finish_login(&server, &address).await.map(|()| json!({}))
            }
            McpJob::ForgetLogin(server) => control.forget_login(&server).await.map(|()| json!({})),
        }
    };
    outcome.await.map_err(|error: McpControlError| error.to_string())
}
