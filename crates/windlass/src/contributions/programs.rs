//! The environment of a session's programs.

use crate::assembly::{Assembly, Contribution};
use crate::error::Error;
use async_trait::async_trait;

/// Joins the environment of programs, and the disk space for their outputs.
pub(crate) struct Programs;

#[async_trait]
impl Contribution for Programs {
    async fn join(&self, assembly: &mut Assembly) -> Result<(), Error> {
        let surroundings = &assembly.options.surroundings;
        let environment = surroundings.program_environment(&mut assembly.notices);
        let mut environment = surroundings.with_utf8(environment);
        if let Some(temporary) = &assembly.temporary {
            environment.retain(|(name, _)| name != "TMPDIR");
            environment.push(("TMPDIR".into(), temporary.clone().into()));
        }
        assembly.ports.system.env = environment.into();
        let space = assembly.space.clone();
        assembly.on_open(move |session, _| space.report_to(&session.handle));
        Ok(())
    }
}
