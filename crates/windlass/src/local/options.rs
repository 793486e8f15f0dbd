//! Options of the disk space for outputs.

use crate::options::{OptionChange, StorageOptions};
use windlass_local::KeptLimits;

impl StorageOptions {
    /// Disk space for the outputs of programs that are too large for the model: of this session, and of all sessions of
    /// the home. The setting `outputLimits` of a [project](crate::SessionBuilder::project) applies where this is not set.
    /// Default: 4 GiB and 16 GiB.
    pub fn output_limits(mut self, limits: KeptLimits) -> Self {
        self.changes.push(OptionChange::new(move |options| options.storage.output_limits = limits));
        self
    }
}
