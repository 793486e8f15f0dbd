//! The instruction files of a project in a session.

use crate::assembly::{Assembly, Contribution};
use crate::error::Error;
use async_trait::async_trait;

/// Joins the instruction files, which the model reads before the texts of the program, and the finder of those for
/// files that are used later.
pub(crate) struct Instructions;

#[async_trait]
impl Contribution for Instructions {
    async fn join(&self, assembly: &mut Assembly) -> Result<(), Error> {
        let Some(project) = assembly.options.project.applied() else { return Ok(()) };
        let (workspace, policy) = (&assembly.ports.workspace, &assembly.machine.policy);
        if let Some((found, nested)) = project.instructions(workspace, policy, &assembly.key.session).await {
            assembly.texts.splice(..0, found);
            assembly.ports.context.instructions = Some(nested);
        }
        Ok(())
    }
}
