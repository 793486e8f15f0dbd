//! The memory of a project in its sessions.

use super::{LoadedProject, ProjectNoticeKind};
use crate::home::Home;
use crate::memory::{MemoryDirectory, with_tool};
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use windlass_project::{Agents, MEMORY_TOOL};
use windlass_session::ProjectKey;
use windlass_tool::private_file;

/// Folder of memories in that of a project's sessions, before the digits that distinguish directories with one key.
const FOLDER: &str = "memory";
/// Maximum number of logs that are read to find the owner of a folder without digits.
const MOST_ASKED: usize = 500;
/// Variable that disables the memory.
const OFF: &str = "CLAUDE_CODE_DISABLE_AUTO_MEMORY";

impl LoadedProject {
    /// Directory of the notes of this project's sessions: the one from settings, else one of the home for the
    /// repository, or without one for the start directory. `None` without a home, or if settings or a variable disable
    /// the memory.
    pub fn memory(&self) -> Option<MemoryDirectory> {
        let settings = &self.resolved().memory;
        let is_set = self.variable(OFF).is_some_and(|value| !matches!(value.trim(), "" | "0" | "false"));
        if is_set || settings.enabled.as_ref().is_some_and(|enabled| !enabled.value) {
            return None;
        }
        if let Some(directory) = &settings.directory {
            return Some(MemoryDirectory::at(&directory.value));
        }
        let root = self.places().project.first()?;
        let home = self.read.request.home_of()?;
        let key = ProjectKey::of(root);
        let sessions = home.root().join("projects").join(key.as_str());
        let directory = sessions.join(format!("{FOLDER}-{}", key.digits()));
        if !directory.exists() {
            self.take_over_notes(&sessions.join(FOLDER), &directory, (&home, &key));
        }
        Some(MemoryDirectory::at(directory))
    }

    /// Directory of the notes, if [`Project::memory`](crate::Project::memory) is enabled.
    pub(crate) fn memory_of_sessions(&self) -> Option<MemoryDirectory> {
        self.choice.with_memory.then(|| self.memory()).flatten()
    }

    /// Takes over the notes of a folder without digits, once, if the sessions beside it name only this directory.
    fn take_over_notes(&self, former: &Path, directory: &Path, (home, key): (&Home, &ProjectKey)) {
        if !former.is_dir() {
            return;
        }
        let recorded = home.store().recorded_directories(key, MOST_ASKED).unwrap_or_default();
        let taken = match owners(key, &recorded) {
            // Another program may look for the notes in the home that it shares.
            Owners::This if is_shared(home) => copied(former, directory),
            Owners::This => std::fs::rename(former, directory),
            Owners::Others => Ok(()),
            Owners::Several => Err(io::Error::other("sessions of several directories name that folder")),
        };
        if let Err(error) = taken.or_else(|error| if directory.exists() { Ok(()) } else { Err(error) }) {
            let text = format!("the notes in {} are not taken over: {error}", former.display());
            self.note(ProjectNoticeKind::Directory, text);
        }
        // The decision also applies to later sessions, which name this directory in any case.
        let _ = private_file::create_dir(directory);
    }

    /// Adds the memory tool to agents with notes of their own.
    pub(super) fn with_memory_tool(&self, mut agents: Agents) -> Agents {
        if self.choice.with_memory {
            for agent in &mut agents.agents {
                agent.definition = with_tool(agent.definition.clone());
            }
        }
        agents
    }

    /// Name of the tool, if a session may get it.
    pub(crate) fn memory_tool(&self) -> Option<String> {
        self.choice.with_memory.then(|| MEMORY_TOOL.to_owned())
    }
}

/// `true` if another program may store its sessions in the same home.
fn is_shared(home: &Home) -> bool {
    home.root().file_name().is_some_and(|name| name == ".claude") || home.root().join(".claude.json").exists()
}

/// Directories whose sessions are in the folders of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owners {
    /// The directory of the key alone.
    This,
    /// Only others, or none.
    Others,
    /// This directory and others.
    Several,
}

/// Owners of the folder of a key, by the directories that sessions name.
fn owners(key: &ProjectKey, recorded: &BTreeSet<PathBuf>) -> Owners {
    let is_other = |path: &&PathBuf| path.ancestors().any(|above| ProjectKey::of(above) == *key);
    let owns = recorded.iter().any(|path| key.may_hold(Some(path)));
    let others = recorded.iter().filter(|path| !key.may_hold(Some(path))).any(|path| is_other(&path));
    match (owns, others) {
        (true, false) => Owners::This,
        (true, true) => Owners::Several,
        (false, _) => Owners::Others,
    }
}

/// Copies the notes of a folder, whole or not at all.
fn copied(from: &Path, to: &Path) -> io::Result<()> {
    let new = to.with_extension("new");
    private_file::create_dir(&new)?;
    for entry in from.read_dir()? {
        let entry = entry?;
        if entry.file_type()?.is_file() {
            std::fs::copy(entry.path(), new.join(entry.file_name()))?;
        }
    }
    std::fs::rename(new, to)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_belong_to_the_directory_that_sessions_name_alone() {
        let key = ProjectKey::of(Path::new("/a/b"));
        for (recorded, expected) in [
            (&["/a/b"][..], Owners::This),
            (&["/a/b/sub"], Owners::This),
            (&["/a/b", "/a/b/sub", "/other"], Owners::This),
            (&["/a-b"], Owners::Others),
            (&["/a-b/sub"], Owners::Others),
            (&[], Owners::Others),
            (&["/a/b", "/a-b"], Owners::Several),
            (&["/a/b", "/a-b/sub"], Owners::Several),
        ] {
            let recorded = recorded.iter().map(PathBuf::from).collect();
            assert_eq!(owners(&key, &recorded), expected, "{recorded:?}");
        }
    }
}
