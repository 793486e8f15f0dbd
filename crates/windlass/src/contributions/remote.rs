//! Programs of a container or of another machine.

use crate::assembly::{Assembly, Contribution};
use crate::error::Error;
use async_trait::async_trait;

/// Joins the programs of a remote place, unless the program gave others.
pub(crate) struct RemoteMachine;

#[async_trait]
impl Contribution for RemoteMachine {
    async fn join(&self, assembly: &mut Assembly) -> Result<(), Error> {
        let surroundings = &assembly.options.surroundings;
        if let (Some(programs), None) = (&surroundings.remote, &surroundings.process) {
            assembly.ports.process = programs(&assembly.space);
        }
        Ok(())
    }
}
