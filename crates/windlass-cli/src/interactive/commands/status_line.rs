//! `/statusline`: the command that writes the row below the prompt.

use super::context::CommandContext;
use crate::config;
use crate::config::command::Scope;
use serde_json::json;
use windlass_terminal::app::CommandReply;

pub(super) fn view(context: &CommandContext, argument: &str) -> anyhow::Result<CommandReply> {
    let changed = match argument {
        "" => {
            let set = &context.project.resolved().terminal.status_line;
            let text = match set {
                Some(set) => format!("{}  ({})", set.value.as_str(), set.origin),
                None => "The row is windlass's own. /statusline COMMAND sets a command that reads JSON and writes it."
                    .to_owned(),
            };
            return Ok(CommandReply::Text(crate::terminal::clean(&text)));
        }
        "off" => config::set("statusLine", None, Scope::User)?,
        command => {
            let value = json!({ "type": "command", "command": command }).to_string();
            config::set("statusLine", Some(&value), Scope::User)?
        }
    };
    Ok(CommandReply::Text(format!("{}\nIt counts when windlass is started next.", changed.join("\n"))))
}
