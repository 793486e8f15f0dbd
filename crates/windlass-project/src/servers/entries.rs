//! The entries of files that define MCP servers.

use crate::file::{ReadError, read_text};
use crate::places::Places;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use windlass_types::JsonText;

/// The name of a project's file.
pub(crate) const FILE: &str = ".mcp.json";
/// Maximum number of bytes of the file.
const MAX_BYTES: u64 = 1024 * 1024;

/// Returns the servers of the project's files, with the file of each, including those not in use. An unusable file has
/// none.
pub(crate) fn server_entries(places: &Places) -> impl Iterator<Item = (PathBuf, String, JsonText)> {
    places.project.iter().flat_map(|directory| {
        let path = directory.join(FILE);
        let found = read_project(&path, directory).unwrap_or_default();
        found.into_iter().map(move |(name, config)| (path.clone(), name, config))
    })
}

/// Returns the entries of a project's file; none if it is not there.
pub(super) fn read_project(path: &Path, directory: &Path) -> Result<BTreeMap<String, JsonText>, String> {
    if let Ok(resolved) = path.canonicalize()
        && !resolved.starts_with(directory)
    {
        return Err("the file leads out of the project".to_owned());
    }
    let text = read_text(path, MAX_BYTES).map_err(|error| match error {
        ReadError::TooBig => format!("it is larger than {MAX_BYTES} bytes"),
        ReadError::Io(error) => error.to_string(),
    })?;
    text.map_or_else(|| Ok(BTreeMap::new()), |text| entries(&text))
}

/// Returns the servers of `{"mcpServers":{…}}`, or of the inner object alone.
pub(crate) fn entries(text: &str) -> Result<BTreeMap<String, JsonText>, String> {
    let json = JsonText::parse_strict(text).map_err(|error| error.to_string())?;
    let fields: BTreeMap<String, JsonText> = json.to().map_err(|error| error.to_string())?;
    match fields.get("mcpServers") {
        Some(inner) if inner.as_str() == "null" => Ok(BTreeMap::new()),
        Some(inner) => inner.to().map_err(|error| format!("`mcpServers`: {error}")),
        None => Ok(fields),
    }
}
