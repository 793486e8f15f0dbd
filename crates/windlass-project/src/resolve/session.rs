//! Resolves the session keys: language, thinking, API key and language servers.

use crate::canonical::content_of;
use crate::note::Note;
use crate::resolved::{ResolvedSession, Setting, SnapshotContent};
use crate::settings_file::SettingsFile;
use crate::sources::Layer;
use crate::trust::TrustKind;
use windlass_types::Effort;

/// Sets a value of a file, unless a stronger file has set one.
fn set_if_unset<T>(file: &SettingsFile, target: &mut Option<Setting<T>>, value: Option<T>) {
    if target.is_none() {
        *target = value.map(|value| Setting { value, layer: file.layer, origin: file.origin.clone() });
    }
}

/// Reads one file, after the stronger ones. Settings of a project's file apply with trust; programs that print keys or
/// read code are never chosen by a file that others may have written.
pub(super) fn read(file: &SettingsFile, resolved: &mut ResolvedSession, notes: &mut Vec<Note>) {
    let settings = &file.settings.session;
    let mut note = |text: String| notes.push(Note::new(&file.origin, text));
    let mut trusted = |key: &str, content: String| {
        let counts = file.covers(TrustKind::Setting, key, &content);
        if !counts {
            note(format!("`{key}` does not count {}", file.standing.condition()));
        }
        counts
    };
    let style = settings.output_style.clone().filter(|style| trusted("outputStyle", content_of(style)));
    let language = settings.language.clone().filter(|language| trusted("language", content_of(language)));
    let attribution = settings.attribution().filter(|attribution| trusted("attribution", content_of(attribution)));
    let effort = settings.effort_level.clone().filter(|effort| trusted("effortLevel", content_of(effort)));
    let helper = settings.api_key_helper.clone().filter(|helper| !helper.trim().is_empty());
    let is_shared = file.is_shared();
    let helper = helper.filter(|helper| is_shared || trusted("apiKeyHelper", content_of(helper)));
    let servers = settings.lsp_servers.clone();
    let servers = servers.filter(|servers| is_shared || trusted("lspServers", content_of(servers)));
    let mut switch = |key: &str, on: Option<bool>| on.filter(|on| !on || trusted(key, content_of(on)));
    let background_commands = switch("backgroundLongCommands", settings.background_long_commands);
    let terminals = switch("commandTerminals", settings.command_terminals);
    let snapshot =
        settings.shell_snapshot.clone().filter(|snapshot| is_shared || trusted("shellSnapshot", content_of(snapshot)));
    let checkpoints =
        settings.file_checkpoints.filter(|checkpoints| trusted("fileCheckpoints", content_of(checkpoints)));
    let limits = settings.output_limits.filter(|limits| trusted("outputLimits", content_of(limits)));
    let parsed_effort = effort.and_then(|effort| match effort.parse::<Effort>() {
        Ok(effort) => Some(effort),
        Err(_) => {
            note(format!("`effortLevel` is {effort:?}: there are low, medium, high, xhigh and max"));
            None
        }
    });
    let snapshot_content = snapshot.as_deref().and_then(|content| match content {
        "variables" => Some(SnapshotContent::Variables),
        "all" => Some(SnapshotContent::All),
        _ => {
            note(format!("`shellSnapshot` is {content:?}: there are variables and all"));
            None
        }
    });
    let user_only_keys =
        [("apiKeyHelper", helper.is_some()), ("lspServers", servers.is_some()), ("shellSnapshot", snapshot.is_some())];
    for (key, is_there) in user_only_keys {
        if is_shared && is_there {
            note(format!("`{key}` does not count in a file that others may have written"));
        }
    }
    set_if_unset(file, &mut resolved.output_style, style);
    set_if_unset(file, &mut resolved.language, language);
    set_if_unset(file, &mut resolved.attribution, attribution);
    set_if_unset(file, &mut resolved.effort, parsed_effort);
    set_if_unset(file, &mut resolved.api_key_helper, helper.filter(|_| !is_shared));
    set_if_unset(file, &mut resolved.background_long_commands, background_commands);
    set_if_unset(file, &mut resolved.command_terminals, terminals);
    set_if_unset(file, &mut resolved.shell_snapshot, snapshot_content.filter(|_| !is_shared));
    set_if_unset(file, &mut resolved.file_checkpoints, checkpoints);
    set_if_unset(file, &mut resolved.output_limits, limits);
    set_if_unset(file, &mut resolved.lsp_servers, servers.filter(|_| !is_shared));
    read_retention(file, resolved, notes);
}

/// Reads how long sessions are kept: a person's own settings, never those of a project.
fn read_retention(file: &SettingsFile, resolved: &mut ResolvedSession, notes: &mut Vec<Note>) {
    let settings = &file.settings.session;
    let is_of_project = matches!(file.layer, Layer::Project | Layer::Local);
    let days = settings.cleanup_period_days.filter(|days| *days > 0 && !is_of_project);
    let bytes = settings.cleanup_max_bytes.filter(|bytes| *bytes > 0 && !is_of_project);
    for (key, value, accepted) in [
        ("cleanupPeriodDays", settings.cleanup_period_days, days),
        ("cleanupMaxBytes", settings.cleanup_max_bytes, bytes),
    ] {
        if value.is_some() && accepted.is_none() {
            let reason = if is_of_project { "in a file of a project" } else { "as 0: give a number above zero" };
            notes.push(Note::new(&file.origin, format!("`{key}` does not count {reason}")));
        }
    }
    set_if_unset(file, &mut resolved.cleanup_period_days, days);
    set_if_unset(file, &mut resolved.cleanup_max_bytes, bytes);
}
