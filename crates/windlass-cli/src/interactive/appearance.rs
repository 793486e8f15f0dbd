//! Colours, keys and other options of the terminal, from settings.

use super::status_line::StatusLineCommand;
use serde_json::Value;
use std::path::PathBuf;
use windlass::Home;
use windlass::project::{ResolvedTerminal, Setting, read_named};
use windlass::text::nearest;
use windlass_terminal::app::TerminalOptions;
use windlass_terminal::capabilities::{Background, Presentation};
use windlass_terminal::keys::Keymap;
use windlass_terminal::screen::ColorDepth;
use windlass_terminal::theme::Theme;

/// Directory of the user's themes in the home.
const THEMES: &str = "themes";
/// Maximum size of a theme, in bytes.
const MOST: u64 = 1 << 20;

/// Sets the options that settings name. Returns the command of the status line, and what cannot be used.
pub(super) fn apply(
    settings: &ResolvedTerminal,
    options: &mut TerminalOptions,
) -> (Option<StatusLineCommand>, Vec<String>) {
    let mut problems = Vec::new();
    options.theme = match &settings.theme {
        Some(named) => named_or_usual(named, &mut problems),
        None => of_background(options),
    };
    if let Some(keys) = &settings.key_bindings {
        let value: Value = keys.value.to().unwrap_or_default();
        match Keymap::from_settings(&value) {
            Ok(keymap) => options.keymap = keymap,
            Err(error) => problems.push(format!("{}: keyBindings: {error}", keys.origin)),
        }
    }
    let is = |setting: &Option<Setting<bool>>| setting.as_ref().map(|setting| setting.value);
    options.enter_queues = is(&settings.enter_queues) == Some(true);
    options.reduced_motion = is(&settings.reduced_motion) == Some(true);
    options.shows_progress = is(&settings.progress) != Some(false);
    let command = settings.status_line.as_ref().and_then(|said| {
        let read = StatusLineCommand::read(&said.value);
        read.map_err(|problem| problems.push(format!("{}: statusLine: {problem}", said.origin))).ok()
    });
    (command, problems)
}

fn named_or_usual(said: &Setting<String>, problems: &mut Vec<String>) -> Theme {
    named(&said.value).unwrap_or_else(|problem| {
        problems.push(format!("{}: theme: {problem}", said.origin));
        Theme::default()
    })
}

/// The colours for the background that the environment tells; otherwise the terminal is to be asked.
fn of_background(options: &mut TerminalOptions) -> Theme {
    let told = std::env::var("COLORFGBG").ok().and_then(|value| Background::of_variable(&value));
    let has_colors = options.capabilities.colors != ColorDepth::None;
    let is_inline = options.capabilities.presentation == Presentation::Inline;
    options.asks_background = told.is_none() && has_colors && is_inline;
    Theme::for_background(told)
}

/// The theme of a name: a built-in one, or a file of the user.
///
/// # Errors
/// There is none, or it cannot be read.
pub(super) fn named(name: &str) -> Result<Theme, String> {
    if let Some(theme) = Theme::named(name) {
        return Ok(theme);
    }
    let own = own_themes();
    if !own.iter().any(|known| known == name) {
        let known = Theme::NAMES.into_iter().chain(own.iter().map(String::as_str));
        let near = nearest(name, known).first().map(|near| format!(" Did you mean {near:?}?"));
        return Err(format!("There is no theme {name:?}.{}", near.unwrap_or_default()));
    }
    let path = folder().map(|folder| folder.join(format!("{name}.json"))).unwrap_or_default();
    let text = read_named(&path, MOST).map_err(|error| error.to_string())?;
    Theme::from_json(&text).map_err(|error| format!("{}: {error}", path.display()))
}

/// Names of the user's themes.
pub(super) fn own_themes() -> Vec<String> {
    let entries = folder().and_then(|folder| std::fs::read_dir(folder).ok());
    let names = entries.into_iter().flatten().filter_map(|entry| {
        let name = entry.ok()?.file_name().into_string().ok()?;
        name.strip_suffix(".json").map(str::to_owned)
    });
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn folder() -> Option<PathBuf> {
    Some(Home::from_env().ok()?.root().join(THEMES))
}
