//! Resolves the keys of skills.

use crate::settings::SkillSettings;
use crate::settings_file::SettingsFile;

/// Reads one file, after the stronger ones. A setting that switches something off applies from every file. For each
/// name the strongest file wins, but a file of a project only narrows weaker files.
pub(super) fn read(file: &SettingsFile, resolved: &mut SkillSettings, narrower: &mut SkillSettings) {
    let settings = &file.settings.skills;
    resolved.without_bundled |= settings.without_bundled;
    resolved.without_programs |= settings.without_programs;
    let target = if file.layer.lies_in_project() { narrower } else { resolved };
    for (name, word) in &settings.overrides {
        target.overrides.entry(name.clone()).or_insert(*word);
    }
}

/// Applies the narrowing settings of the project's files.
pub(super) fn narrow(resolved: &mut SkillSettings, narrower: SkillSettings) {
    for (name, word) in narrower.overrides {
        resolved.overrides.entry(name).and_modify(|known| *known = (*known).max(word)).or_insert(word);
    }
}
