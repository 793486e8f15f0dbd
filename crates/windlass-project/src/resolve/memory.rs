//! Resolves the keys of memory.

use crate::note::Note;
use crate::resolved::{ResolvedMemory, Setting};
use crate::settings_file::SettingsFile;
use windlass_context::is_secret;
use windlass_types::path::normalized;

/// Reads one file, after the stronger ones. A project's file can only switch the memory or its extraction off: the
/// memory directory is written without a permission request, and extraction and ranking cost model requests.
pub(super) fn read(file: &SettingsFile, resolved: &mut ResolvedMemory, notes: &mut Vec<Note>) {
    let settings = &file.settings.memory;
    let is_project_file = file.layer.lies_in_project();
    let permitted = |value: Option<bool>| value.filter(|on| !is_project_file || !on);
    let setting = |value| Setting { value, layer: file.layer, origin: file.origin.clone() };
    resolved.enabled = resolved.enabled.take().or_else(|| permitted(settings.enabled).map(setting));
    resolved.extraction = resolved.extraction.take().or_else(|| permitted(settings.extraction).map(setting));
    if let Some(model) = settings.ranking_model.as_ref().filter(|model| !model.trim().is_empty()) {
        if is_project_file {
            notes.push(Note::new(&file.origin, "`autoMemoryRankingModel` does not count in a file of a project"));
        } else if resolved.ranking_model.is_none() {
            let value = model.trim().to_owned();
            resolved.ranking_model = Some(Setting { value, layer: file.layer, origin: file.origin.clone() });
        }
    }
    let excludes = settings.instruction_excludes.iter().flatten().cloned();
    resolved.instruction_excludes.extend(excludes.map(|value| Setting {
        value,
        layer: file.layer,
        origin: file.origin.clone(),
    }));
    let Some(directory) = &settings.directory else { return };
    let path = normalized(&file.anchor.join(directory));
    let problem = match () {
        () if is_project_file => "`autoMemoryDirectory` does not count in a file of a project",
        // The check needs a file name, and any file in the directory serves.
        () if is_secret(&path.join("x")) => "`autoMemoryDirectory` does not count: people keep secrets there",
        () if resolved.directory.is_some() => return,
        () => {
            resolved.directory = Some(Setting { value: path, layer: file.layer, origin: file.origin.clone() });
            return;
        }
    };
    notes.push(Note::new(&file.origin, problem));
}
