//! Sampling: model messages that a server requests.

mod conversation;
mod messages;
mod tools;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use tools::OwnNames;
use windlass_types::{ContentBlock, ToolChoice, ToolSpec, ToolUse};

/// Maximum numbers of messages in one request and of characters of its system prompt.
const MAX_MESSAGES: usize = 100;
const MAX_SYSTEM_CHARS: usize = 100_000;

/// Limits of a server's sampling by models of the session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SamplingLimits {
    /// Maximum number of tokens of one message. Default: 4,096.
    pub max_tokens: u32,
    /// Maximum number of messages in one run. Default: 10.
    pub max_requests: u32,
}

impl Default for SamplingLimits {
    fn default() -> Self {
        Self { max_tokens: 4096, max_requests: 10 }
    }
}

impl SamplingLimits {
    /// Sets the maximum number of tokens of one message.
    #[must_use]
    pub fn max_tokens(mut self, most: u32) -> Self {
        self.max_tokens = most;
        self
    }

    /// Sets the maximum number of messages in one run.
    #[must_use]
    pub fn max_requests(mut self, most: u32) -> Self {
        self.max_requests = most;
        self
    }

    /// Reads `true`, or an object with `maxTokens` and `maxRequests`; anything else is `None`.
    pub(crate) fn read(value: &Value) -> Option<Self> {
        let known = Self::default();
        let number = |name: &str| value.get(name).and_then(Value::as_u64).map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        match value {
            Value::Bool(true) => Some(known),
            Value::Object(_) => Some(Self {
                max_tokens: number("maxTokens").unwrap_or(known.max_tokens),
                max_requests: number("maxRequests").unwrap_or(known.max_requests),
            }),
            _ => None,
        }
    }
}

/// Answers the sampling requests of servers with a model.
///
/// Sampling lets servers spend the host's money and see the model's output. Therefore there is none unless the host
/// sets one. The host has to ask its user and to keep limits: of requests, of tokens and of money. Without one,
/// sampling is not announced to servers.
///
/// ```
/// use windlass_mcp::{Sampling, SamplingAnswer, SamplingRequest};
///
/// /// Lets one server have short messages.
/// struct ForNotes;
///
/// #[async_trait::async_trait]
/// impl Sampling for ForNotes {
///     async fn sample(&self, request: SamplingRequest) -> Result<SamplingAnswer, String> {
///         if request.server != "notes" || request.max_tokens > 500 {
///             return Err("the user does not allow this".to_owned());
///         }
///         // Ask a model here.
///         Ok(SamplingAnswer::new("some-model", "A title."))
///     }
/// }
/// ```
#[async_trait]
pub trait Sampling: Send + Sync + 'static {
    /// Continues the messages with a model. The future is dropped when the server withdraws the request, or its
    /// connection ends. A server has at most two requests open; more are refused.
    ///
    /// # Errors
    /// Returns the reason of a refusal or failure, in words for the server.
    async fn sample(&self, request: SamplingRequest) -> Result<SamplingAnswer, String>;

    /// `true` once the handler answers no more requests and is to be dropped. Default: `false`.
    fn has_ended(&self) -> bool {
        false
    }

    /// `true` if the handler gives the model the [tools](SamplingRequest::tools) of a request. Default: `false`, tools
    /// are not announced to servers, and requests with tools are refused.
    fn takes_tools(&self) -> bool {
        false
    }
}

/// Sessions whose models answer the sampling requests of a set of servers.
#[derive(Clone, Default)]
pub(crate) struct Samplers(Arc<Mutex<Vec<Arc<dyn Sampling>>>>);

impl Samplers {
    pub(crate) fn add(&self, sampling: Arc<dyn Sampling>) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| !known.has_ended());
        all.push(sampling);
    }
}

impl fmt::Debug for Samplers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Samplers").finish_non_exhaustive()
    }
}

#[async_trait]
impl Sampling for Samplers {
    async fn sample(&self, request: SamplingRequest) -> Result<SamplingAnswer, String> {
        let mut open: Vec<Arc<dyn Sampling>> = {
            let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            all.iter().filter(|known| !known.has_ended()).cloned().collect()
        };
        match (open.pop(), open.is_empty()) {
            (Some(only), true) => only.sample(request).await,
            // A request does not name its session, and only one session should pay.
            (Some(_), false) => Err("several sessions use this server, and it is not known which one asks".to_owned()),
            (None, _) => Err("no session is open".to_owned()),
        }
    }

    fn takes_tools(&self) -> bool {
        true
    }
}

/// Sampling request of a server. All of it is untrusted.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SamplingRequest {
    /// Name of the server that asks.
    pub server: String,
    /// Conversation to continue: at most 100 messages.
    pub messages: Vec<SamplingMessage>,
    /// System prompt that the server requests.
    pub system: Option<String>,
    /// Maximum number of tokens of the answer.
    pub max_tokens: u32,
    /// Temperature that the server requests.
    pub temperature: Option<f64>,
    /// Texts that end the answer when the model writes them.
    pub stop_sequences: Vec<String>,
    /// Names of models, or parts of them, that the server prefers, the best first.
    pub model_hints: Vec<String>,
    /// Tools that the server supplies for this message alone: at most 64, with names and schemas that providers accept.
    /// The server carries out their calls: [`SamplingAnswer::calls`]. Empty unless [`Sampling::takes_tools`].
    pub tools: Vec<ToolSpec>,
    /// Tool choice of the model.
    pub tool_choice: ToolChoice,
    /// Limits of the server. Default without a configured limit: [`SamplingLimits::default`].
    pub limits: SamplingLimits,
    /// Server's own names of its tools.
    pub(crate) names: OwnNames,
}

/// Message of the conversation.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct SamplingMessage {
    /// `true` for a message of the model, `false` for one of the user.
    pub is_assistant: bool,
    /// Content of the message: texts and images, the model's tool calls, and in a message of its own their results.
    /// Content that models cannot read becomes a note.
    pub content: Vec<ContentBlock>,
}

/// Answer of a model to a sampling request.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SamplingAnswer {
    /// Model that wrote the answer.
    pub model: String,
    /// Text of the answer.
    pub text: String,
    /// Calls of the [tools](SamplingRequest::tools) of the request, for the server to carry out. Default: none.
    pub calls: Vec<ToolUse>,
    /// Stop reason, in the words of the protocol. Default: `endTurn`.
    pub stop_reason: String,
}

impl SamplingAnswer {
    /// Creates the answer of a text that a model wrote to its end.
    pub fn new(model: impl Into<String>, text: impl Into<String>) -> Self {
        Self { model: model.into(), text: text.into(), calls: Vec::new(), stop_reason: "endTurn".to_owned() }
    }

    /// Sets the calls that follow the text. With calls the stop reason is `toolUse`.
    #[must_use]
    pub fn calls(mut self, calls: Vec<ToolUse>) -> Self {
        if !calls.is_empty() {
            "toolUse".clone_into(&mut self.stop_reason);
        }
        self.calls = calls;
        self
    }

    /// Sets the stop reason: `endTurn`, `stopSequence`, `maxTokens` or `toolUse`.
    #[must_use]
    pub fn stop_reason(mut self, reason: impl Into<String>) -> Self {
        self.stop_reason = reason.into();
        self
    }

    /// Returns the answer in its wire format.
    ///
    /// # Errors
    /// Fails if the input of a call cannot be read.
    pub(crate) fn result(&self, names: &OwnNames) -> Result<Value, String> {
        let text = json!({ "type": "text", "text": self.text });
        let content = if self.calls.is_empty() {
            text
        } else {
            let calls = self.calls.iter().map(|call| names.call(call)).collect::<Result<Vec<_>, _>>()?;
            Some(text).filter(|_| !self.text.is_empty()).into_iter().chain(calls).collect()
        };
        Ok(json!({ "role": "assistant", "content": content, "model": self.model, "stopReason": self.stop_reason }))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", expecting = "an object")]
struct SamplingRequestParams {
    messages: Vec<messages::MessageParams>,
    #[serde(default)]
    system_prompt: Option<String>,
    max_tokens: u32,
    #[serde(default)]
    temperature: Option<f64>,
    #[serde(default)]
    stop_sequences: Option<Vec<String>>,
    #[serde(default)]
    model_preferences: Value,
    #[serde(default)]
    tools: Option<Vec<Value>>,
    #[serde(default)]
    tool_choice: Value,
}

impl SamplingRequest {
    /// Reads the parameters of a request. `takes_tools` is `true` if the request may have tools.
    pub(crate) fn read(server: &str, params: Value, takes_tools: bool) -> Result<Self, String> {
        let given: SamplingRequestParams = serde_json::from_value(params).map_err(|error| error.to_string())?;
        if given.messages.len() > MAX_MESSAGES {
            return Err(format!("there are more than {MAX_MESSAGES} messages"));
        }
        if given.system_prompt.as_ref().is_some_and(|system| system.chars().count() > MAX_SYSTEM_CHARS) {
            return Err(format!("the system prompt has more than {MAX_SYSTEM_CHARS} characters"));
        }
        let tools = given.tools.unwrap_or_default();
        if !(takes_tools || tools.is_empty() && given.tool_choice.is_null()) {
            return Err("tools are not offered".to_owned());
        }
        let (mut names, tools) = OwnNames::read(tools)?;
        let tool_choice = tool_choice(&given.tool_choice, &tools)?;
        let messages = given.messages.into_iter().map(|message| message.read(&mut names));
        let messages = messages.collect::<Result<Vec<_>, _>>()?;
        messages::check_balance(&messages)?;
        let hints = given.model_preferences.get("hints").and_then(Value::as_array).into_iter().flatten();
        let hints = hints.filter_map(|hint| hint.get("name").and_then(Value::as_str)).take(20).map(str::to_owned);
        Ok(Self {
            server: server.to_owned(),
            messages,
            system: given.system_prompt.filter(|system| !system.is_empty()),
            max_tokens: given.max_tokens,
            temperature: given.temperature,
            stop_sequences: given.stop_sequences.unwrap_or_default(),
            model_hints: hints.collect(),
            tools,
            tool_choice,
            limits: SamplingLimits::default(),
            names,
        })
    }
}

fn tool_choice(given: &Value, tools: &[ToolSpec]) -> Result<ToolChoice, String> {
    let mode = match given {
        Value::Null => Some("auto"),
        Value::Object(given) => given.get("mode").map_or(Some("auto"), Value::as_str),
        _ => None,
    };
    match mode {
        Some("auto") => Ok(ToolChoice::Auto),
        Some("none") => Ok(ToolChoice::None),
        Some("required") if tools.is_empty() => Err("a tool is to be called, and there is none".to_owned()),
        Some("required") => Ok(ToolChoice::Any),
        _ => Err("the choice of tools is none of `auto`, `required` and `none`".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_with_what_models_take() {
        let text = |text: &str| json!({ "type": "text", "text": text });
        let request = SamplingRequest::read(
            "s",
            json!({
                "messages": [
                    { "role": "user", "content": text("Hi") },
                    { "role": "assistant", "content": [text("a"), { "type": "audio", "data": "AAAA", "mimeType": "audio/wav" }] },
                ],
                "systemPrompt": "", "maxTokens": 7, "stopSequences": ["x"], "includeContext": "allServers",
                "modelPreferences": { "hints": [{ "name": "small" }, {}], "costPriority": 1 },
            }),
            false,
        );
        let request = request.unwrap();
        assert_eq!(request.messages[0].content, [ContentBlock::text("Hi")]);
        assert!(request.messages[1].is_assistant && request.messages[1].content.len() == 2);
        assert_eq!((&request.system, request.max_tokens), (&None, 7));
        assert_eq!((&request.stop_sequences, &request.model_hints), (&vec!["x".to_owned()], &vec!["small".to_owned()]));
    }

    #[test]
    fn a_server_has_limits_if_its_configuration_lets_it_ask() {
        let limits = |max_tokens, max_requests| Some(SamplingLimits { max_tokens, max_requests });
        for (value, expected) in [
            (json!(true), limits(4096, 10)),
            (json!({}), limits(4096, 10)),
            (json!({ "maxTokens": 7, "maxRequests": 1 }), limits(7, 1)),
            (json!({ "maxTokens": u64::MAX, "maxRequests": -1 }), limits(u32::MAX, 10)),
            (json!(false), None),
            (json!(null), None),
            (json!("yes"), None),
        ] {
            assert_eq!(SamplingLimits::read(&value), expected, "{value}");
        }
    }

    #[test]
    fn requests_that_are_too_much_are_refused() {
        let message = json!({ "role": "user", "content": { "type": "text", "text": "x" } });
        let tool = json!({ "name": "t", "inputSchema": {} });
        for (params, problem) in [
            (json!({ "messages": vec![message.clone(); 101], "maxTokens": 1 }), "messages"),
            (json!({ "messages": [message], "maxTokens": 1, "tools": [tool] }), "tools are not offered"),
            (json!({ "messages": [message], "maxTokens": 1, "toolChoice": {} }), "tools are not offered"),
            (
                json!({ "messages": [], "maxTokens": 1, "systemPrompt": "x".repeat(MAX_SYSTEM_CHARS + 1) }),
                "system prompt",
            ),
            (json!({ "messages": [] }), "maxTokens"),
            (json!({ "messages": [], "maxTokens": -1 }), "invalid"),
        ] {
            let refused = SamplingRequest::read("s", params, false).unwrap_err();
            assert!(refused.contains(problem), "{refused}");
        }
    }

    #[test]
    fn a_request_may_say_whether_a_tool_is_called() {
        let read = |tools: Value, choice: Value| {
            let params = json!({ "messages": [], "maxTokens": 1, "tools": tools, "toolChoice": choice });
            SamplingRequest::read("s", params, true).map(|request| request.tool_choice)
        };
        let tools = json!([{ "name": "t", "inputSchema": {} }]);
        for (choice, expected) in [
            (json!(null), ToolChoice::Auto),
            (json!({}), ToolChoice::Auto),
            (json!({ "mode": "auto" }), ToolChoice::Auto),
            (json!({ "mode": "required" }), ToolChoice::Any),
            (json!({ "mode": "none" }), ToolChoice::None),
        ] {
            assert_eq!(read(tools.clone(), choice), Ok(expected));
        }
        assert!(read(json!([]), json!({ "mode": "required" })).unwrap_err().contains("there is none"));
        for odd in [json!({ "mode": "t" }), json!({ "mode": 7 }), json!("required"), json!([])] {
            assert!(read(tools.clone(), odd.clone()).unwrap_err().contains("none of"), "{odd}");
        }
    }

    #[test]
    fn an_answer_with_calls_is_a_list_of_parts() {
        let call = ToolUse::new("c", "t", windlass_types::JsonText::empty_object());
        let sent = |text: &str| SamplingAnswer::new("m", text).calls(vec![call.clone()]).result(&OwnNames::default());
        let part = json!({ "type": "tool_use", "id": "c", "name": "t", "input": {} });
        assert_eq!(sent("").unwrap()["content"], json!([part]));
        let with_text = sent("I look.").unwrap();
        assert_eq!(with_text["content"], json!([{ "type": "text", "text": "I look." }, part]));
        assert_eq!(with_text["stopReason"], "toolUse");
    }
}
