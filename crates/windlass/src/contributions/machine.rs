//! Files and programs of a session.

use crate::assembly::{Assembly, Contribution};
use crate::error::Error;
use async_trait::async_trait;

/// Joins the files and programs of this machine, or those that the program gave.
pub(crate) struct LocalMachine;

#[async_trait]
impl Contribution for LocalMachine {
    async fn join(&self, assembly: &mut Assembly) -> Result<(), Error> {
        let surroundings = &assembly.options.surroundings;
        let home = assembly.options.storage.home.as_ref();
        assembly.ports.workspace = surroundings.workspace(assembly.results.folders(), home);
        assembly.ports.process = surroundings.process(&assembly.key.session, &assembly.ids, &assembly.space);
        assembly.ports.storage.scratch = assembly.results.scratch.take();
        assembly.ports.storage.artifacts = assembly.results.kept.take();
        Ok(())
    }
}
