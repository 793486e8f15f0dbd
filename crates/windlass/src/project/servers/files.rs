//! Servers defined by files: of plugins, of the user, and of the project.
//!
//! Servers of files begin when the servers of the program are known, because those take precedence.

use super::config::server_config;
use super::{AbsentServer, ProjectServers, ServerNotConnected, about, grouped};
use std::collections::BTreeMap;
use std::ffi::OsString;
use windlass_mcp::{McpError, McpServerConfig, McpTransport, ServerPlace};
use windlass_project::{
    LeftOutServer, Note, Plugins, ProgramAuthor, ProgramLine, ProgramStarts, ServerDefinition, ServerScope, Servers,
};
use windlass_tool::environment::host_environment;

/// Servers of files.
#[derive(Debug, Default)]
pub(super) struct Files {
    /// `true` once the servers have begun.
    open: bool,
    /// Servers that have not begun yet.
    waiting: Vec<ServerDefinition>,
    /// Servers that have begun, by name.
    begun: BTreeMap<String, ServerDefinition>,
    /// Servers hidden by one of the program, by name.
    hidden: BTreeMap<String, ServerDefinition>,
    /// Servers that the gates of files leave out, with the reasons.
    left_out: Vec<LeftOutServer>,
    /// Servers that the lists of settings keep out, with the reasons.
    barred: Vec<LeftOutServer>,
    /// Unusable servers, with the reasons.
    unusable: Vec<(ServerDefinition, String)>,
    /// Further notes about the files.
    notes: Vec<Note>,
}

/// Servers to add and remove.
#[derive(Debug, Default)]
pub(crate) struct Renewal {
    /// New or changed servers.
    pub(crate) come: Vec<ServerDefinition>,
    /// Names of removed or changed servers.
    pub(crate) go: Vec<String>,
}

/// Reason why a server of a file does not begin.
enum NotBegun {
    /// The lists of settings keep the server out.
    KeptOut(String),
    /// The program has a server of this name.
    Hidden,
    Unusable(String),
}

impl Files {
    pub(super) fn new(servers: Servers, plugins: &Plugins) -> Self {
        let waiting = servers.servers.into_iter().chain(plugins.servers().cloned()).collect();
        Self { left_out: servers.left_out, notes: servers.notes, waiting, ..Self::default() }
    }

    /// `true` if no file defines a server.
    pub(super) fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.begun.is_empty() && self.absent().is_empty()
    }

    /// Active servers: those that have begun and those that wait.
    pub(super) fn counting(&self) -> Vec<ServerDefinition> {
        let mut all: Vec<ServerDefinition> = self.begun.values().chain(&self.waiting).cloned().collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }

    /// Servers that are listed and not started.
    pub(super) fn absent(&self) -> Vec<AbsentServer> {
        let left_out = self.left_out.iter().chain(&self.barred).map(|left| (&left.server, false, left.reason.as_str()));
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

    /// Changes if these were the plugins.
    fn renewal(&self, plugins: &Plugins) -> Renewal {
        let wanted: Vec<&ServerDefinition> = plugins.servers().collect();
        self.change(&wanted, |server| server.scope == ServerScope::Plugin)
    }

    /// Changes if these were the servers of files other than plugins.
    pub(super) fn change_of_files(&self, wanted: &[ServerDefinition]) -> Renewal {
        let wanted: Vec<&ServerDefinition> = wanted.iter().collect();
        self.change(&wanted, |server| server.scope != ServerScope::Plugin)
    }

    /// Changes if, among servers that match, the wanted ones were active.
    fn change(&self, wanted: &[&ServerDefinition], is_one: impl Fn(&ServerDefinition) -> bool) -> Renewal {
        let broken = self.unusable.iter().map(|(server, _)| server);
        let broken = broken.chain(self.barred.iter().map(|left| &left.server));
        let all = self.begun.values().chain(&self.waiting).chain(self.hidden.values()).chain(broken);
        let known: Vec<&ServerDefinition> = all.filter(|server| is_one(server)).collect();
        let is_in = |all: &[&ServerDefinition], one: &ServerDefinition| all.iter().any(|other| other.is_same(one));
        Renewal {
            come: wanted.iter().filter(|server| !is_in(&known, server)).map(|server| (*server).clone()).collect(),
            go: known.iter().filter(|server| !is_in(wanted, server)).map(|server| server.name.clone()).collect(),
        }
    }

    /// Forgets a server. Returns it if it has begun.
    pub(super) fn remove(&mut self, name: &str) -> Option<ServerDefinition> {
        self.waiting.retain(|server| server.name != name);
        self.unusable.retain(|(server, _)| server.name != name);
        self.barred.retain(|left| left.server.name != name);
        self.hidden.remove(name);
        self.begun.remove(name)
    }

    /// Bars a server that has begun.
    pub(super) fn bar(&mut self, name: &str, why: &str) -> Option<LeftOutServer> {
        let left = LeftOutServer::new(self.begun.remove(name)?, why);
        self.barred.push(left.clone());
        Some(left)
    }

    /// Requeues the servers that were kept out or unusable. Returns them with the reasons.
    pub(super) fn retry(&mut self) -> Vec<(ServerDefinition, String)> {
        let barred = std::mem::take(&mut self.barred).into_iter().map(|left| (left.server, left.reason));
        let tried: Vec<(ServerDefinition, String)> = barred.chain(std::mem::take(&mut self.unusable)).collect();
        self.waiting.extend(tried.iter().map(|(server, _)| server.clone()));
        tried
    }

    pub(super) fn add(&mut self, come: impl IntoIterator<Item = ServerDefinition>) {
        self.waiting.extend(come);
    }

    /// Replaces the left-out servers. Returns the new ones.
    pub(super) fn leave_out(&mut self, left_out: Vec<LeftOutServer>) -> Vec<LeftOutServer> {
        let previous = std::mem::replace(&mut self.left_out, left_out);
        self.left_out.iter().filter(|left| !previous.contains(left)).cloned().collect()
    }

    /// Replaces the notes. Returns the new ones.
    pub(super) fn note(&mut self, notes: Vec<Note>) -> Vec<Note> {
        let previous = std::mem::replace(&mut self.notes, notes);
        self.notes.iter().filter(|note| !previous.contains(note)).cloned().collect()
    }

    pub(super) fn are_open(&self) -> bool {
        self.open
    }

    pub(super) fn has_begun(&self, server: &ServerDefinition) -> bool {
        self.begun.get(&server.name).is_some_and(|begun| begun.is_same(server))
    }
}

impl ProjectServers {
    /// Begins to connect the waiting servers of files, and later ones at once. Must be called inside a tokio runtime.
    pub fn begin(&self) {
        self.begin_but_for(&[]);
    }

    /// Like [`begin`](Self::begin). `known`: the servers that were tried before, and the reasons why they did not
    /// begin, which are not reported again.
    pub(super) fn begin_but_for(&self, known: &[(ServerDefinition, String)]) {
        let waiting = {
            let mut files = self.0.files.lock();
            files.open = true;
            std::mem::take(&mut files.waiting)
        };
        let is_known = |server: &ServerDefinition, why: &str| {
            known.iter().any(|(tried, reason)| reason == why && tried.is_same(server))
        };
        let mut barred = Vec::new();
        if waiting.is_empty() {
            return;
        }
        let starts = self.0.read.starts();
        for server in waiting {
            match self.begin_file(&server, &starts) {
                Ok(()) => drop(self.0.files.lock().begun.insert(server.name.clone(), server)),
                Err(NotBegun::KeptOut(why)) => barred.push(LeftOutServer::new(server, why)),
                Err(NotBegun::Hidden) => {
                    self.tell(said(&server, "the command line or the host has another server of this name"));
                    self.0.files.lock().hidden.insert(server.name.clone(), server);
                }
                Err(NotBegun::Unusable(problem)) => {
                    if !is_known(&server, &problem) {
                        self.tell(said(&server, &problem));
                    }
                    self.0.files.lock().unusable.push((server, problem));
                }
            }
        }
        let new = barred.iter().filter(|left| !is_known(&left.server, &left.reason));
        grouped(new.map(about)).into_iter().for_each(|note| self.tell(note));
        self.0.files.lock().barred.extend(barred);
    }

    /// Begins to connect a server.
    fn begin_file(&self, server: &ServerDefinition, starts: &ProgramStarts) -> Result<(), NotBegun> {
        let config = self.placed_config(server, starts).map_err(|refused| match refused {
            ServerNotConnected::KeptOut(why) => NotBegun::KeptOut(why),
            ServerNotConnected::Refused(error) => NotBegun::Unusable(error.to_string()),
            ServerNotConnected::Unusable(error) => NotBegun::Unusable(error.to_string()),
        })?;
        self.add(&server.name, config).map_err(|refused| match refused {
            ServerNotConnected::KeptOut(why) => NotBegun::KeptOut(why),
            ServerNotConnected::Refused(McpError::Duplicate { .. }) => NotBegun::Hidden,
            ServerNotConnected::Refused(error) => NotBegun::Unusable(error.to_string()),
            ServerNotConnected::Unusable(error) => NotBegun::Unusable(error.to_string()),
        })
    }

    /// Configuration of a server of a file, with the directory in which its programs start. In an untrusted project the
    /// user's servers start in a neutral directory, with a search path outside of the project.
    ///
    /// # Errors
    /// The entry is unusable, or its program would run code of an untrusted project.
    pub fn config(&self, server: &ServerDefinition) -> Result<McpServerConfig, ServerNotConnected> {
        self.placed_config(server, &self.0.read.starts())
    }

    fn placed_config(
        &self,
        server: &ServerDefinition,
        starts: &ProgramStarts,
    ) -> Result<McpServerConfig, ServerNotConnected> {
        let read = &self.0.read;
        let mut config = server_config(server, |name| read.request.variable(name))?;
        let author = author_of(server);
        let env = host_environment(read.usual_environment());
        let mut is_neutral = None;
        for (line, own) in programs_of(&config) {
            let env: Vec<_> = own.into_iter().chain(env.iter().cloned()).collect();
            let place = read.place(starts, &author, &line, &env);
            let place = place.map_err(|refusal| ServerNotConnected::KeptOut(refusal.to_string()))?;
            is_neutral = place.is_neutral.then_some(place.directory).or(is_neutral);
        }
        let place = ServerPlace::new().with_variables(starts.project_variables());
        config.place = Some(match is_neutral {
            None => place,
            Some(directory) => {
                let variable = [("PWD".into(), directory.clone().into())];
                place.in_directory(directory).outside(starts.workspace()).with_variables(variable)
            }
        });
        Ok(config)
    }

    /// Changes if these were the plugins.
    pub(crate) fn renewal(&self, plugins: &Plugins) -> Renewal {
        self.0.files.lock().renewal(plugins)
    }

    /// Applies a change of plugins. Removed servers end in the background.
    pub(crate) fn renew(&self, renewal: Renewal) {
        let gone: Vec<ServerDefinition> = {
            let mut files = self.0.files.lock();
            renewal.go.iter().filter_map(|name| files.remove(name)).collect()
        };
        for server in gone {
            let servers = self.set().clone();
            // The name is free as soon as the removal begins, and it begins here.
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

    /// Frees the name of a server of a file for one of the program. The server of the file comes back when its
    /// definition changes.
    pub async fn give_way(&self, name: &str) {
        let begun = {
            let mut files = self.0.files.lock();
            let waiting = files.waiting.iter().find(|server| server.name == name).cloned();
            let begun = files.remove(name);
            let hidden = begun.clone().or(waiting);
            files.hidden.extend(hidden.map(|server| (name.to_owned(), server)));
            begun.is_some()
        };
        if begun {
            self.set().remove(name).await;
        }
    }
}

fn author_of(server: &ServerDefinition) -> ProgramAuthor {
    match (&server.plugin_root, server.scope) {
        (Some(root), _) => ProgramAuthor::Plugin(root.clone()),
        (None, ServerScope::Project) => ProgramAuthor::Project,
        (None, ServerScope::Managed) => ProgramAuthor::Managed,
        _ => ProgramAuthor::User,
    }
}

/// Programs of a server, each with its own variables.
fn programs_of(config: &McpServerConfig) -> Vec<(ProgramLine<'_>, Vec<(OsString, OsString)>)> {
    let helper = config.headers_helper.as_deref().map(|line| (ProgramLine::Shell(line), Vec::new()));
    let program = match &config.transport {
        McpTransport::Stdio { command, args, env } => {
            let own = env.iter().map(|(name, value)| (name.into(), value.into())).collect();
            Some((ProgramLine::Words(command, args), own))
        }
        _ => None,
    };
    program.into_iter().chain(helper).collect()
}

fn said(server: &ServerDefinition, why: &str) -> String {
    format!("the MCP server {:?} of {} is not started: {why}", server.name, server.path.display())
}
