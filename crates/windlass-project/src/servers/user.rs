//! The user's own servers, in the files of the other layout.

use super::definition::{ServerDefinition, ServerScope};
use crate::file::{ReadError, read_text};
use crate::note::{Notes, Origin};
use crate::places::Places;
use crate::records::MOST_RECORD;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use windlass_types::JsonText;

/// Parts of a `.claude.json` that are read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File {
    #[serde(default)]
    mcp_servers: Option<BTreeMap<String, JsonText>>,
    #[serde(default)]
    projects: Option<BTreeMap<PathBuf, JsonText>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Project {
    #[serde(default)]
    mcp_servers: Option<BTreeMap<String, JsonText>>,
    #[serde(default)]
    enabled_mcpjson_servers: Option<Vec<String>>,
    #[serde(default)]
    disabled_mcpjson_servers: Option<Vec<String>>,
}

/// Servers from the user's `.claude.json`, and the user's choice of the project's servers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct UserServers {
    /// Servers for all projects.
    pub(super) user: Vec<ServerDefinition>,
    /// Servers for this project, those of the nearest directory first.
    pub(super) local: Vec<ServerDefinition>,
    /// Servers of the project's `.mcp.json` that the user has enabled.
    pub(super) enabled: BTreeSet<String>,
    /// Servers of the project's `.mcp.json` that the user has disabled.
    pub(super) disabled: BTreeMap<String, Origin>,
}

impl UserServers {
    /// Reads a file; returns an empty value if the file is missing. Unreadable parts that concern a single directory
    /// are noted.
    ///
    /// # Errors
    /// The file cannot be used.
    pub(super) fn of_file(path: &Path, places: &Places, notes: &mut Notes) -> Result<Self, String> {
        let mut servers = Self::default();
        let text = read_text(path, MOST_RECORD).map_err(|error| match error {
            ReadError::TooBig => format!("it is larger than {MOST_RECORD} bytes"),
            ReadError::Io(error) => error.to_string(),
        })?;
        let Some(text) = text else { return Ok(servers) };
        let file: File = serde_json::from_str(&text).map_err(|error| error.to_string())?;
        let mut projects = file.projects.unwrap_or_default();
        for directory in places.project.iter().rev() {
            let Some(known) = projects.remove(directory) else { continue };
            match known.to::<Project>() {
                Ok(project) => servers.add_project(path, project),
                Err(problem) => notes.add(path, format!("its entry for {}: {problem}", directory.display())),
            }
        }
        servers.user.extend(definitions(path, ServerScope::User, file.mcp_servers));
        Ok(servers)
    }

    /// Adds the contents of a further file.
    pub(super) fn add(&mut self, file: &Self) {
        self.user.extend(file.user.iter().cloned());
        self.local.extend(file.local.iter().cloned());
        self.enabled.extend(file.enabled.iter().cloned());
        self.disabled.extend(file.disabled.iter().map(|(name, origin)| (name.clone(), origin.clone())));
    }

    fn add_project(&mut self, path: &Path, project: Project) {
        self.local.extend(definitions(path, ServerScope::Local, project.mcp_servers));
        self.enabled.extend(project.enabled_mcpjson_servers.unwrap_or_default());
        let disabled = project.disabled_mcpjson_servers.unwrap_or_default();
        self.disabled.extend(disabled.into_iter().map(|name| (name, Origin::file(path))));
    }
}

fn definitions(
    path: &Path,
    scope: ServerScope,
    entries: Option<BTreeMap<String, JsonText>>,
) -> impl Iterator<Item = ServerDefinition> {
    let entries = entries.unwrap_or_default().into_iter();
    entries.map(move |(name, config)| ServerDefinition::new(name, scope, path, config))
}
