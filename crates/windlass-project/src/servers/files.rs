//! The files that define MCP servers, which are read again while sessions are open.

use super::entries::{FILE, read_project};
use super::user::UserServers;
use crate::note::{Note, Notes, Origin};
use crate::places::Places;
use crate::records::read_trust;
use crate::request::SettingsRequest;
use crate::sources::Layer;
use crate::stamp::Stamp;
use crate::trust::Trust;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use windlass_types::JsonText;

/// Contents of the files that define MCP servers: `.mcp.json` of the project and `.claude.json` of the user.
///
/// On another reading, an unusable file is replaced by its last usable contents, until it can be used again or is gone.
/// The same applies to records of trust.
#[derive(Debug, Clone)]
pub struct ServerFiles {
    stamp: Stamp,
    user: BTreeMap<PathBuf, UserServers>,
    project: BTreeMap<PathBuf, BTreeMap<String, JsonText>>,
    /// Trust records, read only if the project has servers.
    trust: Option<Trust>,
    notes: Vec<Note>,
}

impl ServerFiles {
    /// Reads the files. Blocks for as long as the disk takes.
    #[must_use]
    pub fn read(places: &Places, request: &SettingsRequest) -> Self {
        Self::read_or_keep(places, request, None)
    }

    /// Reads the files again if one was added, removed or changed, or a record of trust was; `None` if not. Blocks for
    /// as long as the disk takes.
    #[must_use]
    pub fn look(&self, places: &Places, request: &SettingsRequest) -> Option<Self> {
        (stamp(places) != self.stamp).then(|| Self::read_or_keep(places, request, Some(self)))
    }

    /// Returns the files whose servers another reading has changed, with their layers.
    #[must_use]
    pub fn changed(&self, newer: &Self) -> Vec<(Layer, Origin)> {
        let project = differing(&self.project, &newer.project).map(|path| (Layer::Project, Origin::file(path)));
        let user = differing(&self.user, &newer.user).map(|path| (Layer::User, Origin::file(path)));
        project.chain(user).collect()
    }

    /// Puts a newer reading into effect, except for files of these layers: they apply as before, until they change
    /// again.
    pub fn take(&mut self, newer: Self, refused: &[Layer]) {
        let previous = std::mem::replace(self, newer);
        if refused.contains(&Layer::Project) {
            self.project = previous.project;
        }
        if refused.contains(&Layer::User) {
            self.user = previous.user;
        }
    }

    /// Returns the notes on unusable parts.
    #[must_use]
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    fn read_or_keep(places: &Places, request: &SettingsRequest, last: Option<&Self>) -> Self {
        // The stamp is taken first, so that a change during the read is noticed the next time.
        let mut loading = ServerFileLoading { last, notes: Notes::default() };
        let mut files = Self {
            stamp: stamp(places),
            user: BTreeMap::new(),
            project: BTreeMap::new(),
            trust: None,
            notes: Vec::new(),
        };
        for path in &places.claude_json {
            files.user.insert(path.clone(), loading.user(path, places));
        }
        if request.sources.contains(Layer::Project) {
            for directory in &places.project {
                let path = directory.join(FILE);
                let found = loading.project(&path, directory);
                files.project.insert(path, found);
            }
        }
        if files.project.values().any(|servers| !servers.is_empty()) {
            files.trust = Some(loading.trust(places));
        }
        files.notes = loading.notes.0;
        files
    }

    /// Returns the merged contents of the user's files.
    pub(super) fn of_user(&self, places: &Places) -> UserServers {
        let mut merged = UserServers::default();
        places.claude_json.iter().filter_map(|path| self.user.get(path)).for_each(|file| merged.add(file));
        merged
    }

    /// Returns the files of the project with their directories and servers, the nearest first.
    pub(super) fn of_project<'a>(
        &'a self,
        places: &'a Places,
    ) -> impl Iterator<Item = (&'a Path, PathBuf, &'a BTreeMap<String, JsonText>)> {
        places.project.iter().rev().filter_map(|directory| {
            let path = directory.join(FILE);
            let found = self.project.get(&path)?;
            Some((directory.as_path(), path, found))
        })
    }

    /// Returns the records of trust, as far as the project has servers.
    pub(super) fn trust(&self) -> Trust {
        self.trust.clone().unwrap_or_default()
    }
}

/// State of one reading of the files.
struct ServerFileLoading<'a> {
    last: Option<&'a ServerFiles>,
    notes: Notes,
}

impl ServerFileLoading<'_> {
    fn user(&mut self, path: &Path, places: &Places) -> UserServers {
        let mut notes = Notes::default();
        let read = UserServers::of_file(path, places, &mut notes);
        // An entry that cannot be read may have switched servers off.
        let last = self.last.and_then(|last| last.user.get(path)).filter(|_| read.is_err() || !notes.0.is_empty());
        for note in std::mem::take(&mut notes.0) {
            self.notes.add(path, note.text);
        }
        if let Err(problem) = &read {
            self.unusable(path, problem);
        }
        last.cloned().unwrap_or_else(|| read.unwrap_or_default())
    }

    fn project(&mut self, path: &Path, directory: &Path) -> BTreeMap<String, JsonText> {
        read_project(path, directory).unwrap_or_else(|problem| {
            self.unusable(path, &problem);
            self.last.and_then(|last| last.project.get(path)).cloned().unwrap_or_default()
        })
    }

    fn trust(&mut self, places: &Places) -> Trust {
        let mut problems = Vec::new();
        let trust = read_trust(places, &mut problems);
        let last = self.last.and_then(|last| last.trust.clone()).filter(|_| !problems.is_empty());
        for problem in problems {
            self.notes.0.push(problem);
        }
        last.unwrap_or(trust)
    }

    fn unusable(&mut self, path: &Path, problem: &str) {
        let text = match self.last {
            None => format!("its MCP servers are left out: {problem}"),
            Some(_) => format!("until it is mended, its MCP servers count as they did before: {problem}"),
        };
        self.notes.add(path, text);
    }
}

/// Returns the paths whose content differs.
fn differing<'a, T: PartialEq + Default>(
    before: &'a BTreeMap<PathBuf, T>,
    now: &'a BTreeMap<PathBuf, T>,
) -> impl Iterator<Item = &'a PathBuf> {
    let removed = before.keys().filter(|path| !now.contains_key(*path));
    now.iter()
        .filter(|(path, content)| before.get(*path).unwrap_or(&T::default()) != *content)
        .map(|(path, _)| path)
        .chain(removed)
}

/// Returns the stamp of all files that servers and trust are read from.
fn stamp(places: &Places) -> Stamp {
    let mut stamp = Stamp::new();
    places.project.iter().for_each(|directory| stamp.add(&directory.join(FILE)));
    places.records.iter().chain(&places.claude_json).for_each(|path| stamp.add(path));
    stamp
}

#[cfg(test)]
mod tests;
