//! Validity checks of messages.

use std::collections::HashSet;
use windlass_types::{ContentBlock, Message, Role};

/// Checks the rules of a request that the Messages API would otherwise refuse: it starts with the user, roles
/// alternate, no message or text is blank, every tool use has an id of its own and is answered exactly once at the
/// start of the next message without other results there, and no message ends in reasoning.
///
/// # Errors
/// The first broken rule, with the index of the message.
pub fn check_messages<'a>(messages: impl IntoIterator<Item = &'a Message>) -> Result<(), String> {
    let mut expected = Role::User;
    let mut open: Vec<&str> = Vec::new();
    let mut ids: HashSet<&str> = HashSet::new();
    for (at, message) in messages.into_iter().enumerate() {
        let broken = |rule: &str| Err(format!("message {at}: {rule}"));
        if message.role != expected {
            return broken("the roles do not alternate, beginning with the user");
        }
        if message.content.is_empty() {
            return broken("it is empty");
        }
        if message.content.iter().any(|block| block.as_text().is_some_and(|text| text.trim().is_empty())) {
            return broken("it has a blank text");
        }
        if message.role == Role::User {
            check_user(&message.content, &open).or_else(|rule| broken(&rule))?;
            open.clear();
            expected = Role::Assistant;
        } else {
            open = check_assistant(&message.content).or_else(|rule| broken(rule).map(|()| Vec::new()))?;
            if !open.iter().all(|id| !id.is_empty() && ids.insert(id)) {
                return broken("it uses the id of an earlier call, or an empty one");
            }
            expected = Role::User;
        }
    }
    match open.first() {
        Some(id) => Err(format!("the call {id} at the end has no result")),
        None => Ok(()),
    }
}

fn check_user(content: &[ContentBlock], open: &[&str]) -> Result<(), String> {
    let results: Vec<&str> =
        content.iter().map_while(ContentBlock::as_tool_result).map(|result| result.tool_use_id.as_str()).collect();
    if results != open {
        return Err(format!("its results {results:?} do not answer the calls {open:?} in order"));
    }
    for block in content.iter().skip(results.len()) {
        match block {
            ContentBlock::ToolResult(result) => {
                return Err(format!("the result of {} stands behind other content", result.tool_use_id));
            }
            ContentBlock::ToolUse(_) | ContentBlock::Thinking { .. } | ContentBlock::RedactedThinking { .. } => {
                return Err("it has a block of the model's side".to_owned());
            }
            _ => {}
        }
    }
    Ok(())
}

fn check_assistant(content: &[ContentBlock]) -> Result<Vec<&str>, &'static str> {
    if content.last().is_some_and(ContentBlock::is_thinking) {
        return Err("it ends in reasoning");
    }
    if content.iter().any(|block| block.as_tool_result().is_some()) {
        return Err("it has a result on the model's side");
    }
    let calls: Vec<&str> = content.iter().filter_map(ContentBlock::as_tool_use).map(|call| call.id.as_str()).collect();
    let distinct: HashSet<&str> = calls.iter().copied().collect();
    if distinct.len() != calls.len() {
        return Err("it uses the id of a call twice");
    }
    if content.iter().filter_map(ContentBlock::as_tool_use).any(|call| !call.input.is_object()) {
        return Err("the input of a call is no object");
    }
    Ok(calls)
}
