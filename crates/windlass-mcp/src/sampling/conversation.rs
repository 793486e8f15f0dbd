//! Views of a sampling request for a model and for a person.

use super::SamplingRequest;
use serde_json::{Value, json};
use windlass_types::{
    ContentBlock, ImageSource, JsonText, Message, Role, ToolChoice, ToolResultContent, ToolSpec, mcp_name,
};

/// Maximum number of characters of the messages of one request.
const MAX_CHARACTERS: usize = 200_000;
/// Maximum number of images of one request.
const MAX_IMAGES: usize = 20;

impl SamplingRequest {
    /// Returns the name of a server's sampling requests in permission rules and hooks:
    /// `mcp__server__sampling_createMessage`.
    pub fn tool_name(&self) -> String {
        mcp_name::tool(&mcp_name::server(&self.server), "sampling_createMessage")
    }

    /// Returns the conversation as a model takes it: consecutive messages of one role are merged.
    ///
    /// # Errors
    /// Fails if the conversation is empty or too long, or does not begin and end with a message of the user.
    pub fn conversation(&self) -> Result<Vec<Message>, String> {
        let mut messages: Vec<Message> = Vec::new();
        let (mut characters, mut images) = (0, 0);
        for message in self.messages.iter().filter(|message| !message.content.is_empty()) {
            for block in &message.content {
                count(block, &mut characters, &mut images);
            }
            let content = message.content.clone();
            let message = if message.is_assistant { Message::assistant(content) } else { Message::user(content) };
            match messages.last_mut().filter(|last| last.role == message.role) {
                Some(last) => last.content.extend(message.content),
                None => messages.push(message),
            }
        }
        if characters > MAX_CHARACTERS || images > MAX_IMAGES {
            return Err(format!("the messages have more than {MAX_CHARACTERS} characters or {MAX_IMAGES} images"));
        }
        let is_users = |message: Option<&Message>| message.is_some_and(|message| message.role == Role::User);
        if !is_users(messages.first()) || !is_users(messages.last()) {
            return Err("the first and the last message must be the user's, and have content".to_owned());
        }
        Ok(messages)
    }

    /// Returns the tools that the model reads. Providers refuse a conversation with calls and no tools: then the called
    /// tools are returned, with a tool choice that permits no call.
    pub fn offered_tools(&self) -> (Vec<ToolSpec>, ToolChoice) {
        if !self.tools.is_empty() {
            return (self.tools.clone(), self.tool_choice.clone());
        }
        let anything = JsonText::of(&json!({ "type": "object" })).unwrap_or_else(|_| JsonText::empty_object());
        let mut tools: Vec<ToolSpec> = Vec::new();
        for block in self.messages.iter().flat_map(|message| &message.content) {
            if let ContentBlock::ToolUse(call) = block
                && !tools.iter().any(|tool| tool.name == call.name)
            {
                tools.push(ToolSpec::new(call.name.clone(), "Cannot be called any more.", anything.clone()));
            }
        }
        let choice = if tools.is_empty() { ToolChoice::Auto } else { ToolChoice::None };
        (tools, choice)
    }

    /// Returns the request as shown to hooks and people: complete, but images only by their kind and size.
    pub fn shown(&self) -> JsonText {
        let messages: Vec<Value> = self
            .messages
            .iter()
            .map(|message| {
                let role = if message.is_assistant { "assistant" } else { "user" };
                json!({ "role": role, "content": message.content.iter().map(shown).collect::<Vec<_>>() })
            })
            .collect();
        let mut shown = json!({ "server": self.server, "messages": messages, "maxTokens": self.max_tokens });
        if let (Some(fields), Some(system)) = (shown.as_object_mut(), &self.system) {
            fields.insert("systemPrompt".to_owned(), system.as_str().into());
        }
        if let (Some(fields), false) = (shown.as_object_mut(), self.tools.is_empty()) {
            fields.insert("tools".to_owned(), self.tools.iter().map(shown_tool).collect());
        }
        JsonText::of(&shown).unwrap_or_else(|_| JsonText::empty_object())
    }
}

/// Adds the characters and images of a block to the totals of its request.
fn count(block: &ContentBlock, characters: &mut usize, images: &mut usize) {
    match block {
        ContentBlock::ToolUse(call) => *characters += call.name.chars().count() + call.input.as_str().chars().count(),
        ContentBlock::ToolResult(result) => match &result.content {
            ToolResultContent::Text(text) => *characters += text.chars().count(),
            ToolResultContent::Blocks(blocks) => blocks.iter().for_each(|block| count(block, characters, images)),
        },
        block => match block.as_text() {
            Some(text) => *characters += text.chars().count(),
            None => *images += 1,
        },
    }
}

fn shown_tool(tool: &ToolSpec) -> Value {
    json!({ "name": tool.name, "description": tool.description, "inputSchema": tool.input_schema })
}

fn shown(block: &ContentBlock) -> Value {
    match block {
        ContentBlock::ToolUse(call) => {
            json!({ "type": "tool_use", "id": call.id, "name": call.name, "input": call.input })
        }
        ContentBlock::ToolResult(result) => {
            let content: Vec<Value> = match &result.content {
                ToolResultContent::Text(text) => vec![Value::from(text.as_str())],
                ToolResultContent::Blocks(blocks) => blocks.iter().map(shown).collect(),
            };
            json!({ "type": "tool_result", "toolUseId": result.tool_use_id, "content": content, "isError": result.is_error })
        }
        ContentBlock::Image { source: ImageSource::Base64 { media_type, data } } => {
            json!({ "type": "image", "mimeType": media_type, "characters": data.len() })
        }
        other => other.as_text().map_or_else(|| json!("[a part of another kind]"), Value::from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PNG: &str =
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

    fn request(messages: &Value) -> SamplingRequest {
        let params = json!({ "messages": messages, "maxTokens": 5, "systemPrompt": "Be short." });
        SamplingRequest::read("my notes", params, true).unwrap()
    }

    fn said(role: &str, text: &str) -> Value {
        json!({ "role": role, "content": { "type": "text", "text": text } })
    }

    #[test]
    fn messages_of_one_role_are_one() {
        let request =
            request(&json!([said("user", "a"), said("user", "b"), said("assistant", "c"), said("user", "d")]));
        let roles: Vec<(Role, usize)> =
            request.conversation().unwrap().iter().map(|message| (message.role, message.content.len())).collect();
        assert_eq!(roles, [(Role::User, 2), (Role::Assistant, 1), (Role::User, 1)]);
        assert_eq!(request.tool_name(), "mcp__my_notes__sampling_createMessage");
    }

    #[test]
    fn conversations_that_no_model_takes_are_refused() {
        let long = "x".repeat(MAX_CHARACTERS + 1);
        let image = json!({ "role": "user", "content": { "type": "image", "data": PNG, "mimeType": "image/png" } });
        for (messages, problem) in [
            (json!([]), "the user's"),
            (json!([said("assistant", "a"), said("user", "b")]), "the user's"),
            (json!([said("user", "a"), said("assistant", "b")]), "the user's"),
            (json!([said("user", &long)]), "characters"),
            (json!(vec![image; MAX_IMAGES + 1]), "images"),
        ] {
            let refused = request(&messages).conversation().unwrap_err();
            assert!(refused.contains(problem), "{refused}");
        }
    }

    #[test]
    fn people_are_shown_all_but_the_bytes_of_images() {
        let image = json!({ "type": "image", "data": PNG, "mimeType": "image/png" });
        let shown = request(&json!([{ "role": "user", "content": [{ "type": "text", "text": "Hi" }, image] }])).shown();
        let shown: Value = shown.to().unwrap();
        assert_eq!(shown["messages"][0]["content"][0], "Hi");
        assert_eq!(shown["messages"][0]["content"][1]["mimeType"], "image/png");
        assert_eq!((&shown["systemPrompt"], &shown["server"]), (&json!("Be short."), &json!("my notes")));
        assert!(!shown.to_string().contains(PNG));
    }
}
