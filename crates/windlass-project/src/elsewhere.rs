//! The settings files of a project that is not on this machine.

use crate::error::SettingsError;
use crate::file::read_text_through;
use crate::load::parse;
use crate::note::Origin;
use crate::places::{DEEPEST, FOLDERS};
use crate::settings_file::{MOST, SettingsFile};
use crate::sources::{Layer, SettingSources};
use crate::trust::Standing;
use std::io;
use std::path::{Path, PathBuf};
use windlass_tool::{EntryKind, Workspace, WorkspaceError, WorkspaceErrorKind};

/// Reads the settings files of a project through the [`Workspace`] that contains it: those of `start`, an absolute path
/// with links followed, and of the directories above it up to the one with `.git`, if there is one. Layers that
/// `sources` leaves out are not read.
///
/// Records of trust are about directories of this machine. So widening settings of these files are ignored, whatever
/// `sources` names: [`resolve`](crate::resolve()) takes only their restrictions.
///
/// # Errors
/// An existing file cannot be read, is too big, or is not a settings file; or its existence cannot be determined.
pub async fn load_elsewhere(
    workspace: &dyn Workspace,
    start: &Path,
    sources: SettingSources,
) -> Result<Vec<SettingsFile>, SettingsError> {
    let mut files = Vec::new();
    let layers = [(Layer::Local, "settings.local.json"), (Layer::Project, "settings.json")];
    let layers: Vec<_> = layers.into_iter().filter(|(layer, _)| sources.contains(*layer)).collect();
    if layers.is_empty() {
        return Ok(files);
    }
    let chain = chain(workspace, start).await?;
    let root = chain.last().map_or(start, PathBuf::as_path);
    for (layer, name) in layers {
        for directory in &chain {
            for path in FOLDERS.map(|folder| directory.join(folder).join(name)) {
                let Some(text) = text_of(workspace, &path).await? else { continue };
                let origin = Origin::file(&path);
                let settings = parse(&text, &origin)?;
                let file = SettingsFile::new(layer, origin, directory, settings);
                files.push(file.with_root(root).with_standing(Standing::untrusted()));
            }
        }
    }
    Ok(files)
}

/// Returns the directories from `start` up to the root of its repository, or `start` alone.
async fn chain(workspace: &dyn Workspace, start: &Path) -> Result<Vec<PathBuf>, SettingsError> {
    let mut chain = Vec::new();
    for directory in start.ancestors().take(DEEPEST) {
        chain.push(directory.to_path_buf());
        let git = directory.join(".git");
        if kind_of(workspace, &git).await.map_err(|error| unreadable(&git, error))? != EntryKind::Missing {
            return Ok(chain);
        }
    }
    Ok(vec![start.to_path_buf()])
}

async fn kind_of(workspace: &dyn Workspace, path: &Path) -> Result<EntryKind, WorkspaceError> {
    match workspace.resolve(path).await {
        Ok(found) => Ok(found.kind),
        Err(error) if error.kind == WorkspaceErrorKind::NotFound => Ok(EntryKind::Missing),
        Err(error) => Err(error),
    }
}

/// Returns the text of a file, if it is there.
async fn text_of(workspace: &dyn Workspace, path: &Path) -> Result<Option<String>, SettingsError> {
    let unreadable = |error| unreadable(path, error);
    let found = match workspace.resolve(path).await {
        Err(error) if error.kind == WorkspaceErrorKind::NotFound => return Ok(None),
        found => found.map_err(unreadable)?,
    };
    match found.kind {
        EntryKind::File => {}
        EntryKind::Missing if is_link(workspace, path, &found.path).await.map_err(unreadable)? => {
            return Err(unusable(path, "it is a link that leads nowhere: it shows that a file should be read"));
        }
        EntryKind::Missing => return Ok(None),
        _ => return Err(unusable(path, "it is not a regular file")),
    }
    let text = read_text_through(workspace, path, &found.path, MOST).await;
    text.map(Some).map_err(|error| SettingsError::unread(path, MOST, error))
}

/// Returns `true` if a path that leads to the missing entry `resolved` is a link itself. Its folder may be one.
async fn is_link(workspace: &dyn Workspace, path: &Path, resolved: &Path) -> Result<bool, WorkspaceError> {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else { return Ok(false) };
    if resolved == path {
        return Ok(false);
    }
    match workspace.resolve(folder).await {
        Ok(found) => Ok(found.path.join(name) != resolved),
        Err(error) if error.kind == WorkspaceErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn unreadable(path: &Path, error: WorkspaceError) -> SettingsError {
    SettingsError::Unreadable { path: path.to_path_buf(), problem: io::Error::other(error) }
}

fn unusable(path: &Path, problem: &str) -> SettingsError {
    SettingsError::Unreadable { path: path.to_path_buf(), problem: io::Error::other(problem) }
}
