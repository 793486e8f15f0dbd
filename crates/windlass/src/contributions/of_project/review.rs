//! The review of programs that configuration names.

use crate::assembly::{Assembly, Contribution};
use crate::error::Error;
use async_trait::async_trait;

/// Joins the review: a guard that compares programs of servers with their trusted contents, in front of the sandbox.
pub(crate) struct ProgramReview;

#[async_trait]
impl Contribution for ProgramReview {
    async fn join(&self, assembly: &mut Assembly) -> Result<(), Error> {
        if let Some(project) = assembly.options.project.applied() {
            assembly.guard = Some(project.reviewed_servers(assembly.guard.take()));
        }
        Ok(())
    }
}
