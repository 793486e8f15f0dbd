//! MCP servers that files define: of the project, of the user, and of plugins.
//!
//! A server is a program that runs, so one of a project is used only if the project is trusted, or if the user's
//! settings name the server.

pub(crate) mod definition;
pub(crate) mod entries;
mod files;
pub(crate) mod lists;
#[cfg(feature = "server-policy")]
mod matching;
pub(crate) mod pattern;
#[cfg(feature = "server-policy")]
mod policy;
mod user;

pub use definition::{LeftOutServer, ServerDefinition, ServerScope};
pub use files::ServerFiles;
pub use lists::{AllowedServers, ServerLists};
pub use pattern::{ServerAddress, ServerPattern};
#[cfg(feature = "server-policy")]
pub use policy::ServerPolicy;

use crate::canonical::canonical;
use crate::note::{Note, Notes};
use crate::places::Places;
use crate::request::SettingsRequest;
use crate::resolved::Resolved;
use crate::sources::Layer;
use crate::trust::{Standing, TrustKind};
use user::UserServers;
use windlass_types::mcp_name;

/// Maximum number of servers.
const MAX_SERVERS: usize = 100;
/// Maximum number of bytes of the name of a project's server.
const MAX_NAME_BYTES: usize = 256;

/// The MCP servers that files of the project and the user define.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Servers {
    /// Servers in use: one of each name, sorted by name.
    pub servers: Vec<ServerDefinition>,
    /// Servers left out whose names no other server has, sorted by name.
    pub left_out: Vec<LeftOutServer>,
    /// Notes on unusable entries, and on servers hidden by others of the same name.
    pub notes: Vec<Note>,
}

/// Reads the MCP servers that files of the project and the user define. No program is run.
///
/// - **managed**: `managedMcpServers` of managed settings.
/// - **project**: `.mcp.json` of the directory where the session starts and of those above it in the project, the
///   nearer one the stronger, if the layer `project` is read. A server is used if the directory is trusted, or if it is
///   enabled by `enableAllProjectMcpServers` or `enabledMcpjsonServers` of settings that no repository can bring, and
///   if no settings file of any layer has it in `disabledMcpjsonServers`.
/// - **local**: `projects[<directory>].mcpServers` of the user's `.claude.json`, if the layer `local` is read.
///   `enabledMcpjsonServers` and `disabledMcpjsonServers` beside it act like those of the user's settings.
/// - **user**: `mcpServers` of that file, if the layer `user` is read.
///
/// Of two servers with one name the stronger [`ServerScope`] wins: a project's server never takes the name of one of
/// the user, since rules for that name would apply to it.
#[must_use]
pub fn load_servers(places: &Places, request: &SettingsRequest, resolved: &Resolved) -> Servers {
    let files = ServerFiles::read(places, request);
    let mut servers = files.servers(places, request, resolved);
    servers.notes.splice(0..0, files.notes().iter().cloned());
    servers
}

impl ServerFiles {
    /// Returns the servers in use and those left out, under these settings. See [`load_servers`]; the notes are those
    /// on servers, without [those](Self::notes) on files.
    #[must_use]
    pub fn servers(&self, places: &Places, request: &SettingsRequest, resolved: &Resolved) -> Servers {
        let user = self.of_user(places);
        let (notes, all) = (Notes::default(), Servers::default());
        let mut resolution = ServerResolution { places, request, resolved, files: self, user: &user, notes, all };
        resolution.add_all(&resolved.servers.provided);
        if request.sources.contains(Layer::Local) {
            resolution.add_all(&user.local);
        }
        if request.sources.contains(Layer::User) {
            resolution.add_all(&user.user);
        }
        if request.sources.contains(Layer::Project) {
            resolution.project();
        }
        let ServerResolution { mut all, notes, .. } = resolution;
        all.notes = notes.0;
        let Servers { servers, left_out, .. } = &mut all;
        servers.sort_by(|a, b| a.name.cmp(&b.name));
        left_out.retain(|left| !servers.iter().any(|server| server.name == left.server.name));
        left_out.sort_by(|a, b| a.server.name.cmp(&b.server.name));
        all
    }
}

/// State of one resolution of servers. Stronger servers are added first.
struct ServerResolution<'a> {
    places: &'a Places,
    request: &'a SettingsRequest,
    resolved: &'a Resolved,
    files: &'a ServerFiles,
    user: &'a UserServers,
    notes: Notes,
    all: Servers,
}

impl ServerResolution<'_> {
    fn add_all(&mut self, servers: &[ServerDefinition]) {
        for server in servers {
            self.add(server.clone());
        }
    }

    fn add(&mut self, server: ServerDefinition) {
        // Rules use the names that models see, so two servers whose names are equal there cannot coexist.
        let model_name = mcp_name::server(&server.name);
        if let Some(other) = self.all.servers.iter().find(|other| mcp_name::server(&other.name) == model_name) {
            let text = format!("the MCP server {:?} is that of {}", server.name, other.path.display());
            self.notes.add(&server.path, text);
        } else if self.all.servers.len() >= MAX_SERVERS {
            self.notes.add(&server.path, format!("there are more than {MAX_SERVERS} MCP servers"));
        } else {
            self.all.servers.push(server);
        }
    }

    /// Adds the servers of the project's own files.
    fn project(&mut self) {
        let (files, places) = (self.files, self.places);
        let trust = files.trust().for_this_run(self.request.trust);
        let named = self.request.sources.names(Layer::Project);
        for (directory, path, found) in files.of_project(places) {
            let standing = trust.standing(&places.project, directory, named);
            for (name, config) in found {
                if name.len() > MAX_NAME_BYTES {
                    self.notes.add(&path, format!("a name of an MCP server has more than {MAX_NAME_BYTES} bytes"));
                    continue;
                }
                let server = ServerDefinition::new(name, ServerScope::Project, &path, config.clone());
                match self.refusal_reason(&server, &standing) {
                    None => self.add(server),
                    Some(reason) => self.leave_out(server, reason),
                }
            }
        }
    }

    fn leave_out(&mut self, server: ServerDefinition, reason: String) {
        let left_out = &mut self.all.left_out;
        if left_out.len() < MAX_SERVERS && !left_out.iter().any(|other| other.server.name == server.name) {
            left_out.push(LeftOutServer::new(server, reason));
        }
    }

    /// Returns the reason why a server of the project is not used, if there is one.
    fn refusal_reason(&self, server: &ServerDefinition, standing: &Standing) -> Option<String> {
        let name = server.name.as_str();
        let choice = &self.resolved.servers.mcpjson;
        if is_like_a_plugins(name) {
            return Some(
                "only servers of plugins have names that begin so: rules for theirs would be for it".to_owned(),
            );
        }
        let disabled = choice.disabled.get(name).or(self.user.disabled.get(name));
        if let Some(origin) = disabled {
            return Some(format!("`disabledMcpjsonServers` of {origin} switches it off"));
        }
        let all = choice.all.as_ref().is_some_and(|all| all.value);
        let trusted = standing.covers(&server.path, TrustKind::Server, name, &canonical(server.config.as_str()));
        if trusted || all || choice.enabled.contains_key(name) || self.user.enabled.contains(name) {
            return None;
        }
        if standing.is_trusted() {
            return Some(
                "it is new or has changed since the project was trusted: `windlass trust` shows and confirms it"
                    .to_owned(),
            );
        }
        Some(
            "a server of a project runs a program: it starts when the project is trusted (`windlass trust`, `--trust`), \
             or when `enabledMcpjsonServers` of your own settings names it"
                .to_owned(),
        )
    }
}

/// Returns `true` if the tools of a server could have the same names as those of a plugin's server.
fn is_like_a_plugins(name: &str) -> bool {
    let rest = name.trim_start_matches(|c: char| !c.is_ascii_alphanumeric()).strip_prefix("plugin");
    rest.is_some_and(|rest| rest.starts_with(|c: char| !c.is_ascii_alphanumeric() && c != '-'))
}

#[cfg(test)]
mod tests;
