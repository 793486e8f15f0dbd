//! The tools of an open session.

use crate::error::Error;
use crate::lock::Lock;
use crate::offer::Offer;
#[cfg(feature = "mcp")]
use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
#[cfg(feature = "mcp")]
use windlass_mcp::McpChanges;
#[cfg(all(feature = "mcp", feature = "project"))]
use windlass_runtime::Prompt;
use windlass_runtime::SessionHandle;
use windlass_subagent::{AGENT_TOOL_NAME, Subagents};

/// Maximum number of unusable server tools reported to the host.
#[cfg(feature = "mcp")]
const MOST_REPORTED: usize = 200;

/// Changeable tools of an open session. Cheap to clone. See
/// [`SessionBuilder::open_with_tools`](crate::SessionBuilder::open_with_tools).
#[derive(Clone)]
pub struct SessionTools(Arc<Open>);

struct Open {
    offer: Offer,
    /// Weak, so that the task that follows servers does not keep a session open.
    handle: SessionHandle,
    agents: Lock<Option<Subagents>>,
    /// Unusable tools that were reported to the host.
    #[cfg(feature = "mcp")]
    reported: Lock<BTreeSet<String>>,
    /// Names of the missing servers that were reported to the host.
    #[cfg(feature = "mcp")]
    missing: Lock<BTreeSet<String>>,
    /// Number of the last resource change that the model has read about.
    #[cfg(feature = "mcp")]
    resources: Lock<u64>,
}

impl SessionTools {
    pub(crate) fn new(offer: Offer, agents: Option<Subagents>, handle: &SessionHandle) -> Self {
        #[cfg(feature = "mcp")]
        let resources = Lock::new(offer.servers().map_or(0, |servers| servers.resource_changes(0).1));
        Self(Arc::new(Open {
            offer,
            handle: handle.weak(),
            agents: Lock::new(agents),
            #[cfg(feature = "mcp")]
            reported: Lock::default(),
            #[cfg(feature = "mcp")]
            missing: Lock::default(),
            #[cfg(feature = "mcp")]
            resources,
        }))
    }

    /// The names of tools that the session knows.
    #[cfg(feature = "project")]
    pub(crate) fn known(&self) -> crate::names::Tools {
        crate::names::Tools::of_offer(self.0.offer.options())
    }

    /// Replaces the offered agents from the next request to the model on. Running agents continue unchanged. The
    /// description of the tool `Agent` changes, so the provider reads the whole conversation anew instead of from its
    /// cache; unchanged agents change nothing.
    ///
    /// # Errors
    /// The session is closed.
    pub fn set_subagents(&self, agents: Subagents) -> Result<(), Error> {
        let mut current = self.0.agents.lock();
        if current.as_ref() == Some(&agents) {
            return Ok(());
        }
        // The lock keeps the order of changes, because no other thread computes tools meanwhile.
        let tools = self.0.offer.tools(Some(&agents))?;
        self.0.handle.set_tools(tools)?;
        *current = Some(agents);
        Ok(())
    }

    /// Applies changes of the servers until the session ends. Keeps the servers until then.
    #[cfg(feature = "mcp")]
    pub(crate) fn follow(&self, mut changes: McpChanges) {
        self.report_missing();
        self.report_left_out();
        let tools = self.clone();
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    () = tools.0.handle.ended() => return,
                    there = changes.changed() => {
                        if !there || !tools.renew() {
                            return;
                        }
                    }
                }
            }
        });
    }

    /// Applies the present offer of the servers. Returns `true` while the session is open.
    #[cfg(feature = "mcp")]
    fn renew(&self) -> bool {
        let current = self.0.agents.lock();
        let tools = self.0.offer.tools(current.as_ref()).inspect_err(|error| {
            tracing::warn!(%error, "the tools of MCP servers cannot be used");
        });
        // Fails only when the session is closed, like the next command.
        let _ = self.0.handle.set_instructions(self.0.offer.instructions());
        self.report_missing();
        self.report_left_out();
        self.report_resources();
        tools.map_or(true, |tools| self.0.handle.set_tools(tools).is_ok())
    }

    /// Replaces a prompt that names one of a server (`/mcp__server__prompt argument`) by that; returns others
    /// unchanged.
    #[cfg(all(feature = "mcp", feature = "project"))]
    pub(crate) async fn prompt_of_server(&self, mut prompt: Prompt) -> Result<Prompt, Error> {
        let Some((command, arguments)) = crate::project::named_command(&prompt) else { return Ok(prompt) };
        let Some(servers) = self.0.offer.servers().filter(|_| command.starts_with("mcp__")) else { return Ok(prompt) };
        let called = servers.named_prompt(command, &windlass_project::split_arguments(arguments)).await?;
        if let Some(blocks) = called {
            (prompt.content, prompt.ignores_keywords) = (blocks, true);
        }
        Ok(prompt)
    }

    /// The MCP servers of the session.
    #[cfg(all(feature = "conversation", feature = "mcp"))]
    pub(crate) fn servers(&self) -> Option<&windlass_mcp::McpServers> {
        self.0.offer.servers()
    }

    /// Reports the servers that are not connected to the host, each once until it is connected again.
    #[cfg(feature = "mcp")]
    fn report_missing(&self) {
        let Some(servers) = self.0.offer.servers() else { return };
        let now = servers.missing();
        let mut known = self.0.missing.lock();
        known.retain(|name| now.iter().any(|missing| missing.server == *name));
        for missing in now {
            if known.insert(missing.server) {
                let _ = self.0.handle.notice(missing.reason);
            }
        }
    }

    /// Reports the unusable tools of servers to the host, each once.
    #[cfg(feature = "mcp")]
    fn report_left_out(&self) {
        let Some(servers) = self.0.offer.servers() else { return };
        let mut reported = self.0.reported.lock();
        for line in crate::mcp_tools::left_out(servers) {
            if reported.len() < MOST_REPORTED && reported.insert(line.clone()) {
                let _ = self.0.handle.notice(line);
            }
        }
    }

    /// Tells the model which resources have changed since it read them.
    #[cfg(feature = "mcp")]
    fn report_resources(&self) {
        let Some(servers) = self.0.offer.servers() else { return };
        let mut seen = self.0.resources.lock();
        let (changed, last) = servers.resource_changes(*seen);
        *seen = last;
        if let Some(text) = crate::mcp_tools::changed_resources(&changed) {
            let _ = self.0.handle.add_context(vec![text]);
        }
    }

    /// Agents that the model can give tasks to now; `None` if it has no tool for that.
    pub fn subagents(&self) -> Option<Subagents> {
        self.0.agents.lock().clone().filter(|_| self.0.offer.allows(AGENT_TOOL_NAME))
    }

    #[cfg(feature = "project")]
    pub(crate) fn handle(&self) -> &SessionHandle {
        &self.0.handle
    }
}

impl fmt::Debug for SessionTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionTools").field("session", self.0.handle.session_id()).finish_non_exhaustive()
    }
}
