//! MCP servers of a project's sessions.

use super::ProjectServers;
use super::tool_cache::ToolLists;
use crate::project::{LoadedProject, ProjectError};
use crate::session_servers::{GuardedServers, SessionServers};
use std::sync::Arc;
use windlass_local::LocalProcess;
use windlass_mcp::auth::{AuthOptions, FileTokenStore};
use windlass_mcp::{McpOptions, McpServers, ProgramConfinement};
use windlass_runtime::SystemIds;
use windlass_tool::Ids;
use windlass_tool::environment::host_environment;

impl LoadedProject {
    /// MCP servers of the project's sessions, in a set that is made at the first call. Nothing is connected yet.
    pub fn servers(&self) -> ProjectServers {
        self.servers_in(|| McpServers::new(self.server_options()))
    }

    /// Like [`servers`](Self::servers), in a set of the program's own, unless there is one already. For servers that
    /// ask the user. The project's servers start with [`server_options`](Self::server_options).
    pub fn servers_in(&self, set: impl FnOnce() -> McpServers) -> ProjectServers {
        let new = || {
            let files = self.shared.servers.files.lock().take();
            ProjectServers::new(&self.read, &self.shared.notices, &self.plugins(), (set(), files))
        };
        self.shared.servers.set.get_or_init(new).clone()
    }

    /// Options for starting servers: the project's directory, which is also their root; the environment of programs,
    /// without keys; a port that ends them when this process is killed; and the user's directory for the cached tools
    /// of lazy servers. Logins are stored in the folder `mcp-logins` of the user's home.
    ///
    /// If settings or the program request a sandbox, programs of servers run in a separate sandbox with the same rules.
    pub fn server_options(&self) -> McpOptions {
        let auth = AuthOptions::new();
        let auth = match self.places().user.first() {
            Some(home) => auth.with_store(Arc::new(FileTokenStore::new(home.join("mcp-logins")))),
            None => auth,
        };
        let process = Self::server_process();
        let options = McpOptions::new()
            .with_auth(auth)
            .with_cwd(self.places().start())
            .with_roots(self.place_elsewhere().is_none().then(|| self.places().start()))
            .with_env(host_environment(self.usual_environment()))
            .with_watch(process.clone());
        let options = options.with_confinement(self.guarded_servers(process));
        match ToolLists::of(self.places()) {
            Some(lists) => options.with_tool_cache(Arc::new(lists)),
            None => options,
        }
    }

    /// Guard of the servers' programs: the review of this project, and the sandbox, if one is requested.
    fn guarded_servers(&self, process: Arc<LocalProcess>) -> Arc<dyn ProgramConfinement> {
        Arc::new(GuardedServers(self.reviewed_servers(self.server_sandbox(process))))
    }

    /// Process port that ends programs of servers, and tries their sandbox.
    fn server_process() -> Arc<LocalProcess> {
        Arc::new(LocalProcess::new(format!("mcp.{:032x}", SystemIds::default().bits())))
    }

    /// Gives a session the project's servers, and starts to connect those of files.
    pub(crate) async fn offer_servers(&self, offered: &mut SessionServers) -> Result<(), ProjectError> {
        let own_set = offered.0.clone();
        let are_shared = self.shared.servers.set.get().is_some();
        let servers = self.servers_in(|| own_set.clone().unwrap_or_else(|| McpServers::new(self.server_options())));
        if are_shared && self.place_elsewhere().is_none() {
            self.renew_servers(&servers).await;
        }
        if let Some(set) = &own_set {
            servers.check(set)?;
            set.confine(self.guarded_servers(Self::server_process()));
        }
        servers.begin();
        // A server may join as long as files are followed.
        if own_set.is_none() && (servers.follows_files() || !servers.is_empty()) {
            *offered = servers.set().clone().into();
        }
        Ok(())
    }

    /// Updates servers of an earlier session to the present files and settings.
    async fn renew_servers(&self, servers: &ProjectServers) {
        let news = self.read.live.look(self.places(), &self.read.settings);
        if let Some((newer, _)) = servers.look() {
            servers.take(newer, &[]);
        }
        servers.follow(news.as_ref().map_or(self.resolved(), |news| &news.now)).await;
    }
}
