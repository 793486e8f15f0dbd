//! Which files have changed since the model read them.

use serde::Deserialize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_context::{REST_LEFT_OUT, changed_file, more_changed_files};
use windlass_permission::Policy;
use windlass_tool::{EntryKind, JudgedPath, Permit, SeenFiles, Workspace, WorkspaceErrorKind};
use windlass_types::hook::event::FileChanged;
use windlass_types::path::absolute;
use windlass_types::{CallDigest, ContentBlock, HookCall};

/// Most files whose changes are shown. Of more the names are.
const MOST_SHOWN: usize = 8;
/// What is read at once, in bytes.
const PART: usize = 16 * 1024;

/// What is at a path now.
enum Now {
    Gone,
    Text(String),
    /// Too large to be compared, or no text.
    Other,
}

/// Files that have changed since the model read them.
#[derive(Debug, Default)]
pub(crate) struct Changes {
    /// What the model is to read of them.
    pub(crate) blocks: Vec<ContentBlock>,
    /// Each with the text that is there now, if it is small.
    now: Vec<(PathBuf, Option<String>)>,
    /// Those that are there, and too large to be compared or no text.
    others: Vec<PathBuf>,
}

impl Changes {
    /// The changes as hooks are asked about them.
    pub(crate) fn occasions(&self) -> impl Iterator<Item = FileChanged> {
        self.now.iter().map(|(path, now)| FileChanged {
            file_path: path.to_string_lossy().into_owned(),
            event: if now.is_some() || self.others.contains(path) { "change" } else { "unlink" }.to_owned(),
        })
    }

    /// They are on their way to the model, and are not reported again.
    pub(crate) fn reported(self, seen: &SeenFiles) {
        for (path, now) in self.now {
            match now {
                Some(text) => seen.record(&path, text.as_bytes()),
                None => seen.forget(&path),
            }
        }
    }
}

/// The files that have changed. Those that cannot be looked at, or may not be read any more, are passed over.
pub(crate) async fn of(seen: &SeenFiles, workspace: &dyn Workspace, policy: &Policy) -> Changes {
    among(seen.all(), workspace, policy).await
}

/// The files that a call has written, if it has succeeded and hooks were asked about that.
pub(crate) fn written(call: &HookCall, cwd: &Path) -> Vec<PathBuf> {
    #[derive(Deserialize, Default)]
    struct File {
        #[serde(alias = "filePath", alias = "notebook_path")]
        file_path: Option<PathBuf>,
    }
    #[derive(Deserialize)]
    struct Files {
        files: Vec<File>,
    }
    let HookCall::PostToolUse(done) = call else { return Vec::new() };
    let files = match done.tool_name.as_str() {
        "Edit" | "MultiEdit" | "NotebookEdit" | "Write" => vec![done.tool_input.to::<File>().unwrap_or_default()],
        "apply_patch" => done.tool_response.to::<Files>().map(|patched| patched.files).unwrap_or_default(),
        _ => Vec::new(),
    };
    files.into_iter().filter_map(|file| file.file_path).map(|path| absolute(cwd, &path)).collect()
}

/// What a hook has changed in files that a call has just written, each with its text now and what the model is to read.
/// Files that are gone, too large or no text are left to the next look.
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
        let is_other = matches!(now, Now::Other);
        let name = path.to_string_lossy().into_owned();
        let after = match now {
            Now::Text(text) if *text == *before => continue,
            Now::Text(text) => Some(text),
            Now::Gone | Now::Other => None,
        };
        if is_other || texts.len() >= MOST_SHOWN {
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

/// What is at a path with its links followed. `None` if that cannot be said, or another file is there by a link.
async fn now(workspace: &dyn Workspace, path: &Path) -> Option<Now> {
    match workspace.resolve(path).await {
        Ok(found) if found.kind == EntryKind::Missing => return Some(Now::Gone),
        Ok(found) if found.kind == EntryKind::File && found.path == path => {}
        Err(error) if error.kind == WorkspaceErrorKind::NotFound => return Some(Now::Gone),
        _ => return None,
    }
    let permit = Permit::new(CallDigest::new("")).with_reads(vec![JudgedPath::new(path, path)]);
    let mut file = workspace.open(&permit, path).await.ok()?;
    let mut content = Vec::new();
    while content.len() <= SeenFiles::MOST_BYTES {
        let part = file.read(PART).await.ok()?;
        if part.is_empty() {
            return Some(String::from_utf8(content).map_or(Now::Other, Now::Text));
        }
        content.extend(part);
    }
    Some(Now::Other)
}
