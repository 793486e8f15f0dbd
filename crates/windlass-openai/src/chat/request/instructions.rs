//! System prompt of a request.

use crate::chat::compat::AnswerFormat;
use windlass_types::{ModelRequest, ResponseFormat, SectionScope};

/// Returns the system prompt in as many texts as the endpoint takes, with the answer format if that has to be described
/// in words.
pub(in crate::chat) fn instructions(request: &ModelRequest, is_one: bool, format: AnswerFormat) -> Vec<String> {
    let sections = request.system.iter().filter(|section| !section.text.trim().is_empty());
    let mut texts: Vec<(SectionScope, String)> = Vec::new();
    for section in sections {
        match texts.last_mut() {
            Some((scope, text)) if is_one || *scope == section.scope => {
                text.push_str("\n\n");
                text.push_str(&section.text);
            }
            _ => texts.push((section.scope, section.text.to_string())),
        }
    }
    let mut texts: Vec<String> = texts.into_iter().map(|(_, text)| text).collect();
    let in_words = matches!(format, AnswerFormat::JsonObject | AnswerFormat::Prompt);
    if let Some(format) = request.response_format.as_ref().filter(|_| in_words) {
        let words = form_in_words(format);
        match texts.last_mut() {
            Some(last) => {
                last.push_str("\n\n");
                last.push_str(&words);
            }
            None => texts.push(words),
        }
    }
    texts
}

fn form_in_words(format: &ResponseFormat) -> String {
    format!(
        "Your final answer must be one JSON object and no other text. It must fit this JSON Schema: {}",
        format.schema
    )
}
