//! Options of a server.

use std::fmt;
use std::sync::Arc;
use windlass_tool::Ids;

/// Options of an [`AcpServer`](crate::AcpServer).
#[derive(Clone)]
#[non_exhaustive]
pub struct AcpOptions {
    /// Name of the agent, for programs.
    pub name: String,
    /// Name of the agent, for people. Default: the name for programs.
    pub title: String,
    /// Version of the agent.
    pub version: String,
    /// Ways to log in. Default: none.
    pub auth_methods: Vec<AuthMethod>,
    /// Maximum length of a message of the client, in bytes. Default: 64 MiB.
    pub max_message: usize,
    /// Maximum number of open sessions. Default: 64.
    pub max_sessions: usize,
    /// Random ids of sessions and messages.
    pub ids: Arc<dyn Ids>,
}

impl AcpOptions {
    /// Options of an agent with this name and version.
    pub fn new(name: impl Into<String>, version: impl Into<String>, ids: Arc<dyn Ids>) -> Self {
        let name = name.into();
        Self {
            title: name.clone(),
            name,
            version: version.into(),
            auth_methods: Vec::new(),
            max_message: 64 * 1024 * 1024,
            max_sessions: 64,
            ids,
        }
    }
}

impl fmt::Debug for AcpOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcpOptions").field("name", &self.name).field("version", &self.version).finish_non_exhaustive()
    }
}

/// Way to log in.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuthMethod {
    /// Id that the client chooses it by.
    pub id: String,
    /// Name for people.
    pub name: String,
    /// Description for people.
    pub description: String,
    /// Kind of login.
    pub kind: AuthMethodKind,
}

/// Kind of an [`AuthMethod`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum AuthMethodKind {
    /// [`AcpAgent::authenticate`](crate::AcpAgent::authenticate) is called.
    Agent,
    /// The client starts the agent's program with these arguments in a terminal. Offered to clients that can.
    Terminal {
        /// Arguments of the program.
        args: Vec<String>,
    },
}

impl AuthMethod {
    /// A login that the agent carries out itself.
    pub fn agent(id: impl Into<String>, name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { id: id.into(), name: name.into(), description: description.into(), kind: AuthMethodKind::Agent }
    }

    /// A login in a terminal, by the agent's program with these arguments.
    pub fn terminal<A: Into<String>>(
        id: impl Into<String>,
        name: impl Into<String>,
        description: impl Into<String>,
        args: impl IntoIterator<Item = A>,
    ) -> Self {
        let kind = AuthMethodKind::Terminal { args: args.into_iter().map(Into::into).collect() };
        Self { id: id.into(), name: name.into(), description: description.into(), kind }
    }
}
