//! Resolves the keys of the interactive terminal.

use crate::note::Note;
use crate::resolved::{ResolvedTerminal, Setting};
use crate::settings_file::SettingsFile;

/// Reads one file, after the stronger ones. Keys, colours and the status line belong to the person: a file of a project
/// changes none of them, and its command is never run.
pub(super) fn read(file: &SettingsFile, resolved: &mut ResolvedTerminal, notes: &mut Vec<Note>) {
    let said = &file.settings.terminal;
    if file.layer.lies_in_project() {
        for (key, is_there) in
            [("statusLine", said.status_line.is_some()), ("keyBindings", said.key_bindings.is_some())]
        {
            if is_there {
                notes.push(Note::new(&file.origin, format!("`{key}` does not count in a file of a project")));
            }
        }
        return;
    }
    keep(file, &mut resolved.theme, said.theme.clone());
    keep(file, &mut resolved.key_bindings, said.key_bindings.clone());
    keep(file, &mut resolved.enter_queues, said.enter_queues);
    keep(file, &mut resolved.status_line, said.status_line.clone());
    keep(file, &mut resolved.progress, said.progress);
    keep(file, &mut resolved.reduced_motion, said.reduced_motion);
    keep(file, &mut resolved.screen_reader, said.screen_reader);
}

fn keep<T>(file: &SettingsFile, known: &mut Option<Setting<T>>, value: Option<T>) {
    if known.is_none() {
        *known = value.map(|value| Setting { value, layer: file.layer, origin: file.origin.clone() });
    }
}
