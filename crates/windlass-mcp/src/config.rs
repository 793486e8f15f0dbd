//! How servers are reached.

mod parse;

pub use parse::{McpConfigError, parse_config};

use crate::channel::ToolChannel;
use crate::{McpChannel, McpOptions, ProgramConfinement, SamplingLimits};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use windlass_context::Masks;
use windlass_mcp_auth::{Authorizer, OAuthConfig};
use windlass_tool::ToolSet;
use windlass_tool::search_path::environment_outside;
use windlass_types::JsonText;

/// How a server is reached, and how it is treated.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct McpServerConfig {
    /// How it is reached.
    pub transport: McpTransport,
    /// How long a call may take in all, progress or not. Absent: as long as
    /// there is progress, see [`McpOptions::with_call_timeout`](crate::McpOptions::with_call_timeout).
    pub timeout: Option<Duration>,
    /// Tools, by their own names, that need an answer each time or are refused,
    /// whatever rules and modes say.
    pub policies: BTreeMap<String, McpToolPolicy>,
    /// Whether the definitions of its tools are in requests from the beginning, however many there are. Default: no, they may
    /// be withheld until the model has searched for them.
    pub always_load: bool,
    /// A command whose output gives headers for an endpoint, in place of configured ones of the same names: a JSON object
    /// of texts. A shell runs it each time the server is connected, for at most 10 s, with the environment of programs, the
    /// server's name in `CLAUDE_CODE_MCP_SERVER_NAME` and its address in `CLAUDE_CODE_MCP_SERVER_URL`.
    pub headers_helper: Option<String>,
    /// How tokens for it are had, if it is reached over HTTP. Default: a client is registered, and the user logs in.
    pub oauth: OAuthConfig,
    /// Tools, by their own names, whose calls run beside calls that read, also beside each other; `*` means all. It counts for the
    /// order alone: each call is judged as before. Default: none, calls of a server follow each other.
    pub parallel: BTreeSet<String>,
    /// Whether it is started at its first call, where the [cache](crate::McpOptions::with_tool_cache) knows what it offers.
    /// Default: no.
    pub lazy: bool,
    /// Whether it may ask for messages of the session's models, and for how many. Each request is judged like a call of the tool
    /// `mcp__server__sampling_createMessage`. Default: `None`, it is informed that it cannot ask.
    pub sampling: Option<SamplingLimits>,
    /// Who configured it, for people. Default: `dynamic`.
    pub source: String,
    /// The place in which its programs start. Default: that of its set.
    pub place: Option<ServerPlace>,
    /// Has its tokens.
    pub(crate) authorizer: Option<Arc<Authorizer>>,
    /// What confines its programs, as its set says.
    pub(crate) confinement: Option<Arc<dyn ProgramConfinement>>,
}

/// The place in which the programs of a server start: itself, and its `headersHelper`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerPlace {
    /// The directory. Default: that of the set.
    pub directory: Option<PathBuf>,
    /// Directories that search paths in the variables do not lead into, also not through links: neither those of the set nor
    /// those of the server's own entry.
    pub outside: Vec<PathBuf>,
    /// Variables beside those of the set.
    pub variables: Vec<(OsString, OsString)>,
}

impl ServerPlace {
    /// The directory and the variables of the set.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the directory. Default: that of the set.
    #[must_use]
    pub fn in_directory(mut self, directory: impl Into<PathBuf>) -> Self {
        self.directory = Some(directory.into());
        self
    }

    /// Has search paths lead around directories.
    #[must_use]
    pub fn outside(mut self, directories: &[PathBuf]) -> Self {
        self.outside.extend_from_slice(directories);
        self
    }

    /// Adds variables.
    #[must_use]
    pub fn with_variables(mut self, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Self {
        self.variables.extend(variables);
        self
    }
}

/// The policy for all calls of a tool, whatever rules and modes say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum McpToolPolicy {
    /// The host must answer each call.
    Ask,
    /// Every call is refused.
    Deny,
}

/// How a server is reached.
#[derive(Clone)]
#[non_exhaustive]
pub enum McpTransport {
    /// A program that speaks over its standard streams.
    Stdio {
        /// The program: a path, or a name that is looked for in the `PATH` of its environment.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its environment, beside that of the set of servers.
        env: BTreeMap<String, String>,
    },
    /// A streamable HTTP endpoint.
    Http {
        /// Its address.
        url: String,
        /// Headers of every request. They may hold secrets.
        headers: BTreeMap<String, String>,
    },
    /// An endpoint of the older HTTP transport, whose messages come as server-sent events over one stream.
    Sse {
        /// The address of the stream.
        url: String,
        /// Headers of every request. They may hold secrets.
        headers: BTreeMap<String, String>,
    },
    /// A server inside the host. Without a channel it cannot be reached.
    InProcess(Option<Arc<dyn McpChannel>>),
}

impl McpServerConfig {
    fn new(transport: McpTransport) -> Self {
        Self {
            transport,
            timeout: None,
            policies: BTreeMap::new(),
            always_load: false,
            headers_helper: None,
            place: None,
            oauth: OAuthConfig::default(),
            parallel: BTreeSet::new(),
            lazy: false,
            sampling: None,
            source: "dynamic".to_owned(),
            authorizer: None,
            confinement: None,
        }
    }

    /// A program that speaks over its standard streams.
    pub fn stdio(command: impl Into<String>) -> Self {
        Self::new(McpTransport::Stdio { command: command.into(), args: Vec::new(), env: BTreeMap::new() })
    }

    /// A streamable HTTP endpoint.
    pub fn http(url: impl Into<String>) -> Self {
        Self::new(McpTransport::Http { url: url.into(), headers: BTreeMap::new() })
    }

    /// An endpoint of the older HTTP transport with server-sent events.
    pub fn sse(url: impl Into<String>) -> Self {
        Self::new(McpTransport::Sse { url: url.into(), headers: BTreeMap::new() })
    }

    /// A server inside the host.
    pub fn in_process(channel: Arc<dyn McpChannel>) -> Self {
        Self { source: "sdk".to_owned(), ..Self::new(McpTransport::InProcess(Some(channel))) }
    }

    /// A server inside the host that serves these tools, under the name that it gives itself. It lives as long as this
    /// config.
    ///
    /// Its tools are those of a server: they are named `mcp__server__tool`, what they touch is unknown, and files and
    /// programs of a session are out of their reach. Several sessions may use it at once; what its tools remember between
    /// calls is shared. Tools that belong to one session are given to its builder instead.
    ///
    /// ```no_run
    /// use std::sync::Arc;
    /// # mod windlass { pub use {windlass_tool::ToolCx, windlass_types::JsonText}; pub mod mcp { pub use windlass_mcp::*; } pub mod tool { pub use windlass_tool::*; } }
    /// use windlass::{
    ///     JsonText, ToolCx, mcp::{McpOptions, McpServerConfig, McpServers}, tool::{DynTool, ToolSet, tool_json},
    /// };
    ///
    /// # fn example() -> Result<(), Box<dyn std::error::Error>> {
    /// let ping = tool_json("ping", "Answers.", JsonText::parse(r#"{"type":"object"}"#)?, |_: JsonText, _: ToolCx| async {
    ///     Ok("pong")
    /// });
    /// let tools = ToolSet::new([Arc::new(ping) as Arc<dyn DynTool>])?;
    /// let servers = McpServers::new(McpOptions::new());
    /// servers.add("inside", McpServerConfig::tools("inside", tools))?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn tools(name: impl Into<String>, tools: ToolSet) -> Self {
        Self::in_process(Arc::new(ToolChannel::new(name.into(), tools)))
    }

    /// Adds an argument of the program. Without effect on other servers.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        if let McpTransport::Stdio { args, .. } = &mut self.transport {
            args.push(arg.into());
        }
        self
    }

    /// Sets a variable of the program's environment. Without effect on other servers.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let McpTransport::Stdio { env, .. } = &mut self.transport {
            env.insert(name.into(), value.into());
        }
        self
    }

    /// Sets a header of every request. Without effect on other servers.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let McpTransport::Http { headers, .. } | McpTransport::Sse { headers, .. } = &mut self.transport {
            headers.insert(name.into(), value.into());
        }
        self
    }

    /// Sets how tokens for it are had. Without effect on servers that are not reached over HTTP.
    #[must_use]
    pub fn oauth(mut self, oauth: OAuthConfig) -> Self {
        self.oauth = oauth;
        self
    }

    /// Sets how long a call may take in all.
    #[must_use]
    pub fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = Some(limit);
        self
    }

    /// Sets the policy for all calls of a tool.
    #[must_use]
    pub fn policy(mut self, tool: impl Into<String>, policy: McpToolPolicy) -> Self {
        self.policies.insert(tool.into(), policy);
        self
    }

    /// Keeps the definitions of its tools in requests from the beginning, however many there are.
    #[must_use]
    pub fn always_load(mut self, on: bool) -> Self {
        self.always_load = on;
        self
    }

    /// Lets the calls of a tool run beside calls that read; `*` means all of its tools.
    #[must_use]
    pub fn parallel(mut self, tool: impl Into<String>) -> Self {
        self.parallel.insert(tool.into());
        self
    }

    /// Starts it at its first call, where the [cache](crate::McpOptions::with_tool_cache) knows what it offers.
    #[must_use]
    pub fn lazy(mut self, on: bool) -> Self {
        self.lazy = on;
        self
    }

    /// Lets it ask for messages of the session's models.
    #[must_use]
    pub fn sampling(mut self, limits: SamplingLimits) -> Self {
        self.sampling = Some(limits);
        self
    }

    /// Whether a tool's calls may run beside calls that read.
    pub(crate) fn is_parallel(&self, tool: &str) -> bool {
        self.parallel.contains(tool) || self.parallel.contains("*")
    }

    /// Applies settings that hosts give beside a server: `{"timeout"?,"tools"?,"alwaysLoad"?,"parallelTools"?,"lazy"?,"sampling"?}` as in
    /// [`parse_config`]. What cannot be read is left alone, but a policy that is
    /// not known asks.
    #[must_use]
    pub fn settings(mut self, settings: &JsonText) -> Self {
        self.apply(&settings.to().unwrap_or_default());
        self
    }

    /// Sets the command that prints headers for an endpoint.
    #[must_use]
    pub fn headers_helper(mut self, command: impl Into<String>) -> Self {
        self.headers_helper = Some(command.into());
        self
    }

    /// Sets who configured it, for people.
    #[must_use]
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// Sets the place in which its programs start. Default: that of its set.
    #[must_use]
    pub fn in_place(mut self, place: ServerPlace) -> Self {
        self.place = Some(place);
        self
    }

    /// The directory and the variables of one of its programs that has variables of its own.
    pub(crate) fn surroundings(
        &self,
        options: &McpOptions,
        own: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> (PathBuf, Vec<(OsString, OsString)>) {
        let place = self.place.as_ref();
        let of_place = place.and_then(|place| place.directory.as_deref());
        let directory = of_place.or(options.programs.cwd.as_deref()).unwrap_or(Path::new("."));
        let more = place.into_iter().flat_map(|place| place.variables.iter().cloned());
        let all: Vec<_> = options.programs.env.iter().cloned().chain(more).chain(own).collect();
        let env = match place.filter(|place| !place.outside.is_empty()) {
            Some(place) => environment_outside(&all, &place.outside),
            None => all,
        };
        (directory.to_path_buf(), env)
    }

    /// Whether connecting it starts programs of this machine.
    pub fn starts_programs(&self) -> bool {
        matches!(self.transport, McpTransport::Stdio { .. }) || self.headers_helper.is_some()
    }

    /// Whether it is a server inside the host.
    pub fn is_in_process(&self) -> bool {
        matches!(self.transport, McpTransport::InProcess(_))
    }
}

impl fmt::Debug for McpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Arguments, variables and headers may hold secrets.
        match self {
            Self::Stdio { command, .. } => f.debug_struct("Stdio").field("command", command).finish_non_exhaustive(),
            Self::Http { url, .. } => {
                f.debug_struct("Http").field("url", &Masks::new().mask(url)).finish_non_exhaustive()
            }
            Self::Sse { url, .. } => {
                f.debug_struct("Sse").field("url", &Masks::new().mask(url)).finish_non_exhaustive()
            }
            Self::InProcess(channel) => f.debug_tuple("InProcess").field(&channel.is_some()).finish(),
        }
    }
}
