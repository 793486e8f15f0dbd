//! File checkpoints of a session.

use crate::assembly::{Assembly, Contribution};
use crate::error::Error;
use async_trait::async_trait;

/// Joins the checkpoints of the program, else those beside the log, if they are enabled.
pub(crate) struct Checkpoints;

#[async_trait]
impl Contribution for Checkpoints {
    async fn join(&self, assembly: &mut Assembly) -> Result<(), Error> {
        let (storage, files) = (&assembly.options.storage, &assembly.options.surroundings.files);
        assembly.ports.storage.checkpoints = match storage.checkpoints.clone() {
            Some(given) => Some(given),
            None => storage.disk_checkpoints.open(storage.home.as_ref(), files, &assembly.key)?,
        };
        Ok(())
    }
}
