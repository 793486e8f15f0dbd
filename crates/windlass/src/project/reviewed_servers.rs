//! Comparison of server programs with their trusted contents before they start.

use super::program_review::ProgramReviewer;
use std::sync::Arc;
use windlass_project::ConfiguredLine;
use windlass_tool::ProcessCommand;

/// Compares programs of servers with their trusted contents, and passes them to another confinement, if there is one.
#[derive(Debug)]
pub(crate) struct ReviewedServers<C: ?Sized> {
    pub(crate) reviewer: ProgramReviewer,
    pub(crate) confinement: Option<Arc<C>>,
}

impl<C: ?Sized> ReviewedServers<C> {
    async fn review(&self, source: String, program: &ProcessCommand) -> Result<(), String> {
        let args: Vec<String> = program.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        let line = ConfiguredLine::of_program(source, &program.program.to_string_lossy(), &args);
        self.reviewer.review(&line, &program.cwd, None).await
    }
}

#[cfg(feature = "mcp")]
#[async_trait::async_trait]
impl windlass_mcp::ProgramConfinement for ReviewedServers<dyn windlass_mcp::ProgramConfinement> {
    async fn confine(&self, server: &str, program: ProcessCommand) -> Result<windlass_mcp::ConfinedProgram, String> {
        self.review(format!("the MCP server {server:?}"), &program).await?;
        match &self.confinement {
            Some(confinement) => confinement.confine(server, program).await,
            None => Ok(windlass_mcp::ConfinedProgram::new(program)),
        }
    }
}

#[cfg(feature = "lsp")]
#[async_trait::async_trait]
impl windlass_lsp::ServerConfinement for ReviewedServers<dyn windlass_lsp::ServerConfinement> {
    async fn confine(
        &self,
        server: &str,
        program: ProcessCommand,
    ) -> Result<(ProcessCommand, windlass_lsp::ConfinedUntilEnd), String> {
        self.review(format!("the language server {server:?}"), &program).await?;
        match &self.confinement {
            Some(confinement) => confinement.confine(server, program).await,
            None => Ok((program, Box::new(()))),
        }
    }
}
