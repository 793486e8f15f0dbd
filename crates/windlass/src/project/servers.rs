//! MCP servers of a project that settings permit: those of files and plugins, and those that the program adds.

mod config;
mod connect;
mod files;
mod follow;
mod refresh;
mod shared;
mod tool_cache;

pub use config::{server_config, server_policy, server_refusal};
pub(crate) use shared::SharedServers;

use super::notice::Notices;
use super::read::Read;
use super::{ProjectError, ProjectNotice, ProjectNoticeKind};
use crate::lock::Lock;
use files::Files;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Weak};
use windlass_mcp::{McpConfigError, McpError, McpServerConfig, McpServers};
use windlass_project::{LeftOutServer, Plugins, Resolved, ServerDefinition, ServerFiles, ServerPolicy};

/// Maximum number of server names in a notice.
const MAX_NAMES: usize = 8;

/// MCP servers of a project's sessions. Cheap to clone; all clones share them.
///
/// Servers of files and plugins wait until [`begin`](Self::begin), which opening a session calls, so that servers of
/// the program precede those of the same name. A server that settings keep out is [listed](Self::absent) with the
/// reason, and is a notice of the project. Servers end when the last clone of the project and of its sessions is
/// dropped, without waiting; closing the [set](Self::set) waits.
#[derive(Clone)]
pub struct ProjectServers(Arc<Inner>);

struct Inner {
    set: McpServers,
    gate: Lock<Gate>,
    /// Definitions in files, if servers of files are read.
    sources: Lock<Option<ServerFiles>>,
    /// Held while a change is applied.
    renewing: tokio::sync::Mutex<()>,
    /// Servers that passed the check.
    checked: Lock<BTreeSet<String>>,
    files: Lock<Files>,
    /// Servers of the program that settings keep out, with the reasons.
    kept_out: Lock<BTreeMap<String, (McpServerConfig, String)>>,
    read: Arc<Read>,
    notices: Weak<Notices>,
}

/// Check of servers against settings.
struct Gate {
    policy: ServerPolicy,
    /// `true` if settings list servers that may or may not be connected.
    has_lists: bool,
}

impl Gate {
    fn new(resolved: &Resolved, read: &Read) -> Self {
        let lists = &resolved.servers.lists;
        let has_lists = !lists.denied.is_empty()
            || !lists.allowed.is_empty()
            || lists.managed_only.is_some()
            || lists.unreadable.is_some();
        Self { policy: server_policy(resolved, |name| read.request.variable(name)), has_lists }
    }
}

/// A server that is known and not connected.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AbsentServer {
    /// Name of the server.
    pub name: String,
    /// Definer of the server: `project`, `local`, `user` or `plugin`; `None` for one of the program.
    pub source: Option<&'static str>,
    /// `true` if the server was to be connected and is unusable; otherwise it is not wanted or not allowed.
    pub failed: bool,
    /// Reason, and the remedy.
    pub reason: String,
    /// Reason as a sentence about the server.
    pub text: String,
}

/// Reason why a server is not connected.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerNotConnected {
    /// Settings keep the server out, or it would run code of an untrusted project.
    #[error("{0}")]
    KeptOut(String),
    /// The server cannot be added.
    #[error(transparent)]
    Refused(#[from] McpError),
    /// The entry is unusable.
    #[error(transparent)]
    Unusable(#[from] McpConfigError),
}

impl ProjectServers {
    /// Servers in a set. `files` are definitions that were read already, if any.
    pub(super) fn new(
        read: &Arc<Read>,
        notices: &Arc<Notices>,
        plugins: &Plugins,
        (set, files): (McpServers, Option<ServerFiles>),
    ) -> Self {
        let files = || files.unwrap_or_else(|| ServerFiles::read(&read.places, &read.settings));
        let sources = read.request.file_servers.then(files);
        let servers = sources.as_ref().map(|files| files.servers(&read.places, &read.settings, &read.resolved));
        let servers = servers.unwrap_or_default();
        let of_files = sources.iter().flat_map(ServerFiles::notes);
        let notes = of_files.chain(&servers.notes).map(ToString::to_string);
        for note in notes.chain(grouped(servers.left_out.iter().map(about))) {
            notices.add(ProjectNoticeKind::Server, note);
        }
        Self(Arc::new(Inner {
            set,
            gate: Lock::new(Gate::new(&read.resolved, read)),
            sources: Lock::new(sources),
            renewing: tokio::sync::Mutex::default(),
            checked: Lock::default(),
            files: Lock::new(Files::new(servers, plugins)),
            kept_out: Lock::default(),
            read: Arc::clone(read),
            notices: Arc::downgrade(notices),
        }))
    }

    /// Servers of files that are active with these settings.
    pub(super) fn defined(&self, resolved: &Resolved) -> Vec<ServerDefinition> {
        let read = &self.0.read;
        let sources = self.0.sources.lock();
        let servers_in = |files: &ServerFiles| files.servers(&read.places, &read.settings, resolved).servers;
        sources.as_ref().map(servers_in).unwrap_or_default()
    }

    /// The set, for [`mcp_servers`](crate::SessionBuilder::mcp_servers) and to monitor the servers. Servers added to it
    /// directly are not checked against settings; a session whose settings have lists of servers is then refused.
    pub fn set(&self) -> &McpServers {
        &self.0.set
    }

    /// `true` if there is no server at all, connected or not.
    pub fn is_empty(&self) -> bool {
        self.0.set.status().is_empty() && self.0.files.lock().is_empty() && self.0.kept_out.lock().is_empty()
    }

    /// Active servers of files and plugins, sorted by name: one of each name, whether they have begun or not. The lists
    /// of allowed and denied servers are not applied; see [`refusal`](Self::refusal).
    pub fn definitions(&self) -> Vec<ServerDefinition> {
        self.0.files.lock().counting()
    }

    /// Problems of the files that define servers: unusable files or parts of files.
    pub fn file_problems(&self) -> Vec<String> {
        let sources = self.0.sources.lock();
        sources.iter().flat_map(ServerFiles::notes).map(ToString::to_string).collect()
    }

    /// Begins to connect a server of the program, if settings permit it. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// Settings keep the server out, its name is taken, or it cannot be added.
    pub fn connect(&self, name: &str, config: McpServerConfig) -> Result<(), ServerNotConnected> {
        let added = self.add(name, config.clone());
        match &added {
            Ok(()) => drop(self.0.kept_out.lock().remove(name)),
            Err(ServerNotConnected::KeptOut(why)) => {
                drop(self.0.kept_out.lock().insert(name.to_owned(), (config, why.clone())));
            }
            Err(ServerNotConnected::Refused(_) | ServerNotConnected::Unusable(_)) => {}
        }
        added
    }

    /// Connects many servers, which `place` describes. Those that settings keep out are notices; unusable ones are
    /// returned with the reason. An existing server stays unchanged.
    pub fn connect_all(&self, servers: BTreeMap<String, McpServerConfig>, place: &str) -> Vec<(String, McpError)> {
        let (mut kept_out, mut refused) = (Vec::new(), Vec::new());
        for (name, config) in servers {
            match self.connect(&name, config) {
                Ok(()) | Err(ServerNotConnected::Refused(McpError::Duplicate { .. })) => {}
                Err(ServerNotConnected::KeptOut(why)) => kept_out.push((name, why)),
                Err(ServerNotConnected::Refused(error)) => refused.push((name, error)),
                // Entries of the program were read before.
                Err(ServerNotConnected::Unusable(_)) => {}
            }
        }
        let kept_out = kept_out.iter().map(|(name, why)| (name.as_str(), place.to_owned(), why.as_str()));
        grouped(kept_out).into_iter().for_each(|note| self.tell(note));
        refused
    }

    fn add(&self, name: &str, config: McpServerConfig) -> Result<(), ServerNotConnected> {
        // Held until the server is added, so that a list that becomes active meanwhile finds it.
        let gate = self.0.gate.lock();
        if let Some(why) = server_refusal(&gate.policy, name, &config) {
            return Err(ServerNotConnected::KeptOut(why));
        }
        self.0.set.add(name, config)?;
        drop(gate);
        self.0.checked.lock().insert(name.to_owned());
        Ok(())
    }

    /// Reason why settings keep a server out, if they do. Servers inside the program always pass, because the program
    /// itself runs them.
    pub fn refusal(&self, name: &str, config: &McpServerConfig) -> Option<String> {
        server_refusal(&self.0.gate.lock().policy, name, config)
    }

    /// Forgets servers of the program that were kept out, so that they are no longer [listed](Self::absent).
    pub fn forget_kept_out(&self, names: &BTreeSet<String>) {
        self.0.kept_out.lock().retain(|name, _| !names.contains(name));
    }

    /// Known servers that are not connected: first those of the program.
    pub fn absent(&self) -> Vec<AbsentServer> {
        let kept_out = self.0.kept_out.lock();
        let of_program = kept_out.iter().map(|(name, (_, reason))| AbsentServer {
            name: name.clone(),
            source: None,
            failed: false,
            reason: reason.clone(),
            text: format!("the MCP server {name:?} is not started: {reason}"),
        });
        of_program.chain(self.0.files.lock().absent()).collect()
    }

    /// Checks that every server of a set was checked, if settings have lists of servers.
    pub(super) fn check(&self, set: &McpServers) -> Result<(), ProjectError> {
        if !self.0.gate.lock().has_lists {
            return Ok(());
        }
        let checked = self.0.checked.lock();
        match set.status().into_iter().find(|status| !checked.contains(&status.name)) {
            Some(status) => Err(ProjectError::UncheckedServer { name: status.name }),
            None => Ok(()),
        }
    }

    fn tell(&self, text: String) {
        // Without the project, nobody reads the notice.
        if let Some(notices) = self.0.notices.upgrade() {
            notices.give(ProjectNotice { kind: ProjectNoticeKind::Server, text });
        }
    }
}

impl fmt::Debug for ProjectServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ProjectServers").field("set", &self.0.set).finish_non_exhaustive()
    }
}

fn about(left: &LeftOutServer) -> (&str, String, &str) {
    (&left.server.name, left.server.path.display().to_string(), &left.reason)
}

/// Notices about servers that are not started: name, place of definition, and reason. Servers with one place and reason
/// share a notice.
fn grouped<'a>(all: impl IntoIterator<Item = (&'a str, String, &'a str)>) -> Vec<String> {
    let mut groups: BTreeMap<(String, &str), Vec<&str>> = BTreeMap::new();
    for (name, place, reason) in all {
        groups.entry((place, reason)).or_default().push(name);
    }
    let note = |((place, reason), names): ((String, &str), Vec<&str>)| match names.as_slice() {
        [name] => format!("the MCP server {name:?} of {place} is not started: {reason}"),
        many => {
            let shown: Vec<String> = many.iter().take(MAX_NAMES).map(|name| format!("{name:?}")).collect();
            let more = match many.len().saturating_sub(MAX_NAMES) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("the MCP servers {}{more} of {place} are not started: {reason}", shown.join(", "))
        }
    };
    groups.into_iter().map(note).collect()
}
