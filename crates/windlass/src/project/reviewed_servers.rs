//! Comparison of server programs with their trusted contents before they start.

use super::LoadedProject;
use super::program_reviewer::ProgramReviewer;
use crate::server_guard::{GuardedProgram, ServerGuard, ServerKind};
use async_trait::async_trait;
use std::sync::Arc;
use windlass_project::ConfiguredLine;
use windlass_tool::ProcessCommand;

/// Compares programs of servers with their trusted contents, and passes them to another guard, if there is one.
#[derive(Debug)]
struct ReviewedServers {
    reviewer: ProgramReviewer,
    inner: Option<Arc<dyn ServerGuard>>,
}

impl LoadedProject {
    /// Guard that compares programs of servers with their trusted versions, in front of another one.
    pub(crate) fn reviewed_servers(&self, inner: Option<Arc<dyn ServerGuard>>) -> Arc<dyn ServerGuard> {
        Arc::new(ReviewedServers { reviewer: self.program_reviewer(), inner })
    }
}

#[async_trait]
impl ServerGuard for ReviewedServers {
    async fn guard(&self, kind: ServerKind, name: &str, program: ProcessCommand) -> Result<GuardedProgram, String> {
        let args: Vec<String> = program.args.iter().map(|arg| arg.to_string_lossy().into_owned()).collect();
        let source = format!("the {kind} {name:?}");
        let line = ConfiguredLine::of_program(source, &program.program.to_string_lossy(), &args);
        self.reviewer.review(&line, &program.cwd, None).await?;
        match &self.inner {
            Some(inner) => inner.guard(kind, name, program).await,
            None => Ok(GuardedProgram::unchanged(program)),
        }
    }
}
