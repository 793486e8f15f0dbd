//! The state in which settings become options.

use crate::memory::OfAgents;
use crate::options::Options;
use crate::project::{LoadedProject, MainAgent, Variables};
use std::sync::Arc;
use windlass_project::Agents;

/// Settings of a project, and the options that they become.
pub(in crate::project) struct Configuration<'a> {
    pub(in crate::project) project: &'a LoadedProject,
    pub(in crate::project) options: &'a mut Options,
    pub(in crate::project) variables: Variables,
    /// Agents of the program, of files and of plugins, as they were found.
    pub(in crate::project) found: &'a Agents,
    /// The same agents, without those that name tools wrongly.
    pub(in crate::project) agents: Agents,
    /// Main agent of the session.
    pub(in crate::project) agent: MainAgent,
    /// Finder of the notes of subagents.
    pub(in crate::project) memories: Option<Arc<OfAgents>>,
}
