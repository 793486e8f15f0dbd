//! Plan of a patch for the existing files. Nothing is written.

use std::collections::BTreeMap;
use std::path::PathBuf;

use windlass_tool::{ToolCx, ToolError};
use windlass_types::text::visible_path;

use super::patch::{FileChange, FilePatch, Hunk};
use super::place::apply;
use crate::files::change::{Target, not_text};
use crate::files::charset::{Charset, Content};
use crate::files::edit_tool::MAX_TRANSCODED;
use crate::files::open::not_found;

/// Maximum number of bytes of all files of a patch together, before the changes.
const MAX_TOTAL: usize = 64 * 1024 * 1024;

/// A file, and its planned state.
pub(super) struct Planned {
    pub(super) target: Target,
    pub(super) becomes: Becomes,
    /// Lines of the old file, from 1, at which a hunk matched inexactly.
    pub(super) inexact: Vec<usize>,
}

pub(super) enum Becomes {
    Added(Vec<u8>),
    Changed(Vec<u8>),
    /// Moved, with this content, which may be the old one.
    Moved(Target, Vec<u8>),
    Deleted,
}

/// Plans the changes of a patch. Blocks other changes of its files through this workspace until the plan is dropped.
pub(super) async fn plan(cx: &ToolCx, patches: &[FilePatch]) -> Result<Vec<Planned>, ToolError> {
    let mut targets = look(cx, patches).await?;
    let mut take = |path: &str| -> Result<Target, ToolError> {
        let (_, resolved) = Target::place(cx, path)?;
        targets.remove(&resolved).ok_or_else(|| twice(path))
    };
    let mut plan = Vec::new();
    for patch in patches {
        let target = take(&patch.path)?;
        let moved = match &patch.change {
            FileChange::Update { move_to: Some(to), .. } => Some(take(to)?),
            _ => None,
        };
        plan.push(planned(cx, patch, target, moved).await?);
    }
    Ok(plan)
}

/// Reads the files by their resolved paths. Calls lock files in one order, so that no two of them wait for each other
/// for ever.
async fn look(cx: &ToolCx, patches: &[FilePatch]) -> Result<BTreeMap<PathBuf, Target>, ToolError> {
    let mut paths: BTreeMap<PathBuf, &str> = BTreeMap::new();
    for patch in patches {
        let moved = match &patch.change {
            FileChange::Update { move_to, .. } => move_to.as_deref(),
            _ => None,
        };
        for path in std::iter::once(patch.path.as_str()).chain(moved) {
            let (_, resolved) = Target::place(cx, path)?;
            if paths.insert(resolved, path).is_some() {
                return Err(twice(path));
            }
        }
    }
    let (mut targets, mut total) = (BTreeMap::new(), 0);
    for (resolved, path) in paths {
        let target = Target::look(cx, path).await?;
        total += target.content.as_ref().map_or(0, Vec::len);
        if total > MAX_TOTAL {
            return Err(refused("the files of the patch are too large together: make several smaller ones"));
        }
        targets.insert(resolved, target);
    }
    Ok(targets)
}

fn twice(path: &str) -> ToolError {
    refused(format!("{path} stands in the patch twice: put all that is to become of a file in one place"))
}

fn refused(reason: impl std::fmt::Display) -> ToolError {
    ToolError::rejected(format!("No file was changed: {reason}."))
}

async fn planned(cx: &ToolCx, patch: &FilePatch, target: Target, moved: Option<Target>) -> Result<Planned, ToolError> {
    let path = visible_path(&target.path);
    if let Some(moved) = moved.as_ref().filter(|moved| moved.content.is_some()) {
        return Err(refused(format!("{} exists already, so {path} cannot be moved there", visible_path(&moved.path))));
    }
    let exists = target.content.is_some();
    match &patch.change {
        FileChange::Add(content) if !exists => {
            let becomes = Becomes::Added(content.clone().into_bytes());
            return Ok(Planned { target, becomes, inexact: Vec::new() });
        }
        FileChange::Add(_) => {
            return Err(refused(format!(
                "{path} exists already. To change it, use `*** Update File:`; to replace all of it, the tool Write"
            )));
        }
        _ if !exists => return Err(not_found(cx, &target.path).await),
        _ => target.check_seen()?,
    }
    match (&patch.change, moved) {
        (FileChange::Delete(None), _) => Ok(Planned { target, becomes: Becomes::Deleted, inexact: Vec::new() }),
        (FileChange::Delete(Some(hunks)), _) => {
            let (left, _) = changed(&target, hunks)?;
            let Content::Text(format) = target.format() else { return Err(not_text(&target.path, target.format())) };
            if !format.split_bom(&left).1.is_empty() {
                return Err(refused(format!("{path} has lines that the patch does not remove, so it is not deleted")));
            }
            Ok(Planned { target, becomes: Becomes::Deleted, inexact: Vec::new() })
        }
        (FileChange::Update { hunks, .. }, moved) => {
            let (new, inexact) = changed(&target, hunks)?;
            if moved.is_none() && target.content.as_deref() == Some(&*new) {
                return Err(refused(format!("the patch leaves {path} as it is")));
            }
            let becomes = match moved {
                Some(moved) => Becomes::Moved(moved, new),
                None => Becomes::Changed(new),
            };
            Ok(Planned { target, becomes, inexact })
        }
        // This case was planned before.
        (FileChange::Add(_), _) => Err(refused("the patch could not be read")),
    }
}

/// Bytes of a file with these hunks applied, and the lines of inexact matches.
fn changed(target: &Target, hunks: &[Hunk]) -> Result<(Vec<u8>, Vec<usize>), ToolError> {
    let raw = target.content.as_deref().unwrap_or_default();
    if hunks.is_empty() {
        return Ok((raw.to_vec(), Vec::new()));
    }
    let path = visible_path(&target.path);
    let content = target.format();
    let Content::Text(format) = content else { return Err(not_text(&target.path, content)) };
    if format.charset != Charset::Utf8 && raw.len() > MAX_TRANSCODED {
        let (size, name) = (raw.len(), format.charset.name());
        return Err(refused(format!(
            "{path} has {size} bytes of {name}, and at most {MAX_TRANSCODED} can be edited outside UTF-8"
        )));
    }
    let applied = apply(raw, format, hunks).map_err(|error| {
        let reason = error.to_string();
        refused(format!("{path}: {}", reason.trim_end_matches('.')))
    })?;
    Ok((applied.bytes, applied.inexact))
}
