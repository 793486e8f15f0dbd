//! The index of a project in a session.

use crate::assembly::{Assembly, Contribution};
use crate::error::Error;
use async_trait::async_trait;
use std::sync::Arc;

/// Joins the index: an overview as a text, and a refresh behind the first answer of the model.
pub(crate) struct Index;

#[async_trait]
impl Contribution for Index {
    async fn join(&self, assembly: &mut Assembly) -> Result<(), Error> {
        let Some(index) = assembly.options.project.index.clone() else { return Ok(()) };
        assembly.texts.extend(index.begin(&assembly.machine.policy).await);
        assembly.ports.provider = index.refreshed_after(Arc::clone(&assembly.ports.provider));
        Ok(())
    }
}
