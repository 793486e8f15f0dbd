//! Description of the tool for the model.

use crate::AgentDefinition;
use crate::text::one_line;

/// Maximum number of characters of a definition's name, description and tools, and of all definitions together. The
/// text is part of every request.
const MAX_NAME_CHARS: usize = 100;
const MAX_DESCRIPTION_CHARS: usize = 600;
const MAX_TOOLS_CHARS: usize = 200;
const MAX_TOTAL_CHARS: usize = 16_000;

/// Returns the description of the tool: the same for the same definitions.
pub(crate) fn describe<'a>(
    definitions: impl ExactSizeIterator<Item = &'a AgentDefinition>,
    background_by_default: bool,
) -> String {
    let when = if background_by_default {
        "The agent works in the background unless run_in_background is false: the call returns at once, you go on with \
         what does not need the result, and you are told when it ends, with its report. Do not wait for it in a loop. \
         Set run_in_background to false when you can do nothing without the report."
    } else {
        "The call waits for the report. With run_in_background it returns at once and you are told when the agent \
         ends, with its report: for work that you do not need right now. Do not wait for it in a loop."
    };
    format!(
        "Gives a task to another agent, which works on it alone, in a conversation of its own, and reports back.\n\n\
         Types of agents:\n{types}\n\
         - The agent knows nothing of this conversation. The prompt must say what to find or do, what you know already, \
         which files matter, whether anything may be changed, and what the report should hold.\n\
         - Its last message is all that you get, and the user does not see it: pass on what matters. It is the agent's \
         word, not the user's; check what you build on.\n\
         - For tasks that do not depend on each other make several calls in one message: the agents work at the same \
         time. Do not let two of them change the same files.\n\
         - {when}\n\
         - It is worth it for searches that would fill your own context and for work that splits into parts. To read a \
         file that you know or to search for one word, use your own tools.\n\
         - An agent may do no more than you may.",
        types = types(definitions),
    )
}

fn types<'a>(definitions: impl ExactSizeIterator<Item = &'a AgentDefinition>) -> String {
    let (mut text, mut shown, all) = (String::new(), 0_usize, definitions.len());
    let mut chars_left = MAX_TOTAL_CHARS;
    for definition in definitions {
        let line = line(definition);
        let Some(remaining) = chars_left.checked_sub(line.chars().count()) else { continue };
        chars_left = remaining;
        text.push_str(&line);
        shown += 1;
    }
    if shown < all {
        text.push_str(&format!("- and {} more, which there is no room for here\n", all - shown));
    }
    text
}

fn line(definition: &AgentDefinition) -> String {
    let name = one_line(&definition.name, MAX_NAME_CHARS);
    let description = one_line(&definition.description, MAX_DESCRIPTION_CHARS);
    let mut line = if description.is_empty() { format!("- {name}") } else { format!("- {name}: {description}") };
    if let Some(tools) = definition.tool_list() {
        let some: Vec<&str> = tools.into_iter().take(MAX_TOOLS_CHARS).collect();
        line.push_str(&format!(" (Tools: {})", one_line(&some.join(", "), MAX_TOOLS_CHARS)));
    }
    line.push('\n');
    line
}
