//! The memory of a session.

use super::state::Configuration;
use crate::memory::{Memory, OfAgents};
use crate::project::ProjectError;
use std::sync::Arc;
use windlass_project::MEMORY_TOOL;

/// Gives a session the memory of the project, or of its main agent, if the program wants it and has given none of its
/// own.
pub(super) fn configure(configuration: &mut Configuration<'_>) -> Result<(), ProjectError> {
    let Configuration { project, options, agent, .. } = configuration;
    let has_tool = options.tools.toolkit.tools().iter().any(|tool| tool.name() == MEMORY_TOOL);
    if !project.choice.with_memory || has_tool {
        return Ok(());
    }
    let Some(of_project) = project.memory() else { return Ok(()) };
    let agents = Arc::new(OfAgents::new(project.places().clone()));
    let directory = agent.definition().and_then(|main| agents.directory(main)).unwrap_or(of_project);
    let settings = &project.resolved().memory;
    let extracts = settings.extraction.as_ref().is_some_and(|extraction| extraction.value);
    let mut memory = Memory::of(directory).with_agents(Arc::clone(&agents)).extracting(extracts);
    if let Some(model) = &settings.ranking_model {
        memory = memory.ranked_by_model(&model.value);
    }
    options.remember(memory);
    configuration.memories = Some(agents);
    Ok(())
}
