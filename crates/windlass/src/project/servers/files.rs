//! Servers that files define: of plugins, of the user, and of the project.
//!
//! They begin when the servers of the program are known, since those count for more.

use super::{AbsentServer, ProjectServers, ServerNotConnected, about, grouped};
use crate::mcp::server_config;
use std::collections::BTreeMap;
use windlass_mcp::McpError;
use windlass_project::{LeftOutServer, Plugins, ServerDefinition, ServerScope, Servers};

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

impl Files {
    pub(super) fn new(servers: Servers, plugins: &Plugins) -> Self {
        let waiting = servers.servers.into_iter().chain(plugins.servers().cloned()).collect();
        Self { left_out: servers.left_out, waiting, ..Self::default() }
    }

    /// Whether no file defines a server.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.begun.is_empty() && self.left_out.is_empty() && self.unusable.is_empty()
    }

    /// The servers that count: those that have begun and those that wait.
    pub(super) fn counting(&self) -> Vec<ServerDefinition> {
        let mut all: Vec<ServerDefinition> = self.begun.values().chain(&self.waiting).cloned().collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// The servers that are listed and not started.
    pub(super) fn absent(&self) -> Vec<AbsentServer> {
        let left_out = self.left_out.iter().map(|left| (&left.server, false, left.reason.as_str()));
        let unusable = self.unusable.iter().map(|(server, problem)| (server, true, problem.as_str()));
        let absent = |(server, failed, reason): (&ServerDefinition, bool, &str)| AbsentServer {
            name: server.name.clone(),
            source: Some(server.scope.as_str()),
            failed,
            reason: reason.to_owned(),
            text: said(server, reason),
        };
        left_out.chain(unusable).map(absent).collect()
    }

    /// What would change if these were the plugins.
    fn renewal(&self, plugins: &Plugins) -> Renewal {
        let of_plugins = |server: &&ServerDefinition| server.scope == ServerScope::Plugin;
        let broken = self.unusable.iter().map(|(server, _)| server);
        let broken = broken.chain(self.left_out.iter().map(|left| &left.server));
        let known: Vec<&ServerDefinition> =
            self.begun.values().chain(&self.waiting).chain(broken).filter(of_plugins).collect();
        let wanted: Vec<&ServerDefinition> = plugins.servers().collect();
        Renewal {
            come: wanted.iter().filter(|server| !known.contains(server)).map(|server| (*server).clone()).collect(),
            go: known.iter().filter(|server| !wanted.contains(server)).map(|server| server.name.clone()).collect(),
        }
    }

    /// Forgets a server that did not begin, and returns one that did.
    fn remove(&mut self, name: &str) -> Option<ServerDefinition> {
        self.waiting.retain(|server| server.name != name);
        self.unusable.retain(|(server, _)| server.name != name);
        self.begun.remove(name)
    }
}

impl ProjectServers {
    /// Begins to connect the servers of files that wait, and those that come later at once. Must be called inside a tokio
    /// runtime.
    pub fn begin(&self) {
        let waiting = {
            let mut files = self.0.files.lock();
            files.open = true;
            std::mem::take(&mut files.waiting)
        };
        let kept_out: Vec<LeftOutServer> = waiting.into_iter().filter_map(|server| self.begin_file(server)).collect();
        grouped(kept_out.iter().map(about)).into_iter().for_each(|note| self.tell(note));
        self.0.files.lock().left_out.extend(kept_out);
    }

    /// Begins to connect a server, or returns it with the reason why settings keep it out.
    fn begin_file(&self, server: ServerDefinition) -> Option<LeftOutServer> {
        let config =
            server_config(&server, |name| self.0.read.request.variable(name)).map_err(|error| error.to_string());
        let problem = match config.map(|config| self.add(&server.name, config)) {
            Ok(Ok(())) => {
                self.0.files.lock().begun.insert(server.name.clone(), server);
                return None;
            }
            Ok(Err(ServerNotConnected::KeptOut(why))) => return Some(LeftOutServer::new(server, why)),
            Ok(Err(ServerNotConnected::Refused(McpError::Duplicate { .. }))) => {
                self.tell(said(&server, "the command line or the host has another server of this name"));
                return None;
            }
            Ok(Err(ServerNotConnected::Refused(error))) => error.to_string(),
            Err(problem) => problem,
        };
        self.tell(said(&server, &problem));
        self.0.files.lock().unusable.push((server, problem));
        None
    }

    /// What would change if these were the plugins.
    pub(crate) fn renewal(&self, plugins: &Plugins) -> Renewal {
        self.0.files.lock().renewal(plugins)
    }

    /// Puts a change of plugins in place. Servers that go end in the background.
    pub(crate) fn renew(&self, renewal: Renewal) {
        let gone: Vec<ServerDefinition> = {
            let mut files = self.0.files.lock();
            let remove = |name: &String| {
                files.left_out.retain(|left| left.server.name != *name);
                files.remove(name)
            };
            renewal.go.iter().filter_map(remove).collect()
        };
        for server in gone {
            let servers = self.set().clone();
            // The name is free as soon as this begins, and it begins here.
            let mut removal = Box::pin(async move { servers.remove(&server.name).await });
            let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
            if removal.as_mut().poll(&mut cx).is_pending() {
                tokio::spawn(removal);
            }
        }
        self.0.files.lock().waiting.extend(renewal.come);
        if self.0.files.lock().open {
            self.begin();
        }
    }

    /// Frees the name of a server of a file for one of the program.
    pub async fn give_way(&self, name: &str) {
        let begun = self.0.files.lock().remove(name).is_some();
        if begun {
            self.set().remove(name).await;
        }
    }
}

fn said(server: &ServerDefinition, why: &str) -> String {
    format!("the MCP server {:?} of {} is not started: {why}", server.name, server.path.display())
}
