//! Servers that files define: of plugins, of the user, and of the project.
//!
//! They begin when the servers of the command line and of the host are known, since those count for more.

use super::HostServers;
use super::kept_out::{NotConnected, notes};
use std::collections::BTreeMap;
use std::sync::{MutexGuard, PoisonError};
use windlass::crates::mcp::McpError;
use windlass::crates::project::{LeftOutServer, Plugins, ServerDefinition, ServerScope, Servers};
use windlass::server_config;
use windlass_protocol::{McpControlError, McpStatus};

/// The servers of files.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// Whether they have begun.
    open: bool,
    /// Those that were not begun yet.
    waiting: Vec<ServerDefinition>,
    /// Those that were, by name.
    begun: BTreeMap<String, ServerDefinition>,
    /// Those that are not to be started, and why.
    left_out: Vec<LeftOutServer>,
    /// Those that cannot be used, and why.
    unusable: Vec<(ServerDefinition, String)>,
}

/// Servers of plugins that come and go.
#[derive(Debug, Default)]
pub(crate) struct Renewal {
    /// Those that are new or others than before.
    pub(crate) come: Vec<ServerDefinition>,
    /// The names of those that are gone or others than before.
    pub(crate) go: Vec<String>,
}

impl HostServers {
    /// Adds the servers of files, which wait until [`begin_files`](Self::begin_files).
    pub(crate) fn with_files(self, servers: Servers, plugins: &Plugins) -> Self {
        {
            let mut files = self.files();
            files.left_out = servers.left_out;
            files.waiting = servers.servers;
            files.waiting.extend(plugins.servers().cloned());
        }
        self
    }

    /// Whether no file defines a server.
    pub(crate) fn has_no_files(&self) -> bool {
        let files = self.files();
        files.waiting.is_empty() && files.left_out.is_empty()
    }

    /// Begins to connect the servers of files that wait.
    pub(crate) fn begin_files(&self) {
        let waiting = {
            let mut files = self.files();
            files.open = true;
            std::mem::take(&mut files.waiting)
        };
        let kept_out: Vec<LeftOutServer> = waiting.into_iter().filter_map(|server| self.begin_file(server)).collect();
        for note in notes(kept_out.iter().map(about)) {
            crate::host::note_to_stderr(&note);
        }
        self.files().left_out.extend(kept_out);
    }

    pub(super) fn files(&self) -> MutexGuard<'_, Files> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to connect a server, or returns it with the reason why settings keep it out.
    fn begin_file(&self, server: ServerDefinition) -> Option<LeftOutServer> {
        let config = server_config(&server, |name| std::env::var(name).ok()).map_err(|error| error.to_string());
        let problem = match config.map(|config| self.connect(&server.name, config)) {
            Ok(Ok(())) => {
                self.files().begun.insert(server.name.clone(), server);
                return None;
            }
            Ok(Err(NotConnected::KeptOut(why))) => return Some(LeftOutServer::new(server, why)),
            Ok(Err(NotConnected::Refused(McpError::Duplicate { .. }))) => {
                let reason = "the command line or the host has another server of this name";
                crate::host::note_to_stderr(&said(&server, reason));
                return None;
            }
            Ok(Err(NotConnected::Refused(error))) => error.to_string(),
            Err(problem) => problem,
        };
        crate::host::note_to_stderr(&said(&server, &problem));
        self.files().unusable.push((server, problem));
        None
    }

    /// What would change if these were the plugins.
    pub(crate) fn renewal(&self, plugins: &Plugins) -> Renewal {
        let files = self.files();
        let of_plugins = |server: &&ServerDefinition| server.scope == ServerScope::Plugin;
        let broken = files.unusable.iter().map(|(server, _)| server);
        let broken = broken.chain(files.left_out.iter().map(|left| &left.server));
        let known: Vec<&ServerDefinition> =
            files.begun.values().chain(&files.waiting).chain(broken).filter(of_plugins).collect();
        let wanted: Vec<&ServerDefinition> = plugins.servers().collect();
        Renewal {
            come: wanted.iter().filter(|server| !known.contains(server)).map(|server| (*server).clone()).collect(),
            go: known.iter().filter(|server| !wanted.contains(server)).map(|server| server.name.clone()).collect(),
        }
    }

    /// Puts a change of plugins in place. Servers that go end in the background.
    pub(crate) fn renew(&self, renewal: Renewal) {
        let mut gone = Vec::new();
        {
            let mut files = self.files();
            for name in &renewal.go {
                files.waiting.retain(|server| server.name != *name);
                files.unusable.retain(|(server, _)| server.name != *name);
                files.left_out.retain(|left| left.server.name != *name);
                gone.extend(files.begun.remove(name));
            }
        }
        for server in gone {
            let servers = self.servers.clone();
            // The name is free as soon as this begins, and it begins here.
            let mut removal = Box::pin(async move { servers.remove(&server.name).await });
            let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
            if removal.as_mut().poll(&mut cx).is_pending() {
                tokio::spawn(removal);
            }
        }
        self.files().waiting.extend(renewal.come);
        if self.files().open {
            self.begin_files();
        }
    }

    /// Makes room for a server of the host that has the name of one of a file.
    pub(super) async fn give_way(&self, name: &str) {
        let begun = {
            let mut files = self.files();
            files.waiting.retain(|server| server.name != name);
            files.unusable.retain(|(server, _)| server.name != name);
            files.begun.remove(name).is_some()
        };
        if begun {
            self.servers.remove(name).await;
        }
    }

    /// Why a server is not there, if a file names it.
    pub(super) fn absence(&self, name: &str) -> Option<McpControlError> {
        let files = self.files();
        let left_out = files.left_out.iter().find(|left| left.server.name == name);
        left_out.map(|left| McpControlError::new(said(&left.server, &left.reason)))
    }

    /// The servers of files that are listed and not started.
    pub(super) fn absent(&self) -> Vec<McpStatus> {
        let files = self.files();
        let left_out = files.left_out.iter().map(|left| (&left.server, "disabled", left.reason.as_str()));
        let unusable = files.unusable.iter().map(|(server, problem)| (server, "failed", problem.as_str()));
        let status = |(server, status, why): (&ServerDefinition, &str, &str)| {
            super::listed(&server.name, status, server.scope.as_str(), why)
        };
        left_out.chain(unusable).map(status).collect()
    }

    /// What people should know of servers of files that are not started.
    pub(crate) fn notes_on_files(servers: &Servers) -> Vec<String> {
        let left_out = notes(servers.left_out.iter().map(about));
        servers.notes.iter().map(ToString::to_string).chain(left_out).collect()
    }
}

fn said(server: &ServerDefinition, why: &str) -> String {
    format!("the MCP server {:?} of {} is not started: {why}", server.name, server.path.display())
}

fn about(left: &LeftOutServer) -> (&str, String, &str) {
    (&left.server.name, left.server.path.display().to_string(), &left.reason)
}
