//! Opening and reading files for the tools, with errors that advise the model.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Deserializer};
use windlass_tool::{EntryKind, OpenFile, ToolCx, ToolError, WorkspaceError, WorkspaceErrorKind};
use windlass_types::text::{path_of_visible, visible_path};

use super::charset::SAMPLE;
use super::suggest::{other_places, similar_names};

/// Maximum size in bytes of a file that can be edited or replaced. Larger ones can only be read by pages.
pub(crate) const MAX_EDIT: u64 = 16 * 1024 * 1024;

/// Reads a path of an input. Restores invisible characters that results have written out as escapes.
pub(crate) fn named_path<'de, D: Deserializer<'de>>(input: D) -> Result<String, D::Error> {
    String::deserialize(input).map(|path| path_of_visible(&path).into_owned())
}

/// Like [`named_path`], for an optional path.
pub(crate) fn named_folder<'de, D: Deserializer<'de>>(input: D) -> Result<Option<String>, D::Error> {
    Ok(Option::<String>::deserialize(input)?.map(|path| path_of_visible(&path).into_owned()))
}

/// Absolute path of an input, and the path that its links lead to.
pub(crate) fn target(cx: &ToolCx, file_path: &str) -> Result<(PathBuf, PathBuf), ToolError> {
    if file_path.trim().is_empty() {
        return Err(ToolError::invalid_input("file_path is empty: give the absolute path of a file"));
    }
    let path = cx.absolute(Path::new(file_path));
    let judged = cx.permit().readable(&path);
    let resolved = judged.and_then(|judged| {
        let below = path.strip_prefix(&judged.requested).ok()?;
        let at_root = below.as_os_str().is_empty();
        Some(if at_root { judged.resolved.clone() } else { judged.resolved.join(below) })
    });
    let resolved = resolved.unwrap_or_else(|| path.clone());
    Ok((path, resolved))
}

/// Reads up to `limit` bytes in all, fewer only at the end of the file.
pub(crate) async fn read_up_to(file: &mut dyn OpenFile, cx: &ToolCx, limit: usize) -> Result<Vec<u8>, ToolError> {
    let mut bytes = Vec::new();
    while bytes.len() < limit {
        stop_if_cancelled(cx)?;
        let chunk = file.read((limit - bytes.len()).min(4 * SAMPLE)).await.map_err(|e| failed(&e))?;
        if chunk.is_empty() {
            break;
        }
        if bytes.is_empty() {
            bytes = chunk;
        } else {
            bytes.extend_from_slice(&chunk);
        }
    }
    Ok(bytes)
}

/// Content of a file to be changed, and the number of its names; `None` if the file does not exist yet.
pub(crate) async fn load(cx: &ToolCx, path: &Path) -> Result<Option<(Vec<u8>, u64)>, ToolError> {
    let too_large = || {
        ToolError::rejected(format!(
            "{} is larger than {} MB, the limit for changing a file as a whole. Change it with Bash.",
            visible_path(path),
            MAX_EDIT / (1024 * 1024),
        ))
    };
    let mut file = match cx.workspace().open(cx.permit(), path).await {
        Ok(file) => file,
        Err(error) if error.kind == WorkspaceErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(failed(&error)),
    };
    if file.info().size > MAX_EDIT {
        return Err(too_large());
    }
    // The size may be wrong, or change, so the bytes read decide.
    let limit = usize::try_from(MAX_EDIT).unwrap_or(usize::MAX);
    let bytes = read_up_to(&mut *file, cx, limit + 1).await?;
    if bytes.len() > limit {
        return Err(too_large());
    }
    Ok(Some((bytes, file.info().names)))
}

pub(crate) fn stop_if_cancelled(cx: &ToolCx) -> Result<(), ToolError> {
    if cx.cancel().is_cancelled() { Err(ToolError::cancelled()) } else { Ok(()) }
}

/// Error for the model when the workspace refuses.
pub(crate) fn failed(error: &WorkspaceError) -> ToolError {
    let advice = match error.kind {
        WorkspaceErrorKind::IsDirectory => " List its files with Glob, and give the path of a file.",
        WorkspaceErrorKind::NotRegular => " Only regular files can be used here; it was not opened.",
        WorkspaceErrorKind::NotDirectory => " Check the path: a part of it before the end is a file.",
        WorkspaceErrorKind::Changed => " Something moved it meanwhile. Try again.",
        WorkspaceErrorKind::ContentChanged => {
            ", so nothing was written. Read it again, then repeat the change on what is there now."
        }
        WorkspaceErrorKind::AlreadyExists => " It was created meanwhile. Read it, then decide.",
        WorkspaceErrorKind::NoSpace => " The file is unchanged. Free some space first.",
        WorkspaceErrorKind::ReadOnly | WorkspaceErrorKind::AccessDenied => " The file is unchanged.",
        WorkspaceErrorKind::LinkCycle => " Use the path of the real file.",
        _ => "",
    };
    let message = error.message.trim_end_matches('.');
    let separator = if advice.is_empty() { "" } else { "." };
    ToolError::rejected(format!("{message}{separator}{advice}"))
}

/// Error for the model when a file does not exist, with suggested paths.
pub(crate) async fn not_found(cx: &ToolCx, path: &Path) -> ToolError {
    const MAX_NAMES: usize = 10_000;
    let mut suggestions: Vec<PathBuf> = Vec::new();
    for place in other_places(path, cx.cwd()) {
        if is_file(cx, &place).await {
            suggestions.push(place);
        }
    }
    let (folder, name) = (path.parent(), path.file_name().and_then(|n| n.to_str()));
    if let (Some(folder), Some(name)) = (folder, name)
        && let Ok(names) = cx.workspace().list(cx.permit(), folder, MAX_NAMES).await
    {
        let near = similar_names(name, names.iter().map(String::as_str));
        suggestions.extend(near.into_iter().map(|near| folder.join(near)));
    }
    let mut text = format!("{} does not exist.", visible_path(path));
    if path.strip_prefix(cx.cwd()).is_ok_and(|below| below.starts_with("~")) {
        text.push_str(" `~` is not expanded here: give the absolute path.");
    } else if suggestions.is_empty() {
        text.push_str(&format!(" The current directory is {}. Find the file with Glob.", visible_path(cx.cwd())));
    } else {
        let suggestions: Vec<String> = suggestions.iter().map(visible_path).collect();
        text.push_str(&format!(" Did you mean {}?", suggestions.join(" or ")));
    }
    ToolError::rejected(text)
}

/// `true` for readable files in the workspace. Of others even the existence is not revealed.
async fn is_file(cx: &ToolCx, path: &Path) -> bool {
    let Ok(resolved) = cx.workspace().resolve(path).await else { return false };
    let is_inside = cx.directories().iter().any(|root| resolved.path.starts_with(root));
    resolved.kind == EntryKind::File && is_inside && cx.permit().allows(path) && cx.permit().allows(&resolved.path)
}
