//! Open sessions of a project that follow its changes.

use super::LoadedProject;
use super::shared::OpenSession;
use crate::session_tools::SessionTools;
use std::collections::{BTreeMap, BTreeSet};
use windlass_project::Plugins;
use windlass_runtime::Session;
use windlass_subagent::{AgentDefinition, Subagents};

/// Maximum number of sessions whose agents follow the plugins.
const MAX_SESSIONS: usize = 1_024;

fn definitions(agents: &Subagents) -> BTreeMap<&String, &AgentDefinition> {
    agents.definitions().map(|agent| (&agent.name, agent)).collect()
}

/// Names of agents that are in only one of two sets, or differ.
fn differing<'a>(before: &'a Subagents, after: &'a Subagents) -> impl Iterator<Item = String> {
    let (before, after) = (definitions(before), definitions(after));
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).copied().collect();
    let differ: Vec<String> = names.into_iter().filter(|name| before.get(name) != after.get(name)).cloned().collect();
    differ.into_iter()
}

impl LoadedProject {
    /// Registers an open session for later changes of its agents, and moves the pending notices to it. `base` are the
    /// agents that the program gave it, if its model may have any.
    pub(crate) fn opened(self, base: Option<Subagents>, session: &mut Session, tools: &SessionTools) {
        let waiting = self.shared.notices.opened(&session.handle);
        session.notices.splice(..0, waiting);
        if self.place_elsewhere().is_some() {
            // Changes on this machine are not checked again: directories and variables would be local ones.
            return self.shared.forget_at_end(&session.handle);
        }
        self.ask_about_programs(&session.handle);
        self.follow_settings(&session.handle);
        self.shared.forget_at_end(&session.handle);
        let mut sessions = self.shared.sessions.lock();
        sessions.retain(|open| !open.tools.handle().has_ended());
        if let (Some(base), Some(current)) = (base, tools.subagents())
            && sessions.len() < MAX_SESSIONS
        {
            sessions.push(OpenSession { tools: tools.clone(), choice: self.choice, base, current });
        }
    }

    /// Agents of an open session with these plugins.
    fn agents_of(&self, open: &OpenSession, plugins: &Plugins) -> Subagents {
        let project = Self { choice: open.choice.clone(), ..self.clone() };
        project.below(&open.base, &project.checked(&open.tools.known(), project.all_agents(plugins)))
    }

    /// Agents that the last opened session would have with these plugins, and the names of agents that would change in
    /// any open session.
    pub(super) fn agents_of_sessions(&self, plugins: &Plugins) -> (Option<Subagents>, Vec<String>) {
        let mut sessions = self.shared.sessions.lock();
        sessions.retain(|open| !open.tools.handle().has_ended());
        let (mut last, mut changed) = (None, BTreeSet::new());
        for open in sessions.iter() {
            let agents = self.agents_of(open, plugins);
            changed.extend(differing(&open.current, &agents));
            last = Some(agents);
        }
        (last, changed.into_iter().collect())
    }

    /// Updates the agents of open sessions to these plugins.
    pub(super) fn renew_agents(&self, plugins: &Plugins) {
        for open in self.shared.sessions.lock().iter_mut() {
            let agents = self.agents_of(open, plugins);
            // A session that is closed is followed by one that reads them itself.
            if open.tools.set_subagents(agents.clone()).is_ok() {
                open.current = agents;
            }
        }
    }
}
