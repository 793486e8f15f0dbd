//! Sandbox for the programs of language servers.

use crate::sandbox::{SandboxOptions, Way};
use std::fmt;
use std::sync::Arc;
use windlass_lsp::{ConfinedUntilEnd, ServerConfinement};
use windlass_sandbox::Sandbox;
use windlass_tool::ProcessCommand;

/// Runs the programs of language servers in the sandbox of a session, except the excluded ones.
pub(crate) struct LanguageSandbox {
    pub(crate) sandbox: Sandbox,
    pub(crate) way: Arc<Way>,
    pub(crate) options: SandboxOptions,
}

impl fmt::Debug for LanguageSandbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LanguageSandbox").field("sandbox", &self.sandbox).finish_non_exhaustive()
    }
}

#[async_trait::async_trait]
impl ServerConfinement for LanguageSandbox {
    async fn confine(
        &self,
        server: &str,
        mut program: ProcessCommand,
    ) -> Result<(ProcessCommand, ConfinedUntilEnd), String> {
        if self.options.excludes_language_server(server) {
            return Ok((program, Box::new(())));
        }
        program.env.retain(|(name, _)| name != "TMPDIR");
        program.env.push(("TMPDIR".into(), self.sandbox.temporary().into()));
        // The server runs beside the user's work, so files created meanwhile under protected names may be the user's.
        program.background = true;
        let entered = self.sandbox.enter(program).await.map_err(|error| error.to_string())?;
        let command = entered.command.clone();
        // The proxy lives as long as the program.
        Ok((command, Box::new((entered, Arc::clone(&self.way), self.sandbox.clone()))))
    }
}
