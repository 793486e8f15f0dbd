//! The options of a set of servers.

use crate::sampling::Samplers;
use crate::{Elicitation, McpToolCache, ProgramConfinement, RoundLimits, Sampling};
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use windlass_mcp_auth::AuthOptions;
use windlass_tool::ProgramWatch;

/// The options of a set of servers.
#[derive(Clone)]
#[non_exhaustive]
pub struct McpOptions {
    pub(crate) client_name: String,
    pub(crate) client_version: String,
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) connect_timeout: Duration,
    pub(crate) call_timeout: Duration,
    pub(crate) rounds: RoundLimits,
    pub(crate) elicitation: Option<Arc<dyn Elicitation>>,
    pub(crate) watch: Option<Arc<dyn ProgramWatch>>,
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) auth: AuthOptions,
    pub(crate) login_command: Option<String>,
    pub(crate) sampling: Option<Arc<dyn Sampling>>,
    /// The sessions of the set, which is made from these options.
    pub(crate) samplers: Samplers,
    pub(crate) cache: Option<Arc<dyn McpToolCache>>,
    pub(crate) confinement: Option<Arc<dyn ProgramConfinement>>,
}

impl Default for McpOptions {
    fn default() -> Self {
        Self {
            client_name: "windlass".to_owned(),
            client_version: env!("CARGO_PKG_VERSION").to_owned(),
            cwd: None,
            env: Vec::new(),
            connect_timeout: Duration::from_secs(30),
            call_timeout: Duration::from_secs(60 * 60),
            rounds: RoundLimits::default(),
            elicitation: None,
            watch: None,
            roots: Vec::new(),
            auth: AuthOptions::default(),
            login_command: None,
            sampling: None,
            samplers: Samplers::default(),
            cache: None,
            confinement: None,
        }
    }
}

impl McpOptions {
    /// The defaults.
    pub fn new() -> Self {
        Self::default()
    }

    /// How the client names itself. Default: `windlass` and this crate's version.
    #[must_use]
    pub fn with_client(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.client_name = name.into();
        self.client_version = version.into();
        self
    }

    /// The directory that programs start in. Default: the process's.
    #[must_use]
    pub fn with_cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.cwd = Some(cwd.into());
        self
    }

    /// The environment of programs; they inherit no other variables. They are looked
    /// for in its `PATH`. Default: empty, so only programs that are given by a
    /// path can start. `windlass::tool::built_in::host_environment(std::env::vars_os())` is what the
    /// programs of tools get: `PATH` and the like, no keys.
    #[must_use]
    pub fn with_env<K: Into<OsString>, V: Into<OsString>>(mut self, env: impl IntoIterator<Item = (K, V)>) -> Self {
        self.env = env.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        self
    }

    /// Sets what confines the programs of servers. Default: they run as other programs of this process. Sessions with a sandbox have
    /// servers that are added later [confined](crate::McpServers::confine) where nothing was said here.
    #[must_use]
    pub fn with_confinement(mut self, confinement: Arc<dyn ProgramConfinement>) -> Self {
        self.confinement = Some(confinement);
        self
    }

    /// How long a server may take to start, greet and list its tools. Default: 30 s.
    #[must_use]
    pub fn with_connect_timeout(mut self, limit: Duration) -> Self {
        self.connect_timeout = limit;
        self
    }

    /// How long a call may take without an answer or a sign of progress. Default: one hour.
    #[must_use]
    pub fn with_call_timeout(mut self, limit: Duration) -> Self {
        self.call_timeout = limit;
        self
    }

    /// Sets how often and how long a server may ask for something in place of a result. Default: 10 times, 24 hours.
    #[must_use]
    pub fn with_round_limits(mut self, limits: RoundLimits) -> Self {
        self.rounds = limits;
        self
    }

    /// Sets where it is kept what lazy servers offer. A server that is [lazy](crate::McpServerConfig::lazy) is started at its first
    /// call then, and what has changed since it was last connected is in its [status](crate::McpServerStatus::tools_changed).
    /// Default: none, each server is started at once.
    #[must_use]
    pub fn with_tool_cache(mut self, cache: Arc<dyn McpToolCache>) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Sets who answers the questions of servers. Default: they are declined.
    #[must_use]
    pub fn with_elicitation(mut self, elicitation: Arc<dyn Elicitation>) -> Self {
        self.elicitation = Some(elicitation);
        self
    }

    /// The directories that servers may take for the project, as absolute paths: servers that ask are answered with
    /// them. It is no permission; programs can reach all that their user can. Default: none, and servers are informed
    /// that they need not ask.
    #[must_use]
    pub fn with_roots(mut self, roots: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.roots = roots.into_iter().map(Into::into).collect();
        self
    }

    /// Sets what has a model write messages for all servers that ask. Default: none; servers whose configuration
    /// [lets them](crate::McpServerConfig::sampling) can ask the session that uses them, others cannot.
    #[must_use]
    pub fn with_sampling(mut self, sampling: Arc<dyn Sampling>) -> Self {
        self.sampling = Some(sampling);
        self
    }

    /// Sets the watch over the programs: it ends them also when this process is killed, and with them what has left
    /// their process group. `LocalProcess` of `windlass-tools` does. Default: none; a program whose host is
    /// killed sees the end of its input then, and of a tree only the group is ended.
    #[must_use]
    pub fn with_watch(mut self, watch: Arc<dyn ProgramWatch>) -> Self {
        self.watch = Some(watch);
        self
    }

    /// Sets where the tokens of logins are kept, and how the program names itself to authorisation servers. Default: tokens
    /// are kept in memory, and end with the process.
    #[must_use]
    pub fn with_auth(mut self, auth: AuthOptions) -> Self {
        self.auth = auth;
        self
    }

    /// Sets the command that users read they can run to log in to a server, without the server's name. Default: `None`, messages say
    /// that a login is needed and name no command.
    #[must_use]
    pub fn with_login_command(mut self, command: impl Into<String>) -> Self {
        self.login_command = Some(command.into());
        self
    }
}

impl fmt::Debug for McpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment may hold secrets.
        f.debug_struct("McpOptions")
            .field("cwd", &self.cwd)
            .field("connect_timeout", &self.connect_timeout)
            .field("call_timeout", &self.call_timeout)
            .finish_non_exhaustive()
    }
}
