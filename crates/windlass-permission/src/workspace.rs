//! The workspace of a policy.

use crate::config::PolicyConfig;
use crate::glob::{Glob, Reach, escape};
use crate::matcher::Directory;
use crate::path::{Links, Subject, forms, normalize};
use std::path::{Path, PathBuf};

/// The directories of the workspace, and the places around it that matter.
#[derive(Debug, Clone)]
pub(crate) struct Workspace {
    /// The start directory first.
    directories: Vec<PathBuf>,
    /// The same, ready for comparison.
    ready: Vec<Directory>,
    home: Option<PathBuf>,
    /// Directories that are links, and where they lead.
    links: Vec<(PathBuf, PathBuf)>,
    /// Paths protected besides the names that are protected everywhere.
    protected: Vec<Directory>,
    /// Patterns among them, from the root.
    protected_patterns: Vec<Glob>,
    /// Further file names of the command of windlass.
    own_commands: Vec<String>,
}

impl Workspace {
    pub(crate) fn new(config: PolicyConfig) -> Self {
        let mut workspace = Self {
            directories: Vec::new(),
            ready: Vec::new(),
            home: config.home,
            links: config.links.into_iter().filter(|(from, to)| from != to).collect(),
            protected: config.protected_paths.iter().map(|path| Directory::new(path)).collect(),
            protected_patterns: config.protected_paths.iter().flat_map(|path| protected_pattern(path)).collect(),
            own_commands: config.own_commands,
        };
        workspace.add(&config.start_directory);
        for directory in &config.additional_directories {
            workspace.add(directory);
        }
        workspace
    }

    pub(crate) fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    pub(crate) fn ready(&self) -> &[Directory] {
        &self.ready
    }

    pub(crate) fn home(&self) -> Option<&Path> {
        self.home.as_deref()
    }

    pub(crate) fn links(&self) -> &Links {
        &self.links
    }

    /// Returns `true` if a path is protected, besides the names that are protected everywhere.
    pub(crate) fn is_protected(&self, subject: &Subject) -> bool {
        let matches = |pattern: &Glob| subject.spellings().iter().any(|names| pattern.reach(names) == Reach::Covers);
        self.protected.iter().any(|directory| directory.holds(subject)) || self.protected_patterns.iter().any(matches)
    }

    pub(crate) fn own_commands(&self) -> &[String] {
        &self.own_commands
    }

    /// Returns the directory that the session started in.
    pub(crate) fn start(&self) -> &Path {
        self.directories.first().map_or(Path::new("/"), PathBuf::as_path)
    }

    /// Returns the directories and the home.
    pub(crate) fn roots(&self) -> impl Iterator<Item = &Path> + Clone {
        self.directories.iter().map(PathBuf::as_path).chain(self.home())
    }

    /// Returns a path, relative to the start directory or absolute, in every form that the links give it.
    pub(crate) fn forms(&self, path: &Path) -> Vec<Subject> {
        forms(&normalize(self.start(), path), &self.links)
    }

    pub(crate) fn add(&mut self, directory: &Path) {
        let directory = normalize(Path::new("/"), directory);
        if !self.directories.contains(&directory) {
            self.ready.push(Directory::new(&directory));
            self.directories.push(directory);
        }
    }

    /// Removes a directory; the start directory stays.
    pub(crate) fn remove(&mut self, directory: &Path) {
        let directory = normalize(Path::new("/"), directory);
        let start = self.start().to_path_buf();
        self.directories.retain(|known| *known == start || *known != directory);
        self.ready = self.directories.iter().map(|directory| Directory::new(directory)).collect();
    }
}

/// Returns the pattern in the last name of a protected path, with its directory.
fn protected_pattern(path: &Path) -> Vec<Glob> {
    let names = (path.file_name().and_then(|name| name.to_str()), path.parent().and_then(Path::to_str));
    let (Some(name), Some(directory)) = names else { return Vec::new() };
    let (directory, deep) = directory.strip_suffix("/**").map_or((directory, ""), |above| (above, "/**"));
    if deep.is_empty() && !name.contains(['*', '?', '[']) {
        return Vec::new();
    }
    Glob::parse(&format!("{}{deep}/{name}", escape(directory.trim_start_matches('/'))), true).unwrap_or_default()
}
