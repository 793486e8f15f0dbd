//! Language servers of a session.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use windlass_context::Diagnostic;
use windlass_tool::ProgramWatch;

use crate::server::LanguageServer;
use crate::{CodeAnswer, CodeError, CodeIntelligence, CodeOperation, CodeQuery, ServerConfig, ServerConfinement};

/// Surroundings of language servers: project, environment and watch.
#[derive(Clone)]
#[non_exhaustive]
pub struct ServerSurroundings {
    /// Root of the project: absolute, with links followed.
    pub root: PathBuf,
    /// Complete environment of servers, in addition to their own variables: they inherit no others.
    pub env: Arc<[(OsString, OsString)]>,
    /// Watch that ends servers when this process is killed. Default: `None`, and they end with their streams.
    pub watch: Option<Arc<dyn ProgramWatch>>,
}

impl ServerSurroundings {
    /// Creates the surroundings of a project with the environment of its servers.
    pub fn new(root: impl Into<PathBuf>, env: impl Into<Arc<[(OsString, OsString)]>>) -> Self {
        Self { root: root.into(), env: env.into(), watch: None }
    }

    /// Sets the watch that ends servers when this process is killed.
    #[must_use]
    pub fn with_watch(mut self, watch: Arc<dyn ProgramWatch>) -> Self {
        self.watch = Some(watch);
        self
    }
}

impl fmt::Debug for ServerSurroundings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The environment may hold secrets.
        f.debug_struct("ServerSurroundings").field("root", &self.root).finish_non_exhaustive()
    }
}

/// Set of language servers, each started when it is first asked, and ended when the set is dropped. Must be asked
/// inside a tokio runtime.
///
/// Data from servers is bounded: 8 MiB a message, 1,000 places an answer, 1,000 diagnostics a file, 30 s an answer. A
/// server that sends an invalid message is ended. One that ends is started again when it is next asked, as often as its
/// configuration permits.
#[derive(Debug, Clone)]
pub struct LanguageServers {
    servers: Arc<[Arc<LanguageServer>]>,
    confinement: Arc<OnceLock<Arc<dyn ServerConfinement>>>,
}

impl LanguageServers {
    /// Creates servers for a project. No program is started yet.
    pub fn new(servers: impl IntoIterator<Item = ServerConfig>, surroundings: ServerSurroundings) -> Self {
        let surroundings = Arc::new(surroundings);
        let confinement = Arc::<OnceLock<_>>::default();
        let server =
            |config| Arc::new(LanguageServer::new(config, Arc::clone(&surroundings), Arc::clone(&confinement)));
        Self { servers: servers.into_iter().map(server).collect(), confinement }
    }

    /// Confines the programs that start from now on. The first confinement stays, because a set may be shared by
    /// sessions. Sessions with a sandbox call this.
    pub fn confine(&self, confinement: Arc<dyn ServerConfinement>) {
        let _ = self.confinement.set(confinement);
    }

    /// `true` if there are no servers.
    pub fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// `true` if a server knows files of this name.
    pub fn knows(&self, path: &Path) -> bool {
        self.of(path).is_some()
    }

    /// Returns the current diagnostics of files, for [diagnostics behind an edit](windlass_context::introduced). Files
    /// without a server add none. `None` if a server failed, so the diagnostics are unknown.
    pub async fn diagnostics_of(&self, paths: &[PathBuf]) -> Option<Vec<Diagnostic>> {
        let mut found = Vec::new();
        for path in paths {
            let Some(server) = self.of(path) else { continue };
            let query = CodeQuery::new(CodeOperation::Diagnostics).in_file(path);
            match server.ask(&query).await {
                Ok(CodeAnswer::Diagnostics(diagnostics)) => found.extend(diagnostics),
                Ok(_) => {}
                Err(error) => {
                    tracing::warn!(%error, "a language server said no diagnostics");
                    return None;
                }
            }
        }
        Some(found)
    }

    fn of(&self, path: &Path) -> Option<&Arc<LanguageServer>> {
        self.servers.iter().find(|server| server.config.language_of(path).is_some())
    }

    async fn of_project(&self, query: &CodeQuery) -> Result<CodeAnswer, CodeError> {
        let (mut places, mut failed) = (Vec::new(), None);
        for server in &*self.servers {
            match offered(server, query).await {
                Ok(CodeAnswer::Places(found)) => places.extend(found),
                Ok(_) => {}
                Err(error) => failed = Some(error),
            }
        }
        match failed {
            Some(error) if places.is_empty() => Err(error),
            _ => Ok(CodeAnswer::Places(places)),
        }
    }
}

async fn offered(server: &Arc<LanguageServer>, query: &CodeQuery) -> Result<CodeAnswer, CodeError> {
    if server.offers(query.operation).await? {
        return server.ask(query).await;
    }
    let (server, operation) = (server.config.name.clone(), query.operation.as_str().to_owned());
    Err(CodeError::NotOffered { server, operation })
}

#[async_trait]
impl CodeIntelligence for LanguageServers {
    fn offers(&self, operation: CodeOperation) -> bool {
        !self.servers.is_empty() && !matches!(operation, CodeOperation::ChangedFiles | CodeOperation::TestFailures)
    }

    async fn ask(&self, query: CodeQuery) -> Result<CodeAnswer, CodeError> {
        let no_server = |what: String| CodeError::NoServer { what };
        if !self.offers(query.operation) {
            return Err(no_server(query.operation.as_str().to_owned()));
        }
        match &query.path {
            None if query.operation.needs_file() => {
                Err(no_server(format!("{} without a file", query.operation.as_str())))
            }
            None => self.of_project(&query).await,
            Some(path) => {
                let server = self.of(path).ok_or_else(|| no_server(path.display().to_string()))?;
                offered(server, &query).await
            }
        }
    }
}
