//! Which files have changed since the model read them.

use std::path::{Path, PathBuf};
use windlass_context::{changed_file, more_changed_files};
use windlass_permission::Policy;
use windlass_tool::{EntryKind, JudgedPath, Permit, SeenFiles, Workspace, WorkspaceErrorKind};
use windlass_types::{CallDigest, ContentBlock};

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
}

impl Changes {
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
    let (mut texts, mut more, mut changed) = (Vec::new(), Vec::new(), Vec::new());
    for (path, before) in seen.all() {
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
        changed.push((path, after));
    }
    if !more.is_empty() {
        texts.push(more_changed_files(&more));
    }
    Changes { blocks: texts.into_iter().map(ContentBlock::text).collect(), now: changed }
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
