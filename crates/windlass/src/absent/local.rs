//! The files and programs of this machine, in a build without the feature `tools`: there are none.

use crate::error::Error;
use crate::home::Home;
use crate::machine::Environment;
use std::path::PathBuf;
use std::sync::Arc;
use windlass_runtime::SessionHandle;
use windlass_tool::{Nowhere, Process, Workspace};

const NOWHERE: Nowhere = Nowhere::new(
    "this program has no files and runs no programs: it is built without the feature `tools`, and the host gives none",
);

/// No limits.
#[derive(Debug, Clone, Default)]
pub(crate) struct OutputLimits;

/// No disk space.
#[derive(Debug, Clone)]
pub(crate) struct OutputSpace;

impl OutputSpace {
    pub(crate) fn new(_: &OutputLimits, _: Option<&Home>) -> Self {
        Self
    }

    pub(crate) fn report_to(&self, _: &SessionHandle) {}
}

pub(crate) fn files(_: Option<&Home>) -> Arc<dyn Workspace> {
    Arc::new(NOWHERE)
}

pub(crate) fn files_and_folders(files: Arc<dyn Workspace>, _: impl Iterator<Item = PathBuf>) -> Arc<dyn Workspace> {
    files
}

pub(crate) fn programs(_: String, _: &OutputSpace) -> Arc<dyn Process> {
    Arc::new(NOWHERE)
}

/// Empty: only the feature `tools` knows which variables are safe to pass on.
pub(crate) fn environment(
    _: Option<Environment>,
    _: Option<&Environment>,
    _: bool,
    _: &mut Vec<String>,
) -> Environment {
    Vec::new()
}

pub(crate) fn utf8(environment: Environment) -> Environment {
    environment
}

pub(crate) fn check_threads() -> Result<(), Error> {
    Ok(())
}
