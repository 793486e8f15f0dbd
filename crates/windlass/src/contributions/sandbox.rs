//! The sandbox around the programs of a session.

use crate::assembly::{Assembly, Contribution};
use crate::error::Error;
use crate::home::Home;
use crate::options::Options;
use crate::sandbox::{SandboxError, SandboxedServers, Site, temporary};
use async_trait::async_trait;
use std::path::Path;
use std::sync::Arc;
use windlass_permission::Policy;

/// Joins the sandbox that the options request. A notice names the proven level, or the reason for none.
pub(crate) struct Sandbox;

#[async_trait]
impl Contribution for Sandbox {
    async fn join(&self, assembly: &mut Assembly) -> Result<(), Error> {
        let Some(wanted) = assembly.options.surroundings.sandbox.options.clone() else { return Ok(()) };
        if assembly.options.surroundings.is_elsewhere() {
            let reason = "the programs run elsewhere, where it does not apply: leave out `.sandbox(..)`".to_owned();
            return Err(SandboxError::Unavailable { reason }.into());
        }
        let process = Arc::clone(&assembly.ports.process);
        let site = site(&assembly.options, &assembly.machine.policy);
        let opened = wanted.open(&site, (&*process, &assembly.ids), &mut assembly.notices).await?;
        let Some((sandbox, way)) = opened else { return Ok(()) };
        wanted.note_questions(sandbox.level(), &mut assembly.notices);
        let way = Arc::new(way);
        let commands = wanted.commands(sandbox.level());
        assembly.machine.policy.confine(commands.clone());
        assembly.temporary = Some(sandbox.temporary());
        assembly.guard = Some(Arc::new(SandboxedServers::new(sandbox.clone(), Arc::clone(&way), wanted)));
        assembly.ports.process = sandbox.around_some(process, move |text: &str, leaves: bool| {
            // The proxy lives as long as programs can be started.
            let _kept = &way;
            commands.confines(text, leaves)
        });
        Ok(())
    }
}

/// Site of a session's commands.
fn site(options: &Options, policy: &Policy) -> Site {
    let surroundings = &options.surroundings;
    let home_roots = options.storage.home.iter().map(|home| home.root().to_path_buf());
    let homes = options
        .storage
        .home
        .iter()
        .flat_map(|home: &Home| std::iter::once(home.root().to_path_buf()).chain(home.also_read().iter().cloned()));
    Site {
        who: "commands",
        directories: policy.directories().to_vec(),
        home: policy.home().map(Path::to_path_buf),
        session_homes: homes.collect(),
        read_only: home_roots.chain(options.permissions.protected.iter().cloned()).collect(),
        temporary: temporary(&surroundings.program_environment(&mut Vec::new())),
        helper: surroundings.sandbox.helper.clone(),
    }
}
