//! One answer of each dialect.

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use windlass::provider::{
    Anthropic, Bedrock, Bytes, ChatCompletions, Credential, Gemini, HttpTransport, Message, ModelError, ModelEvent,
    ModelProvider, ModelRequest, OpenAi, StreamDelta,
};
use windlass_testkit::wire;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dialect {
    Anthropic,
    OpenAi,
    Compatible,
    Ollama,
    Gemini,
    /// Claude on Amazon Bedrock.
    ClaudeBedrock,
    /// Other models on Amazon Bedrock.
    Converse,
    /// Claude on Vertex AI.
    ClaudeVertex,
    /// Gemini on Vertex AI.
    GeminiVertex,
}

/// Dialects whose set-up needs no file.
pub(super) const DIALECTS: [Dialect; 7] = [
    Dialect::Anthropic,
    Dialect::OpenAi,
    Dialect::Compatible,
    Dialect::Ollama,
    Dialect::Gemini,
    Dialect::ClaudeBedrock,
    Dialect::Converse,
];

/// All of them.
pub(super) fn every() -> impl Iterator<Item = Dialect> {
    DIALECTS.into_iter().chain([Dialect::ClaudeVertex, Dialect::GeminiVertex])
}

pub(super) const KEY: &str = "sk-do-not-show";

pub(super) trait Provider: ModelProvider + Debug {}

impl<P: ModelProvider + Debug> Provider for P {}

/// The same calls on builders of different types.
macro_rules! with {
    ($dialect:expr, $url:expr, $($call:tt)*) => {
        match $dialect {
            Dialect::Anthropic => {
                Arc::new(Anthropic::builder().api_key(KEY).base_url($url) $($call)*.build().unwrap()) as Arc<dyn Provider>
            }
            Dialect::OpenAi => Arc::new(OpenAi::builder().api_key(KEY).base_url($url) $($call)*.build().unwrap()),
            Dialect::Compatible => {
                Arc::new(ChatCompletions::builder().api_key(KEY).base_url($url) $($call)*.build().unwrap())
            }
            Dialect::Ollama => {
                Arc::new(ChatCompletions::preset("ollama").unwrap().base_url($url) $($call)*.build().unwrap())
            }
            Dialect::Gemini => Arc::new(Gemini::builder().api_key(KEY).base_url($url) $($call)*.build().unwrap()),
            Dialect::ClaudeBedrock => {
                Arc::new(Anthropic::bedrock("eu-west-1").api_key(KEY).base_url($url) $($call)*.build().unwrap())
            }
            Dialect::Converse => {
                Arc::new(Bedrock::builder().region("eu-west-1").api_key(KEY).base_url($url) $($call)*.build().unwrap())
            }
            Dialect::ClaudeVertex => {
                let claude = Anthropic::vertex("project", "global").credentials(Credential::bearer(KEY));
                Arc::new(claude.base_url($url) $($call)*.build().unwrap())
            }
            Dialect::GeminiVertex => {
                let gemini = Gemini::vertex("project", "global").credentials(Credential::bearer(KEY));
                Arc::new(gemini.base_url($url) $($call)*.build().unwrap())
            }
        }
    };
}

impl Dialect {
    pub(super) fn model(self) -> &'static str {
        match self {
            Self::Anthropic => "claude-sonnet-4-5",
            Self::OpenAi => "gpt-5.5",
            Self::Compatible => "own",
            Self::Ollama => "qwen3",
            Self::Gemini | Self::GeminiVertex => "gemini-3-flash",
            Self::ClaudeBedrock => "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
            Self::Converse => "eu.amazon.nova-pro-v1:0",
            Self::ClaudeVertex => "claude-sonnet-4-5",
        }
    }

    /// The model with the prefix of its provider.
    pub(super) fn routed_model(self) -> &'static str {
        match self {
            Self::Anthropic => "anthropic/claude-sonnet-4-5",
            Self::OpenAi => "openai/gpt-5.5",
            Self::Compatible => "openai-compatible/own",
            Self::Ollama => "ollama/qwen3",
            Self::Gemini => "gemini/gemini-3-flash",
            Self::ClaudeBedrock => "bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
            Self::Converse => "bedrock/eu.amazon.nova-pro-v1:0",
            Self::ClaudeVertex => "vertex/claude-sonnet-4-5",
            Self::GeminiVertex => "vertex/gemini-3-flash",
        }
    }

    /// Variables that set a provider up for a server.
    pub(super) fn variables(self, url: &str) -> HashMap<String, String> {
        let all: &[(&str, &str)] = match self {
            Self::Anthropic => &[("ANTHROPIC_API_KEY", KEY), ("ANTHROPIC_BASE_URL", url)],
            Self::OpenAi | Self::Compatible => &[("OPENAI_API_KEY", KEY), ("OPENAI_BASE_URL", url)],
            Self::Ollama => &[("OLLAMA_HOST", url)],
            Self::Gemini => &[("GEMINI_API_KEY", KEY), ("GOOGLE_GEMINI_BASE_URL", url)],
            Self::ClaudeBedrock | Self::Converse => {
                &[("AWS_REGION", "eu-west-1"), ("AWS_BEARER_TOKEN_BEDROCK", KEY), ("ANTHROPIC_BEDROCK_BASE_URL", url)]
            }
            Self::ClaudeVertex | Self::GeminiVertex => panic!("{self:?} is set up by a file"),
        };
        all.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    pub(super) fn built(self, url: &str, proxy: &str, authority: &[u8]) -> Arc<dyn Provider> {
        with!(self, url, .proxy(proxy).root_certificate_pem(authority))
    }

    pub(super) fn over(self, url: &str, transport: impl HttpTransport, idle: std::time::Duration) -> Arc<dyn Provider> {
        with!(self, url, .transport(transport).idle_timeout(idle))
    }

    /// The text of an answer.
    pub(super) async fn ask(self, provider: &dyn ModelProvider, model: &str) -> Result<String, ModelError> {
        let request = Arc::new(ModelRequest::new(model, vec![Message::user_text("hi").into()], 100));
        let mut stream = provider.stream(request).await?;
        let mut text = String::new();
        while let Some(item) = std::future::poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
            if let ModelEvent::BlockDelta { delta: StreamDelta::Text(more), .. } = item?.event {
                text.push_str(&more);
            }
        }
        Ok(text)
    }

    /// An answer that says `hello`.
    pub(super) fn body(self) -> Bytes {
        let sse = |events: &[&str]| events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>();
        let text = match self {
            Self::Converse => return wire::Dialect::Converse.reply(&wire::Answer::new("m").text(["hello"]), 0).body(),
            Self::Anthropic | Self::ClaudeBedrock | Self::ClaudeVertex => sse(&[
                r#"{"type":"message_start","message":{"id":"msg_1","model":"m","content":[],"usage":{"input_tokens":1}}}"#,
                r#"{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}"#,
                r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}"#,
                r#"{"type":"content_block_stop","index":0}"#,
                r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":1}}"#,
                r#"{"type":"message_stop"}"#,
            ]),
            Self::OpenAi => sse(&[
                r#"{"type":"response.created","response":{"id":"resp_1","model":"m","output":[]}}"#,
                r#"{"type":"response.output_item.added","output_index":0,"item":{"id":"m1","type":"message","content":[]}}"#,
                r#"{"type":"response.output_text.delta","output_index":0,"item_id":"m1","content_index":0,"delta":"hello"}"#,
                r#"{"type":"response.output_item.done","output_index":0,"item":{"id":"m1","type":"message","content":[{"type":"output_text","text":"hello"}]}}"#,
                r#"{"type":"response.completed","response":{"id":"resp_1","status":"completed","output":[],"usage":{"input_tokens":1,"output_tokens":1}}}"#,
            ]),
            Self::Compatible => sse(&[
                r#"{"id":"c1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"hello"},"finish_reason":null}]}"#,
                r#"{"id":"c1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#,
                "[DONE]",
            ]),
            Self::Ollama => [
                r#"{"model":"qwen3","message":{"role":"assistant","content":"hello"},"done":false}"#,
                r#"{"model":"qwen3","message":{"role":"assistant","content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":1}"#,
                "",
            ]
            .join("\n"),
            Self::Gemini | Self::GeminiVertex => sse(&[
                r#"{"candidates":[{"content":{"parts":[{"text":"hello"}],"role":"model"},"finishReason":"STOP","index":0}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":1},"modelVersion":"m","responseId":"r1"}"#,
            ]),
        };
        text.into()
    }

    pub(super) fn content_type(self) -> &'static str {
        match self {
            Self::Ollama => "application/x-ndjson",
            Self::Converse => "application/vnd.amazon.eventstream",
            _ => "text/event-stream",
        }
    }
}
