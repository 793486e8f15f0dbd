//! The agents of a session, by name.

use super::definition::{AgentError, LoadedAgent};
use super::parse;
use crate::note::Note;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use windlass_types::JsonError;

/// The agents of a session.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Agents {
    /// Usable agents, sorted by name. Names are unique.
    pub agents: Vec<LoadedAgent>,
    /// Notes on files that are left out.
    pub notes: Vec<Note>,
    /// Problem of each unusable definition, by name.
    pub(super) unusable: BTreeMap<String, String>,
    /// Files of agents that an untrusted project defines, by agent name.
    pub(super) untrusted: BTreeMap<String, PathBuf>,
}

impl Agents {
    /// Returns the agents of a JSON object, as the command line and hosts give them:
    /// `{"name":{"description":..,"prompt":..}}`. An unusable definition is an error only when it is chosen. A
    /// definition without `tools` has all tools of its parent, because the caller wrote it.
    ///
    /// # Errors
    /// The text is not a JSON object of objects, or has a key twice.
    pub fn parse(json: &str) -> Result<Self, JsonError> {
        let mut agents = Self::default();
        for (name, definition) in parse::object(json)? {
            agents.add(name, definition, None);
        }
        for agent in &mut agents.agents {
            agent.definition.all_tools |= agent.definition.tools.is_none();
        }
        agents.sort();
        Ok(agents)
    }

    /// Adds weaker definitions: an existing definition takes precedence.
    #[must_use]
    pub fn or(mut self, weaker: Self) -> Self {
        let taken_names = self.agents.iter().map(LoadedAgent::name).chain(self.unusable.keys().map(String::as_str));
        let taken_names: BTreeSet<String> = taken_names.map(str::to_owned).collect();
        self.agents.extend(weaker.agents.into_iter().filter(|agent| !taken_names.contains(agent.name())));
        self.unusable.extend(weaker.unusable.into_iter().filter(|(name, _)| !taken_names.contains(name)));
        for (name, path) in weaker.untrusted {
            self.untrusted.entry(name).or_insert(path);
        }
        self.notes.extend(weaker.notes);
        self.sort();
        self
    }

    /// Returns the agent of this name.
    ///
    /// # Errors
    /// No usable definition of the name is in effect; the error names the existing agents.
    pub fn get(&self, name: &str) -> Result<&LoadedAgent, AgentError> {
        if let Some(agent) = self.agents.iter().find(|agent| agent.name() == name) {
            return Ok(agent);
        }
        let (name, known) = (name.to_owned(), self.agents.iter().map(|agent| agent.name().to_owned()).collect());
        Err(match (self.unusable.get(&name), self.untrusted.get(&name).cloned()) {
            (Some(problem), _) => AgentError::Unusable { name, problem: problem.clone() },
            (None, Some(path)) => AgentError::Untrusted { name, path, known },
            (None, None) => AgentError::Unknown { name, known },
        })
    }

    /// Makes agents with a problem unusable; their names stay taken.
    #[must_use]
    pub fn refused(mut self, problem: impl Fn(&LoadedAgent) -> Option<String>) -> Self {
        for agent in std::mem::take(&mut self.agents) {
            match problem(&agent) {
                Some(problem) => {
                    let path = agent.path.clone();
                    self.add(agent.definition.name, Err(problem), path.as_deref());
                }
                None => self.agents.push(agent),
            }
        }
        self
    }

    /// Returns the unusable definitions, by name, with their problems. No weaker agent takes their names.
    pub fn unusable(&self) -> impl Iterator<Item = (&str, &str)> {
        self.unusable.iter().map(|(name, problem)| (name.as_str(), problem.as_str()))
    }

    /// Adds the agent in a file of a plugin, whose name without `.md` is `file`, and returns the problem with it.
    pub(crate) fn add_of_plugin(&mut self, plugin: &str, file: &str, text: &str, path: &Path) -> Vec<String> {
        let (name, definition) = parse::file_of_plugin(text, plugin, file, path);
        if self.is_known(&name) {
            return vec![format!("there is another agent {name:?}, which counts for more")];
        }
        let problems = match &definition {
            Err(problem) => vec![format!("the agent {name:?} cannot be used: {problem}")],
            Ok(agent) if agent.without_effect.is_empty() => Vec::new(),
            Ok(agent) => vec![format!("without effect for an agent of a plugin: {}", agent.without_effect.join(", "))],
        };
        self.add(name, definition, Some(path));
        self.sort();
        problems
    }

    pub(super) fn is_known(&self, name: &str) -> bool {
        self.unusable.contains_key(name) || self.agents.iter().any(|agent| agent.name() == name)
    }

    pub(super) fn add(&mut self, name: String, definition: Result<LoadedAgent, String>, path: Option<&Path>) {
        match definition {
            Ok(agent) => self.agents.push(agent),
            Err(problem) => {
                let place = path.map(|path| format!("{}: ", path.display())).unwrap_or_default();
                self.unusable.insert(name, format!("{place}{problem}"));
            }
        }
    }

    pub(super) fn sort(&mut self) {
        self.agents.sort_by(|a, b| a.name().cmp(b.name()));
    }
}
