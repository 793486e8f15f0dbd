//! Resolves the keys of memory.

use crate::note::Note;
use crate::resolved::{ResolvedMemory, Setting};
use crate::settings_file::SettingsFile;
use windlass_context::is_secret;
use windlass_types::path::normalized;

/// Reads one file, after the stronger ones. A file of a project can switch a memory or its extraction off, and nothing
/// else: the directory of a memory is written to without a permission request, and notes, and a model that ranks them,
/// cost requests.
pub(super) fn read(file: &SettingsFile, resolved: &mut ResolvedMemory, notes: &mut Vec<Note>) {
    let said = &file.settings.memory;
    let of_project = file.layer.lies_in_project();
    let counts = |value: Option<bool>| value.filter(|on| !of_project || !on);
    let setting = |value| Setting { value, layer: file.layer, origin: file.origin.clone() };
    resolved.enabled = resolved.enabled.take().or_else(|| counts(said.enabled).map(setting));
    resolved.extraction = resolved.extraction.take().or_else(|| counts(said.extraction).map(setting));
    if let Some(model) = said.ranking_model.as_ref().filter(|model| !model.trim().is_empty()) {
        if of_project {
            notes.push(Note::new(&file.origin, "`autoMemoryRankingModel` does not count in a file of a project"));
        } else if resolved.ranking_model.is_none() {
            let value = model.trim().to_owned();
            resolved.ranking_model = Some(Setting { value, layer: file.layer, origin: file.origin.clone() });
        }
    }
    let excludes = said.instruction_excludes.iter().flatten().cloned();
    resolved.instruction_excludes.extend(excludes.map(|value| Setting {
        value,
        layer: file.layer,
        origin: file.origin.clone(),
    }));
    let Some(directory) = &said.directory else { return };
    let path = normalized(&file.anchor.join(directory));
    let problem = match () {
        () if of_project => "`autoMemoryDirectory` does not count in a file of a project",
        // As one of the files in it would be.
        () if is_secret(&path.join("x")) => "`autoMemoryDirectory` does not count: people keep secrets there",
        () if resolved.directory.is_some() => return,
        () => {
            resolved.directory = Some(Setting { value: path, layer: file.layer, origin: file.origin.clone() });
            return;
        }
    };
    notes.push(Note::new(&file.origin, problem));
}
