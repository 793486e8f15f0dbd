//! Checkpoints of files, and the repository, in a build without the features `store` and `tools`: there are none.

use crate::error::Error;
use crate::home::Home;
use crate::machine::Files;
use std::sync::Arc;
use windlass_context::RepositoryStatus;
use windlass_runtime::{MachineConfig, Ports};
use windlass_session::{Checkpoints, SessionKey};

/// No checkpoints.
#[derive(Clone, Default)]
pub(crate) struct DiskCheckpoints;

impl DiskCheckpoints {
    pub(crate) fn open(
        &self,
        _: Option<&Home>,
        _: &Files,
        _: &SessionKey,
    ) -> Result<Option<Arc<dyn Checkpoints>>, Error> {
        Ok(None)
    }
}

pub(crate) async fn repository_status(_: &MachineConfig, _: &Ports, _: bool) -> Option<RepositoryStatus> {
    None
}
