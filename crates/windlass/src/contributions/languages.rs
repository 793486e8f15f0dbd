//! The language servers of a session.

use crate::assembly::{Assembly, Contribution};
use crate::error::Error;
use async_trait::async_trait;
use std::sync::Arc;

/// Joins language servers: guards their programs.
pub(crate) struct LanguageServers;

#[async_trait]
impl Contribution for LanguageServers {
    async fn join(&self, assembly: &mut Assembly) -> Result<(), Error> {
        if let (Some(servers), Some(guard)) = (&assembly.options.surroundings.language_servers, &assembly.guard) {
            servers(Arc::clone(guard));
        }
        Ok(())
    }
}
