//! The open sessions of a project, as far as they change with it.

use super::{Choice, LoadedProject};
use crate::{Options, SessionTools};
use std::collections::{BTreeMap, BTreeSet};
use windlass_project::Plugins;
use windlass_runtime::{Session, SessionHandle};
use windlass_subagent::{AgentDefinition, Subagents};

/// Most sessions whose agents follow the plugins.
const MOST_SESSIONS: usize = 1_024;

/// An open session whose model may give tasks to agents.
pub(crate) struct OpenSession {
    tools: SessionTools,
    choice: Choice,
    /// What the program gave it, before files and plugins were added.
    base: Subagents,
    current: Subagents,
}

/// What an open session's agents are made from again.
pub(crate) struct Base {
    pub(crate) project: LoadedProject,
    base: Option<Subagents>,
}

impl Base {
    pub(crate) fn of(options: &Options) -> Option<Self> {
        let project = options.applied_project()?.clone();
        Some(Self { project, base: options.base_subagents.clone() })
    }

    /// Keeps what a session's agents can be changed with, and moves the notices that wait to the session's own.
    pub(crate) fn opened(self, session: &mut Session, tools: &SessionTools) {
        let Self { project, base } = self;
        let waiting = project.shared.notices.opened(&session.handle);
        session.notices.splice(..0, waiting);
        let mut sessions = project.open_sessions();
        sessions.retain(|open| !has_ended(open.tools.handle()));
        if let (Some(base), Some(current)) = (base, tools.subagents())
            && sessions.len() < MOST_SESSIONS
        {
            sessions.push(OpenSession { tools: tools.clone(), choice: project.choice.clone(), base, current });
        }
    }
}

/// Whether a session is over.
fn has_ended(handle: &SessionHandle) -> bool {
    let ended = std::pin::pin!(handle.ended());
    let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
    ended.poll(&mut cx).is_ready()
}

fn definitions(agents: &Subagents) -> BTreeMap<&String, &AgentDefinition> {
    agents.definitions().map(|agent| (&agent.name, agent)).collect()
}

/// The names of agents that only one of two sets has, or that differ.
fn differing<'a>(before: &'a Subagents, after: &'a Subagents) -> impl Iterator<Item = String> {
    let (before, after) = (definitions(before), definitions(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).copied().collect();
    let differ: Vec<String> = names.into_iter().filter(|name| before.get(name) != after.get(name)).cloned().collect();
    differ.into_iter()
}

impl OpenSession {
    fn agents_with(&self, project: &LoadedProject, plugins: &Plugins) -> Subagents {
        let project = LoadedProject { choice: self.choice.clone(), ..project.clone() };
        project.below(&self.base, &project.all_agents(plugins))
    }
}

impl LoadedProject {
    /// The agents that the session which was opened last would have with these plugins, and the names of those that
    /// would change in any open session.
    pub(super) fn agents_of_sessions(&self, plugins: &Plugins) -> (Option<Subagents>, Vec<String>) {
        let mut sessions = self.open_sessions();
        sessions.retain(|open| !has_ended(open.tools.handle()));
        let (mut last, mut changed) = (None, BTreeSet::new());
        for open in sessions.iter() {
            let agents = open.agents_with(self, plugins);
            changed.extend(differing(&open.current, &agents));
            last = Some(agents);
        }
        (last, changed.into_iter().collect())
    }

    /// Gives open sessions the agents that they have with these plugins.
    pub(super) fn renew_agents(&self, plugins: &Plugins) {
        for open in self.open_sessions().iter_mut() {
            let agents = open.agents_with(self, plugins);
            // A session that is closed is followed by one that reads them itself.
            if open.tools.set_subagents(agents.clone()).is_ok() {
                open.current = agents;
            }
        }
    }
}
