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
    let mut targets = read_targets(cx, patches).await?;
    let mut take_target = |path: &str| -> Result<Target, ToolError> {
        let (_, resolved) = Target::place(cx, path)?;
        targets.remove(&resolved).ok_or_else(|| duplicate_path(path))
    };
    let mut plan = Vec::new();
    for patch in patches {
        let target = take_target(&patch.path)?;
        let destination = match &patch.change {
            FileChange::Update { move_to: Some(to), .. } => Some(take_target(to)?),
            _ => None,
        };
        plan.push(plan_file(cx, patch, target, destination).await?);
    }
    Ok(plan)
}

/// Reads the files by their resolved paths. Calls lock files in one order, so that no two of them wait for each other
/// for ever.
async fn read_targets(cx: &ToolCx, patches: &[FilePatch]) -> Result<BTreeMap<PathBuf, Target>, ToolError> {
    let mut paths: BTreeMap<PathBuf, &str> = BTreeMap::new();
    for patch in patches {
        let destination = match &patch.change {
            FileChange::Update { move_to, .. } => move_to.as_deref(),
            _ => None,
        };
        for path in std::iter::once(patch.path.as_str()).chain(destination) {
            let (_, resolved) = Target::place(cx, path)?;
            if paths.insert(resolved, path).is_some() {
                return Err(duplicate_path(path));
            }
        }
    }
    let (mut targets, mut total) = (BTreeMap::new(), 0);
    for (resolved, path) in paths {
        let target = Target::look(cx, path).await?;
        total += target.content.as_ref().map_or(0, Vec::len);
        if total > MAX_TOTAL {
            return Err(rejection("the files of the patch are too large together: make several smaller ones"));
        }
        targets.insert(resolved, target);
    }
    Ok(targets)
}

fn duplicate_path(path: &str) -> ToolError {
    rejection(format!("{path} stands in the patch twice: put all that is to become of a file in one place"))
}

fn rejection(reason: impl std::fmt::Display) -> ToolError {
    ToolError::rejected(format!("No file was changed: {reason}."))
}

async fn plan_file(
    cx: &ToolCx,
    patch: &FilePatch,
    target: Target,
    destination: Option<Target>,
) -> Result<Planned, ToolError> {
    let path = visible_path(&target.path);
    if let Some(destination) = destination.as_ref().filter(|destination| destination.content.is_some()) {
        return Err(rejection(format!(
            "{} exists already, so {path} cannot be moved there",
            visible_path(&destination.path)
        )));
    }
    let exists = target.content.is_some();
    match &patch.change {
        FileChange::Add(content) if !exists => {
            let becomes = Becomes::Added(content.clone().into_bytes());
            return Ok(Planned { target, becomes, inexact: Vec::new() });
        }
        FileChange::Add(_) => {
            return Err(rejection(format!(
                "{path} exists already. To change it, use `*** Update File:`; to replace all of it, the tool Write"
            )));
        }
        _ if !exists => return Err(not_found(cx, &target.path).await),
        _ => target.check_seen()?,
    }
    match (&patch.change, destination) {
        (FileChange::Delete(None), _) => Ok(Planned { target, becomes: Becomes::Deleted, inexact: Vec::new() }),
        (FileChange::Delete(Some(hunks)), _) => {
            let (remaining, _) = apply_hunks(&target, hunks)?;
            let Content::Text(format) = target.format() else { return Err(not_text(&target.path, target.format())) };
            if !format.split_bom(&remaining).1.is_empty() {
                return Err(rejection(format!(
                    "{path} has lines that the patch does not remove, so it is not deleted"
                )));
            }
            Ok(Planned { target, becomes: Becomes::Deleted, inexact: Vec::new() })
        }
        (FileChange::Update { hunks, .. }, destination) => {
            let (new, inexact) = apply_hunks(&target, hunks)?;
            if destination.is_none() && target.content.as_deref() == Some(&*new) {
                return Err(rejection(format!("the patch leaves {path} as it is")));
            }
            let becomes = match destination {
                Some(destination) => Becomes::Moved(destination, new),
                None => Becomes::Changed(new),
            };
            Ok(Planned { target, becomes, inexact })
        }
        // This case was planned before.
        (FileChange::Add(_), _) => Err(rejection("the patch could not be read")),
    }
}

/// Bytes of a file with these hunks applied, and the lines of inexact matches.
fn apply_hunks(target: &Target, hunks: &[Hunk]) -> Result<(Vec<u8>, Vec<usize>), ToolError> {
    let raw = target.content.as_deref().unwrap_or_default();
    if hunks.is_empty() {
        return Ok((raw.to_vec(), Vec::new()));
    }
    let path = visible_path(&target.path);
    let content = target.format();
    let Content::Text(format) = content else { return Err(not_text(&target.path, content)) };
    if format.charset != Charset::Utf8 && raw.len() > MAX_TRANSCODED {
        let (size, name) = (raw.len(), format.charset.name());
        return Err(rejection(format!(
            "{path} has {size} bytes of {name}, and at most {MAX_TRANSCODED} can be edited outside UTF-8"
        )));
    }
    let applied = apply(raw, format, hunks).map_err(|error| {
        let reason = error.to_string();
        rejection(format!("{path}: {}", reason.trim_end_matches('.')))
    })?;
    Ok((applied.bytes, applied.inexact))
}
