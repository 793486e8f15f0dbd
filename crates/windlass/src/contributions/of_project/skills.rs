//! The skills of a session.

use crate::assembly::{Assembly, Contribution};
use crate::error::Error;
use crate::project::SKILL_TOOL;
use async_trait::async_trait;

/// Joins the skills of the project, or of the program: their list, which the model reads after all other texts, and the
/// right to read their files.
pub(crate) struct Skills;

#[async_trait]
impl Contribution for Skills {
    async fn join(&self, assembly: &mut Assembly) -> Result<(), Error> {
        let (is_offered, cwd) = (assembly.is_offered(SKILL_TOOL), assembly.machine.cwd.clone());
        let policy = &mut assembly.machine.policy;
        let list = if let Some(project) = assembly.options.project.applied() {
            project.allow_reading_skills(policy, &cwd);
            is_offered.then(|| project.skill_list(&assembly.key.session)).flatten()
        } else if let Some(given) = assembly.options.given_skills() {
            given.allow_reading(policy, &cwd);
            assembly.notices.extend(given.notices());
            given.list().filter(|_| is_offered)
        } else {
            None
        };
        assembly.texts.extend(list);
        Ok(())
    }
}
