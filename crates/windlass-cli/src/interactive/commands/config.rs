//! `/config`: settings with their sources, and changes of the user's own.

use super::context::{CommandContext, lines};
use crate::config;
use crate::config::command::Scope;
use windlass_terminal::app::CommandReply;

pub(super) fn view(context: &CommandContext, argument: &str) -> anyhow::Result<CommandReply> {
    let args = &context.args;
    if let Some((key, value)) = argument.split_once(char::is_whitespace) {
        let changed = config::set(key, Some(value.trim()), Scope::User)?;
        return Ok(lines(&changed, ""));
    }
    let project = crate::launch::project(&args.settings, &context.cwd)?.review()?;
    let mut rows = config::rows(&project, &args.settings, true)?;
    if !argument.is_empty() {
        rows.retain(|row| row.starts_with(argument) || row.starts_with("  "));
        let none = format!("{argument} is not set in any active settings file. /config {argument} VALUE sets it.");
        let is_named = rows.iter().any(|row| row.starts_with(argument));
        return Ok(CommandReply::Text(if is_named { named(&rows, argument) } else { none }));
    }
    Ok(lines(&rows, "No setting is in effect. /config KEY VALUE sets one of yours."))
}

/// The row of a key, and those of its sources.
fn named(rows: &[String], key: &str) -> String {
    let from = rows.iter().position(|row| row.starts_with(key)).unwrap_or_default();
    let rest = rows.iter().skip(from);
    let of_key =
        rest.enumerate().take_while(|(at, row)| *at == 0 || row.starts_with("  ")).map(|(_, row)| row.as_str());
    of_key.collect::<Vec<_>>().join("\n")
}
