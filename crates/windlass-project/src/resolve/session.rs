//! Resolves the session keys: language, thinking, API key and language servers.

use crate::canonical::content_of;
use crate::note::Note;
use crate::resolved::{ResolvedSession, Setting, SnapshotContent};
use crate::settings_file::SettingsFile;
use crate::sources::Layer;
use crate::trust::TrustKind;
use windlass_types::Effort;

/// Sets a value of a file, unless a stronger file has set one.
fn keep<T>(file: &SettingsFile, known: &mut Option<Setting<T>>, value: Option<T>) {
    if known.is_none() {
        *known = value.map(|value| Setting { value, layer: file.layer, origin: file.origin.clone() });
    }
}

/// Reads one file, after the stronger ones. Settings of a project's file apply with trust; programs that print keys or
/// read code are never chosen by a file that others may have written.
pub(super) fn read(file: &SettingsFile, resolved: &mut ResolvedSession, notes: &mut Vec<Note>) {
    let said = &file.settings.session;
    let mut note = |text: String| notes.push(Note::new(&file.origin, text));
    let mut trusted = |key: &str, content: String| {
        let counts = file.covers(TrustKind::Setting, key, &content);
        if !counts {
            note(format!("`{key}` does not count {}", file.standing.condition()));
        }
        counts
    };
    let style = said.output_style.clone().filter(|style| trusted("outputStyle", content_of(style)));
    let language = said.language.clone().filter(|language| trusted("language", content_of(language)));
    let attribution = said.attribution().filter(|said| trusted("attribution", content_of(said)));
    let effort = said.effort_level.clone().filter(|effort| trusted("effortLevel", content_of(effort)));
    let helper = said.api_key_helper.clone().filter(|helper| !helper.trim().is_empty());
    let is_shared = file.is_shared();
    let helper = helper.filter(|helper| is_shared || trusted("apiKeyHelper", content_of(helper)));
    let servers = said.lsp_servers.clone();
    let servers = servers.filter(|servers| is_shared || trusted("lspServers", content_of(servers)));
    let mut switch = |key: &str, on: Option<bool>| on.filter(|on| !on || trusted(key, content_of(on)));
    let moves = switch("backgroundLongCommands", said.background_long_commands);
    let terminals = switch("commandTerminals", said.command_terminals);
    let snapshot = said.shell_snapshot.clone().filter(|said| is_shared || trusted("shellSnapshot", content_of(said)));
    let kept = said.file_checkpoints.filter(|kept| trusted("fileCheckpoints", content_of(kept)));
    let limits = said.output_limits.filter(|limits| trusted("outputLimits", content_of(limits)));
    let parsed = effort.and_then(|effort| match effort.parse::<Effort>() {
        Ok(effort) => Some(effort),
        Err(_) => {
            note(format!("`effortLevel` is {effort:?}: there are low, medium, high, xhigh and max"));
            None
        }
    });
    let snapshot_content = snapshot.as_deref().and_then(|said| match said {
        "variables" => Some(SnapshotContent::Variables),
        "all" => Some(SnapshotContent::All),
        _ => {
            note(format!("`shellSnapshot` is {said:?}: there are variables and all"));
            None
        }
    });
    let of_user_only =
        [("apiKeyHelper", helper.is_some()), ("lspServers", servers.is_some()), ("shellSnapshot", snapshot.is_some())];
    for (key, is_there) in of_user_only {
        if is_shared && is_there {
            note(format!("`{key}` does not count in a file that others may have written"));
        }
    }
    keep(file, &mut resolved.output_style, style);
    keep(file, &mut resolved.language, language);
    keep(file, &mut resolved.attribution, attribution);
    keep(file, &mut resolved.effort, parsed);
    keep(file, &mut resolved.api_key_helper, helper.filter(|_| !is_shared));
    keep(file, &mut resolved.background_long_commands, moves);
    keep(file, &mut resolved.command_terminals, terminals);
    keep(file, &mut resolved.shell_snapshot, snapshot_content.filter(|_| !is_shared));
    keep(file, &mut resolved.file_checkpoints, kept);
    keep(file, &mut resolved.output_limits, limits);
    keep(file, &mut resolved.lsp_servers, servers.filter(|_| !is_shared));
    read_retention(file, resolved, notes);
}

/// Reads how long sessions are kept: a person's own settings, never those of a project.
fn read_retention(file: &SettingsFile, resolved: &mut ResolvedSession, notes: &mut Vec<Note>) {
    let said = &file.settings.session;
    let is_of_project = matches!(file.layer, Layer::Project | Layer::Local);
    let days = said.cleanup_period_days.filter(|days| *days > 0 && !is_of_project);
    let bytes = said.cleanup_max_bytes.filter(|bytes| *bytes > 0 && !is_of_project);
    for (key, value, kept) in
        [("cleanupPeriodDays", said.cleanup_period_days, days), ("cleanupMaxBytes", said.cleanup_max_bytes, bytes)]
    {
        if value.is_some() && kept.is_none() {
            let why = if is_of_project { "in a file of a project" } else { "as 0: give a number above zero" };
            notes.push(Note::new(&file.origin, format!("`{key}` does not count {why}")));
        }
    }
    keep(file, &mut resolved.cleanup_period_days, days);
    keep(file, &mut resolved.cleanup_max_bytes, bytes);
}
