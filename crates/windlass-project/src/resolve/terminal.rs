//! Resolves the keys of the interactive terminal.

use crate::note::Note;
use crate::resolved::{ResolvedTerminal, Setting};
use crate::settings_file::SettingsFile;

/// Reads one file, after the stronger ones. Keys, colours and the status line belong to the person: a file of a project
/// changes none of them, and its command is never run.
pub(super) fn read(file: &SettingsFile, resolved: &mut ResolvedTerminal, notes: &mut Vec<Note>) {
    let settings = &file.settings.terminal;
    if file.layer.lies_in_project() {
        for (key, is_there) in
            [("statusLine", settings.status_line.is_some()), ("keyBindings", settings.key_bindings.is_some())]
        {
            if is_there {
                notes.push(Note::new(&file.origin, format!("`{key}` does not count in a file of a project")));
            }
        }
        return;
    }
    set_if_unset(file, &mut resolved.theme, settings.theme.clone());
    set_if_unset(file, &mut resolved.key_bindings, settings.key_bindings.clone());
    set_if_unset(file, &mut resolved.enter_queues, settings.enter_queues);
    set_if_unset(file, &mut resolved.status_line, settings.status_line.clone());
    set_if_unset(file, &mut resolved.progress, settings.progress);
    set_if_unset(file, &mut resolved.reduced_motion, settings.reduced_motion);
    set_if_unset(file, &mut resolved.screen_reader, settings.screen_reader);
}

fn set_if_unset<T>(file: &SettingsFile, target: &mut Option<Setting<T>>, value: Option<T>) {
    if target.is_none() {
        *target = value.map(|value| Setting { value, layer: file.layer, origin: file.origin.clone() });
    }
}
