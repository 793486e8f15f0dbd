//! Agents: prompts with the tools, the model and the limits that go with them.
//!
//! They come as JSON from the command line or the host, and as Markdown files with a head.

mod definition;
mod parse;

pub use definition::{AgentError, AgentSource, LoadedAgent};

use crate::markdown::{Walk, of_project, of_user};
use crate::note::{Note, Notes};
use crate::places::Places;
use crate::records::read_trust;
use crate::request::SettingsRequest;
use crate::sources::Layer;
use crate::trust::{Standing, TrustKind};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use windlass_types::JsonError;

/// The name of their folders.
const FOLDER: &str = "agents";
/// Most agents of files, and names in a note.
const MOST_AGENTS: usize = 512;
const MOST_NAMES: usize = 20;

/// The agents of a session.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Agents {
    /// One of each name, sorted by name.
    pub agents: Vec<LoadedAgent>,
    /// Files that are left out, and why.
    pub notes: Vec<Note>,
    /// Definitions that cannot be used, by name.
    unusable: BTreeMap<String, String>,
    /// Those of a project that nobody trusts.
    untrusted: BTreeMap<String, PathBuf>,
}

impl Agents {
    /// The agents of a JSON object, as the command line and hosts give them: `{"name":{"description":..,"prompt":..}}`.
    /// A definition that cannot be used matters only when it is chosen.
    ///
    /// # Errors
    /// The text is not a JSON object of objects, or has a key twice.
    pub fn parse(json: &str) -> Result<Self, JsonError> {
        let mut all = Self::default();
        for (name, definition) in parse::object(json)? {
            all.add(name, definition, None);
        }
        all.sort();
        Ok(all)
    }

    /// Joins weaker definitions: what is here counts for more.
    #[must_use]
    pub fn or(mut self, weaker: Self) -> Self {
        let own = self.agents.iter().map(LoadedAgent::name).chain(self.unusable.keys().map(String::as_str));
        let own: BTreeSet<String> = own.map(str::to_owned).collect();
        self.agents.extend(weaker.agents.into_iter().filter(|agent| !own.contains(agent.name())));
        self.unusable.extend(weaker.unusable.into_iter().filter(|(name, _)| !own.contains(name)));
        for (name, path) in weaker.untrusted {
            self.untrusted.entry(name).or_insert(path);
        }
        self.notes.extend(weaker.notes);
        self.sort();
        self
    }

    /// The agent of this name.
    ///
    /// # Errors
    /// There is none that counts and can be used; the error names those that exist.
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

    /// Definitions that cannot be used, by name, and what is wrong with them. Their names are taken: no weaker agent
    /// may stand in.
    pub fn unusable(&self) -> impl Iterator<Item = (&str, &str)> {
        self.unusable.iter().map(|(name, problem)| (name.as_str(), problem.as_str()))
    }

    /// Adds the agent in a file of a plugin, whose name without `.md` is `file`, and says what is wrong with it.
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

    fn is_known(&self, name: &str) -> bool {
        self.unusable.contains_key(name) || self.agents.iter().any(|agent| agent.name() == name)
    }

    fn add(&mut self, name: String, definition: Result<LoadedAgent, String>, path: Option<&Path>) {
        match definition {
            Ok(agent) => self.agents.push(agent),
            Err(problem) => {
                let place = path.map(|path| format!("{}: ", path.display())).unwrap_or_default();
                self.unusable.insert(name, format!("{place}{problem}"));
            }
        }
    }

    fn sort(&mut self) {
        self.agents.sort_by(|a, b| a.name().cmp(b.name()));
    }
}

/// Reads the agents in files of the project and the user, as far as the request reads those layers. Nothing is
/// executed.
///
/// An agent of the project wins over one of the user with its name, one nearer to the start over one further up,
/// `.windlass` over `.claude`. Those of a directory that nobody trusts are left out with a note. Links are not
/// followed. What cannot be used is left out with a note; its name is taken, though.
#[must_use]
pub fn load_agents(places: &Places, request: &SettingsRequest) -> Agents {
    let (mut walk, mut notes, mut agents) = (Walk::new(false), Notes::default(), Agents::default());
    let mut trust = None;
    let project = of_project(places, FOLDER).into_iter().map(|folder| (AgentSource::Project, folder));
    let user = of_user(places, FOLDER).into_iter().map(|folder| (AgentSource::User, folder));
    for (source, folder) in project.chain(user) {
        let layer = if source == AgentSource::Project { Layer::Project } else { Layer::User };
        if !request.sources.contains(layer) {
            continue;
        }
        let files = walk.files(&folder, &mut notes);
        let standing = match &folder.within {
            Some(directory) if !files.is_empty() => trust
                .get_or_insert_with(|| read_trust(places, &mut notes.0).for_this_run(request.trust))
                .standing(&places.project, directory, request.sources.names(layer)),
            _ => Standing::trusted(),
        };
        let mut left_out = BTreeSet::new();
        for file in files {
            if agents.untrusted.len() >= MOST_AGENTS {
                break;
            }
            let Some(text) = notes.read(&file.path) else { continue };
            let Some((name, definition)) = parse::file(&text, source, &file.path) else {
                notes.add(&file.path, "it is no agent: its head says no `name` that can be used");
                continue;
            };
            if !standing.covers(&file.path, TrustKind::Agent, &name, &text) {
                agents.untrusted.entry(name.clone()).or_insert(file.path);
                left_out.insert(name);
            } else if agents.is_known(&name) {
                notes.add(&file.path, format!("there is another agent {name:?}, which counts for more"));
            } else if agents.agents.len().saturating_add(agents.unusable.len()) >= MOST_AGENTS {
                notes.add(&file.path, format!("there are more than {MOST_AGENTS} agents"));
            } else {
                if let Err(problem) = &definition {
                    notes.add(&file.path, format!("the agent {name:?} cannot be used: {problem}"));
                }
                agents.add(name, definition, Some(&file.path));
            }
        }
        if !left_out.is_empty() {
            let names: Vec<String> = left_out.into_iter().collect();
            let some = names.iter().take(MOST_NAMES).map(String::as_str).collect::<Vec<_>>().join(", ");
            notes.add(&folder.path, format!("agents do not count {}: {some}", standing.condition()));
        }
    }
    agents.notes = notes.0;
    agents.sort();
    agents
}

/// The agents in files of the project, each with its file and text, also those that do not count.
pub(crate) fn agent_files(places: &Places) -> Vec<(PathBuf, String, String)> {
    let (mut walk, mut notes, mut found) = (Walk::new(false), Notes::default(), Vec::new());
    for folder in of_project(places, FOLDER) {
        for file in walk.files(&folder, &mut notes) {
            let Some(text) = notes.read(&file.path) else { continue };
            if let Some((name, _)) = parse::file(&text, AgentSource::Project, &file.path) {
                found.push((file.path, name, text));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests;
