//! Writing of a plan: all of it, or none.

use std::path::{Path, PathBuf};

use windlass_tool::{ToolCx, ToolError, WorkspaceError, WorkspaceErrorKind, WriteOptions};
use windlass_types::text::visible_path;

use super::plan::{Becomes, Planned};
use crate::files::ledger::ReadLedger;
use crate::files::open::{MAX_EDIT, failed, stop_if_cancelled};

/// One change on disk.
#[derive(Clone, Copy)]
enum DiskChange<'p> {
    Create(&'p Path, &'p [u8]),
    Replace { path: &'p Path, old: &'p [u8], new: &'p [u8] },
    Rename(&'p Path, &'p Path),
    Remove { path: &'p Path, old: &'p [u8] },
}

/// Makes the changes, and undoes them if one fails. Once begun, the work continues by itself in a runtime even if the
/// call is dropped.
pub(super) async fn commit(cx: &ToolCx, plan: Vec<Planned>) -> Result<Vec<Planned>, ToolError> {
    stop_if_cancelled(cx)?;
    let cx = cx.clone();
    let work = async move { apply_all(&cx, &plan).await.map(|()| plan) };
    if tokio::runtime::Handle::try_current().is_err() {
        return work.await;
    }
    // A patch is written as a whole, even when its call is dropped.
    let work = tokio::spawn(work);
    work.await.unwrap_or_else(|_| Err(ToolError::rejected("The patch was stopped while it was written.")))
}

async fn apply_all(cx: &ToolCx, plan: &[Planned]) -> Result<(), ToolError> {
    let steps = steps(plan);
    for (index, step) in steps.iter().enumerate() {
        if let Err(error) = apply_step(cx, *step).await {
            // A failed step is undone too, because an error can come after the last byte. Only a refusal because of
            // foreign changes comes before the first byte.
            let is_refused =
                matches!(error.kind, WorkspaceErrorKind::ContentChanged | WorkspaceErrorKind::AlreadyExists);
            let applied = steps.get(..index + usize::from(!is_refused)).unwrap_or_default();
            return Err(roll_back(cx, applied, &error).await);
        }
    }
    record(cx, plan);
    Ok(())
}

/// Steps of a plan: contents first, then names, and last the steps that cannot be undone exactly.
fn steps(plan: &[Planned]) -> Vec<DiskChange<'_>> {
    let (mut contents, mut names, mut removals) = (Vec::new(), Vec::new(), Vec::new());
    for planned in plan {
        let path = planned.target.path.as_path();
        let old = planned.target.content.as_deref().unwrap_or_default();
        match &planned.becomes {
            Becomes::Added(new) => contents.push(DiskChange::Create(path, new)),
            Becomes::Changed(new) => contents.push(DiskChange::Replace { path, old, new }),
            Becomes::Moved(to, new) => {
                if new != old {
                    contents.push(DiskChange::Replace { path, old, new });
                }
                names.push(DiskChange::Rename(path, &to.path));
            }
            Becomes::Deleted => removals.push(DiskChange::Remove { path, old }),
        }
    }
    contents.into_iter().chain(names).chain(removals).collect()
}

async fn apply_step(cx: &ToolCx, step: DiskChange<'_>) -> Result<(), WorkspaceError> {
    let (files, permit) = (cx.workspace(), cx.permit());
    let options = WriteOptions::default().creating_directories();
    match step {
        DiskChange::Create(path, new) => files.write(permit, path, new, options.only_new()).await,
        DiskChange::Replace { path, old, new } => files.compare_and_write(permit, path, old, new).await,
        DiskChange::Rename(from, to) => files.rename(permit, from, to, options).await,
        DiskChange::Remove { path, old } => files.compare_and_remove(permit, path, old).await,
    }
}

/// Undoes steps, the last one first, and returns the error about it.
async fn roll_back(cx: &ToolCx, applied: &[DiskChange<'_>], error: &WorkspaceError) -> ToolError {
    let mut not_undone: Vec<PathBuf> = Vec::new();
    for step in applied.iter().rev() {
        if undo(cx, *step).await.is_err() {
            let path = match step {
                DiskChange::Create(path, _) | DiskChange::Replace { path, .. } | DiskChange::Remove { path, .. } => {
                    path
                }
                DiskChange::Rename(_, to) => to,
            };
            ReadLedger::lose(cx, &resolved(cx, path));
            not_undone.push(path.to_path_buf());
        }
    }
    let reason = failed(error);
    let reason = reason.model_text().trim_end_matches('.');
    if not_undone.is_empty() {
        return ToolError::rejected(format!("No file was changed: {reason}."));
    }
    let not_undone: Vec<String> = not_undone.iter().map(visible_path).collect();
    ToolError::rejected(format!(
        "The patch failed, and not all of it could be taken back: {reason}. Look at what is there now before anything \
         else: {}.",
        not_undone.join(", ")
    ))
}

/// Undoes one step, if it was made.
async fn undo(cx: &ToolCx, step: DiskChange<'_>) -> Result<(), WorkspaceError> {
    let (files, permit) = (cx.workspace(), cx.permit());
    let options = WriteOptions::default().creating_directories();
    match step {
        DiskChange::Create(path, new) => match content(cx, path).await? {
            Some(_) => files.compare_and_remove(permit, path, new).await,
            None => Ok(()),
        },
        // Foreign content written meanwhile stays, and is an error.
        DiskChange::Replace { path, old, new } => match content(cx, path).await? {
            Some(found) if found == old => Ok(()),
            _ => files.compare_and_write(permit, path, new, old).await,
        },
        DiskChange::Rename(from, to) => match (content(cx, from).await?, content(cx, to).await?) {
            (None, Some(_)) => files.rename(permit, to, from, options).await,
            _ => Ok(()),
        },
        DiskChange::Remove { path, old } => match content(cx, path).await? {
            None => files.write(permit, path, old, options.only_new()).await,
            Some(_) => Ok(()),
        },
    }
}

/// Present content of a file, also when the call is being stopped.
async fn content(cx: &ToolCx, path: &Path) -> Result<Option<Vec<u8>>, WorkspaceError> {
    let mut file = match cx.workspace().open(cx.permit(), path).await {
        Ok(file) => file,
        Err(error) if error.kind == WorkspaceErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    // A file that is larger than any planned one differs from each of them.
    let limit = usize::try_from(MAX_EDIT).unwrap_or(usize::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    while bytes.len() < limit {
        let part = file.read(limit - bytes.len()).await?;
        if part.is_empty() {
            break;
        }
        bytes.extend(part);
    }
    Ok(Some(bytes))
}

fn resolved(cx: &ToolCx, path: &Path) -> PathBuf {
    cx.permit().writable(path).map_or_else(|| path.to_owned(), |judged| judged.resolved.clone())
}

/// Records the written files as known to the session.
fn record(cx: &ToolCx, plan: &[Planned]) {
    for planned in plan {
        match &planned.becomes {
            Becomes::Added(new) | Becomes::Changed(new) => {
                ReadLedger::know(cx, &planned.target.resolved, new);
            }
            Becomes::Moved(to, new) => {
                ReadLedger::lose(cx, &planned.target.resolved);
                ReadLedger::know(cx, &to.resolved, new);
            }
            Becomes::Deleted => ReadLedger::lose(cx, &planned.target.resolved),
        }
    }
}
