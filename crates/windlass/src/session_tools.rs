//! The tools of an open session.

use crate::error::Error;
use crate::lock::Lock;
use crate::offer::Offer;
use crate::session_servers::{ServerReports, SessionServers};
use crate::tool_names::KnownTools;
use std::fmt;
use std::sync::Arc;
use windlass_runtime::SessionHandle;
use windlass_subagent::{AGENT_TOOL_NAME, Subagents};

/// Changeable tools of an open session. Cheap to clone. See
/// [`SessionBuilder::open_with_tools`](crate::SessionBuilder::open_with_tools).
#[derive(Clone)]
pub struct SessionTools(Arc<SessionParts>);

struct SessionParts {
    offer: Offer,
    /// Weak, so that the task that follows servers does not keep a session open.
    handle: SessionHandle,
    agents: Lock<Option<Subagents>>,
    reports: ServerReports,
}

impl SessionTools {
    pub(crate) fn new(offer: Offer, agents: Option<Subagents>, handle: &SessionHandle) -> Self {
        let reports = ServerReports::new(offer.servers());
        Self(Arc::new(SessionParts { offer, handle: handle.weak(), agents: Lock::new(agents), reports }))
    }

    /// The names of tools that the session knows.
    pub(crate) fn known(&self) -> KnownTools {
        KnownTools::new(self.0.offer.options())
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

    /// Applies the present offer of the servers. Returns `true` while the session is open.
    pub(crate) fn renew(&self) -> bool {
        let current = self.0.agents.lock();
        let tools = self.0.offer.tools(current.as_ref()).inspect_err(|error| {
            tracing::warn!(%error, "the tools of MCP servers cannot be used");
        });
        // Fails only when the session is closed, like the next command.
        let _ = self.0.handle.set_instructions(self.0.offer.instructions());
        self.report_servers();
        tools.map_or(true, |tools| self.0.handle.set_tools(tools).is_ok())
    }

    /// Reports missing servers and unusable tools to the host, and changed resources to the model.
    pub(crate) fn report_servers(&self) {
        self.0.reports.report(self.servers(), &self.0.handle);
    }

    /// The MCP servers of the session.
    pub(crate) fn servers(&self) -> &SessionServers {
        self.0.offer.servers()
    }

    /// Agents that the model can give tasks to now; `None` if it has no tool for that.
    pub fn subagents(&self) -> Option<Subagents> {
        self.0.agents.lock().clone().filter(|_| self.0.offer.allows(AGENT_TOOL_NAME))
    }

    pub(crate) fn handle(&self) -> &SessionHandle {
        &self.0.handle
    }
}

impl fmt::Debug for SessionTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionTools").field("session", self.0.handle.session_id()).finish_non_exhaustive()
    }
}
