//! Test project, and the small test server.

use std::path::{Path, PathBuf};
use std::time::Duration;

use windlass_lsp::{CodeAnswer, CodeOperation, CodeQuery, LanguageServers, ServerConfig, ServerSurroundings};

/// Project with a file for the marks of the server.
pub(crate) struct Project {
    folder: tempfile::TempDir,
}

impl Project {
    pub(crate) fn new(files: &[(&str, &str)]) -> Self {
        let project = Self { folder: tempfile::tempdir().unwrap() };
        std::fs::create_dir(project.root()).unwrap();
        files.iter().for_each(|(name, text)| drop(project.write(name, text)));
        project
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("work")
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        let path = self.root().join(name);
        std::fs::write(&path, text).unwrap();
        path
    }

    /// Returns the marks of the server, line by line.
    pub(crate) fn marks(&self) -> Vec<String> {
        let marks = std::fs::read_to_string(self.folder.path().join("marks")).unwrap_or_default();
        marks.lines().map(str::to_owned).collect()
    }

    pub(crate) fn count(&self, mark: &str) -> usize {
        self.marks().iter().filter(|line| line.starts_with(mark)).count()
    }

    /// Returns the configuration of the server in this mode.
    pub(crate) fn config(&self, mode: &str) -> ServerConfig {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/server.py");
        let mut config = ServerConfig::new("toy", "python3", [("toy", "toy")]).with_args([script.to_str().unwrap()]);
        config.env.insert("MODE".to_owned(), mode.to_owned());
        config.env.insert("MARKS".to_owned(), self.folder.path().join("marks").to_str().unwrap().to_owned());
        config.startup_timeout = Duration::from_secs(60);
        config
    }

    pub(crate) fn servers(&self, mode: &str) -> LanguageServers {
        self.servers_of(self.config(mode))
    }

    pub(crate) fn servers_of(&self, config: ServerConfig) -> LanguageServers {
        let env: Vec<_> = std::env::vars_os().filter(|(name, _)| name == "PATH" || name == "HOME").collect();
        LanguageServers::new([config], ServerSurroundings::new(self.root(), env))
    }
}

/// Returns a question about a place in a file.
pub(crate) fn at(operation: CodeOperation, path: &Path, line: u32, character: u32) -> CodeQuery {
    CodeQuery::new(operation).in_file(path).at(line, character)
}

/// Returns the places of an answer: line, character, name.
pub(crate) fn places(answer: CodeAnswer) -> Vec<(u32, u32, String)> {
    let CodeAnswer::Places(places) = answer else { panic!("{answer:?}") };
    places.into_iter().map(|place| (place.line, place.character, place.name.unwrap_or_default())).collect()
}
