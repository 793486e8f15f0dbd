//! Requests of every kind, checked against the vendor's published rules.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::json;
use windlass_types::{
    CacheTtl, ContentBlock, DocumentSource, Effort, ImageSource, JsonText, Message, ModelRequest, ResponseFormat,
    Thinking, ToolChoice, ToolResult, ToolResultContent, ToolUse,
};

use super::endpoint::Endpoint;
use super::open::answers;
use crate::Violation;
use crate::wire::{Answer, Failure};

/// A change of a plain request.
type RequestChange = fn(&mut ModelRequest);

const KINDS: &[(&str, RequestChange)] = &[
    ("nothing but a message", |request| {
        request.system.clear();
        request.tools = Arc::from([]);
        request.thinking = Thinking::Off;
        request.session_key = None;
        request.cache = None;
    }),
    ("no reasoning", |request| request.thinking = Thinking::Off),
    ("a budget for reasoning", |request| request.thinking = Thinking::Budget(2_000)),
    ("a budget that is larger than the answer", |request| {
        request.thinking = Thinking::Budget(20_000);
        request.max_output_tokens = 4_000;
    }),
    ("the least effort", |request| request.effort = Some(Effort::Low)),
    ("the most effort", |request| request.effort = Some(Effort::Max)),
    ("effort without reasoning", |request| {
        request.thinking = Thinking::Off;
        request.effort = Some(Effort::High);
    }),
    ("a call of any tool", |request| request.tool_choice = ToolChoice::Any),
    ("a call of one tool", |request| request.tool_choice = ToolChoice::Tool("Read".to_owned())),
    ("no calls", |request| request.tool_choice = ToolChoice::None),
    ("a call of any tool after a budget for reasoning", |request| {
        request.thinking = Thinking::Budget(2_000);
        request.tool_choice = ToolChoice::Any;
    }),
    ("a choice without tools", |request| {
        request.tools = Arc::from([]);
        request.tool_choice = ToolChoice::None;
    }),
    ("a form of the answer", |request| request.response_format = Some(form())),
    ("a form of the answer beside no tools", |request| {
        request.tools = Arc::from([]);
        request.response_format = Some(form());
    }),
    ("no caching", |request| request.cache = None),
    ("an hour of caching", |request| request.cache = Some(CacheTtl::OneHour)),
    ("a long session key", |request| request.session_key = Some("k".repeat(200).into())),
    ("a user", |request| request.user_id = Some("user-1".to_owned())),
    ("the smallest answer", |request| {
        request.thinking = Thinking::Off;
        request.max_output_tokens = 1;
    }),
    ("images of the user", |request| {
        request.messages = vec![Message::user(vec![ContentBlock::text("look"), image(), image()]).into()];
    }),
    ("an image alone", |request| request.messages = vec![Message::user(vec![image()]).into()]),
    ("a document", |request| {
        let document = ContentBlock::Document { source: pdf(), title: Some("A \"b\".pdf".to_owned()) };
        request.messages = vec![Message::user(vec![document, ContentBlock::text("read it")]).into()];
    }),
    ("an image in a result", |request| {
        let content = ToolResultContent::Blocks(vec![ContentBlock::text("seen"), image()]);
        with_result(request, ToolResult::ok("call_1", content));
    }),
    ("a result of an image alone", |request| {
        with_result(request, ToolResult::ok("call_1", vec![image()]));
    }),
    ("a blank result", |request| with_result(request, ToolResult::ok("call_1", ""))),
    ("a failed result", |request| with_result(request, ToolResult::error("call_1", "not found"))),
    ("a failed result with an image", |request| {
        let mut result = ToolResult::ok("call_1", vec![ContentBlock::text("broken"), image()]);
        result.is_error = true;
        with_result(request, result);
    }),
    ("calls in the history and no tools", |request| {
        with_result(request, ToolResult::ok("call_1", "x"));
        request.tools = Arc::from([]);
    }),
    ("text of every kind", |request| {
        let text = "\u{0}\u{1f}\"\\\u{2028}\u{fffd} \u{1f469}\u{200d}\u{1f680} </s><|im_end|>";
        request.messages = vec![Message::user_text(text).into()];
    }),
];

fn form() -> ResponseFormat {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "integer"}},
        "required": ["a"], "additionalProperties": false});
    ResponseFormat::json_schema("answer", JsonText::of(&schema).unwrap_or_else(|_| JsonText::empty_object()))
}

/// Returns one white pixel.
fn image() -> ContentBlock {
    let data = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGP4DwABAQEAG7buVgAAAABJRU5ErkJggg==";
    ContentBlock::Image { source: ImageSource::Base64 { media_type: "image/png".to_owned(), data: data.to_owned() } }
}

fn pdf() -> DocumentSource {
    DocumentSource::Base64 { media_type: "application/pdf".to_owned(), data: "JVBERi0xLjQK".to_owned() }
}

fn with_result(request: &mut ModelRequest, result: ToolResult) {
    let input = JsonText::parse(r#"{"path":"/x"}"#).unwrap_or_else(|_| JsonText::empty_object());
    request.messages = vec![
        Message::user_text("hi").into(),
        Message::assistant(vec![ContentBlock::ToolUse(ToolUse::new("call_1", "Read", input))]).into(),
        Message::user(vec![ContentBlock::ToolResult(result)]).into(),
    ];
}

/// Checks that requests of every kind follow the vendor's published rules: features that a vendor does not have are
/// left out or expressed in another way.
///
/// # Errors
/// The requests that do not, with the rule that each breaks.
pub async fn sends_valid_requests(endpoint: &Endpoint) -> Result<(), Violation> {
    let (server, provider) = endpoint.connect().await?;
    let (dialect, answer) = (endpoint.dialect, Answer::new(&endpoint.model).text([r#"{"a":"b"}"#]));
    let last: Arc<Mutex<Option<String>>> = Arc::default();
    let kept = Arc::clone(&last);
    server.on_request(move |request| match dialect.read(request) {
        Ok(_) => dialect.reply(&answer, request.index),
        Err(broken) => {
            let text = format!("{broken}, in {}", String::from_utf8_lossy(&request.body));
            *kept.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
            dialect.error(&Failure::invalid(broken))
        }
    });
    let mut broken = Vec::new();
    for (what, change) in KINDS {
        let mut request = endpoint.first_request();
        change(&mut request);
        // As the loop does.
        let info = provider.model_info(&request.model);
        request.effort = request.effort.and_then(|effort| info.effort_for(effort));
        let answered = answers(&*provider, &request).await;
        let rule = last.lock().unwrap_or_else(PoisonError::into_inner).take();
        match (rule, answered) {
            (Some(rule), _) => broken.push(format!("{what}: {rule}")),
            (None, Err(violation)) => broken.push(format!("{what}: {violation}")),
            (None, Ok(_)) => {}
        }
    }
    if broken.is_empty() { Ok(()) } else { Err(Violation::new(broken.join("\n  "))) }
}
