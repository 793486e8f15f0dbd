//! The MCP servers of a session.

use crate::assembly::{Assembly, Contribution};
use crate::error::Error;
use crate::session_servers::{GuardedServers, elicitations, sampling};
use crate::session_tools::SessionTools;
use async_trait::async_trait;
use std::sync::Arc;
use std::time::Duration;
use windlass_mcp::McpChanges;

/// Time that a session waits for servers before it opens. Tools that arrive later are added then.
const PATIENCE: Duration = Duration::from_secs(5);

/// Joins the servers: guards their programs, waits for them, and follows their changes until the session ends.
pub(crate) struct McpServers;

#[async_trait]
impl Contribution for McpServers {
    async fn join(&self, assembly: &mut Assembly) -> Result<(), Error> {
        let Some(servers) = assembly.options.tools.mcp.0.clone() else { return Ok(()) };
        if let Some(guard) = &assembly.guard {
            let unguarded = servers.confine(Arc::new(GuardedServers(Arc::clone(guard))));
            guard.accept_unguarded(unguarded, &mut assembly.notices)?;
        }
        let changes = servers.changes();
        servers.settled(PATIENCE).await;
        let summarizer = assembly.options.compaction.summarizer.clone();
        assembly.on_open(move |session, tools| {
            elicitations::review(&servers, &session.handle);
            sampling::offer(&servers, &session.handle, summarizer);
            follow(tools.clone(), changes);
        });
        Ok(())
    }
}

/// Applies changes of the servers until the session ends. Keeps the servers until then.
fn follow(tools: SessionTools, mut changes: McpChanges) {
    tools.report_servers();
    tokio::spawn(async move {
        loop {
            tokio::select! {
                () = tools.handle().ended() => return,
                there = changes.changed() => {
                    if !there || !tools.renew() {
                        return;
                    }
                }
            }
        }
    });
}
