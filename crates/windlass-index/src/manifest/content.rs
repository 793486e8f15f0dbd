//! Content of a manifest.

use serde::{Deserialize, Serialize};

/// Program that a manifest is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum ManifestKind {
    /// `Cargo.toml`.
    Cargo,
    /// `package.json`.
    Npm,
    /// `pyproject.toml`, `setup.cfg`, `requirements.txt`.
    Python,
    /// `go.mod`.
    Go,
    /// `pom.xml`.
    Maven,
    /// `build.gradle`, `build.gradle.kts`, and the settings beside them.
    Gradle,
    /// `CMakeLists.txt`.
    CMake,
    /// `*.csproj`, `*.fsproj`, `*.vbproj`.
    Dotnet,
    /// `composer.json`.
    Composer,
    /// `Gemfile`.
    Ruby,
    /// `Makefile`.
    Make,
    /// `justfile`.
    Just,
}

/// Purpose of a project's command.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Purpose {
    /// Runs tests.
    Test,
    /// Builds.
    Build,
    /// Checks types or style.
    Lint,
    /// Formats sources.
    Format,
    /// Starts the program.
    Run,
}

/// Content of one manifest.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Manifest {
    /// Name of the package.
    pub(crate) name: Option<String>,
    pub(crate) dependencies: Vec<Dependency>,
    pub(crate) commands: Vec<Stated>,
    /// Entry points, relative to the folder of the manifest.
    pub(crate) entry_points: Vec<String>,
}

/// A dependency.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Dependency {
    pub(crate) name: String,
    /// Path of the dependency relative to the folder of the manifest, if it is in this repository.
    pub(crate) folder: Option<String>,
}

/// A command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Stated {
    pub(crate) purpose: Purpose,
    pub(crate) command: String,
    /// `true` if the manifest states the command; else it is usual for such a manifest.
    pub(crate) is_stated: bool,
}

/// Maximum number of dependencies, commands and entry points of one manifest.
pub(super) const MAX_ENTRIES: usize = 400;

impl ManifestKind {
    /// Kind of a file of this name.
    pub(crate) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "Cargo.toml" => Self::Cargo,
            "package.json" => Self::Npm,
            "pyproject.toml" | "setup.cfg" | "requirements.txt" => Self::Python,
            "go.mod" => Self::Go,
            "pom.xml" => Self::Maven,
            "build.gradle" | "build.gradle.kts" | "settings.gradle" | "settings.gradle.kts" => Self::Gradle,
            "CMakeLists.txt" => Self::CMake,
            "composer.json" => Self::Composer,
            "Gemfile" => Self::Ruby,
            "Makefile" | "makefile" | "GNUmakefile" => Self::Make,
            "justfile" | "Justfile" | ".justfile" => Self::Just,
            _ => match name.rsplit_once('.')? {
                (_, "csproj" | "fsproj" | "vbproj") => Self::Dotnet,
                _ => return None,
            },
        })
    }

    /// Name of the kind in lists.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Cargo => "Cargo",
            Self::Npm => "npm",
            Self::Python => "Python",
            Self::Go => "Go",
            Self::Maven => "Maven",
            Self::Gradle => "Gradle",
            Self::CMake => "CMake",
            Self::Dotnet => ".NET",
            Self::Composer => "Composer",
            Self::Ruby => "Ruby",
            Self::Make => "Make",
            Self::Just => "just",
        }
    }
}

impl Purpose {
    /// Name of the purpose in lists.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Test => "test",
            Self::Build => "build",
            Self::Lint => "lint",
            Self::Format => "format",
            Self::Run => "run",
        }
    }

    /// Purpose of a script or target of this name.
    pub(super) fn of(name: &str) -> Option<Self> {
        let first = name.split([':', '-', '_']).next().unwrap_or_default();
        Some(match first {
            "test" | "tests" => Self::Test,
            "lint" | "typecheck" | "clippy" | "vet" => Self::Lint,
            "fmt" | "format" => Self::Format,
            // `build:docs` and `start-db` do not build or start the whole project.
            _ if name != first => return None,
            "check" => Self::Lint,
            "build" | "compile" => Self::Build,
            "start" | "dev" | "run" | "serve" => Self::Run,
            _ => return None,
        })
    }
}

impl Manifest {
    pub(super) fn named(name: Option<String>) -> Self {
        Self { name, ..Self::default() }
    }

    pub(super) fn add_dependency(&mut self, name: impl Into<String>, folder: Option<String>) {
        let name = name.into();
        if self.dependencies.len() < MAX_ENTRIES && !self.dependencies.iter().any(|known| known.name == name) {
            self.dependencies.push(Dependency { name, folder });
        }
    }

    pub(super) fn states(&mut self, purpose: Purpose, command: impl Into<String>) {
        self.commands.push(Stated { purpose, command: command.into(), is_stated: true });
    }

    pub(super) fn usually(&mut self, purpose: Purpose, command: &str) {
        self.commands.push(Stated { purpose, command: command.to_owned(), is_stated: false });
    }
}

/// `true` if a script or target with this character in its name is shown as a command. Other characters have a meaning
/// in shells.
pub(super) fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, ':' | '-' | '_' | '.')
}

/// Each text between two others.
pub(super) fn between<'a>(text: &'a str, open: &'a str, close: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(open).skip(1).filter_map(move |rest| rest.split_once(close).map(|(inside, _)| inside.trim()))
}
