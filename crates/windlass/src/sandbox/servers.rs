//! Sandbox around the programs of servers.

use super::{SandboxError, SandboxOptions, Way};
use crate::error::Error;
use crate::server_guard::{GuardedProgram, ServerGuard, ServerKind};
use async_trait::async_trait;
use std::fmt;
use std::sync::Arc;
use windlass_sandbox::Sandbox;
use windlass_tool::ProcessCommand;

/// Advice for people whose MCP server does not start in the sandbox.
const ADVICE: &str = "it runs in the sandbox of commands, without the files and hosts that they cannot reach; \
                      `sandbox.excludedMcpServers` in the user's settings lets it run outside";

/// Runs the programs of servers in a sandbox, except the excluded ones.
pub(crate) struct SandboxedServers {
    sandbox: Sandbox,
    way: Arc<Way>,
    options: SandboxOptions,
}

impl SandboxedServers {
    pub(crate) fn new(sandbox: Sandbox, way: Arc<Way>, options: SandboxOptions) -> Self {
        Self { sandbox, way, options }
    }

    /// `true` if the program of a server runs outside.
    pub(crate) fn excludes(&self, kind: ServerKind, name: &str) -> bool {
        let excluded = match kind {
            ServerKind::Mcp => &self.options.excluded.servers,
            ServerKind::Language => &self.options.excluded.language_servers,
        };
        excluded.iter().any(|known| known == "*" || known == name)
    }
}

impl fmt::Debug for SandboxedServers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SandboxedServers").field("sandbox", &self.sandbox).finish_non_exhaustive()
    }
}

#[async_trait]
impl ServerGuard for SandboxedServers {
    async fn guard(&self, kind: ServerKind, name: &str, mut program: ProcessCommand) -> Result<GuardedProgram, String> {
        if self.excludes(kind, name) {
            return Ok(GuardedProgram::unchanged(program));
        }
        program.env.retain(|(name, _)| name != "TMPDIR");
        program.env.push(("TMPDIR".into(), self.sandbox.temporary().into()));
        // A language server runs beside the user's work, so files created meanwhile under protected names may be the
        // user's.
        program.background |= kind == ServerKind::Language;
        let entered = self.sandbox.enter(program).await.map_err(|error| error.to_string())?;
        let command = entered.command.clone();
        // The proxy lives as long as the program.
        let kept = Box::new((entered, Arc::clone(&self.way), self.sandbox.clone()));
        Ok(GuardedProgram { command, kept, advice: (kind == ServerKind::Mcp).then_some(ADVICE) })
    }

    fn accept_unguarded(&self, mut servers: Vec<String>, notices: &mut Vec<String>) -> Result<(), Error> {
        servers.retain(|server| !self.excludes(ServerKind::Mcp, server));
        let names = servers.join(", ");
        match (servers.is_empty(), self.options.required) {
            (true, _) => {}
            (_, true) => {
                let reason = format!(
                    "programs of MCP servers run outside of it, since they were added before the session: {names}. Add them \
                     to a set with the options of the project (LoadedProject::server_options) or to that of an open session, or \
                     name them in SandboxOptions::exclude_servers"
                );
                return Err(SandboxError::Unavailable { reason }.into());
            }
            _ => notices.push(format!(
                "programs of MCP servers that were added before the session run outside of the sandbox: {names}"
            )),
        }
        Ok(())
    }
}
