//! Options of a set of servers.

use crate::sampling::Samplers;
use crate::{Elicitation, McpToolCache, ProgramConfinement, RoundLimits, Sampling};
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use windlass_mcp_auth::AuthOptions;
use windlass_tool::ProgramWatch;

/// Options of a set of servers.
#[derive(Clone)]
#[non_exhaustive]
pub struct McpOptions {
    pub(crate) client: ClientName,
    pub(crate) programs: ServerPrograms,
    pub(crate) limits: ServerLimits,
    pub(crate) elicitation: Option<Arc<dyn Elicitation>>,
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) logins: LoginOptions,
    pub(crate) sampling: Option<Arc<dyn Sampling>>,
    /// Sessions that use the set which is made from these options.
    pub(crate) samplers: Samplers,
    pub(crate) cache: Option<Arc<dyn McpToolCache>>,
}

/// Name and version of the client.
#[derive(Clone)]
pub(crate) struct ClientName {
    pub(crate) name: String,
    pub(crate) version: String,
}

/// Start, watch and confinement of programs.
#[derive(Clone, Default)]
pub(crate) struct ServerPrograms {
    pub(crate) cwd: Option<PathBuf>,
    pub(crate) env: Vec<(OsString, OsString)>,
    pub(crate) watch: Option<Arc<dyn ProgramWatch>>,
    pub(crate) confinement: Option<Arc<dyn ProgramConfinement>>,
}

/// Time limits of servers, and limits of input rounds.
#[derive(Clone)]
pub(crate) struct ServerLimits {
    pub(crate) connect: Duration,
    pub(crate) call: Duration,
    pub(crate) rounds: RoundLimits,
}

/// Requirements of logins, and the command that makes one.
#[derive(Clone, Default)]
pub(crate) struct LoginOptions {
    pub(crate) auth: AuthOptions,
    pub(crate) command: Option<String>,
}

impl Default for McpOptions {
    fn default() -> Self {
        Self {
            client: ClientName { name: "windlass".to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
            programs: ServerPrograms::default(),
            limits: ServerLimits {
                connect: Duration::from_secs(30),
                call: Duration::from_secs(60 * 60),
                rounds: RoundLimits::default(),
            },
            elicitation: None,
            roots: Vec::new(),
            logins: LoginOptions::default(),
            sampling: None,
            samplers: Samplers::default(),
            cache: None,
        }
    }
}

impl McpOptions {
    /// Creates the default options.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the name and version of the client. Default: `windlass` and this crate's version.
    #[must_use]
    pub fn with_client(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.client = ClientName { name: name.into(), version: version.into() };
        self
    }

    /// Sets the directory in which programs start. Default: that of the process.
    #[must_use]
    pub fn with_cwd(mut self, cwd: impl Into<PathBuf>) -> Self {
        self.programs.cwd = Some(cwd.into());
        self
    }

    /// Sets the environment of programs; they inherit no other variables. Programs are looked up in its `PATH`.
    /// Default: empty, so only programs that are given by a path can start.
    /// `windlass::tool::built_in::host_environment(std::env::vars_os())` is the environment that the programs of tools
    /// get: `PATH` and the like, no keys.
    #[must_use]
    pub fn with_env<K: Into<OsString>, V: Into<OsString>>(mut self, env: impl IntoIterator<Item = (K, V)>) -> Self {
        self.programs.env = env.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        self
    }

    /// Sets the confinement of the programs of servers. Default: they run like other programs of this process. Sessions
    /// with a sandbox [confine](crate::McpServers::confine) servers that are added later, if no confinement was set
    /// here.
    #[must_use]
    pub fn with_confinement(mut self, confinement: Arc<dyn ProgramConfinement>) -> Self {
        self.programs.confinement = Some(confinement);
        self
    }

    /// Sets the maximum time for a server to start, greet and list its tools. Default: 30 s.
    #[must_use]
    pub fn with_connect_timeout(mut self, limit: Duration) -> Self {
        self.limits.connect = limit;
        self
    }

    /// Sets the maximum time of a call without an answer or progress. Default: one hour.
    #[must_use]
    pub fn with_call_timeout(mut self, limit: Duration) -> Self {
        self.limits.call = limit;
        self
    }

    /// Sets the limits of rounds in which a server requests input in place of a result. Default: 10 rounds, 24 hours.
    #[must_use]
    pub fn with_round_limits(mut self, limits: RoundLimits) -> Self {
        self.limits.rounds = limits;
        self
    }

    /// Sets the cache of the tools of lazy servers. A server that is [lazy](crate::McpServerConfig::lazy) is started at
    /// its first call then, and changes since it was last connected are in its
    /// [status](crate::McpServerStatus::tools_changed). Default: none, each server is started at once.
    #[must_use]
    pub fn with_tool_cache(mut self, cache: Arc<dyn McpToolCache>) -> Self {
        self.cache = Some(cache);
        self
    }

    /// Sets the handler of elicitations. Default: they are declined.
    #[must_use]
    pub fn with_elicitation(mut self, elicitation: Arc<dyn Elicitation>) -> Self {
        self.elicitation = Some(elicitation);
        self
    }

    /// Sets the directories that servers may take for the project, as absolute paths: servers that ask are answered
    /// with them. They grant no permission; programs can reach everything that their user can. Default: none, and roots
    /// are not announced to servers.
    #[must_use]
    pub fn with_roots(mut self, roots: impl IntoIterator<Item = impl Into<PathBuf>>) -> Self {
        self.roots = roots.into_iter().map(Into::into).collect();
        self
    }

    /// Sets the handler of sampling requests of all servers. Default: none; servers whose configuration [permits
    /// sampling](crate::McpServerConfig::sampling) can ask the session that uses them, others cannot.
    #[must_use]
    pub fn with_sampling(mut self, sampling: Arc<dyn Sampling>) -> Self {
        self.sampling = Some(sampling);
        self
    }

    /// Sets the watch over the programs: it ends them also when this process is killed, together with processes that
    /// have left their process group. `LocalProcess` of `windlass-local` is one. Default: none; a program whose host is
    /// killed then sees the end of its input, and only the process group of its tree is ended.
    #[must_use]
    pub fn with_watch(mut self, watch: Arc<dyn ProgramWatch>) -> Self {
        self.programs.watch = Some(watch);
        self
    }

    /// Sets the token store of logins, and the name of the program for authorisation servers. Default: tokens are kept
    /// in memory, and end with the process.
    #[must_use]
    pub fn with_auth(mut self, auth: AuthOptions) -> Self {
        self.logins.auth = auth;
        self
    }

    /// Sets the command that messages name for logging in to a server, without the server's name. Default: `None`,
    /// messages report that a login is needed and name no command.
    #[must_use]
    pub fn with_login_command(mut self, command: impl Into<String>) -> Self {
        self.logins.command = Some(command.into());
        self
    }
}

impl fmt::Debug for McpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment may hold secrets.
        f.debug_struct("McpOptions")
            .field("cwd", &self.programs.cwd)
            .field("connect_timeout", &self.limits.connect)
            .field("call_timeout", &self.limits.call)
            .finish_non_exhaustive()
    }
}
