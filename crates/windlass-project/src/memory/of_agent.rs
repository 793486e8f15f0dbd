//! Directories of agents' memories.

use super::{MemoryDirectory, MemoryName};
use crate::places::{FOLDERS, Places};
use std::path::PathBuf;
use windlass_subagent::MemoryScope;

/// Name of the folder of memories in the user's directory, and of the shared one in a project.
const SHARED_FOLDER: &str = "agent-memory";
/// Name of the folder in a project with memories for the user alone.
const LOCAL_FOLDER: &str = "agent-memory-local";
/// Maximum number of characters of a name that is not used as it is.
const MAX_NAME_CHARS: usize = 40;

impl MemoryDirectory {
    /// Returns the memory of the agent with this name. `None` for the user scope if there is no user directory.
    ///
    /// | scope | directory |
    /// |---|---|
    /// | user | `agent-memory/<name>` in the user's first directory (`~/.windlass`) |
    /// | project | `.windlass/agent-memory/<name>`, or `.claude/agent-memory/<name>` if that is there, in the root of the project |
    /// | local | the same with `agent-memory-local` |
    ///
    /// A memory of a project must lie in the project, with links followed.
    #[must_use]
    pub fn of_agent(places: &Places, scope: MemoryScope, name: &str) -> Option<Self> {
        let folder = folder_of(name);
        let inner = match scope {
            MemoryScope::User => return Some(Self::at(places.user.first()?.join(SHARED_FOLDER).join(folder))),
            MemoryScope::Local => LOCAL_FOLDER,
            _ => SHARED_FOLDER,
        };
        let root = places.project.first()?;
        let candidates: Vec<PathBuf> = FOLDERS.iter().map(|own| root.join(own).join(inner).join(&folder)).collect();
        let found = candidates.iter().find(|path| path.symlink_metadata().is_ok()).or(candidates.first())?;
        let directory = Self::at(found).within(root);
        Some(if scope == MemoryScope::Project { directory.shared() } else { directory })
    }
}

/// Returns the folder name of an agent: the agent's name if it is a valid one, else a part of it with a hash of all.
fn folder_of(name: &str) -> String {
    if name.parse::<MemoryName>().is_ok() {
        return name.to_owned();
    }
    let plain = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' });
    let plain: String = plain.take(MAX_NAME_CHARS).collect();
    let hash = blake3::hash(name.as_bytes()).to_hex();
    format!("{}-{}", plain.trim_matches('-'), hash.get(..8).unwrap_or_default()).trim_start_matches('-').to_owned()
}
