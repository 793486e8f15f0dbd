//! Prompts of the host.

use super::LineType;
use serde::Deserialize;
use windlass_conversation::{Message, Priority};
use windlass_types::{ContentBlock, JsonError, JsonText, Quotation};

/// A prompt, with the fields that the host sets.
#[derive(Debug, Clone)]
pub(crate) struct HostPrompt {
    /// Content blocks, or the reason why they cannot be a prompt.
    pub(crate) content: Result<Vec<ContentBlock>, String>,
    /// Text of other authors, which follows the content.
    pub(crate) quoted: Vec<Quotation>,
    /// Id chosen by the host.
    pub(crate) uuid: Option<String>,
    pub(crate) priority: Priority,
    /// `true` if the model is to be called. Default: `true`.
    pub(crate) should_query: bool,
    /// `true` if its text is literal, even if it looks like a command or mentions a file.
    pub(crate) verbatim: bool,
    /// Message, unchanged.
    pub(crate) message: Option<JsonText>,
    /// Number of bytes of the line.
    pub(crate) size: usize,
}

impl From<HostPrompt> for Message {
    fn from(message: HostPrompt) -> Self {
        let HostPrompt { content, quoted, uuid, priority, should_query, verbatim, message, size } = message;
        let mut prompt = Self::new(Vec::new()).with_priority(priority);
        (prompt.content, prompt.id, prompt.original) = (content, uuid, message);
        prompt.quoted = quoted;
        (prompt.wants_answer, prompt.is_verbatim, prompt.size) = (should_query, verbatim, size);
        prompt
    }
}

#[derive(Deserialize)]
struct PromptLine {
    #[serde(default)]
    message: Option<JsonText>,
    #[serde(default)]
    uuid: Option<JsonText>,
    #[serde(default)]
    priority: Option<JsonText>,
    #[serde(default, rename = "shouldQuery")]
    should_query: Option<bool>,
    #[serde(default)]
    client_composed: Option<bool>,
    #[serde(default)]
    windlass_quoted: Option<JsonText>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuotedFields {
    #[serde(default)]
    source: Option<String>,
    text: String,
}

#[derive(Deserialize)]
struct MessageFields {
    content: JsonText,
}

impl HostPrompt {
    /// Parses the line of a prompt. A line with unusable content is still a message: its result reports that error.
    ///
    /// # Errors
    /// The line is not JSON.
    pub(crate) fn parse(line: &[u8]) -> Result<Self, JsonError> {
        let PromptLine { message, uuid, priority, should_query, client_composed, windlass_quoted } =
            serde_json::from_slice(line)?;
        let (quoted, problem) = match quoted(windlass_quoted.as_ref()) {
            Ok(quoted) => (quoted, None),
            Err(problem) => (Vec::new(), Some(problem)),
        };
        let text = |json: Option<JsonText>| json.and_then(|json| json.to::<String>().ok());
        let priority = match text(priority).as_deref() {
            Some("now") => Priority::Now,
            Some("next") => Priority::Next,
            _ => Priority::Later,
        };
        Ok(Self {
            content: problem.map_or_else(|| content(message.as_ref(), !quoted.is_empty()), Err),
            quoted,
            uuid: text(uuid),
            priority,
            should_query: should_query.unwrap_or(true),
            verbatim: client_composed == Some(true),
            message,
            size: line.len(),
        })
    }
}

/// Parses the text of other authors. An unreadable one refuses the message: without the mark it would pass as text of
/// the user.
fn quoted(quoted: Option<&JsonText>) -> Result<Vec<Quotation>, String> {
    let Some(quoted) = quoted else { return Ok(Vec::new()) };
    let parsed: Vec<QuotedFields> =
        quoted.to().map_err(|error| format!("`windlass_quoted` of the user message cannot be read: {error}"))?;
    Ok(parsed
        .into_iter()
        .map(|QuotedFields { source, text }| match source {
            Some(source) => Quotation::new(source, text),
            None => Quotation::alone(text),
        })
        .collect())
}

/// `may_be_empty`: the message has text of other authors.
fn content(message: Option<&JsonText>, may_be_empty: bool) -> Result<Vec<ContentBlock>, String> {
    let message = message.ok_or("the user message has no `message`")?;
    let MessageFields { content } =
        message.to().map_err(|error| format!("the user message cannot be read: {error}"))?;
    if let Ok(text) = content.to::<String>() {
        return if text.trim().is_empty() && may_be_empty {
            Ok(Vec::new())
        } else if text.trim().is_empty() {
            Err("the prompt is empty".to_owned())
        } else {
            Ok(vec![ContentBlock::text(text)])
        };
    }
    let blocks: Vec<ContentBlock> = content
        .to()
        .map_err(|error| format!("the content of the user message is neither a text nor content blocks: {error}"))?;
    // Only the loop writes results, calls and thinking. An invented one would break the transcript.
    let foreign = blocks
        .iter()
        .find(|block| block.as_tool_use().is_some() || block.as_tool_result().is_some() || block.is_thinking());
    if foreign.is_some() {
        return Err(
            "a user message may hold text, images and documents, but no tool calls, results or thinking".to_owned()
        );
    }
    // The provider would refuse such a block again in every later call of the session.
    if blocks.iter().any(lacks_source) {
        return Err("an image or document of the user message has no `source` that can be read".to_owned());
    }
    if !may_be_empty && blocks.iter().all(|block| block.as_text().is_some_and(|text| text.trim().is_empty())) {
        return Err("the prompt is empty".to_owned());
    }
    Ok(blocks)
}

/// `true` if a block has the type of an image or a document, but could not be parsed as one.
fn lacks_source(block: &ContentBlock) -> bool {
    let ContentBlock::Unknown(json) = block else { return false };
    serde_json::from_str::<LineType<'_>>(json.as_str())
        .is_ok_and(|tag| tag.kind.is_some_and(|kind| matches!(&*kind, "image" | "document")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> HostPrompt {
        HostPrompt::parse(line.as_bytes()).unwrap()
    }

    #[test]
    fn texts_and_blocks_are_prompts() {
        let message = parse(r#"{"type":"user","message":{"role":"user","content":"hi"},"parent_tool_use_id":null}"#);
        assert_eq!(message.content, Ok(vec![ContentBlock::text("hi")]));
        assert!(message.should_query && message.priority == Priority::Later && message.uuid.is_none());
        let message = parse(
            r#"{"uuid":"u","priority":"now","shouldQuery":false,"message":{"content":[{"type":"text","text":"a"},
            {"type":"image","source":{"type":"base64","media_type":"image/png","data":"AA=="}}]}}"#,
        );
        assert_eq!(message.content.unwrap().len(), 2);
        assert_eq!(
            (message.uuid.as_deref(), message.priority, message.should_query),
            (Some("u"), Priority::Now, false)
        );
    }

    #[test]
    fn words_of_others_stand_beside_the_content_or_refuse_the_message() {
        let quoted = |quoted: &str, content: &str| {
            parse(&format!(r#"{{"message":{{"content":{content}}},"windlass_quoted":{quoted}}}"#))
        };
        let issue = r#"[{"source":"the issue 7","text":"/clear @a"},{"text":"b"}]"#;
        let message = quoted(issue, r#""Answer it.""#);
        assert_eq!(message.content, Ok(vec![ContentBlock::text("Answer it.")]));
        assert_eq!(message.quoted, [Quotation::new("the issue 7", "/clear @a"), Quotation::alone("b")]);
        assert_eq!(quoted(issue, r#""""#).content, Ok(Vec::new()));
        for unreadable in ["7", r#"[{"source":"a"}]"#, r#"[{"text":"a","sauce":"b"}]"#, r#""a""#] {
            assert!(quoted(unreadable, r#""Answer it.""#).content.is_err(), "{unreadable}");
        }
    }

    #[test]
    fn what_no_prompt_can_hold_is_named() {
        for (content, message) in [
            (r#"" ""#, "empty"),
            ("[]", "empty"),
            ("7", "neither"),
            (r#"[{"type":"text"}]"#, "neither"),
            (r#"[{"type":"image"}]"#, "no `source`"),
            (r#"[{"type":"document","source":{"type":"base64"}}]"#, "no `source`"),
            (r#"[{"type":"tool_result","tool_use_id":"t","content":"x"}]"#, "no tool calls"),
            (r#"[{"type":"thinking","thinking":"x","signature":"y"}]"#, "no tool calls"),
        ] {
            let error = parse(&format!(r#"{{"message":{{"content":{content}}}}}"#)).content.unwrap_err();
            assert!(error.contains(message), "{content}: {error}");
        }
        assert!(parse("{}").content.is_err());
    }
}
