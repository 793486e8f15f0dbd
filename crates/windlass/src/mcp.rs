//! The tools of MCP servers in a session.

use std::sync::Arc;
use std::time::Duration;
use windlass_mcp::{McpChanges, McpServers};
use windlass_permission::Policy;
use windlass_runtime::SessionHandle;
use windlass_tool::{DynTool, OnlyTools, ToolSet};

/// How long a session waits for servers before it opens. What comes later is put in place then.
const PATIENCE: Duration = Duration::from_secs(5);

/// The servers of a session, and what they are joined with.
pub(crate) struct Joined {
    servers: McpServers,
    changes: McpChanges,
    own: ToolSet,
    policy: Policy,
    only: OnlyTools,
}

impl Joined {
    /// Waits a while until the servers answer.
    pub(crate) async fn settle(servers: McpServers, own: ToolSet, policy: &Policy, only: &OnlyTools) -> Self {
        let changes = servers.changes();
        servers.settled(PATIENCE).await;
        Self { servers, changes, own, policy: policy.clone(), only: only.clone() }
    }

    /// The session's own tools and those of the servers, without what was not chosen or a rule denies
    /// as a whole.
    pub(crate) fn tools(&self) -> ToolSet {
        let own: Vec<Arc<dyn DynTool>> = self.own.names().filter_map(|name| self.own.get(name)).cloned().collect();
        let usable = |tool: &Arc<dyn DynTool>| {
            let name = tool.spec().name;
            if !self.only.keeps(&name) {
                return false;
            }
            let is_taken = self.own.get(&name).is_some();
            if is_taken {
                tracing::warn!(name, "an MCP tool is left out: the session has one of this name");
            }
            !is_taken && !self.policy.is_hidden(&name)
        };
        let theirs = self.servers.tools().into_iter().filter(usable);
        ToolSet::new(own.into_iter().chain(theirs)).unwrap_or_else(|error| {
            tracing::warn!(%error, "the tools of MCP servers cannot be used");
            self.own.clone()
        })
    }

    /// Puts changes in place until the session ends. Keeps the servers until then.
    pub(crate) fn follow(mut self, handle: SessionHandle) {
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = handle.ended() => return,
                    there = self.changes.changed() => {
                        if !there || handle.set_tools(self.tools()).is_err() {
                            return;
                        }
                    }
                }
            }
        });
    }
}
