//! Directories of agents' memories.

use super::{MemoryDirectory, MemoryName};
use crate::places::{FOLDERS, Places};
use std::path::PathBuf;
use windlass_subagent::MemoryScope;

/// The folders of notes: in the user's directory and in the project, for all and for the user alone.
const SHARED: &str = "agent-memory";
const LOCAL: &str = "agent-memory-local";
/// Maximum number of characters of a name that is not used as it is.
const MOST_NAME: usize = 40;

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
            MemoryScope::User => return Some(Self::at(places.user.first()?.join(SHARED).join(folder))),
            MemoryScope::Local => LOCAL,
            _ => SHARED,
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
    let plain: String = plain.take(MOST_NAME).collect();
    let hash = blake3::hash(name.as_bytes()).to_hex();
    format!("{}-{}", plain.trim_matches('-'), hash.get(..8).unwrap_or_default()).trim_start_matches('-').to_owned()
}
