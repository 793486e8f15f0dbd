//! Configuration of servers.

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

/// Configuration of a server: its transport and its treatment.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct McpServerConfig {
    /// Transport to the server.
    pub transport: McpTransport,
    /// Maximum duration of a call in all, with or without progress. Default: `None`, unlimited while there is progress,
    /// see [`McpOptions::with_call_timeout`](crate::McpOptions::with_call_timeout).
    pub timeout: Option<Duration>,
    /// Policies of tools, by their own names: calls that need an answer each time or are refused, regardless of rules
    /// and permission modes.
    pub policies: BTreeMap<String, McpToolPolicy>,
    /// `true` if the definitions of the server's tools are in requests from the beginning, however many there are.
    /// Default: `false`, they may be withheld until the model has searched for them.
    pub always_load: bool,
    /// Command whose output replaces configured headers of the same names: a JSON object of strings. A shell runs it
    /// each time the server is connected, for at most 10 s, with the environment of programs, the server's name in
    /// `CLAUDE_CODE_MCP_SERVER_NAME` and its address in `CLAUDE_CODE_MCP_SERVER_URL`.
    pub headers_helper: Option<String>,
    /// OAuth settings of a server that is reached over HTTP. Default: a client is registered, and the user logs in.
    pub oauth: OAuthConfig,
    /// Tools, by their own names, whose calls run concurrently with reading calls and with each other; `*` means all.
    /// The setting affects only the order: each call is judged as before. Default: none, calls of a server run one
    /// after the other.
    pub parallel: BTreeSet<String>,
    /// `true` if the server is started at its first call, provided the [cache](crate::McpOptions::with_tool_cache)
    /// knows its tools. Default: `false`.
    pub lazy: bool,
    /// Limits of sampling by the session's models. Each request is judged like a call of the tool
    /// `mcp__server__sampling_createMessage`. Default: `None`, sampling is not announced to the server.
    pub sampling: Option<SamplingLimits>,
    /// Source of the configuration, for people. Default: `dynamic`.
    pub source: String,
    /// Place in which the server's programs start. Default: that of its set.
    pub place: Option<ServerPlace>,
    /// Source of the server's access tokens.
    pub(crate) authorizer: Option<Arc<Authorizer>>,
    /// Confinement of the server's programs, as set for its set of servers.
    pub(crate) confinement: Option<Arc<dyn ProgramConfinement>>,
}

/// Place in which the programs of a server start: the server itself, and its `headersHelper`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ServerPlace {
    /// Working directory. Default: that of the set.
    pub directory: Option<PathBuf>,
    /// Directories that are removed from search paths in the variables, also if reached through links: in the variables
    /// of the set and in those of the server's own entry.
    pub outside: Vec<PathBuf>,
    /// Variables in addition to those of the set.
    pub variables: Vec<(OsString, OsString)>,
}

impl ServerPlace {
    /// Creates a place with the directory and the variables of the set.
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

    /// Excludes directories from search paths.
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

/// Policy for all calls of a tool, regardless of rules and permission modes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum McpToolPolicy {
    /// The host must answer each call.
    Ask,
    /// Every call is refused.
    Deny,
}

/// Transport to a server.
#[derive(Clone)]
#[non_exhaustive]
pub enum McpTransport {
    /// Program that speaks over its standard streams.
    Stdio {
        /// Program: a path, or a name that is searched in the `PATH` of its environment.
        command: String,
        /// Arguments of the program.
        args: Vec<String>,
        /// Environment variables in addition to those of the set of servers.
        env: BTreeMap<String, String>,
    },
    /// Streamable HTTP endpoint.
    Http {
        /// URL of the endpoint.
        url: String,
        /// Headers of every request. They may hold secrets.
        headers: BTreeMap<String, String>,
    },
    /// Endpoint of the older HTTP transport, whose messages come as server-sent events over one stream.
    Sse {
        /// URL of the stream.
        url: String,
        /// Headers of every request. They may hold secrets.
        headers: BTreeMap<String, String>,
    },
    /// Server inside the host. Unreachable without a channel.
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

    /// Configures a program that speaks over its standard streams.
    pub fn stdio(command: impl Into<String>) -> Self {
        Self::new(McpTransport::Stdio { command: command.into(), args: Vec::new(), env: BTreeMap::new() })
    }

    /// Configures a streamable HTTP endpoint.
    pub fn http(url: impl Into<String>) -> Self {
        Self::new(McpTransport::Http { url: url.into(), headers: BTreeMap::new() })
    }

    /// Configures an endpoint of the older HTTP transport with server-sent events.
    pub fn sse(url: impl Into<String>) -> Self {
        Self::new(McpTransport::Sse { url: url.into(), headers: BTreeMap::new() })
    }

    /// Configures a server inside the host.
    pub fn in_process(channel: Arc<dyn McpChannel>) -> Self {
        Self { source: "sdk".to_owned(), ..Self::new(McpTransport::InProcess(Some(channel))) }
    }

    /// Configures a server inside the host that serves these tools, under the name that it gives itself. The server
    /// lives as long as this config.
    ///
    /// The tools are those of a server: they are named `mcp__server__tool`, their path access is unknown, and files and
    /// programs of a session are out of their reach. Several sessions may use the server at once; state that its tools
    /// keep between calls is shared. Tools that belong to one session are given to its builder instead.
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

    /// Adds an argument of the program. No effect on other transports.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        if let McpTransport::Stdio { args, .. } = &mut self.transport {
            args.push(arg.into());
        }
        self
    }

    /// Sets a variable of the program's environment. No effect on other transports.
    #[must_use]
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let McpTransport::Stdio { env, .. } = &mut self.transport {
            env.insert(name.into(), value.into());
        }
        self
    }

    /// Sets a header of every request. No effect on transports other than HTTP.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let McpTransport::Http { headers, .. } | McpTransport::Sse { headers, .. } = &mut self.transport {
            headers.insert(name.into(), value.into());
        }
        self
    }

    /// Sets the OAuth settings. No effect on servers that are not reached over HTTP.
    #[must_use]
    pub fn oauth(mut self, oauth: OAuthConfig) -> Self {
        self.oauth = oauth;
        self
    }

    /// Sets the maximum duration of a call in all.
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

    /// Keeps the definitions of the server's tools in requests from the beginning, however many there are.
    #[must_use]
    pub fn always_load(mut self, on: bool) -> Self {
        self.always_load = on;
        self
    }

    /// Lets the calls of a tool run concurrently with reading calls; `*` means all of the server's tools.
    #[must_use]
    pub fn parallel(mut self, tool: impl Into<String>) -> Self {
        self.parallel.insert(tool.into());
        self
    }

    /// Starts the server at its first call, provided the [cache](crate::McpOptions::with_tool_cache) knows its tools.
    #[must_use]
    pub fn lazy(mut self, on: bool) -> Self {
        self.lazy = on;
        self
    }

    /// Permits sampling by the session's models.
    #[must_use]
    pub fn sampling(mut self, limits: SamplingLimits) -> Self {
        self.sampling = Some(limits);
        self
    }

    /// `true` if calls of the tool may run concurrently with reading calls.
    pub(crate) fn is_parallel(&self, tool: &str) -> bool {
        self.parallel.contains(tool) || self.parallel.contains("*")
    }

    /// Applies settings that hosts give beside a server:
    /// `{"timeout"?,"tools"?,"alwaysLoad"?,"parallelTools"?,"lazy"?,"sampling"?}` as in [`parse_config`]. Malformed
    /// settings are ignored, but an unknown policy becomes [`McpToolPolicy::Ask`].
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

    /// Sets the source of the configuration, for people.
    #[must_use]
    pub fn source(mut self, source: impl Into<String>) -> Self {
        self.source = source.into();
        self
    }

    /// Sets the place in which the server's programs start. Default: that of its set.
    #[must_use]
    pub fn in_place(mut self, place: ServerPlace) -> Self {
        self.place = Some(place);
        self
    }

    /// Returns the directory and the variables of a program of the server; `own` are the program's own variables.
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

    /// `true` if connecting the server starts programs on this machine.
    pub fn starts_programs(&self) -> bool {
        matches!(self.transport, McpTransport::Stdio { .. }) || self.headers_helper.is_some()
    }

    /// `true` for a server inside the host.
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
