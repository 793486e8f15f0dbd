//! Slash commands of a session.

use serde_json::{Value, json};
use windlass_conversation::SlashCommand;

/// Names of the command that begins a new conversation. A client does that with `session/new`: its session would be
/// another one than the client shows and loads.
const CLEAR: [&str; 3] = ["clear", "reset", "new"];

/// Text for a person who uses one of these names.
pub(crate) const CLEAR_TEXT: &str =
    "This session keeps its conversation. Start a new session in your editor to begin with an empty one.";

/// `true` if a prompt with this text would begin a new conversation.
pub(crate) fn clears(text: &str) -> bool {
    let name = text.trim().strip_prefix('/').and_then(|text| text.split_whitespace().next());
    name.is_some_and(|name| CLEAR.contains(&name))
}

/// Update with all commands that a client can offer.
pub(crate) fn update(commands: &[SlashCommand]) -> Value {
    let commands = commands.iter().filter(|command| !CLEAR.contains(&command.name.as_str())).map(|command| {
        let mut value = json!({ "name": command.name, "description": command.description });
        if !command.argument_hint.is_empty()
            && let Some(fields) = value.as_object_mut()
        {
            fields.insert("input".to_owned(), json!({ "hint": command.argument_hint }));
        }
        value
    });
    json!({ "sessionUpdate": "available_commands_update", "availableCommands": commands.collect::<Vec<_>>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_command_itself_clears() {
        for (text, expected) in [
            ("/clear", true),
            (" /new now\n", true),
            ("/reset", true),
            ("/clearly", false),
            ("clear", false),
            ("see /clear", false),
            ("/", false),
        ] {
            assert_eq!(clears(text), expected, "{text:?}");
        }
    }
}
