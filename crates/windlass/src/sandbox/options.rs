//! Options of the sandbox of a session.

use super::SandboxOptions;
use crate::options::{OptionChange, Options, WorkspaceOptions};
use std::path::PathBuf;

impl WorkspaceOptions {
    /// Runs commands in a sandbox of the system. Settings of a [project](crate::SessionBuilder::project) may request one
    /// as well; these options override them. Default: none. Needs the feature `sandbox`.
    pub fn sandbox(mut self, sandbox: SandboxOptions) -> Self {
        let change = move |options: &mut Options| options.surroundings.sandbox.options = Some(sandbox.clone());
        self.changes.push(OptionChange::new(change));
        self
    }

    /// Program that becomes the helper of the sandbox: any whose `main` calls
    /// [`become_helper`](crate::sandbox::become_helper) first, such as this one (`std::env::current_exe()`). Without it
    /// only bubblewrap is available, and enforces less.
    pub fn sandbox_helper(mut self, program: impl Into<PathBuf>) -> Self {
        let program = program.into();
        let change = move |options: &mut Options| options.surroundings.sandbox.helper = Some(program.clone());
        self.changes.push(OptionChange::new(change));
        self
    }
}

impl From<SandboxOptions> for WorkspaceOptions {
    fn from(sandbox: SandboxOptions) -> Self {
        Self::new().sandbox(sandbox)
    }
}
