//! Sessions, notes, histories and keys of a home, which no program of a project needs.

use super::site::Site;
use std::path::{Path, PathBuf};
use windlass_session::ProjectKey;

/// Folder of the sessions of all projects, in a home.
const PROJECTS: &str = "projects";

/// Maximum number of projects that are hidden one by one. Beyond it all are hidden, including this one.
const MAX_PROJECTS: usize = 512;

/// Places in a home that hold words of all projects, and keys: prompts, copies of files, the index of sessions, logins.
const SHARED_PLACES: &[&str] = &[
    "credentials",
    "file-history",
    "history.jsonl",
    "mcp-logins",
    "paste-cache",
    "sessions.sqlite3",
    "sessions.sqlite3-journal",
    "sessions.sqlite3-shm",
    "sessions.sqlite3-wal",
    "shell-snapshots",
    "todos",
];

/// The places of other projects that are there.
pub(super) fn places(site: &Site) -> Vec<PathBuf> {
    let own = own_keys(site);
    site.session_homes.iter().flat_map(|home| of_home(home, &own)).collect()
}

fn of_home(home: &Path, own: &[ProjectKey]) -> Vec<PathBuf> {
    let mut hidden: Vec<PathBuf> = SHARED_PLACES.iter().map(|name| home.join(name)).collect();
    let projects = home.join(PROJECTS);
    let is_own = |folder: &Path| {
        let name = folder.file_name().and_then(|name| name.to_str());
        name.is_some_and(|name| own.iter().any(|key| key.matches(name)))
    };
    let Ok(entries) = projects.read_dir() else { return hidden };
    let others: Vec<PathBuf> =
        entries.flatten().map(|entry| entry.path()).filter(|path| !is_own(path)).take(MAX_PROJECTS + 1).collect();
    if others.len() > MAX_PROJECTS {
        hidden.push(projects);
    } else {
        hidden.extend(others);
    }
    hidden
}

/// The keys of the directories of the workspace, and of the repositories around them.
fn own_keys(site: &Site) -> Vec<ProjectKey> {
    let around = |directory: &PathBuf| {
        let repository = directory.ancestors().find(|above| above.join(".git").exists()).map(Path::to_path_buf);
        [Some(directory.clone()), directory.canonicalize().ok(), repository]
    };
    site.directories.iter().flat_map(around).flatten().map(|directory| ProjectKey::of(&directory)).collect()
}
