//! Reading the agents in files.

use super::collection::Agents;
use super::definition::AgentSource;
use super::parse;
use crate::markdown::{Folder, MarkdownFile, Walk, of_project, of_user};
use crate::note::Notes;
use crate::places::Places;
use crate::records::read_trust;
use crate::request::SettingsRequest;
use crate::sources::Layer;
use crate::trust::{Standing, TrustKind};
use std::collections::BTreeSet;
use std::path::PathBuf;

/// Names of the folders that contain agents, the strongest first.
const FOLDERS: [&str; 2] = ["agents", "subagents"];
/// Maximum number of agents from files.
pub(super) const MOST_AGENTS: usize = 512;
/// Maximum number of agent names in a note.
const MAX_NAMES: usize = 20;

/// Reads the agents in files of the project and the user, as far as the request reads those layers. No program is
/// run.
///
/// Of agents with the same name, one of the project wins over one of the user, one nearer to the start directory over
/// one further up, and `.windlass` over `.claude`. Agents of an untrusted directory are left out with a note. Links are
/// not followed. An unusable agent is left out with a note, but no weaker agent takes its name.
#[must_use]
pub fn load_agents(places: &Places, request: &SettingsRequest) -> Agents {
    let mut loading = AgentLoading { agents: Agents::default(), notes: Notes::default() };
    let mut walk = Walk::new(false);
    let mut trust = None;
    let project = project_folders(places).into_iter().map(|folder| (AgentSource::Project, folder));
    let user = of_each_name(|name| of_user(places, name)).into_iter().map(|folder| (AgentSource::User, folder));
    for (source, folder) in project.chain(user) {
        let layer = if source == AgentSource::Project { Layer::Project } else { Layer::User };
        if !request.sources.contains(layer) {
            continue;
        }
        let files = walk.files(&folder, &mut loading.notes);
        let standing = match &folder.within {
            Some(directory) if !files.is_empty() => trust
                .get_or_insert_with(|| read_trust(places, &mut loading.notes.0).for_this_run(request.trust))
                .standing(&places.project, directory, request.sources.names(layer)),
            _ => Standing::trusted(),
        };
        loading.add_folder(&folder, files, source, &standing);
    }
    let AgentLoading { mut agents, notes } = loading;
    agents.notes = notes.0;
    agents.sort();
    agents
}

fn project_folders(places: &Places) -> Vec<Folder> {
    of_each_name(|name| of_project(places, name))
}

/// Returns the folders of both names for each directory, the strongest first.
fn of_each_name(folders: impl Fn(&str) -> Vec<Folder>) -> Vec<Folder> {
    let [first, second] = FOLDERS.map(folders);
    first.into_iter().zip(second).flat_map(<[Folder; 2]>::from).collect()
}

/// State of one load of agents. Stronger agents are added first.
struct AgentLoading {
    agents: Agents,
    notes: Notes,
}

impl AgentLoading {
    fn add_folder(&mut self, folder: &Folder, files: Vec<MarkdownFile>, source: AgentSource, standing: &Standing) {
        let mut untrusted_names = BTreeSet::new();
        for file in files {
            if self.agents.untrusted.len() >= MOST_AGENTS {
                break;
            }
            untrusted_names.extend(self.add_file(file, source, standing));
        }
        if !untrusted_names.is_empty() {
            let shown = untrusted_names.into_iter().take(MAX_NAMES).collect::<Vec<_>>().join(", ");
            self.notes.add(&folder.path, format!("agents do not count {}: {shown}", standing.condition()));
        }
    }

    /// Adds the agent of a file, or returns its name if it is ignored without trust.
    fn add_file(&mut self, file: MarkdownFile, source: AgentSource, standing: &Standing) -> Option<String> {
        let text = self.notes.read(&file.path)?;
        let Some((name, definition)) = parse::file(&text, source, &file.path) else {
            self.notes.add(&file.path, "it is no agent: its head says no `name` that can be used");
            return None;
        };
        let agents = &mut self.agents;
        if !standing.covers(&file.path, TrustKind::Agent, &name, &text) {
            agents.untrusted.entry(name.clone()).or_insert(file.path);
            return Some(name);
        }
        if agents.is_known(&name) {
            self.notes.add(&file.path, format!("there is another agent {name:?}, which counts for more"));
        } else if agents.agents.len().saturating_add(agents.unusable.len()) >= MOST_AGENTS {
            self.notes.add(&file.path, format!("there are more than {MOST_AGENTS} agents"));
        } else {
            match &definition {
                Err(problem) => self.notes.add(&file.path, format!("the agent {name:?} cannot be used: {problem}")),
                Ok(agent) => agent.notices.iter().for_each(|notice| self.notes.add(&file.path, notice.clone())),
            }
            agents.add(name, definition, Some(&file.path));
        }
        None
    }
}

/// Returns the agents in files of the project, each with its file and text, also the ignored ones.
pub(crate) fn agent_files(places: &Places) -> Vec<(PathBuf, String, String)> {
    let (mut walk, mut notes, mut agents) = (Walk::new(false), Notes::default(), Vec::new());
    for folder in project_folders(places) {
        for file in walk.files(&folder, &mut notes) {
            let Some(text) = notes.read(&file.path) else { continue };
            if let Some((name, _)) = parse::file(&text, AgentSource::Project, &file.path) {
                agents.push((file.path, name, text));
            }
        }
    }
    agents
}
