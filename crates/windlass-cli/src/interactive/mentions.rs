//! Candidates for mentions (`@file`).

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use windlass::project::{LoadedProject, ProjectIndex};
use windlass::{coding_tools, session};
use windlass_terminal::completion::CompletionCandidate;

/// Maximum number of files that the index is asked for.
const MOST_FOUND: usize = 50;
/// Maximum number of offered entries of a directory.
const MOST_ENTRIES: usize = 500;

/// Source of the files that a prompt may mention. Files that rules forbid to read are left out.
#[derive(Debug, Clone)]
pub(super) struct MentionSource {
    cwd: PathBuf,
    project: LoadedProject,
    /// Index of the project, made for the first mention.
    index: Arc<OnceLock<Option<ProjectIndex>>>,
}

impl MentionSource {
    pub(super) fn of(project: &LoadedProject, cwd: &Path) -> Self {
        Self { cwd: cwd.to_path_buf(), project: project.clone(), index: Arc::default() }
    }

    fn index(&self) -> Option<&ProjectIndex> {
        let make = || {
            let builder = session().tools(coding_tools(&self.cwd)).project(self.project.clone()).resolve().ok()?;
            self.project.index(builder.policy().ok()?)
        };
        self.index.get_or_init(make).as_ref()
    }

    /// Returns candidates for a query. Blocks while the disk is read.
    pub(super) fn find(&self, query: &str) -> Vec<CompletionCandidate> {
        let (folder, name) = query.rsplit_once('/').unwrap_or(("", query));
        let mut found = self.entries(folder);
        if let Some(index) = self.index().filter(|_| !name.is_empty())
            && let Ok(hits) = index.search(query, MOST_FOUND, &|| false)
        {
            found.extend(hits.hits.iter().map(|hit| CompletionCandidate::file(&hit.path)));
        }
        found.dedup_by(|second, first| second.name == first.name);
        found
    }

    /// Returns the entries of a folder of the project. The ranking includes hidden ones if the query names them.
    fn entries(&self, folder: &str) -> Vec<CompletionCandidate> {
        let escapes = Path::new(folder).components().any(|part| matches!(part, std::path::Component::ParentDir));
        if escapes || folder.starts_with(['/', '~']) {
            return Vec::new();
        }
        let Ok(entries) = std::fs::read_dir(self.cwd.join(folder)) else { return Vec::new() };
        let mut all: Vec<CompletionCandidate> = entries
            .filter_map(Result::ok)
            .filter(|entry| entry.file_name() != ".git")
            .take(MOST_ENTRIES)
            .map(|entry| {
                let name = entry.file_name().to_string_lossy().into_owned();
                let path = if folder.is_empty() { name } else { format!("{folder}/{name}") };
                if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                    CompletionCandidate::directory(&path)
                } else {
                    CompletionCandidate::file(&path)
                }
            })
            .collect();
        all.sort_by(|a, b| a.name.cmp(&b.name));
        all
    }
}
