//! Code intelligence: [`LanguageServers`] of a session, the tool [`Lsp`] over them, and the port [`CodeIntelligence`]
//! for hosts that know code themselves.
//!
//! A session takes servers with [`language_servers`](crate::options::HostOptions::language_servers). Servers from a project's
//! settings are added automatically.

pub use windlass_lsp::{
    CodeAnswer, CodeError, CodeIntelligence, CodeQuery, LanguageServers, Lsp, ServerConfig, ServerSurroundings,
};

use crate::machine::Surroundings;
use crate::offer::ToolOptions;
use crate::options::{HostOptions, OptionChange};
use crate::server_guard::{ServerGuard, ServerKind};
use async_trait::async_trait;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_context::Diagnostic;
use windlass_lsp::{ConfinedUntilEnd, ServerConfinement};
use windlass_runtime::Diagnostics;
use windlass_tool::ProcessCommand;

/// Diagnostics from language servers, after an edit.
#[derive(Debug)]
struct ServerDiagnostics(LanguageServers);

#[async_trait]
impl Diagnostics for ServerDiagnostics {
    async fn of_files(&self, paths: &[PathBuf]) -> Option<Vec<Diagnostic>> {
        self.0.diagnostics_of(paths).await
    }
}

/// Guard of the programs of language servers.
#[derive(Debug)]
struct GuardedLanguages(Arc<dyn ServerGuard>);

#[async_trait]
impl ServerConfinement for GuardedLanguages {
    async fn confine(
        &self,
        server: &str,
        program: ProcessCommand,
    ) -> Result<(ProcessCommand, ConfinedUntilEnd), String> {
        let guarded = self.0.guard(ServerKind::Language, server, program).await?;
        Ok((guarded.command, guarded.kept))
    }
}

/// Adds the tool for language servers to those of a session, unless it has one of that name.
pub(crate) fn add_tool(tools: &mut ToolOptions, servers: &LanguageServers) {
    if !servers.is_empty() {
        tools.toolkit.add_missing(Arc::new(Lsp::new(Arc::new(servers.clone()))));
    }
}

/// Adds language servers to a session, with their diagnostics, unless a host supplies them.
pub(crate) fn add_servers(surroundings: &mut Surroundings, servers: &LanguageServers) {
    if servers.is_empty() {
        return;
    }
    let guarded = servers.clone();
    surroundings
        .language_servers
        .get_or_insert_with(|| Arc::new(move |guard| guarded.confine(Arc::new(GuardedLanguages(guard)))));
    surroundings.diagnostics.get_or_insert_with(|| Arc::new(ServerDiagnostics(servers.clone())));
}

impl HostOptions {
    /// Gives the model the tool `LSP` over these language servers, and the diagnostics that its edits cause. Sessions may
    /// share servers; each server starts at its first request.
    pub fn language_servers(mut self, servers: LanguageServers) -> Self {
        self.changes.push(OptionChange::new(move |options| {
            add_tool(&mut options.tools, &servers);
            add_servers(&mut options.surroundings, &servers);
        }));
        self
    }
}

impl From<LanguageServers> for HostOptions {
    fn from(servers: LanguageServers) -> Self {
        Self::new().language_servers(servers)
    }
}
