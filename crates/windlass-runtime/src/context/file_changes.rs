//! Files that have changed since the model read them.

use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_context::{REST_LEFT_OUT, changed_file, more_changed_files};
use windlass_permission::Policy;
use windlass_tool::{EntryKind, JudgedPath, Permit, SeenFiles, Workspace, WorkspaceErrorKind};
use windlass_types::hook::event::FileChanged;
use windlass_types::path::absolute;
use windlass_types::{CallDigest, ContentBlock, HookCall};

/// Maximum number of files whose changes are shown. Further ones are listed by name.
const MAX_SHOWN_FILES: usize = 8;
/// Size of one read, in bytes.
const PART: usize = 16 * 1024;

/// Current state of a path.
enum CurrentContent {
    Gone,
    Text(String),
    /// Too large to be compared, or no text.
    Other,
}

/// Files that have changed since the model read them.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// Report of the changes for the model.
    pub(crate) blocks: Vec<ContentBlock>,
    /// Each file with its current text, if it is small.
    now: Vec<(PathBuf, Option<String>)>,
    /// Files that exist but are too large to be compared, or no text.
    others: Vec<PathBuf>,
}

impl Changes {
    /// Returns the changes as events for hooks.
    pub(crate) fn occasions(&self) -> impl Iterator<Item = FileChanged> {
        self.now.iter().map(|(path, now)| FileChanged {
            file_path: path.to_string_lossy().into_owned(),
            event: if now.is_some() || self.others.contains(path) { "change" } else { "unlink" }.to_owned(),
        })
    }

    /// Marks the changes as reported to the model, so that they are not reported again.
    pub(crate) fn reported(self, seen: &SeenFiles) {
        for (path, now) in self.now {
            match now {
                Some(text) => seen.record(&path, text.as_bytes()),
                None => seen.forget(&path),
            }
        }
    }
}

/// Finds the files that have changed. Files that cannot be read, or may not be read any more, are skipped.
pub(crate) async fn of(seen: &SeenFiles, workspace: &dyn Workspace, policy: &Policy) -> Changes {
    among(seen.all(), workspace, policy).await
}

/// Returns the files that a call has written, if it has succeeded and hooks ran on that.
pub(crate) fn written(call: &HookCall, cwd: &Path) -> Vec<PathBuf> {
    #[derive(Deserialize, Default)]
    struct File {
        #[serde(alias = "filePath", alias = "notebook_path")]
        file_path: Option<PathBuf>,
    }
    #[derive(Deserialize)]
    struct PatchedFiles {
        files: Vec<File>,
    }
    let HookCall::PostToolUse(done) = call else { return Vec::new() };
    let files = match done.tool_name.as_str() {
        "Edit" | "MultiEdit" | "NotebookEdit" | "Write" => vec![done.tool_input.to::<File>().unwrap_or_default()],
        "apply_patch" => done.tool_response.to::<PatchedFiles>().map(|patched| patched.files).unwrap_or_default(),
        _ => Vec::new(),
    };
    files.into_iter().filter_map(|file| file.file_path).map(|path| absolute(cwd, &path)).collect()
}

/// Finds the changes that a hook made to files that a call has just written, each with its current text and the report
/// for the model. Files that are gone, too large or no text are left to the next check.
pub(crate) async fn behind_hooks(
    (seen, workspace, policy): (&SeenFiles, &dyn Workspace, &Policy),
    written: &[PathBuf],
) -> Vec<String> {
    let mut paths = Vec::new();
    for path in written {
        paths.extend(workspace.resolve(path).await.map(|found| found.path));
    }
    let files = seen.all().into_iter().filter(|(path, _)| paths.contains(path)).collect();
    let changes = among(files, workspace, policy).await;
    let is_cut = |block: &ContentBlock| block.as_text().is_some_and(|text| text.contains(REST_LEFT_OUT));
    for (path, now) in changes.now.iter().filter(|_| !changes.blocks.iter().any(is_cut)) {
        if let Some(text) = now {
            seen.record_shown(path, text);
        }
    }
    changes.blocks.iter().filter_map(|block| block.as_text().map(str::to_owned)).collect()
}

async fn among(files: Vec<(PathBuf, Arc<str>)>, workspace: &dyn Workspace, policy: &Policy) -> Changes {
    let (mut texts, mut more, mut changed, mut others) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (path, before) in files {
        if !policy.may_read(&path, &path) {
            continue;
        }
        let Some(now) = now(workspace, &path).await else { continue };
        let is_other = matches!(now, CurrentContent::Other);
        let name = path.to_string_lossy().into_owned();
        let after = match now {
            CurrentContent::Text(text) if *text == *before => continue,
            CurrentContent::Text(text) => Some(text),
            CurrentContent::Gone | CurrentContent::Other => None,
        };
        if is_other || texts.len() >= MAX_SHOWN_FILES {
            more.push(name);
        } else {
            texts.push(changed_file(&name, &before, after.as_deref()));
        }
        if is_other {
            others.push(path.clone());
        }
        changed.push((path, after));
    }
    if !more.is_empty() {
        texts.push(more_changed_files(&more));
    }
    Changes { blocks: texts.into_iter().map(ContentBlock::text).collect(), now: changed, others }
}

/// Returns the state of a path with its links followed. `None` if it is unknown, or the path leads to another file by a
/// link.
async fn now(workspace: &dyn Workspace, path: &Path) -> Option<CurrentContent> {
    match workspace.resolve(path).await {
        Ok(found) if found.kind == EntryKind::Missing => return Some(CurrentContent::Gone),
        Ok(found) if found.kind == EntryKind::File && found.path == path => {}
        Err(error) if error.kind == WorkspaceErrorKind::NotFound => return Some(CurrentContent::Gone),
        _ => return None,
    }
    let permit = Permit::new(CallDigest::new("")).with_reads(vec![JudgedPath::new(path, path)]);
    let mut file = workspace.open(&permit, path).await.ok()?;
    let mut content = Vec::new();
    while content.len() <= SeenFiles::MOST_BYTES {
        let part = file.read(PART).await.ok()?;
        if part.is_empty() {
            return Some(String::from_utf8(content).map_or(CurrentContent::Other, CurrentContent::Text));
        }
        content.extend(part);
    }
    Some(CurrentContent::Other)
}
