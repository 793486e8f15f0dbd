//! Answers of each dialect, as its vendor writes them.

use std::fmt::Write as _;
use std::sync::Arc;

use anyhow::Result;
use serde_json::{Value, json};
use windlass::provider::{
    Anthropic, Bedrock, Bytes, ChatCompletions, Gemini, HttpError, HttpRequest, HttpResponse, HttpTransport,
    ModelProvider, OpenAi,
};
use windlass_testkit::wire::{self, Answer, Message, Reply};

const WORDS: &str = "some more words of text ";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    Messages,
    Responses,
    ChatCompletions,
    Ollama,
    Gemini,
    Converse,
}

/// All dialects. The others are compared with the first one.
pub const DIALECTS: [Dialect; 6] = [
    Dialect::Messages,
    Dialect::Responses,
    Dialect::ChatCompletions,
    Dialect::Ollama,
    Dialect::Gemini,
    Dialect::Converse,
];

impl Dialect {
    pub fn name(self) -> &'static str {
        match self {
            Self::Messages => "Messages",
            Self::Responses => "Responses",
            Self::ChatCompletions => "Chat Completions",
            Self::Ollama => "Ollama",
            Self::Gemini => "Gemini",
            Self::Converse => "Converse",
        }
    }

    pub fn model(self) -> &'static str {
        match self {
            Self::Messages => "claude-sonnet-4-5",
            Self::Responses | Self::ChatCompletions => "gpt-5.5",
            Self::Ollama => "qwen3",
            Self::Gemini => "gemini-3-flash",
            Self::Converse => "amazon.nova-pro-v1:0",
        }
    }

    /// Returns a provider for a server.
    pub fn provider(self, url: &str) -> Result<Arc<dyn ModelProvider>> {
        Ok(match self {
            Self::Messages => Arc::new(Anthropic::builder().api_key("k").base_url(url).build()?),
            Self::Responses => Arc::new(OpenAi::builder().api_key("k").base_url(url).build()?),
            Self::ChatCompletions => {
                Arc::new(ChatCompletions::preset("openai")?.api_key("k").base_url(format!("{url}/v1")).build()?)
            }
            Self::Ollama => Arc::new(ChatCompletions::preset("ollama")?.base_url(url).build()?),
            Self::Gemini => Arc::new(Gemini::builder().api_key("k").base_url(url).build()?),
            Self::Converse => Arc::new(Bedrock::builder().region("us-east-1").api_key("k").base_url(url).build()?),
        })
    }

    /// Returns a provider whose answer is in memory.
    pub fn provider_over_memory(self, answer: Vec<u8>) -> Result<Arc<dyn ModelProvider>> {
        let memory = Memory(answer.into());
        Ok(match self {
            Self::Messages => Arc::new(Anthropic::builder().api_key("k").transport(memory).build()?),
            Self::Responses => Arc::new(OpenAi::builder().api_key("k").transport(memory).build()?),
            Self::ChatCompletions => {
                Arc::new(ChatCompletions::preset("openai")?.api_key("k").transport(memory).build()?)
            }
            Self::Ollama => Arc::new(ChatCompletions::preset("ollama")?.transport(memory).build()?),
            Self::Gemini => Arc::new(Gemini::builder().api_key("k").transport(memory).build()?),
            Self::Converse => Arc::new(Bedrock::builder().region("us-east-1").api_key("k").transport(memory).build()?),
        })
    }

    /// Returns the reply of a server with this body.
    pub fn reply(self, body: Vec<u8>) -> Reply {
        match self {
            Self::Converse => Reply::status(200, body).header("content-type", "application/vnd.amazon.eventstream"),
            _ => Reply::stream_bytes(body),
        }
    }

    /// Returns a whole answer of `deltas` deltas of text.
    pub fn text(self, deltas: usize) -> Vec<u8> {
        match self {
            Self::Messages => Reply::message(Message::new().text_deltas((0..deltas).map(|_| WORDS))).body().to_vec(),
            Self::Responses => responses_text(deltas),
            Self::ChatCompletions => chat_text(deltas),
            Self::Ollama => ollama_text(deltas),
            Self::Gemini => gemini_text(deltas),
            Self::Converse => converse(0, |answer| answer.text((0..deltas).map(|_| WORDS))),
        }
    }

    /// Returns an answer with one call.
    pub fn call(self, turn: usize) -> Vec<u8> {
        match self {
            Self::Messages => {
                let message = Message::new().id(&format!("msg_{turn}"));
                Reply::message(message.tool_use(&format!("toolu_{turn}"), "nothing", json!({}))).body().to_vec()
            }
            Self::Responses => responses_call(turn),
            Self::ChatCompletions => chat_call(turn),
            Self::Ollama => ollama_call(),
            Self::Gemini => gemini_call(turn),
            Self::Converse => converse(turn, |answer| answer.call(&format!("tooluse_{turn}"), "nothing", ["{}"])),
        }
    }
}

/// Transport that gives the same answer to every request, in pieces of the size in which a socket gives them.
#[derive(Debug)]
struct Memory(Bytes);

#[async_trait::async_trait]
impl HttpTransport for Memory {
    async fn send(&self, _: HttpRequest) -> Result<HttpResponse, HttpError> {
        let mut rest = self.0.clone();
        let chunks = std::iter::from_fn(move || {
            let size = rest.len().min(1400);
            (size > 0).then(|| Ok(rest.split_to(size)))
        });
        Ok(HttpResponse::new(200).with_body(futures_util::stream::iter(chunks)))
    }
}

/// Writes into a text, which cannot fail.
macro_rules! put {
    ($out:expr, $($arg:tt)*) => { let _ = write!($out, $($arg)*); };
}

fn response(turn: usize, status: &str, output: &[Value]) -> Value {
    json!({"id": format!("resp_{turn}"), "object": "response", "created_at": 1_764_000_000, "status": status, "error": null,
        "incomplete_details": null, "instructions": null, "model": "gpt-5.5-2026-04-24", "output": output,
        "parallel_tool_calls": true, "store": false,
        "usage": if status == "completed" { json!({"input_tokens": 30, "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 9, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": 39}) } else { Value::Null }})
}

fn responses(turn: usize, between: &[Value], output: &Value) -> Vec<u8> {
    let mut events = vec![
        json!({"type": "response.created", "sequence_number": 0, "response": response(turn, "in_progress", &[])}),
        json!({"type": "response.in_progress", "sequence_number": 1, "response": response(turn, "in_progress", &[])}),
    ];
    events.extend_from_slice(between);
    let done = json!({"type": "response.output_item.done", "output_index": 0, "item": output});
    events.push(done);
    let whole = response(turn, "completed", std::slice::from_ref(output));
    events.push(json!({"type": "response.completed", "response": whole}));
    let mut out = String::new();
    for event in events {
        if let Some(text) = event.as_str() {
            out.push_str(text);
            continue;
        }
        put!(out, "event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    }
    out.into_bytes()
}

fn responses_text(deltas: usize) -> Vec<u8> {
    let item = |status: &str, content: Value| json!({"id": "msg_1", "type": "message", "role": "assistant", "status": status, "phase": "final_answer", "content": content});
    let mut all = String::new();
    for at in 0..deltas {
        put!(
            all,
            "event: response.output_text.delta\ndata: {{\"type\":\"response.output_text.delta\",\"sequence_number\":{},\
             \"item_id\":\"msg_1\",\"output_index\":0,\"content_index\":0,\"delta\":\"{WORDS}\",\"logprobs\":[],\
             \"obfuscation\":\"Tz8aF1qN\"}}\n\n",
            at + 4
        );
    }
    let between = [
        json!({"type": "response.output_item.added", "output_index": 0, "item": item("in_progress", json!([]))}),
        json!({"type": "response.content_part.added", "item_id": "msg_1", "output_index": 0, "content_index": 0,
            "part": {"type": "output_text", "text": "", "annotations": []}}),
        Value::String(all),
    ];
    let part = json!({"type": "output_text", "text": WORDS.repeat(deltas), "annotations": [], "logprobs": []});
    responses(0, &between, &item("completed", json!([part])))
}

fn responses_call(turn: usize) -> Vec<u8> {
    let item = |status: &str, arguments: &str| json!({"id": format!("fc_{turn}"), "type": "function_call", "status": status, "call_id": format!("call_{turn}"), "name": "nothing", "arguments": arguments});
    let id = format!("fc_{turn}");
    let between = [
        json!({"type": "response.output_item.added", "output_index": 0, "item": item("in_progress", "")}),
        json!({"type": "response.function_call_arguments.delta", "item_id": id, "output_index": 0, "delta": "{}"}),
        json!({"type": "response.function_call_arguments.done", "item_id": id, "output_index": 0, "arguments": "{}"}),
    ];
    responses(turn, &between, &item("completed", "{}"))
}

fn chat_chunk(out: &mut String, turn: usize, choices: &str, usage: &str) {
    put!(
        out,
        "data: {{\"id\":\"chatcmpl-{turn}\",\"object\":\"chat.completion.chunk\",\"created\":1764000000,\
         \"model\":\"gpt-5.5-2026-04-24\",\"service_tier\":\"default\",\"system_fingerprint\":null,\"choices\":{choices},\
         \"usage\":{usage},\"obfuscation\":\"Tz8aF1qN\"}}\n\n"
    );
}

fn chat(turn: usize, deltas: impl Iterator<Item = String>, finish: &str) -> Vec<u8> {
    let mut out = String::new();
    for delta in deltas {
        let choices = format!("[{{\"index\":0,\"delta\":{delta},\"finish_reason\":null}}]");
        chat_chunk(&mut out, turn, &choices, "null");
    }
    let last = format!("[{{\"index\":0,\"delta\":{{}},\"finish_reason\":\"{finish}\"}}]");
    chat_chunk(&mut out, turn, &last, "null");
    let usage = "{\"prompt_tokens\":30,\"completion_tokens\":9,\"total_tokens\":39,\
                 \"prompt_tokens_details\":{\"cached_tokens\":0},\"completion_tokens_details\":{\"reasoning_tokens\":0}}";
    chat_chunk(&mut out, turn, "[]", usage);
    out.push_str("data: [DONE]\n\n");
    out.into_bytes()
}

fn chat_text(deltas: usize) -> Vec<u8> {
    let first = "{\"role\":\"assistant\",\"content\":\"\",\"refusal\":null}".to_owned();
    let texts = (0..deltas).map(|_| format!("{{\"content\":\"{WORDS}\"}}"));
    chat(0, std::iter::once(first).chain(texts), "stop")
}

fn chat_call(turn: usize) -> Vec<u8> {
    let first = format!(
        "{{\"role\":\"assistant\",\"content\":null,\"tool_calls\":[{{\"index\":0,\"id\":\"call_{turn}\",\"type\":\"function\",\
         \"function\":{{\"name\":\"nothing\",\"arguments\":\"\"}}}}],\"refusal\":null}}"
    );
    let then = "{\"tool_calls\":[{\"index\":0,\"function\":{\"arguments\":\"{}\"}}]}".to_owned();
    chat(turn, [first, then].into_iter(), "tool_calls")
}

fn ollama(messages: impl Iterator<Item = String>) -> Vec<u8> {
    let mut out = String::new();
    for (at, message) in messages.enumerate() {
        put!(
            out,
            "{{\"model\":\"qwen3\",\"created_at\":\"2026-11-23T06:00:{:02}.{:09}Z\",\"message\":{message},\"done\":false}}\n",
            at / 1_000 % 60,
            at % 1_000 * 1_000_003
        );
    }
    out.push_str(
        "{\"model\":\"qwen3\",\"created_at\":\"2026-11-23T06:01:00.000000001Z\",\"message\":{\"role\":\"assistant\",\
         \"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"total_duration\":4648158584,\"load_duration\":4071084,\
         \"prompt_eval_count\":0,\"prompt_eval_duration\":439038584,\"eval_count\":9,\"eval_duration\":4196918000}\n",
    );
    out.into_bytes()
}

fn ollama_text(deltas: usize) -> Vec<u8> {
    ollama((0..deltas).map(|_| format!("{{\"role\":\"assistant\",\"content\":\"{WORDS}\"}}")))
}

fn ollama_call() -> Vec<u8> {
    let call = "{\"role\":\"assistant\",\"content\":\"\",\"tool_calls\":[{\"function\":{\"name\":\"nothing\",\"arguments\":{}}}]}";
    ollama(std::iter::once(call.to_owned()))
}

/// Writes the members in the order and with the spaces of the API.
fn gemini_chunk(out: &mut String, turn: usize, part: &str, finish: &str, tokens: usize) {
    put!(
        out,
        "data: {{\"candidates\": [{{\"content\": {{\"parts\": [{part}],\"role\": \"model\"}},{finish}\"index\": 0}}],\
         \"usageMetadata\": {{\"promptTokenCount\": 30,\"candidatesTokenCount\": {tokens},\"totalTokenCount\": {},\
         \"promptTokensDetails\": [{{\"modality\": \"TEXT\",\"tokenCount\": 30}}]}},\
         \"modelVersion\": \"gemini-3-flash\",\"responseId\": \"resp_{turn}\"}}\r\n\r\n",
        tokens + 30
    );
}

fn gemini_text(deltas: usize) -> Vec<u8> {
    let mut out = String::new();
    for at in 0..deltas {
        gemini_chunk(&mut out, 0, &format!("{{\"text\": \"{WORDS}\"}}"), "", at * 5);
    }
    gemini_chunk(&mut out, 0, "{\"text\": \"\"}", "\"finishReason\": \"STOP\",", deltas * 5);
    out.into_bytes()
}

fn gemini_call(turn: usize) -> Vec<u8> {
    let mut out = String::new();
    let part = format!(
        "{{\"functionCall\": {{\"name\": \"nothing\",\"args\": {{}},\"id\": \"c{turn}\"}},\"thoughtSignature\": \"QUJD\"}}"
    );
    gemini_chunk(&mut out, turn, &part, "\"finishReason\": \"STOP\",", 9);
    out.into_bytes()
}

fn converse(turn: usize, says: impl FnOnce(Answer) -> Answer) -> Vec<u8> {
    let answer = says(Answer::new(Dialect::Converse.model()));
    wire::Dialect::Converse.reply(&answer, turn).body().to_vec()
}
