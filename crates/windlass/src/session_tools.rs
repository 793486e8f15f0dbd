//! The tools of an open session.

use crate::Error;
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

/// Most unusable tools of servers that are reported to the host.
#[cfg(feature = "mcp")]
const MOST_REPORTED: usize = 200;

/// The tools of an open session, as far as they can be others than at its beginning. Cheap to clone. See
/// [`SessionBuilder::open_with_tools`](crate::SessionBuilder::open_with_tools).
#[derive(Clone)]
pub struct SessionTools(Arc<Open>);

struct Open {
    offer: Offer,
    /// Weak: servers that are followed do not keep a session open.
    handle: SessionHandle,
    agents: Lock<Option<Subagents>>,
    /// The tools that cannot be used of which the host knows.
    #[cfg(feature = "mcp")]
    reported: Lock<BTreeSet<String>>,
    /// The servers of which the host knows that they are missing, by name.
    #[cfg(feature = "mcp")]
    missing: Lock<BTreeSet<String>>,
    /// The number of the last change of a resource that the model reads of.
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

    /// Offers these agents instead of those before, from the next request to the model on. Agents that work already go
    /// on as they are. The description of the tool `Agent` is another one then, so the provider reads the whole
    /// conversation anew instead of from its cache; agents that are the same as before change nothing.
    ///
    /// # Errors
    /// The session is closed.
    pub fn set_subagents(&self, agents: Subagents) -> Result<(), Error> {
        let mut current = self.0.agents.lock();
        if current.as_ref() == Some(&agents) {
            return Ok(());
        }
        // The order holds what the order before it holds, since nobody else computes one meanwhile.
        let tools = self.0.offer.tools(Some(&agents))?;
        self.0.handle.set_tools(tools)?;
        *current = Some(agents);
        Ok(())
    }

    /// Puts changes of the servers in place until the session ends. Keeps the servers until then.
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

    /// Puts in place what the servers offer now. Whether the session is still open.
    #[cfg(feature = "mcp")]
    fn renew(&self) -> bool {
        let current = self.0.agents.lock();
        let tools = self.0.offer.tools(current.as_ref()).inspect_err(|error| {
            tracing::warn!(%error, "the tools of MCP servers cannot be used");
        });
        // It fails only when the session is closed, as the next order does.
        let _ = self.0.handle.set_instructions(self.0.offer.instructions());
        self.report_missing();
        self.report_left_out();
        self.report_resources();
        tools.map_or(true, |tools| self.0.handle.set_tools(tools).is_ok())
    }

    /// The prompt of a server, if a prompt names one (`/mcp__server__prompt argument`), or else itself.
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

    /// Reports to the host which servers are not connected, each once until it is connected again.
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

    /// Reports to the host which tools of servers cannot be used, each once.
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

    /// Has the model read which resources have changed since it read them.
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

    /// The agents that the model can give tasks to now; `None` if it has no tool for that.
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
