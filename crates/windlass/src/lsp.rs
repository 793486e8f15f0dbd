//! Code intelligence: [`LanguageServers`] of a session, the tool [`Lsp`] over them, and the port [`CodeIntelligence`]
//! for hosts that know code themselves.
//!
//! A session takes servers with [`language_servers`](crate::options::HostOptions::language_servers). Servers from a project's
//! settings are added automatically.

pub use windlass_lsp::{
    CodeAnswer, CodeError, CodeIntelligence, CodeQuery, LanguageServers, Lsp, ServerConfig, ServerSurroundings,
};

use crate::options::Options;
use async_trait::async_trait;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_context::Diagnostic;
use windlass_runtime::Diagnostics;

/// Diagnostics from language servers, after an edit.
#[derive(Debug)]
struct OfServers(LanguageServers);

#[async_trait]
impl Diagnostics for OfServers {
    async fn of_files(&self, paths: &[PathBuf]) -> Option<Vec<Diagnostic>> {
        self.0.diagnostics_of(paths).await
    }
}

/// Adds language servers to a session: the tool, unless it has one of that name, and diagnostics, unless a host
/// supplies them.
pub(crate) fn give(options: &mut Options, servers: &LanguageServers, with_tool: bool) {
    if servers.is_empty() {
        return;
    }
    if with_tool {
        options.tools.toolkit.add_missing(Arc::new(Lsp::new(Arc::new(servers.clone()))));
    }
    #[cfg(feature = "sandbox")]
    options.surroundings.language_servers.get_or_insert_with(|| servers.clone());
    options.surroundings.diagnostics.get_or_insert_with(|| Arc::new(OfServers(servers.clone())));
}
