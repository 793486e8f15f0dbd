//! The common steps of every file change: read, check, change, write, record.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use windlass_tool::{EditOrder, EditTurn, SeenFiles, ToolCx, ToolError, WriteOptions};
use windlass_types::text::visible_path;

use super::canonical::{Fold, canonical};
use super::charset::{Content, TextFormat, of_file};
use super::ledger::ReadLedger;
use super::open::{failed, load, stop_if_cancelled, target};
use super::patch::Patch;

/// Maximum size in bytes of an old content that is repeated in the structured output.
pub(crate) const MAX_ORIGINAL: usize = 256 * 1024;

/// A file that is about to be changed, in its present state.
pub(crate) struct Target {
    cx: ToolCx,
    pub(crate) path: PathBuf,
    pub(crate) resolved: PathBuf,
    /// Present content; `None` for a new file.
    pub(crate) content: Option<Vec<u8>>,
    /// Number of the file's names, including hard links.
    names: u64,
    /// Blocks other changes of the file through this workspace.
    _turn: EditTurn,
}

/// A completed change.
pub(crate) struct Change {
    pub(crate) path: PathBuf,
    pub(crate) patch: Patch,
    /// Old text, unless it is large or there was none.
    pub(crate) original: Option<String>,
    pub(crate) created: bool,
    /// Number of other names of the old file, which keep its content.
    other_names: u64,
}

impl Target {
    pub(crate) async fn look(cx: &ToolCx, file_path: &str) -> Result<Self, ToolError> {
        let (path, resolved) = Self::place(cx, file_path)?;
        let turn = match cx.workspace().edit_order() {
            Some(order) => order.turn(&resolved).await,
            None => cx.state::<EditOrder>().turn(&resolved).await,
        };
        let (content, names) = load(cx, &path).await?.unzip();
        Ok(Self { cx: cx.clone(), path, resolved, content, names: names.unwrap_or(1), _turn: turn })
    }

    /// Absolute path of an input, and the path that its links lead to.
    pub(crate) fn place(cx: &ToolCx, file_path: &str) -> Result<(PathBuf, PathBuf), ToolError> {
        if file_path == "~" || file_path.starts_with("~/") {
            // Taken literally, it would make a folder named `~`, which is never meant and is dangerous to remove.
            return Err(ToolError::rejected("`~` is not expanded here: give the absolute path."));
        }
        target(cx, file_path)
    }

    /// Refuses unless the session has seen the present content. A missing or empty file need not have been read.
    pub(crate) fn check_seen(&self) -> Result<(), ToolError> {
        let Some(content) = self.content.as_deref().filter(|content| !content.is_empty()) else {
            return Ok(());
        };
        let path = visible_path(&self.path);
        match self.cx.state::<ReadLedger>().seen(&self.resolved) {
            Some(seen) if seen.is(content) => Ok(()),
            // A hook has formatted the model's text, and the model was shown the result.
            Some(_) if self.cx.state::<SeenFiles>().is_shown(&self.resolved, content) => Ok(()),
            Some(_) => Err(ToolError::rejected(format!(
                "{path} has changed on disk since it was last read, so nothing was written. \
                 Read it again, then repeat the change on what is there now."
            ))),
            None => Err(ToolError::rejected(format!(
                "{path} has not been read in this session, so nothing was written. Read it first."
            ))),
        }
    }

    /// Format of the existing text, or that of new files.
    pub(crate) fn format(&self) -> Content {
        match self.content.as_deref() {
            Some(content) if !content.is_empty() => of_file(content),
            _ => Content::Text(TextFormat::NEW),
        }
    }

    /// Writes and records the new content.
    pub(crate) async fn write(self, new: &[u8]) -> Result<Change, ToolError> {
        stop_if_cancelled(&self.cx)?;
        let (files, permit) = (self.cx.workspace(), self.cx.permit());
        let written = match self.content.as_deref() {
            Some(old) => files.compare_and_write(permit, &self.path, old, new).await,
            None => {
                files.write(permit, &self.path, new, WriteOptions::default().creating_directories().only_new()).await
            }
        };
        written.map_err(|e| failed(&e))?;
        ReadLedger::know(&self.cx, &self.resolved, new);
        Ok(self.change(new))
    }

    /// Change from the present content to a new one.
    pub(crate) fn change(self, new: &[u8]) -> Change {
        let old = self.content.as_deref();
        // Both sides use one encoding, because a new guess would look like a change.
        let format = old.filter(|old| !old.is_empty()).map_or_else(|| of_file(new), |_| self.format());
        let (old_text, new_text) = (old.map(|old| diff_text(old, format)), diff_text(new, format));
        let patch = Patch::between(old_text.as_deref().unwrap_or_default(), &new_text);
        let original = old_text.filter(|text| text.len() <= MAX_ORIGINAL);
        let other_names = self.names.saturating_sub(1);
        Change { path: self.path, patch, original, created: self.content.is_none(), other_names }
    }
}

impl Change {
    /// Unified diff, with `/dev/null` as the old side of a new file.
    pub(crate) fn diff(&self) -> String {
        let name = self.path.to_string_lossy();
        let old = if self.created { "/dev/null" } else { &*name };
        self.patch.unified(old, &name)
    }

    /// Hunks for programs; none for a new file, because its content is in the result.
    pub(crate) fn structured_patch(&self) -> Value {
        if self.created { json!([]) } else { json!(self.patch.hunks) }
    }

    /// Sentence about the other names of the file, after a blank; empty without any.
    pub(crate) fn names_note(&self) -> String {
        match self.other_names {
            0 => String::new(),
            1 => " The file has another name (a hard link): it keeps the old content and is a file of its own now."
                .to_owned(),
            names => format!(
                " The file has {names} other names (hard links): they keep the old content and are a file of their own now."
            ),
        }
    }

    /// Counts such as `+3 -1 lines`.
    pub(crate) fn counts(&self) -> String {
        format!("+{} -{} lines", self.patch.added, self.patch.removed)
    }
}

/// Content of a file as text for a diff; empty for binary content.
fn diff_text(content: &[u8], format: Content) -> String {
    match format {
        Content::Text(format) => {
            let (_, body) = format.split_bom(content);
            String::from_utf8_lossy(&canonical(body, format, Fold::No)).into_owned()
        }
        Content::Binary(_) => String::new(),
    }
}

/// Refusal for a file that is not text.
pub(crate) fn not_text(path: &Path, content: Content) -> ToolError {
    let what = match content {
        Content::Binary(kind) => kind.phrase(),
        Content::Text(_) => "text".to_owned(),
    };
    let path = visible_path(path);
    ToolError::rejected(format!("{path} is not text: it looks like {what}. It cannot be edited as text."))
}
