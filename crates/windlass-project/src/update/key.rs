//! Settings that the user changes by name.

use super::{KeepError, SettingsUpdates, old_settings};
use crate::edit::with_member;
use crate::error::SettingsError;
use crate::note::Origin;
use crate::resolve::resolve;
use crate::settings::{SettingPath, Settings};
use crate::settings_file::SettingsFile;
use crate::sources::Layer;
use std::path::{Path, PathBuf};
use windlass_types::UpdateDestination;

impl SettingsUpdates {
    /// Sets a setting to a value in the file of a destination, or removes it with `None`. The value is JSON text; see
    /// [`SettingPath::value`]. The rest of the file stays as it is written, and the file is replaced whole. Returns the
    /// file, or `None` when the destination has none or is not read.
    ///
    /// A change of a project's file gives no trust: a widening setting takes effect once the user has trusted it.
    ///
    /// # Errors
    /// The file would not be one that a session starts with, is a link, or cannot be read or written. Then the file is
    /// unchanged.
    pub fn set(
        &self,
        destination: UpdateDestination,
        setting: &SettingPath,
        value: Option<&str>,
    ) -> Result<Option<PathBuf>, KeepError> {
        let Some((file, anchor)) = self.target(destination) else { return Ok(None) };
        let _locked = self.lock()?;
        let is_of_user = destination == UpdateDestination::UserSettings;
        self.change_text(&file, is_of_user, old_settings, |text| {
            let changed = with_member(text.unwrap_or_default(), &setting.members, value)
                .map_err(|problem| malformed(&file, problem.to_string()))?;
            if let Some(changed) = &changed {
                check(&file, &anchor, destination, changed)?;
            }
            Ok(changed)
        })?;
        Ok(Some(file))
    }
}

fn malformed(file: &Path, problem: String) -> SettingsError {
    SettingsError::Malformed { origin: Origin::file(file), problem }
}

/// Checks that a session would start with such a file.
fn check(file: &Path, anchor: &Path, destination: UpdateDestination, text: &str) -> Result<(), SettingsError> {
    let settings = Settings::parse(text).map_err(|problem| malformed(file, problem.to_string()))?;
    if let Some(mode) = &settings.permissions.default_mode {
        mode.parse::<windlass_types::PermissionMode>().map_err(|problem| malformed(file, problem))?;
    }
    let layer = match destination {
        UpdateDestination::ProjectSettings => Layer::Project,
        UpdateDestination::LocalSettings => Layer::Local,
        _ => Layer::User,
    };
    resolve(&[SettingsFile::new(layer, Origin::file(file), anchor, settings)]).map(drop)
}
