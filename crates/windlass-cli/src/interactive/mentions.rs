//! Candidates for mentions: files (`@file`), agents (`@agent-name`) and resources of MCP servers (`@server:uri`).

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use windlass::mcp::McpServers;
use windlass::mcp::{McpResource, McpResourceAddress};
use windlass::project::{LoadedProject, ProjectIndex};
use windlass::{coding_tools, session};
use windlass_terminal::completion::CompletionCandidate;

/// Maximum number of files that the index is asked for.
const MOST_FOUND: usize = 50;
/// Longest wait for a server to list its resources.
const PATIENCE: Duration = Duration::from_millis(500);
/// Maximum number of offered entries of a directory.
const MOST_ENTRIES: usize = 500;

/// Source of the files that a prompt may mention. Files that rules forbid to read are left out.
#[derive(Debug, Clone)]
pub(super) struct MentionSource {
    cwd: PathBuf,
    project: LoadedProject,
    servers: Option<McpServers>,
    /// Index of the project, made for the first mention.
    index: Arc<OnceLock<Option<ProjectIndex>>>,
}

impl MentionSource {
    pub(super) fn of(project: LoadedProject, servers: Option<McpServers>, cwd: &Path) -> Self {
        Self { cwd: cwd.to_path_buf(), project, servers, index: Arc::default() }
    }

    fn index(&self) -> Option<&ProjectIndex> {
        let make = || {
            let builder = session().tools(coding_tools(&self.cwd)).project(self.project.clone()).resolve().ok()?;
            self.project.index(builder.options().policy().ok()?)
        };
        self.index.get_or_init(make).as_ref()
    }

    /// Returns agents, and resources of servers that answer soon.
    pub(super) async fn others(&self) -> Vec<CompletionCandidate> {
        let agents = self.project.known_agents();
        let agent = |name: &str, description: &str| CompletionCandidate::agent(name, description);
        let agents = agents.agents.iter().map(|found| agent(&found.definition.name, &found.definition.description));
        let mut found: Vec<CompletionCandidate> = agents.collect();
        for (server, name) in
            self.servers.iter().flat_map(|all| all.servers_with_resources().into_iter().map(move |name| (all, name)))
        {
            let listed = tokio::time::timeout(PATIENCE, server.resources(&name)).await;
            let resources = listed.ok().and_then(Result::ok).unwrap_or_default();
            let candidate = |resource: &McpResource| {
                // A template has no address to mention.
                let McpResourceAddress::Uri(uri) = &resource.address else { return None };
                let title = resource.title.as_deref().unwrap_or(&resource.name);
                Some(CompletionCandidate::resource(&name, uri, title))
            };
            found.extend(resources.iter().filter_map(candidate).take(MOST_FOUND));
        }
        found
    }

    /// Returns files for a query. Blocks while the disk is read.
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
