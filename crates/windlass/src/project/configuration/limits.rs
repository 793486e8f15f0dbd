//! Limits of disk space.

use super::state::Configuration;
use crate::local::OutputLimits;
use crate::project::ProjectError;
use windlass_store::CheckpointLimits;

/// Applies the limits of file checkpoints and of the outputs of programs.
pub(super) fn configure(configuration: &mut Configuration<'_>) -> Result<(), ProjectError> {
    let settings = &configuration.project.resolved().session;
    let storage = &mut configuration.options.storage;
    let checkpoints = &mut storage.disk_checkpoints.limits;
    if let Some(files) = settings.file_checkpoints.as_ref().filter(|_| *checkpoints == CheckpointLimits::default()) {
        checkpoints.file_bytes = files.value.max_file_bytes.unwrap_or(checkpoints.file_bytes);
        checkpoints.total_bytes = files.value.max_total_bytes.unwrap_or(checkpoints.total_bytes);
        checkpoints.baseline_bytes = files.value.max_baseline_bytes.unwrap_or(checkpoints.baseline_bytes);
    }
    let outputs = &mut storage.output_limits;
    if let Some(limits) = settings.output_limits.as_ref().filter(|_| *outputs == OutputLimits::default()) {
        outputs.session = limits.value.max_session_bytes.unwrap_or(outputs.session);
        outputs.home = limits.value.max_home_bytes.unwrap_or(outputs.home);
    }
    Ok(())
}
