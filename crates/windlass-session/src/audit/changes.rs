//! The files that a result says its call has changed.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};
use windlass_types::JsonText;

/// A file that a call has changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct FileChanged {
    /// Its path, as the result names it.
    pub path: PathBuf,
    /// Lines that were added, if the result says so.
    pub added: Option<u64>,
    /// Lines that were removed, if the result says so.
    pub removed: Option<u64>,
}

impl FileChanged {
    /// Whether it is the file at a path: the same path, or one that ends with it, part by part.
    #[must_use]
    pub fn is_at(&self, path: &Path) -> bool {
        !path.as_os_str().is_empty() && self.path.ends_with(path)
    }
}

/// The tools of which each call that succeeds changes the file that it names.
const EDITS: [&str; 4] = ["Write", "Edit", "MultiEdit", "NotebookEdit"];

/// What a result says of one file. Results of other tools have other fields.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    file_path: Option<PathBuf>,
    #[serde(borrow)]
    structured_patch: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Files<'a> {
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

/// The files that a call which succeeded has changed.
pub(super) fn changed(tool: &str, input: Option<&JsonText>, structured: Option<&JsonText>) -> Vec<FileChanged> {
    let text = structured.map_or("null", JsonText::as_str);
    if let Ok(Files { files }) = serde_json::from_str(text) {
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
    /// A result that has a path and a patch is that of a change.
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
