//! Directories of instruction files.

use super::read::Files;
use crate::places::{FOLDERS, Places};
use crate::sources::{Layer, SettingSources};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use windlass_context::InstructionSource;

/// The names of instruction files.
const NAMES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];
/// Name of the user's own instruction file in a project.
const LOCAL: &str = "CLAUDE.local.md";
/// The folder of rules.
const RULES: &str = "rules";
/// Maximum number of a project's folders that are read.
const MAX_FOLDERS: usize = 4_096;

/// A file that may be there.
#[derive(Debug)]
pub(super) struct Candidate {
    pub(super) path: PathBuf,
    /// The folder of the workspace that it must lie in; `None` for a file of this machine.
    pub(super) within: Option<PathBuf>,
    pub(super) source: InstructionSource,
    /// Name of the file in the importing file.
    pub(super) name: Option<String>,
    /// For a rule: the folder that its patterns begin in.
    pub(super) rules_of: Option<PathBuf>,
}

/// The folders of a project.
#[derive(Debug)]
pub(super) struct Layout {
    /// The uppermost folder, which contains all files of the project.
    root: PathBuf,
    /// Folders from the root to the start.
    chain: Vec<PathBuf>,
}

impl Layout {
    /// Returns the directories from the root of the repository to the start. Without a repository: from below the
    /// user's home, if the start is there.
    pub(super) async fn of(places: &Places, files: &Files) -> Self {
        let start = places.start().to_path_buf();
        let mut chain = places.project.clone();
        if let ([only], Some(home)) = (chain.as_slice(), &places.user_home)
            && !files.is_there(&only.join(".git")).await
        {
            let above = only.ancestors().skip(1).take_while(|folder| *folder != home && folder.starts_with(home));
            let above: Vec<PathBuf> = above.map(Path::to_path_buf).collect();
            chain.splice(0..0, above.into_iter().rev());
        }
        let root = chain.first().cloned().unwrap_or(start);
        Self { root, chain }
    }

    /// Returns these directories, from the uppermost to the start.
    pub(super) fn given(chain: Vec<PathBuf>) -> Self {
        Self { root: chain.first().cloned().unwrap_or_default(), chain }
    }

    /// Returns the files that a session begins with.
    pub(super) async fn first(&self, places: &Places, sources: SettingSources, files: &Files) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        let of_machine = |path: PathBuf, source| Candidate { path, within: None, source, name: None, rules_of: None };
        for folder in places.managed.iter().rev().filter_map(|file| file.parent()) {
            candidates.extend(NAMES.map(|name| of_machine(folder.join(name), InstructionSource::Managed)));
        }
        if sources.contains(Layer::User) {
            for folder in places.user.iter().rev() {
                candidates.extend(NAMES.map(|name| of_machine(folder.join(name), InstructionSource::User)));
                candidates.extend(files.rules_of_machine(&folder.join(RULES)).into_iter().map(|path| Candidate {
                    rules_of: Some(self.root.clone()),
                    ..of_machine(path, InstructionSource::User)
                }));
            }
        }
        for folder in &self.chain {
            candidates.extend(of_folder(folder, &self.root, sources, files).await);
        }
        candidates
    }

    /// Returns the uppermost folder.
    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Returns `true` if the files of a folder are among the first ones.
    pub(super) fn holds(&self, folder: &Path) -> bool {
        self.chain.iter().any(|known| known == folder)
    }

    /// Returns the folders of the project at and above these that were not read yet, the upper ones first.
    pub(super) fn unvisited<'a>(
        &self,
        folders: impl IntoIterator<Item = &'a Path>,
        visited: &mut BTreeSet<PathBuf>,
    ) -> Vec<PathBuf> {
        let mut found = BTreeSet::new();
        for folder in folders.into_iter().filter(|folder| folder.starts_with(&self.root)) {
            for folder in folder.ancestors().take_while(|folder| *folder != self.root) {
                if visited.len() < MAX_FOLDERS
                    && !self.chain.iter().any(|known| known == folder)
                    && visited.insert(folder.to_path_buf())
                {
                    found.insert(folder.to_path_buf());
                }
            }
        }
        found.into_iter().collect()
    }
}

/// Returns the files of one folder of the project with this root.
pub(super) async fn of_folder(folder: &Path, root: &Path, sources: SettingSources, files: &Files) -> Vec<Candidate> {
    let of_project = |path: PathBuf, source| Candidate {
        path,
        within: Some(root.to_path_buf()),
        source,
        name: None,
        rules_of: None,
    };
    let mut candidates = Vec::new();
    if sources.contains(Layer::Project) {
        // Most folders have none of them, and then their files need not be looked up.
        let mut inner = Vec::new();
        for name in FOLDERS.iter().rev() {
            let path = folder.join(name);
            if files.may_be_there(&path).await {
                inner.push(path);
            }
        }
        let instruction_paths = NAMES.map(|name| folder.join(name)).into_iter();
        let instruction_paths =
            instruction_paths.chain(inner.iter().flat_map(|inner| NAMES.map(|name| inner.join(name))));
        candidates.extend(instruction_paths.map(|path| of_project(path, InstructionSource::Project)));
        for inner in inner {
            let rules = files.rules_of_workspace(&inner.join(RULES), root).await;
            candidates.extend(rules.into_iter().map(|path| Candidate {
                rules_of: Some(folder.to_path_buf()),
                ..of_project(path, InstructionSource::Project)
            }));
        }
    }
    if sources.contains(Layer::Local) {
        candidates.push(of_project(folder.join(LOCAL), InstructionSource::Local));
    }
    candidates
}
