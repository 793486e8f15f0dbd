//! MCP servers that the user adds to files and takes out of them.

use super::{KeepError, SettingsUpdates};
use crate::edit::with_member;
use crate::file::{OldText, ReadError};
use crate::object::Object;
use crate::records::MOST_RECORD;
use crate::servers::{ServerDefinition, ServerScope, entries};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use windlass_types::JsonText;

/// Name of the member with the servers.
const SERVERS: &str = "mcpServers";

impl SettingsUpdates {
    /// Returns the file with the servers of a scope: `.mcp.json` of the start directory for a
    /// [project](ServerScope::Project), the user's `.claude.json` for the [user](ServerScope::User) and
    /// [local](ServerScope::Local) ones. `None` for other scopes, and if the user has no place for one.
    #[must_use]
    pub fn server_file(&self, scope: ServerScope) -> Option<PathBuf> {
        match scope {
            ServerScope::Project => Some(self.places.start().join(entries::FILE)),
            ServerScope::User | ServerScope::Local => self.places.claude_json.first().cloned(),
            _ => None,
        }
    }

    /// Returns the servers that the file of a scope defines for this place, sorted by name, in use or not.
    ///
    /// # Errors
    /// The file cannot be read, or its content is of another kind.
    pub fn servers_of(&self, scope: ServerScope) -> Result<Vec<ServerDefinition>, KeepError> {
        let Some(file) = self.server_file(scope) else { return Ok(Vec::new()) };
        let text = read(&file)?.map(|old| old.text).unwrap_or_default();
        let found = self.defined(&file, scope, &text)?.into_iter();
        Ok(found.map(|(name, config)| ServerDefinition::new(name, scope, &file, config)).collect())
    }

    /// Adds a server to the file of a scope, or replaces the one of this name there; `None` removes it. `config` is the
    /// server's entry, which may be unusable. The rest of the file stays as it is written, and the file is replaced
    /// whole. Returns the file, or `None` if the scope has none.
    ///
    /// A change of a project's file gives no trust: the server starts once the user has trusted it.
    ///
    /// # Errors
    /// The file is a link of the project, its content is of another kind, or it cannot be read or written. It is
    /// unchanged then.
    pub fn set_server(
        &self,
        scope: ServerScope,
        name: &str,
        config: Option<&JsonText>,
    ) -> Result<Option<PathBuf>, KeepError> {
        let Some(file) = self.server_file(scope) else { return Ok(None) };
        let is_of_user = scope != ServerScope::Project;
        let _locked = self.lock()?;
        self.change_text(&file, is_of_user, read, |text| {
            let text = text.unwrap_or_default();
            // The old content must be readable as servers, or the change could hide them.
            self.defined(&file, scope, text)?;
            let members = self.members(scope, text, name);
            let entry = config.map(|config| format_entry(config, members.len()));
            with_member(text, &members, entry.as_deref()).map_err(|problem| malformed(&file, problem.to_string()))
        })?;
        Ok(Some(file))
    }

    /// Returns the members from the root of a file to the entry of a server.
    fn members(&self, scope: ServerScope, text: &str, name: &str) -> Vec<String> {
        let path = match scope {
            ServerScope::Local => vec!["projects".to_owned(), self.project_key(text), SERVERS.to_owned()],
            // The servers may stand at the top of a project's file; beside `mcpServers` they would not be seen.
            ServerScope::Project if is_bare(text) => Vec::new(),
            _ => vec![SERVERS.to_owned()],
        };
        path.into_iter().chain([name.to_owned()]).collect()
    }

    /// Returns the key of the project in `projects`: the directory nearest to the start that has servers there, else
    /// the start.
    fn project_key(&self, text: &str) -> String {
        let known: BTreeMap<String, BTreeMap<String, JsonText>> = member(text, "projects").unwrap_or_default();
        let keys = self.places.project.iter().rev().map(|directory| directory.to_string_lossy().into_owned());
        let found = keys.clone().find(|key| known.get(key).is_some_and(|project| project.contains_key(SERVERS)));
        found.unwrap_or_else(|| self.places.start().to_string_lossy().into_owned())
    }

    /// Returns the entries of a scope in the text of its file.
    fn defined(&self, file: &Path, scope: ServerScope, text: &str) -> Result<BTreeMap<String, JsonText>, KeepError> {
        let unusable = |problem: String| malformed(file, problem);
        if text.trim().is_empty() {
            return Ok(BTreeMap::new());
        }
        match scope {
            ServerScope::Project => entries::entries(text).map_err(unusable),
            ServerScope::Local => {
                let projects: BTreeMap<String, JsonText> = member(text, "projects").map_err(unusable)?;
                let Some(project) = projects.get(&self.project_key(text)) else { return Ok(BTreeMap::new()) };
                member(project.as_str(), SERVERS).map_err(unusable)
            }
            _ => member(text, SERVERS).map_err(unusable),
        }
    }
}

/// Returns `true` if the servers of a project's file stand at its top level.
fn is_bare(text: &str) -> bool {
    let fields = serde_json::from_str::<BTreeMap<String, JsonText>>(text).unwrap_or_default();
    !fields.is_empty() && !fields.contains_key(SERVERS)
}

/// Returns a member of a JSON object; absent and `null` give its default.
fn member<T: serde::de::DeserializeOwned + Default>(text: &str, name: &str) -> Result<T, String> {
    let fields: BTreeMap<String, JsonText> = serde_json::from_str(text).map_err(|error| error.to_string())?;
    let found = fields.get(name).map(JsonText::to::<Option<T>>).transpose();
    Ok(found.map_err(|error| format!("`{name}`: {error}"))?.flatten().unwrap_or_default())
}

/// Returns an entry as people write it: one member a line.
fn format_entry(config: &JsonText, depth: usize) -> String {
    serde_json::from_str::<Object>(config.as_str())
        .map_or_else(|_| config.as_str().to_owned(), |entry| entry.text(depth))
}

fn read(file: &Path) -> Result<Option<OldText>, KeepError> {
    OldText::read(file, MOST_RECORD).map_err(|error| match error {
        ReadError::TooBig => malformed(file, format!("it is larger than {MOST_RECORD} bytes")),
        ReadError::Io(error) => malformed(file, error.to_string()),
    })
}

fn malformed(file: &Path, problem: String) -> KeepError {
    KeepError::Servers { path: file.to_path_buf(), problem }
}

#[cfg(test)]
mod tests;
