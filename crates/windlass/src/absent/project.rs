//! The project of a session, in a build without the feature `project`: there is none.

use crate::error::Error;
use crate::options::Options;
use crate::prompt::checked;
use crate::session_servers::SessionServers;
use std::path::Path;
use std::sync::Arc;
use windlass_model::ModelProvider;
use windlass_permission::Policy;
use windlass_runtime::Prompt;
use windlass_types::SessionId;

/// No options.
#[derive(Clone, Default)]
pub(crate) struct ProjectOptions;

impl ProjectOptions {
    pub(crate) fn check_place(&self, _: bool) -> Result<(), Error> {
        Ok(())
    }

    pub(crate) fn provider(&self) -> Option<Arc<dyn ModelProvider>> {
        None
    }

    pub(crate) fn expand(&mut self, prompt: Prompt, _: &Path, _: &SessionId) -> Result<Prompt, Error> {
        checked(prompt)
    }

    pub(crate) async fn server_prompt(&self, prompt: Prompt, _: &SessionServers) -> Result<Prompt, Error> {
        Ok(prompt)
    }

    pub(crate) fn wait_for_notes(&mut self) {}

    pub(crate) fn allow(&self, _: &mut Policy) {}
}

impl Options {
    pub(crate) fn apply_project(&mut self) -> Result<(), Error> {
        Ok(())
    }

    pub(crate) fn add_skill_tool(&mut self) {}
}

pub(crate) async fn offer_servers(_: &mut Options) -> Result<(), Error> {
    Ok(())
}
