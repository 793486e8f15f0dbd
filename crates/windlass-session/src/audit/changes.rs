//! Files changed by a call, according to its result.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};
use windlass_types::JsonText;

/// A file changed by a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FileChanged {
    /// Path of the file, as the result names it.
    pub path: PathBuf,
    /// Number of added lines, if the result contains it.
    pub added: Option<u64>,
    /// Number of removed lines, if the result contains it.
    pub removed: Option<u64>,
}

impl FileChanged {
    /// `true` if this is the file at `path`: the same path, or one that ends with it, part by part.
    #[must_use]
    pub fn is_at(&self, path: &Path) -> bool {
        !path.as_os_str().is_empty() && self.path.ends_with(path)
    }
}

/// Tools whose successful calls always change the file in their input.
const EDITS: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];

/// Fields of a result about one file. Results of other tools have other fields.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    file_path: Option<PathBuf>,
    #[serde(borrow)]
    structured_patch: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ChangedFiles<'a> {
    #[serde(borrow)]
    files: Vec<File<'a>>,
}

#[derive(Deserialize)]
struct Hunk {
    lines: Vec<String>,
}

#[derive(Deserialize)]
struct Named {
    file_path: Option<PathBuf>,
    notebook_path: Option<PathBuf>,
}

/// Returns the files changed by a successful call.
pub(super) fn changed(tool: &str, input: Option<&JsonText>, structured: Option<&JsonText>) -> Vec<FileChanged> {
    let text = structured.map_or("null", JsonText::as_str);
    if let Ok(ChangedFiles { files }) = serde_json::from_str(text) {
        return files.iter().filter_map(File::changed).collect();
    }
    if let Some(change) = serde_json::from_str::<File<'_>>(text).ok().as_ref().and_then(File::changed) {
        return vec![change];
    }
    let named = input.filter(|_| EDITS.contains(&tool)).and_then(|input| input.to::<Named>().ok());
    let path = named.and_then(|named| named.file_path.or(named.notebook_path));
    path.into_iter().map(|path| FileChanged { path, added: None, removed: None }).collect()
}

impl File<'_> {
    /// Returns the change, if the result has a path and a patch.
    fn changed(&self) -> Option<FileChanged> {
        let path = self.file_path.clone()?;
        let hunks: Option<Vec<Hunk>> = serde_json::from_str(self.structured_patch?.get()).ok();
        let count = |sign| {
            let lines = hunks.as_ref()?.iter().flat_map(|hunk| &hunk.lines);
            u64::try_from(lines.filter(|line| line.starts_with(sign)).count()).ok()
        };
        Some(FileChanged { path, added: count('+'), removed: count('-') })
    }
}
