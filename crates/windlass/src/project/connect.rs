//! The MCP servers that the sessions of a project have.

use super::reviewed_servers::ReviewedServers;
use super::tool_cache::ToolLists;
use super::{LoadedProject, ProjectError, ProjectServers};
use std::sync::Arc;
use windlass_mcp::auth::{AuthOptions, FileTokenStore};
use windlass_mcp::{McpOptions, McpServers, ProgramConfinement};
use windlass_runtime::SystemIds;
use windlass_tool::Ids;
use windlass_tools::{LocalProcess, host_environment};

impl LoadedProject {
    /// The MCP servers of the project's sessions, in a set that is made at the first call. Nothing is connected yet.
    pub fn servers(&self) -> ProjectServers {
        self.servers_in(|| McpServers::new(self.server_options()))
    }

    /// The same in a set of the program's own, unless there is one already: for servers that ask the user something.
    /// [`server_options`](Self::server_options) are what the project's servers are started with.
    pub fn servers_in(&self, set: impl FnOnce() -> McpServers) -> ProjectServers {
        let new = || {
            let files = self.shared.server_files.lock().take();
            ProjectServers::new(&self.read, &self.shared.notices, &self.plugins(), (set(), files))
        };
        self.shared.servers.get_or_init(new).clone()
    }

    /// What servers are started with: the project's directory, which is also their root, the environment that programs get,
    /// without keys, what ends them when this process is killed, and the user's directory for what lazy servers offer. Logins
    /// are kept in the folder `mcp-logins` of the user's home.
    ///
    /// Where settings or the program want a sandbox, programs of servers run in one of their own that holds the same.
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
        let options = options.with_confinement(self.reviewed_servers(process));
        match ToolLists::of(self.places()) {
            Some(lists) => options.with_tool_cache(Arc::new(lists)),
            None => options,
        }
    }

    /// Compares programs of servers with what was trusted, and confines them where a sandbox is wanted.
    fn reviewed_servers(&self, process: Arc<LocalProcess>) -> Arc<dyn ProgramConfinement> {
        #[cfg(feature = "sandbox")]
        let confinement = Some(Arc::new(self.server_confinement(process)) as Arc<dyn ProgramConfinement>);
        #[cfg(not(feature = "sandbox"))]
        let confinement = {
            let _ = process;
            None
        };
        Arc::new(ReviewedServers { reviewer: self.program_reviewer(), confinement })
    }

    /// What ends programs of servers, and tries the sandbox that they run in.
    fn server_process() -> Arc<LocalProcess> {
        Arc::new(LocalProcess::new(format!("mcp.{:032x}", SystemIds::default().bits())))
    }

    /// Gives a session the project's servers, and begins to connect those of files.
    pub(crate) async fn offer_servers(&self, offered: &mut Option<McpServers>) -> Result<(), ProjectError> {
        let given = offered.clone();
        let are_shared = self.shared.servers.get().is_some();
        let servers = self.servers_in(|| given.clone().unwrap_or_else(|| McpServers::new(self.server_options())));
        if are_shared && self.place_elsewhere().is_none() {
            self.renew_servers(&servers).await;
        }
        if let Some(set) = &given {
            servers.check(set)?;
            set.confine(self.reviewed_servers(Self::server_process()));
        }
        servers.begin();
        // One may join as long as files are read.
        if given.is_none() && (servers.follows_files() || !servers.is_empty()) {
            *offered = Some(servers.set().clone());
        }
        Ok(())
    }

    /// Has servers that were made for an earlier session be as files and settings say now.
    async fn renew_servers(&self, servers: &ProjectServers) {
        let news = self.read.live.look(self.places(), &self.read.settings);
        if let Some((newer, _)) = servers.look() {
            servers.take(newer, &[]);
        }
        servers.follow(news.as_ref().map_or(self.resolved(), |news| &news.now)).await;
    }
}
