//! The agents that the model of a session can give tasks to.

use super::state::Configuration;
use crate::memory::as_port;
use crate::project::ProjectError;

/// Applies the tools of the main agent, and adds the agents below it.
pub(super) fn configure(configuration: &mut Configuration<'_>) -> Result<(), ProjectError> {
    let Configuration { project, options, variables, agents, agent, memories, .. } = configuration;
    let tools = &mut options.tools;
    if let Some(names) = agent.tools() {
        tools.only.and(names.to_vec());
    }
    if !project.choice.without.subagents && agent.may_delegate() {
        let base = tools.subagents.take().unwrap_or_default();
        let base = if variables.background { base } else { base.background_by_default(false) };
        let base = memories.iter().fold(base, |base, memories| base.with_memories(as_port(memories)));
        tools.subagents = Some(project.below(&base, agents));
        tools.base_subagents = Some(base);
    }
    Ok(())
}
