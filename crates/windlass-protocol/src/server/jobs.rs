//! Orders that take time and need no state of the pump.

use super::machine::io::McpJob;
use super::mcp::{McpControl, McpControlError, McpServersChanged};
use serde_json::{Value, json};
use std::io::SeekFrom;
use std::path::Path;
use std::sync::Arc;
use tokio::io::{AsyncReadExt as _, AsyncSeekExt as _};
use windlass_conversation::Rewound;
use windlass_runtime::{RewindError, SessionHandle};
use windlass_types::{EntryId, JsonText};

/// Carries out an order that concerns MCP servers.
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

/// The end of a file, and how long all of it is.
pub(super) async fn tail(path: &Path, most: u64) -> std::io::Result<(String, u64)> {
    let mut file = tokio::fs::File::open(path).await?;
    let total = file.metadata().await?.len();
    let start = total.saturating_sub(most);
    file.seek(SeekFrom::Start(start)).await?;
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes).await?;
    // The first character may be cut.
    let cut =
        if start > 0 { bytes.iter().take(3).take_while(|byte| **byte & 0b1100_0000 == 0b1000_0000).count() } else { 0 };
    let whole = bytes.get(cut..).unwrap_or_default();
    Ok((String::from_utf8_lossy(whole).into_owned(), total))
}

/// Rewinds a conversation, with its files or without them.
pub(super) async fn rewind_conversation(
    handle: &SessionHandle,
    to: &EntryId,
    files: bool,
) -> Result<Rewound, RewindError> {
    if files {
        let rewound = handle.rewind(to).await?;
        let (conversation, undo) = (Some(rewound.conversation), Some(rewound.undo));
        return Ok(Rewound::new(rewound.files, conversation, undo));
    }
    let (point, undo) = handle.rewind_conversation(to).await?;
    Ok(Rewound::new(None, Some(point), Some(undo)))
}

/// What that would do.
pub(super) async fn conversation_changes(
    handle: &SessionHandle,
    to: &EntryId,
    files: bool,
) -> Result<Rewound, RewindError> {
    let point = handle.conversation_changes(to).await?;
    let checkpoint = if point.is_undo { point.files.as_ref() } else { Some(to) };
    let files = match checkpoint.filter(|_| files) {
        Some(checkpoint) => Some(handle.file_changes(checkpoint).await?),
        None => None,
    };
    Ok(Rewound::new(files, Some(point), None))
}
