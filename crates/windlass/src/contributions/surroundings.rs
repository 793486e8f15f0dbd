//! The surroundings of a session, for the model.

use crate::assembly::{Assembly, Contribution};
use crate::disk::repository_status;
use crate::error::Error;
use crate::recorded;
use async_trait::async_trait;
use windlass_context::Environment;

/// Joins the directories, the platform and the repository as texts for the model.
pub(crate) struct Surroundings;

#[async_trait]
impl Contribution for Surroundings {
    async fn join(&self, assembly: &mut Assembly) -> Result<(), Error> {
        let (surroundings, ports) = (&assembly.options.surroundings, &assembly.ports);
        let mut environment = Environment::new(std::env::consts::OS);
        environment.additional_directories.clone_from(&surroundings.additional_directories);
        if surroundings.git_status == Some(true) && !surroundings.is_elsewhere() {
            // A resumed session has a status already.
            let is_new = assembly.chosen.is_new();
            environment.repository = repository_status(&assembly.machine, ports, is_new).await;
        }
        let now = ports.system.clock.now();
        let environment = recorded::environment(environment, &*ports.provider, (&assembly.machine.cwd, now));
        assembly.machine.context.environment = Some(environment);
        Ok(())
    }
}
