//! Set of servers.

use crate::connection::CallCx;
use crate::name::tool_names;
use crate::review::{ElicitationReview, Reviewed, Reviews};
use crate::sampling::Samplers;
use crate::server::{PooledServer, ServerSetState};
use crate::tool::McpTool;
use crate::watched::ServerChanges;
use crate::{
    Elicitation, McpError, McpInstructions, McpMissing, McpOptions, McpResourceChange, McpServerConfig, McpServerState,
    McpServerStatus, ProgramConfinement, Sampling,
};
use futures_util::future::join_all;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};
use windlass_tool::{Cancel, DynTool, ToolOutput};
use windlass_types::{JsonText, mcp_name};

/// Maximum number of servers of a set.
const MAX_SERVERS: usize = 100;

/// Set of servers, connected concurrently. Cheap to clone; all clones share it.
///
/// A server that cannot be reached does not affect the others: its [status](McpServers::status) gives the reason. A
/// lost server is connected again when one of its tools is called, with growing pauses. When the last clone is dropped
/// every connection ends and every program is stopped, without waiting; [`McpServers::close`] waits.
///
/// All methods must be called inside a tokio runtime.
#[derive(Clone)]
pub struct McpServers(Arc<Set>);

pub(crate) struct Set {
    shared: Arc<ServerSetState>,
    servers: Mutex<BTreeMap<String, Arc<PooledServer>>>,
}

impl Drop for Set {
    fn drop(&mut self) {
        let servers = self.servers.get_mut().unwrap_or_else(PoisonError::into_inner);
        for server in servers.values() {
            server.abandon();
        }
        // Receivers of changes learn that no more will come.
        self.shared.changed();
    }
}

impl fmt::Debug for McpServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.status().iter().map(|status| (&status.name, status.state))).finish()
    }
}

impl McpServers {
    /// Creates an empty set.
    pub fn new(mut options: McpOptions) -> Self {
        let reviews = Reviews::default();
        let reviewed = |inner| Arc::new(Reviewed { inner, reviews: reviews.clone() }) as Arc<dyn Elicitation>;
        options.elicitation = options.elicitation.take().map(reviewed);
        options.samplers = Samplers::default();
        let confinement = Mutex::new(options.programs.confinement.clone());
        let (changes, resource_changes) = (watch::Sender::new(0), ServerChanges::default());
        let shared = Arc::new(ServerSetState { options, reviews, confinement, changes, resource_changes });
        Self(Arc::new(Set { shared, servers: Mutex::default() }))
    }

    /// Adds a reviewer of elicitations, which sees them before a person does. Sessions add their hooks. Elicitations
    /// are only reviewed if [a handler answers them](McpOptions::with_elicitation).
    pub fn review_elicitations(&self, review: Arc<dyn ElicitationReview>) {
        self.0.shared.reviews.add(review);
    }

    /// Confines the programs of servers that are added from now on, unless the set has a confinement
    /// [already](McpOptions::with_confinement). Returns the names of the servers that start unconfined programs: those
    /// that were added before. Sessions with a sandbox call this.
    pub fn confine(&self, confinement: Arc<dyn ProgramConfinement>) -> Vec<String> {
        let mut known = self.0.shared.confinement.lock().unwrap_or_else(PoisonError::into_inner);
        known.get_or_insert(confinement);
        drop(known);
        let servers = self.lock();
        let free = servers.values().filter(|server| server.config.confinement.is_none());
        free.filter(|server| server.config.starts_programs()).map(|server| server.name.clone()).collect()
    }

    /// Adds a session whose models answer sampling requests of servers whose [configuration](McpServerConfig::sampling)
    /// permits them, unless [the program](McpOptions::with_sampling) answers them. Sessions of windlass add themselves.
    /// While a set has several sessions, requests are refused, because they do not name their session.
    pub fn sample_through(&self, session: Arc<dyn Sampling>) {
        self.0.shared.options.samplers.add(session);
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Arc<PooledServer>>> {
        self.0.servers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn get(&self, name: &str) -> Result<Arc<PooledServer>, McpError> {
        self.lock().get(name).cloned().ok_or_else(|| McpError::UnknownServer { name: name.to_owned() })
    }

    /// Adds a server and begins to connect it.
    ///
    /// The model knows its tools as `mcp__server__tool`. Characters of the name other than letters, digits, `-` and `_`
    /// become `_` there: the tools of `my server` are `mcp__my_server__…`. Permission rules may use both names.
    ///
    /// # Errors
    /// Fails if a server of this name exists, the name is not usable, the model would know the server by the name of
    /// another one, or the set is full.
    pub fn add(&self, name: impl Into<String>, mut config: McpServerConfig) -> Result<(), McpError> {
        let name = name.into();
        config.confinement = self.0.shared.confinement.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if !mcp_name::is_usable(&name) {
            return Err(McpError::InvalidName { name });
        }
        let server = Arc::new(PooledServer::new(&name, config, Arc::clone(&self.0.shared)));
        {
            let mut servers = self.lock();
            if servers.contains_key(&name) {
                return Err(McpError::Duplicate { name });
            }
            let known = mcp_name::server(&name);
            if let Some(other) = servers.keys().find(|other| mcp_name::server(other) == known) {
                return Err(McpError::NameTaken { other: other.clone(), known, name });
            }
            if servers.len() >= MAX_SERVERS {
                return Err(McpError::TooMany { limit: MAX_SERVERS });
            }
            servers.insert(name, Arc::clone(&server));
        }
        self.0.shared.changed();
        if !server.is_idle() {
            // The status shows the outcome.
            tokio::spawn(async move { server.connect(true).await.map(drop) });
        }
        Ok(())
    }

    /// Removes a server and closes its connection, in bounded time. Returns `false` if there is none of this name.
    pub async fn remove(&self, name: &str) -> bool {
        let removed = self.lock().remove(name);
        match removed {
            Some(server) => {
                server.remove().await;
                true
            }
            None => false,
        }
    }

    /// Waits until every server inside the host has answered or failed, and until all others have done so or `limit` is
    /// over, whichever comes first.
    ///
    /// Cancel safe.
    #[expect(clippy::disallowed_methods, reason = "a deadline on the clock of tokio, which tests can hold")]
    pub async fn settled(&self, limit: Duration) {
        let mut changes = self.0.shared.changes.subscribe();
        let deadline = Instant::now().checked_add(limit);
        let mut is_late = false;
        loop {
            changes.mark_unchanged();
            let waits =
                self.lock().values().any(|server| server.is_pending() && (!is_late || server.config.is_in_process()));
            if !waits {
                return;
            }
            match deadline.filter(|_| !is_late) {
                Some(deadline) => is_late = timeout_at(deadline, changes.changed()).await.is_err(),
                None => drop(changes.changed().await),
            }
        }
    }

    /// Returns the status of each server, sorted by name.
    pub fn status(&self) -> Vec<McpServerStatus> {
        self.lock().values().map(|server| server.status()).collect()
    }

    /// Returns the servers that should be connected and are not, sorted by name: they failed, or require a login.
    pub fn missing(&self) -> Vec<McpMissing> {
        let servers: Vec<Arc<PooledServer>> = self.lock().values().cloned().collect();
        let names = servers.iter().map(|server| mcp_name::server(&server.name));
        let missing = servers.iter().zip(names).filter_map(|(server, name)| {
            let status = server.status();
            let reason = match status.state {
                // The error names the server.
                McpServerState::Failed => {
                    status.error.unwrap_or_else(|| format!("the MCP server {:?} failed", status.name))
                }
                McpServerState::NeedsAuth => {
                    status.error.unwrap_or_else(|| format!("the MCP server {:?} wants a login", status.name))
                }
                _ => return None,
            };
            Some(McpMissing { server: status.name, prefix: format!("mcp__{name}__"), reason })
        });
        missing.collect()
    }

    /// Returns the output of a connected server's program beside the protocol, for people: the last of its standard
    /// error, and output lines that are no messages. Secrets of its environment are masked. `None` if there is no such
    /// server, it is not connected, or it has written no such output.
    pub fn output(&self, name: &str) -> Option<String> {
        self.get(name).ok()?.output()
    }

    /// Returns the instructions of the servers on the use of their tools, sorted by the names of the servers. Servers
    /// without instructions are left out.
    pub fn instructions(&self) -> Vec<McpInstructions> {
        let servers: Vec<Arc<PooledServer>> = self.lock().values().cloned().collect();
        let names = servers.iter().map(|server| mcp_name::server(&server.name));
        let instructions = servers.iter().zip(names).filter_map(|(server, name)| {
            let (server, text) = (server.name.clone(), server.instructions()?);
            Some(McpInstructions { server, prefix: format!("mcp__{name}__"), text })
        });
        instructions.collect()
    }

    /// Returns a receiver of changes of a server's status or tools.
    pub fn changes(&self) -> McpChanges {
        McpChanges { changes: self.0.shared.changes.subscribe(), set: Arc::downgrade(&self.0) }
    }

    /// Returns the tools of all servers, sorted by name. Their names are unique.
    pub fn tools(&self) -> Vec<Arc<dyn DynTool>> {
        let servers: Vec<Arc<PooledServer>> = self.lock().values().cloned().collect();
        let names = servers.iter().map(|server| mcp_name::server(&server.name));
        let mut seen = BTreeSet::new();
        let mut tools: Vec<(String, Arc<dyn DynTool>)> = Vec::new();
        for (server, server_name) in servers.iter().zip(names) {
            let offered = server.tools();
            let names = tool_names(&server_name, offered.iter().map(|tool| tool.info.name.as_str()));
            for (tool, name) in offered.iter().zip(names) {
                if seen.insert(name.clone()) {
                    tools.push((name.clone(), Arc::new(McpTool::new(name, tool.clone(), Arc::clone(server)))));
                } else {
                    tracing::warn!(server = server.name, name, "an MCP tool is left out: its name is taken");
                }
            }
        }
        tools.sort_by(|a, b| a.0.cmp(&b.0));
        tools.into_iter().map(|(_, tool)| tool).collect()
    }

    /// Reads a resource, and subscribes to its next change ([`resource_changes`](Self::resource_changes)) if the server
    /// supports that: at most 50 resources of a server at a time, each once until it is read like this again. Cancel
    /// safe.
    ///
    /// # Errors
    /// The errors of [`read_resource`](Self::read_resource).
    pub async fn follow_resource(&self, name: &str, uri: &str) -> Result<JsonText, McpError> {
        let connection = self.get(name)?.connect(false).await?;
        // The subscription comes first: changes during the read are not missed.
        let (_, read) = tokio::join!(connection.watch(uri), self.read_resource(name, uri));
        read
    }

    /// Returns the changes of [followed](Self::follow_resource) resources after the change with the number `seen` (0
    /// for none), and the number of the latest change. The last 100 are kept. [`changes`](Self::changes) reports new
    /// ones.
    pub fn resource_changes(&self, seen: u64) -> (Vec<McpResourceChange>, u64) {
        self.0.shared.resource_changes.since(seen)
    }

    /// Closes the connection to a server, if there is one, and makes a new one.
    ///
    /// # Errors
    /// Fails if there is no such server, it is switched off, or it cannot be reached.
    pub async fn reconnect(&self, name: &str) -> Result<(), McpError> {
        self.get(name)?.reconnect().await
    }

    /// Switches a server on or off. A server that is off is not connected and has no tools.
    ///
    /// # Errors
    /// Fails if there is no such server, or it cannot be reached.
    pub async fn set_enabled(&self, name: &str, enabled: bool) -> Result<(), McpError> {
        self.get(name)?.set_enabled(enabled).await
    }

    /// Calls a tool by its server's name and its own, outside of any session: no permission is asked. `limit` is the
    /// maximum duration, instead of the configured one.
    ///
    /// Dropping the future stops the call.
    ///
    /// # Errors
    /// Fails if there is no such server or tool, or if the call failed.
    pub async fn call(
        &self,
        server: &str,
        tool: &str,
        arguments: &JsonText,
        limit: Option<Duration>,
    ) -> Result<ToolOutput, McpError> {
        let server = self.get(server)?;
        server.connect(false).await?;
        if !server.tools().iter().any(|known| known.info.name == tool) {
            return Err(McpError::UnknownTool { server: server.name.clone(), tool: tool.to_owned() });
        }
        let cx = CallCx { tool_use_id: None, cancel: Cancel::new(), progress: &|_| {}, timeout: limit };
        server.call(tool, arguments, cx).await
    }

    /// Returns the server and the own name of a tool, by its whole name.
    pub fn find(&self, whole_name: &str) -> Option<(String, String)> {
        let servers: Vec<Arc<PooledServer>> = self.lock().values().cloned().collect();
        let names = servers.iter().map(|server| mcp_name::server(&server.name));
        servers.iter().zip(names).find_map(|(server, server_name)| {
            let offered = server.tools();
            let names = tool_names(&server_name, offered.iter().map(|tool| tool.info.name.as_str()));
            let found = offered.iter().zip(names).find(|(_, name)| name == whole_name);
            found.map(|(tool, _)| (server.name.clone(), tool.info.name.clone()))
        })
    }

    /// Returns the configuration of a server, with variables replaced.
    ///
    /// # Errors
    /// Fails if there is no such server.
    pub fn config(&self, name: &str) -> Result<McpServerConfig, McpError> {
        Ok(self.get(name)?.config.clone())
    }

    /// `true` if a server has prompts.
    pub(crate) fn has_prompts(&self, server: &str) -> bool {
        self.get(server).is_ok_and(|server| server.has_prompts())
    }

    /// `true` if a server has resources.
    pub(crate) fn has_resources(&self, server: &str) -> bool {
        self.get(server).is_ok_and(|server| server.has_resources())
    }

    /// Returns a reference that does not keep the set alive.
    pub(crate) fn downgrade(&self) -> Weak<Set> {
        Arc::downgrade(&self.0)
    }

    /// Returns the set, if it still exists.
    pub(crate) fn upgrade(set: &Weak<Set>) -> Option<Self> {
        set.upgrade().map(Self)
    }

    /// Sends a request of any kind and returns its result.
    pub(crate) async fn request(
        &self,
        server: &str,
        method: &str,
        params: serde_json::Value,
    ) -> Result<JsonText, McpError> {
        let server = self.get(server)?;
        let limit = self.0.shared.options.limits.connect;
        server.request(method, params, limit).await
    }

    /// Closes all connections, concurrently and in bounded time, and waits until the programs are gone.
    pub async fn close(&self) {
        let servers = std::mem::take(&mut *self.lock());
        join_all(servers.values().map(|server| server.remove())).await;
    }
}

/// Receiver of changes in a set of servers. Does not keep the set alive.
#[derive(Debug, Clone)]
pub struct McpChanges {
    changes: watch::Receiver<u64>,
    set: Weak<Set>,
}

impl McpChanges {
    /// Waits for the next change; `false` once the set is dropped. Changes in quick succession are reported as
    /// one. Cancel safe.
    pub async fn changed(&mut self) -> bool {
        self.changes.changed().await.is_ok() && self.set.strong_count() > 0
    }

    /// Returns the set, if it still exists.
    pub fn servers(&self) -> Option<McpServers> {
        self.set.upgrade().map(McpServers)
    }
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Set").finish_non_exhaustive()
    }
}
