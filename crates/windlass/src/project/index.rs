//! Index of a project in its sessions.

use super::LoadedProject;
use crate::first_call::AfterFirstCall;
use crate::home::Home;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};
use windlass_context::FileInstructions;
use windlass_index::{IndexConfig, ProjectIndex};
use windlass_model::ModelProvider;
use windlass_permission::Policy;

/// Folders of a home that only windlass writes: sessions, and caches.
const OWN: [&str; 2] = ["projects", "cache"];

/// Index of a session. Nothing is read for it until the session begins.
#[derive(Clone)]
pub(crate) struct SessionIndex {
    pub(crate) index: Arc<ProjectIndex>,
    policy: Arc<OnceLock<Policy>>,
}

impl LoadedProject {
    /// `true` if there is to be an index: the files of the project are read, and no file disables it.
    pub(crate) fn has_index(&self) -> bool {
        let reads_project = self.read.settings.sources.contains(windlass_project::Layer::Project);
        reads_project && !self.choice.without.index && self.resolved().index_off.is_none()
    }

    /// Index of the project for a session with these rights; `None` if it is disabled. It covers the start directory of
    /// the session, and is stored in windlass's home, if there is one.
    pub fn index(&self, policy: Policy) -> Option<ProjectIndex> {
        let own_folders = self.own_folders(None);
        let may_read = move |path: &Path| !is_in(path, &own_folders) && policy.may_read(path, path);
        self.has_index().then(|| ProjectIndex::new(self.index_config(true).may_read(may_read)))
    }

    /// Configuration of the index. `is_kept`: it may be written to disk.
    fn index_config(&self, is_kept: bool) -> IndexConfig {
        let config = IndexConfig::new(self.places().start());
        match self.places().user.first().filter(|_| is_kept) {
            Some(home) => config.cached_in(home.join("cache").join("index")),
            None => config,
        }
    }

    /// Folders below the start in which windlass stores sessions and caches. They are no part of the project, and each
    /// run adds to them.
    fn own_folders(&self, home: Option<&Home>) -> Vec<PathBuf> {
        let homes = self.places().user.first().map(PathBuf::as_path).into_iter().chain(home.map(Home::root));
        let mut own: Vec<PathBuf> = homes.flat_map(|home| OWN.map(|name| home.join(name))).collect();
        let start = self.places().start();
        own.retain(|own| own.starts_with(start) && own != start);
        own
    }
}

fn is_in(path: &Path, folders: &[PathBuf]) -> bool {
    folders.iter().any(|folder| path.starts_with(folder))
}

impl SessionIndex {
    /// Index of a session whose rights are settled when it begins. A session without a home leaves nothing on disk.
    pub(crate) fn new(project: &LoadedProject, home: Option<&Home>) -> Self {
        let policy: Arc<OnceLock<Policy>> = Arc::default();
        let judge = Arc::clone(&policy);
        let own_folders = project.own_folders(home);
        let may_read = move |path: &Path| {
            !is_in(path, &own_folders) && judge.get().is_some_and(|policy| policy.may_read(path, path))
        };
        let index = Arc::new(ProjectIndex::new(project.index_config(home.is_some()).may_read(may_read)));
        Self { index, policy }
    }

    /// Overview of the project that the model reads after the first prompt.
    pub(crate) async fn begin(&self, policy: &Policy) -> Option<FileInstructions> {
        // A session begins once; its rights to read do not become wider for the index.
        let _first = self.policy.set(policy.clone());
        let index = Arc::clone(&self.index);
        tokio::task::spawn_blocking(move || index.for_model()).await.ok().flatten()
    }

    /// A provider that starts the refresh of the index in the background after its first answer, until the session
    /// ends.
    pub(crate) fn refreshed_after(&self, provider: Arc<dyn ModelProvider>) -> Arc<dyn ModelProvider> {
        let index = Arc::clone(&self.index);
        Arc::new(AfterFirstCall::new(provider, move || index.refresh_in_background()))
    }
}
