//! The sandbox of a session, in a build without the feature `sandbox`: there is none.

/// No options of a sandbox.
#[derive(Debug, Clone, Default)]
pub(crate) struct ProgramSandbox;
