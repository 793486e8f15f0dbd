//! Permission changes that outlast a session, written to settings files.

mod key;
mod servers;

use crate::configured_lines::ProgramContent;
use crate::edit::{names_one_of, updated};
use crate::error::SettingsError;
use crate::file::{OldText, read_named};
use crate::note::Origin;
use crate::places::Places;
use crate::records::read_trust;
use crate::review::trust_items;
use crate::settings_file::read_old_settings;
use crate::sources::{Layer, SettingSources};
use crate::trust::{Approved, ProjectRecord, TrustRecord, pinned};
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use thiserror::Error;
use windlass_permission::{Policy, PolicyConfig, UpdateError, rule_text};
use windlass_tool::content_swap::ContentChanged;
use windlass_tool::private_file::{AtomicFile, sync_dir};
use windlass_types::path::normalized;
use windlass_types::{Behavior, PermissionMode, PermissionUpdate, UpdateDestination};

/// Maximum number of attempts at a change while other programs change the file.
const MAX_ATTEMPTS: u32 = 100;
/// Name of the folder of texts of trusted programs, beside the record of trust.
const KEPT_PROGRAMS: &str = "trusted-programs";
/// Maximum size of one of these texts, in bytes.
const MAX_KEPT_PROGRAM_BYTES: u64 = 1024 * 1024;

/// Reason why a change was not kept. The change may still apply to the session.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum KeepError {
    /// The change itself cannot be used.
    #[error(transparent)]
    Update(#[from] UpdateError),
    /// The mode is too wide for a settings file.
    #[error("the mode bypassPermissions is never written to a settings file")]
    Bypass,
    /// The file for the change cannot be used.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The content of a file is not a list of MCP servers.
    #[error("the MCP servers of {} cannot be read, so it is left as it is: {problem}", path.display())]
    Servers {
        /// The file.
        path: PathBuf,
        /// Problem with the file.
        problem: String,
    },
    /// The file is a link, or no regular file.
    #[error("{} is a link or no regular file, so it is not written", .0.display())]
    Link(PathBuf),
    /// The file cannot be written.
    #[error("{} cannot be written: {problem}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Reason of the failure.
        #[source]
        problem: io::Error,
    },
}

/// Keeps changes of permissions beyond a session.
///
/// ```
/// use std::path::PathBuf;
/// use std::sync::Mutex;
/// use windlass_project::{KeepError, KeepUpdates};
/// use windlass_types::PermissionUpdate;
///
/// /// Keeps changes in memory, in no file.
/// struct Kept(Mutex<Vec<PermissionUpdate>>);
///
/// impl KeepUpdates for Kept {
///     fn keep(&self, update: &PermissionUpdate) -> Result<Option<PathBuf>, KeepError> {
///         if let Ok(mut kept) = self.0.lock() {
///             kept.push(update.clone());
///         }
///         Ok(None)
///     }
/// }
/// ```
pub trait KeepUpdates: Send + Sync {
    /// Keeps a change, and returns the file with it; `None` if its destination is no file, or a file that is not read
    /// in this session. May block for as long as the disk takes.
    ///
    /// # Errors
    /// The change was not kept; no file was changed.
    fn keep(&self, update: &PermissionUpdate) -> Result<Option<PathBuf>, KeepError>;
}

/// Keeps changes in the settings files of [`Places`].
#[derive(Debug, Clone)]
pub struct SettingsUpdates {
    places: Places,
    sources: SettingSources,
    folder: &'static str,
}

impl SettingsUpdates {
    /// Changes go to the files of these places, as far as they are read. A project's new files are made in
    /// `.windlass`.
    #[must_use]
    pub fn new(places: Places, sources: SettingSources) -> Self {
        Self { places, sources, folder: ".windlass" }
    }

    /// Makes new files of a project in `.claude`, for hosts that look there.
    #[must_use]
    pub fn in_claude_folder(mut self) -> Self {
        self.folder = ".claude";
        self
    }

    /// Returns the file for a destination, and the base directory of its patterns with a leading `/`: the existing
    /// file, `.windlass` first, or a new one.
    #[must_use]
    pub fn target(&self, destination: UpdateDestination) -> Option<(PathBuf, PathBuf)> {
        let (layer, name) = match destination {
            UpdateDestination::UserSettings => (Layer::User, "settings.json"),
            UpdateDestination::ProjectSettings => (Layer::Project, "settings.json"),
            UpdateDestination::LocalSettings => (Layer::Local, "settings.local.json"),
            _ => return None,
        };
        if !self.sources.contains(layer) {
            return None;
        }
        let is_there = |file: &PathBuf| file.symlink_metadata().is_ok();
        if layer == Layer::User {
            let existing = self.places.user_files().find(|(_, file)| is_there(file));
            let (directory, file) = existing.or_else(|| self.places.user_files().next())?;
            return Some((file, directory.to_path_buf()));
        }
        let start = self.places.start();
        let of_start = self.places.project_files(name).into_iter().filter(|(directory, _)| *directory == start);
        let file = of_start.map(|(_, file)| file).find(is_there);
        Some((file.unwrap_or_else(|| start.join(self.folder).join(name)), start.to_path_buf()))
    }

    /// Changes the text of a file, or makes a missing file. `change` returns the new text, or `None` to leave it.
    /// Programs that do not take the lock may change the file meanwhile: then the change is made once more, to the new
    /// content.
    fn change_text(
        &self,
        file: &Path,
        is_of_user: bool,
        read: impl Fn(&Path) -> Result<Option<OldText>, KeepError>,
        change: impl Fn(Option<&str>) -> Result<Option<String>, KeepError>,
    ) -> Result<(), KeepError> {
        for _ in 0..MAX_ATTEMPTS {
            let old = read(file)?;
            let text = old.as_ref().map(|old| old.text.as_str());
            let Some(changed) = change(text)? else { return Ok(()) };
            match self.write(file, &changed, is_of_user, old.as_ref().map(|old| old.bytes.as_slice())) {
                Err(KeepError::Write { problem, .. }) if ContentChanged::is(&problem) => {}
                written => return written,
            }
        }
        Err(KeepError::Write { path: file.to_path_buf(), problem: ContentChanged.into() })
    }

    fn write(&self, file: &Path, text: &str, is_of_user: bool, old: Option<&[u8]>) -> Result<(), KeepError> {
        let write_error = |problem| KeepError::Write { path: file.to_path_buf(), problem };
        let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
        let folder = file.parent().unwrap_or(file);
        // A repository can contain links; files of the user outside of it are the user's own.
        let target = match is_of_user {
            true => file.canonicalize().unwrap_or_else(|_| file.to_path_buf()),
            false => file.to_path_buf(),
        };
        if !is_of_user && (is_link(file) || is_link(folder)) {
            return Err(KeepError::Link(file.to_path_buf()));
        }
        if target.symlink_metadata().is_ok_and(|found| !found.is_file()) {
            return Err(KeepError::Link(target));
        }
        replace(&target, text, is_of_user, old).map_err(write_error)
    }

    /// Takes the lock: no other process of windlass writes while the file is open.
    fn lock(&self) -> Result<Option<File>, KeepError> {
        let Some(record) = self.places.records.first() else { return Ok(None) };
        let path = record.with_extension("lock");
        let locked = || {
            std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path)?;
            file.lock()?;
            Ok(file)
        };
        locked().map(Some).map_err(|problem| KeepError::Write { path: path.clone(), problem })
    }

    /// Records that the user approved the change, so that it applies in a project that is not trusted.
    fn approve(&self, update: &PermissionUpdate) -> Result<(), KeepError> {
        self.record(self.places.start(), |known| known.approved.apply(update)).map(drop)
    }

    /// Records the user's decision to trust the project: its root, and so every item that a session with this start
    /// directory reads ([`review_trust`](crate::review_trust)). Later additions and changes need trust again. Returns
    /// the file of the record; `None` if the user has no place for one.
    ///
    /// # Errors
    /// The record cannot be read or written, or the items to trust cannot be read; then no record was changed.
    pub fn record_trust(&self, trusts: bool) -> Result<Option<PathBuf>, KeepError> {
        let items = if trusts { trust_items(&self.places)? } else { Vec::new() };
        let _locked = self.lock()?;
        let root = self.places.project.first().map_or(self.places.start(), PathBuf::as_path);
        self.record(root, |known| {
            known.trusted = trusts;
            if !trusts {
                known.programs.clear();
            }
            // Trust in other parts of the project is kept.
            let former = known.covers.take().unwrap_or_default();
            known.covers = trusts.then(|| former.into_iter().chain(pinned(&items, root)).collect());
        })
    }

    /// Records the items that trust covers if a record does not list them (older records, and those of other programs):
    /// the items of the project as they are now. Later sessions compare with that. Call it before the project is read.
    ///
    /// # Errors
    /// The record cannot be read or written, or the trusted items cannot be read. Such trust covers nothing then.
    pub fn pin_trust(&self) -> Result<(), KeepError> {
        let project = &self.places.project;
        let mut ignored_notes = Vec::new();
        if read_trust(&self.places, &mut ignored_notes).unpinned(project).next().is_none() {
            return Ok(());
        }
        let items = trust_items(&self.places)?;
        let _locked = self.lock()?;
        // Another session may have done it meanwhile.
        let trust = read_trust(&self.places, &mut ignored_notes);
        for directory in trust.unpinned(project) {
            self.record(directory, |known| known.covers = Some(pinned(&items, directory)))?;
        }
        Ok(())
    }

    /// Digests of the files that trusted configuration of the project runs, as far as they are recorded; `None` if no
    /// directory of the project is trusted.
    #[must_use]
    pub fn recorded_programs(&self) -> Option<BTreeMap<PathBuf, String>> {
        let (project, trust) = (&self.places.project, read_trust(&self.places, &mut Vec::new()));
        trust.program_directory(project).map(|_| trust.programs(project))
    }

    /// Returns the text of a file with a recorded digest, if it was kept.
    #[must_use]
    pub fn kept_program(&self, digest: &str) -> Option<String> {
        let is_digest = !digest.is_empty() && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
        let path = self.kept_programs().filter(|_| is_digest)?.join(digest);
        read_named(&path, MAX_KEPT_PROGRAM_BYTES).ok()
    }

    /// Returns the folder of recorded program texts, which later versions are compared with.
    fn kept_programs(&self) -> Option<PathBuf> {
        Some(self.places.records.first()?.with_file_name(KEPT_PROGRAMS))
    }

    /// Keeps the texts of files whose digests are recorded, so that a later change can be shown.
    fn keep_programs(&self, contents: &BTreeMap<PathBuf, ProgramContent>) -> Result<(), KeepError> {
        let Some(folder) = self.kept_programs() else { return Ok(()) };
        for content in contents.values() {
            let (path, Some(text)) = (folder.join(&content.digest), &content.text) else { continue };
            if !path.exists() {
                let result = replace(&path, text, true, None);
                // Another process may have kept the same text meanwhile.
                let result = result.or_else(|problem| if path.exists() { Ok(()) } else { Err(problem) });
                result.map_err(|problem| KeepError::Write { path, problem })?;
            }
        }
        Ok(())
    }

    /// Records the contents of the files that trusted configuration of the project runs, in place of earlier contents
    /// of the same files. Nothing is recorded for a project that is not trusted. Files whose names are not Unicode are
    /// left out.
    ///
    /// # Errors
    /// The record cannot be read or written.
    pub fn record_programs(&self, contents: &BTreeMap<PathBuf, ProgramContent>) -> Result<(), KeepError> {
        if contents.is_empty() {
            return Ok(());
        }
        let _locked = self.lock()?;
        let trust = read_trust(&self.places, &mut Vec::new());
        let Some(directory) = trust.program_directory(&self.places.project) else { return Ok(()) };
        self.keep_programs(contents)?;
        self.record(directory, |known| {
            let digests = contents.iter().filter_map(|(path, content)| {
                Some((path.strip_prefix(directory).unwrap_or(path).to_str()?.to_owned(), content.digest.clone()))
            });
            known.programs.extend(digests);
        })
        .map(drop)
    }

    /// Changes our record of a directory.
    fn record(&self, directory: &Path, change: impl Fn(&mut ProjectRecord)) -> Result<Option<PathBuf>, KeepError> {
        let Some(path) = self.places.records.first() else { return Ok(None) };
        let origin = Origin::File(path.clone());
        let unusable = |problem: String| SettingsError::Malformed { origin: origin.clone(), problem };
        self.change_text(path, true, old_settings, |text| {
            let mut record: TrustRecord = match text {
                Some(text) => serde_json::from_str(text).map_err(|error| unusable(error.to_string()))?,
                None => TrustRecord::default(),
            };
            let project_trust = record.projects.entry(directory.to_path_buf()).or_default();
            let previous = project_trust.clone();
            change(project_trust);
            if *project_trust == previous {
                return Ok(None);
            }
            let text = serde_json::to_string_pretty(&record).map_err(|error| unusable(error.to_string()))?;
            Ok(Some(format!("{text}\n")))
        })?;
        Ok(Some(path.clone()))
    }
}

impl KeepUpdates for SettingsUpdates {
    fn keep(&self, update: &PermissionUpdate) -> Result<Option<PathBuf>, KeepError> {
        let Some(destination) = destination(update) else { return Ok(None) };
        let Some((file, anchor)) = self.target(destination) else { return Ok(None) };
        if matches!(update, PermissionUpdate::SetMode { mode: PermissionMode::BypassPermissions, .. }) {
            return Err(KeepError::Bypass);
        }
        Policy::new(PolicyConfig::new(anchor)).apply(update)?;
        let _locked = self.lock()?;
        let is_of_user = destination == UpdateDestination::UserSettings;
        self.change_text(&file, is_of_user, old_settings, |text| {
            let origin = Origin::File(file.clone());
            let changed = updated(text.unwrap_or_default(), update);
            Ok(changed.map_err(|problem| SettingsError::Malformed { origin, problem: problem.to_string() })?)
        })?;
        if !is_of_user {
            self.approve(update)?;
        }
        Ok(Some(file))
    }
}

/// Returns the destination of a change, if its kind is known.
#[must_use]
pub fn destination(update: &PermissionUpdate) -> Option<UpdateDestination> {
    match update {
        PermissionUpdate::AddRules { destination, .. }
        | PermissionUpdate::ReplaceRules { destination, .. }
        | PermissionUpdate::RemoveRules { destination, .. }
        | PermissionUpdate::SetMode { destination, .. }
        | PermissionUpdate::AddDirectories { destination, .. }
        | PermissionUpdate::RemoveDirectories { destination, .. } => Some(*destination),
        _ => None,
    }
}

impl Approved {
    /// Applies a change that the user made.
    pub(crate) fn apply(&mut self, update: &PermissionUpdate) {
        match update {
            PermissionUpdate::AddRules { rules, behavior: Behavior::Allow, .. } => {
                self.allow.extend(rules.iter().map(rule_text));
            }
            PermissionUpdate::ReplaceRules { rules, behavior: Behavior::Allow, .. } => {
                self.allow = rules.iter().map(rule_text).collect();
            }
            PermissionUpdate::RemoveRules { rules, behavior: Behavior::Allow, .. } => {
                self.allow.retain(|text| !names_one_of(text, rules));
            }
            PermissionUpdate::SetMode { mode, .. } => {
                self.mode = (*mode == PermissionMode::AcceptEdits).then_some(*mode);
            }
            PermissionUpdate::AddDirectories { directories, .. } => {
                self.directories.extend(directories.iter().map(|directory| normalized(directory)));
            }
            PermissionUpdate::RemoveDirectories { directories, .. } => {
                self.directories.retain(|known| !directories.iter().any(|gone| normalized(gone) == *known));
            }
            _ => {}
        }
    }
}

fn old_settings(file: &Path) -> Result<Option<OldText>, KeepError> {
    Ok(read_old_settings(file)?)
}

/// Replaces a file whole, if its content is still `old`: a reader sees the old text or the new one, also after a power
/// cut.
fn replace(path: &Path, text: &str, is_private: bool, old: Option<&[u8]>) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    std::fs::create_dir_all(folder)?;
    let mut new = if is_private { AtomicFile::create(path)? } else { AtomicFile::create_shared(path)? };
    if let Ok(existing) = path.metadata() {
        new.file().set_permissions(existing.permissions())?;
    }
    new.file().write_all(text.as_bytes())?;
    new.replace_expected(old)?;
    sync_dir(folder)
}

#[cfg(test)]
mod tests;
