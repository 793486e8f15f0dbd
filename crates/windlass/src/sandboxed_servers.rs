//! Sandbox for the programs of MCP servers.

use crate::sandbox::{SandboxError, SandboxOptions, Way};
use std::fmt;
use std::sync::Arc;
use windlass_mcp::{ConfinedProgram, McpServers, ProgramConfinement};
use windlass_sandbox::Sandbox;
use windlass_tool::ProcessCommand;

/// Runs the programs of MCP servers in a sandbox, except the excluded ones.
pub(crate) struct ServerSandbox {
    sandbox: Sandbox,
    way: Arc<Way>,
    options: SandboxOptions,
}

impl ServerSandbox {
    pub(crate) fn new(sandbox: Sandbox, way: Arc<Way>, options: SandboxOptions) -> Self {
        Self { sandbox, way, options }
    }

    /// Confines the programs of a set that are not confined yet.
    ///
    /// # Errors
    /// Some programs run outside, and the sandbox is required.
    pub(crate) fn settle(self, servers: &McpServers, notices: &mut Vec<String>) -> Result<(), SandboxError> {
        let options = self.options.clone();
        let mut outside = servers.confine(Arc::new(self));
        outside.retain(|server| !options.excludes_server(server));
        let names = outside.join(", ");
        match (outside.is_empty(), options.is_required()) {
            (true, _) => {}
            (_, true) => {
                let reason = format!(
                    "programs of MCP servers run outside of it, since they were added before the session: {names}. Add them \
                     to a set with the options of the project (LoadedProject::server_options) or to that of an open session, or \
                     name them in SandboxOptions::exclude_servers"
                );
                return Err(SandboxError::Unavailable { reason });
            }
            _ => notices.push(format!(
                "programs of MCP servers that were added before the session run outside of the sandbox: {names}"
            )),
        }
        Ok(())
    }
}

impl fmt::Debug for ServerSandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerSandbox").field("sandbox", &self.sandbox).finish_non_exhaustive()
    }
}

#[async_trait::async_trait]
impl ProgramConfinement for ServerSandbox {
    async fn confine(&self, server: &str, mut program: ProcessCommand) -> Result<ConfinedProgram, String> {
        if self.options.excludes_server(server) {
            return Ok(ConfinedProgram::new(program));
        }
        program.env.retain(|(name, _)| name != "TMPDIR");
        program.env.push(("TMPDIR".into(), self.sandbox.temporary().into()));
        let entered = self.sandbox.enter(program).await.map_err(|error| error.to_string())?;
        // The proxy lives as long as the program.
        let kept = (Arc::clone(&self.way), self.sandbox.clone());
        Ok(ConfinedProgram::new(entered.command.clone()).keeping((entered, kept)).advising(
            "it runs in the sandbox of commands, without the files and hosts that they cannot reach; \
             `sandbox.excludedMcpServers` in the user's settings lets it run outside",
        ))
    }
}
