//! Requests that the servers of each dialect accept and refuse. `tests/wire/run` shows that the vendors' SDKs can read
//! their streams.

use bytes::Bytes;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};
use windlass_testkit::wire::{Answer, Asked, ChatForm, Dialect, RecordedRequest, Reply, Said, WireServer};

/// Returns a request that says the same in each dialect: a turn of the user, reasoning, a text, two calls, their
/// results, and a further text.
fn good(dialect: Dialect) -> Value {
    match dialect {
        Dialect::Messages => json!({
            "model": "m", "max_tokens": 2000, "stream": true, "system": [{"type": "text", "text": "Be brief."}],
            "thinking": {"type": "enabled", "budget_tokens": 1024},
            "tools": [{"name": "Read", "input_schema": {"type": "object"}}],
            "messages": [
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": [
                    {"type": "thinking", "thinking": "hm", "signature": "t1"},
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "call_1", "name": "Read", "input": {"path": "/a"}},
                    {"type": "tool_use", "id": "call_2", "name": "Read", "input": {"path": "/b"}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "call_1", "content": "one"},
                    {"type": "tool_result", "tool_use_id": "call_2", "content": [{"type": "text", "text": "two"}]},
                    {"type": "text", "text": "more"}]}],
        }),
        Dialect::Responses => good_responses(),
        Dialect::Chat(_) => good_chat(),
        Dialect::Gemini => json!({
            "systemInstruction": {"parts": [{"text": "Be brief."}]},
            "tools": [{"functionDeclarations": [{"name": "Read", "parametersJsonSchema": {"type": "object"}}]}],
            "contents": [
                {"role": "user", "parts": [{"text": "hi"}]},
                {"role": "model", "parts": [
                    {"text": "I look."},
                    {"functionCall": {"name": "Read", "args": {"path": "/a"}}, "thoughtSignature": "t1"},
                    {"functionCall": {"name": "Read", "args": {"path": "/b"}}}]},
                {"role": "user", "parts": [
                    {"functionResponse": {"name": "Read", "response": {"output": "one"}}},
                    {"functionResponse": {"name": "Read", "response": {"output": "two"}}}]}],
        }),
        Dialect::Converse => json!({
            "system": [{"text": "Be brief."}],
            "toolConfig": {"tools": [{"toolSpec": {"name": "Read", "inputSchema": {"json": {"type": "object"}}}}]},
            "messages": [
                {"role": "user", "content": [{"text": "hi"}]},
                {"role": "assistant", "content": [
                    {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "t1"}}},
                    {"text": "I look."},
                    {"toolUse": {"toolUseId": "call_1", "name": "Read", "input": {"path": "/a"}}},
                    {"toolUse": {"toolUseId": "call_2", "name": "Read", "input": {"path": "/b"}}}]},
                {"role": "user", "content": [
                    {"toolResult": {"toolUseId": "call_1", "content": [{"text": "one"}]}},
                    {"toolResult": {"toolUseId": "call_2", "content": [{"text": "two"}]}},
                    {"text": "more"}]}],
        }),
        Dialect::Ollama => json!({
            "model": "m", "stream": true,
            "tools": [{"type": "function", "function": {"name": "Read", "parameters": {"type": "object"}}}],
            "messages": [
                {"role": "system", "content": "Be brief."},
                {"role": "user", "content": "hi"},
                {"role": "assistant", "content": "I look.", "thinking": "t1", "tool_calls": [
                    {"function": {"name": "Read", "arguments": {"path": "/a"}}},
                    {"function": {"name": "Read", "arguments": {"path": "/b"}}}]},
                {"role": "tool", "tool_name": "Read", "content": "one"},
                {"role": "tool", "tool_name": "Read", "content": "two"},
                {"role": "user", "content": "more"}],
        }),
        _ => panic!("{dialect:?}"),
    }
}

fn good_responses() -> Value {
    json!({
        "model": "m", "stream": true, "store": false, "include": ["reasoning.encrypted_content"],
        "instructions": "Be brief.",
        "tools": [{"type": "function", "name": "Read", "strict": true, "parameters": {"type": "object",
            "properties": {"path": {"type": "string"}}, "required": ["path"], "additionalProperties": false}}],
        "input": [
            {"role": "user", "content": "hi"},
            {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "t1"},
            {"type": "message", "id": "msg_1", "role": "assistant", "status": "completed",
                "content": [{"type": "output_text", "text": "I look.", "annotations": []}]},
            {"type": "function_call", "call_id": "call_1", "name": "Read", "arguments": "{\"path\":\"/a\"}"},
            {"type": "function_call", "call_id": "call_2", "name": "Read", "arguments": "{\"path\":\"/b\"}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "one"},
            {"type": "function_call_output", "call_id": "call_2", "output": "two"},
            {"role": "user", "content": [{"type": "input_text", "text": "more"}]}],
    })
}

fn good_chat() -> Value {
    json!({
        "model": "m", "stream": true, "max_completion_tokens": 20,
        "tools": [{"type": "function", "function": {"name": "Read", "parameters": {"type": "object"}}}],
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": "I look.", "reasoning_content": "t1", "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "Read", "arguments": "{\"path\":\"/a\"}"}},
                {"id": "call_2", "type": "function", "function": {"name": "Read", "arguments": "{\"path\":\"/b\"}"}}]},
            {"role": "tool", "tool_call_id": "call_1", "content": "one"},
            {"role": "tool", "tool_call_id": "call_2", "content": "two"},
            {"role": "user", "content": "more"}],
    })
}

const DIALECTS: [Dialect; 6] = [
    Dialect::Messages,
    Dialect::Responses,
    Dialect::Chat(ChatForm::ReasoningContent),
    Dialect::Gemini,
    Dialect::Converse,
    Dialect::Ollama,
];

/// Returns the content that a server of the dialect reads in a body from a socket.
fn read(dialect: Dialect, body: &Value) -> Result<Asked, String> {
    let server = WireServer::start_on_thread().unwrap();
    let found = Arc::new(Mutex::new(None));
    let kept = Arc::clone(&found);
    server.on_request(move |request: &RecordedRequest| {
        *kept.lock().unwrap() = Some(dialect.read(request));
        Reply::status(200, Bytes::new()).header("connection", "close")
    });
    let path = match dialect {
        Dialect::Gemini => "/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
        Dialect::Converse => "/model/m/converse-stream",
        _ => "/v1/path",
    };
    let body = body.to_string();
    let mut stream = TcpStream::connect(server.address()).unwrap();
    write!(
        stream,
        "POST {path} HTTP/1.1\r\nauthorization: Bearer k\r\nanthropic-version: 1\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    stream.shutdown(std::net::Shutdown::Write).unwrap();
    stream.read_to_end(&mut Vec::new()).unwrap();
    found.lock().unwrap().take().unwrap()
}

#[test]
fn each_dialect_reads_the_same_conversation() {
    for dialect in DIALECTS {
        let asked = read(dialect, &good(dialect)).unwrap_or_else(|broken| panic!("{dialect:?}: {broken}"));
        assert_eq!(asked.tools, ["Read"]);
        assert_eq!(asked.reasoning(), ["t1"], "{dialect:?}");
        assert_eq!(asked.assistant(), ["I look."], "{dialect:?}");
        assert_eq!((asked.calls().len(), asked.results()), (2, asked.calls()), "{dialect:?}");
        let inputs = asked.said.iter().filter_map(|said| match said {
            Said::Call { name, input, .. } => Some((name.as_str(), input["path"].as_str().unwrap())),
            _ => None,
        });
        assert_eq!(inputs.collect::<Vec<_>>(), [("Read", "/a"), ("Read", "/b")], "{dialect:?}");
        assert_eq!(asked.said.first(), Some(&Said::System("Be brief.".to_owned())), "{dialect:?}");
        let news: &[&str] = if dialect == Dialect::Gemini { &["one", "two"] } else { &["one", "two", "more"] };
        assert_eq!(asked.news(), news, "{dialect:?}");
    }
}

/// A change of the good request: a place and its new value; `None` removes the old value.
type Change = (&'static str, Option<Value>);

fn refused(dialect: Dialect, changes: &[(Change, &str)]) {
    for ((place, value), words) in changes {
        let mut body = good(dialect);
        let (parent, name) = place.rsplit_once('/').unwrap();
        match (body.pointer_mut(parent).unwrap(), value) {
            (Value::Object(members), Some(value)) => drop(members.insert(name.to_owned(), value.clone())),
            (Value::Object(members), None) => drop(members.remove(name).unwrap()),
            (Value::Array(items), Some(value)) => items[name.parse::<usize>().unwrap()] = value.clone(),
            (Value::Array(items), None) => drop(items.remove(name.parse().unwrap())),
            (other, _) => panic!("{other}"),
        }
        let broken = read(dialect, &body).err().unwrap_or_else(|| panic!("{dialect:?} takes {place} = {value:?}"));
        assert!(broken.contains(words), "{dialect:?}, {place} = {value:?}: {broken}");
    }
}

#[test]
fn messages_refuses_what_the_vendor_refuses() {
    refused(
        Dialect::Messages,
        &[
            (("/max_tokens", None), "max_tokens"),
            (("/max_tokens", Some(json!(1024))), "greater than `thinking.budget_tokens`"),
            (("/input", Some(json!([]))), "input"),
            (("/messages/0", None), "\"user\" role"),
            (("/messages/1", None), "no tool call found"),
            (("/messages/2", None), "no tool output found"),
            (("/messages/2/content/1", None), "no tool output found"),
            (("/messages/2/content/0/tool_use_id", Some(json!("call_2"))), "no tool call found"),
            (("/messages/1/content/3/id", Some(json!("call_1"))), "stands twice"),
            (("/messages/1/content/2/id", Some(json!("call|1"))), "does not match"),
            (("/messages/1/content/0/signature", None), "signature"),
            (("/messages/1/content/1/text", Some(json!(" \n"))), "non-whitespace"),
            (("/messages/1/content/1/replay", Some(json!(1))), "replay"),
            (("/tools/0/name", Some(json!("a b"))), "tool name"),
            (("/tool_choice", Some(json!({"type": "any"}))), "forces tool use"),
            (("/model", Some(json!("claude-opus-5-5"))), "Use thinking.type.adaptive"),
        ],
    );
}

#[test]
fn responses_refuses_what_the_vendor_refuses() {
    refused(
        Dialect::Responses,
        &[
            (("/max_tokens", Some(json!(20))), "max_tokens"),
            (("/max_output_tokens", Some(json!(3))), ">= 16"),
            (("/include", None), "reasoning.encrypted_content"),
            (("/input/1/encrypted_content", None), "not persisted"),
            (("/input/1/id", Some(json!("fc_1"))), "begins with 'rs_'"),
            (("/input/2/id", Some(json!("msg_".repeat(20)))), "at most 64"),
            (("/input/2/id", Some(json!("rs_1"))), "Duplicate item"),
            (("/input/2/content/0/type", Some(json!("input_text"))), "/input/2"),
            (("/input/3", None), "no tool call found"),
            (("/input/5", None), "no tool output found"),
            (("/input/3/call_id", Some(json!("c".repeat(65)))), "'call_id'"),
            (("/input/3/arguments", Some(json!("{"))), "'arguments'"),
            (("/input/4/call_id", Some(json!("call_1"))), "stands twice"),
            (("/input/7/content/0/type", Some(json!("text"))), "/input/7"),
            (("/tools/0/parameters/additionalProperties", None), "additionalProperties"),
            (("/tools/0/parameters/required", Some(json!([]))), "every key"),
            (("/tools/0/function", Some(json!({}))), "function"),
            (("/prompt_cache_key", Some(json!("k".repeat(65)))), "string too long"),
        ],
    );
    let mut alone = good(Dialect::Responses);
    alone["input"] = json!([{"role": "user", "content": "hi"}, alone["input"][1], {"role": "user", "content": "x"}]);
    assert!(read(Dialect::Responses, &alone).unwrap_err().contains("required following item"));
}

#[test]
fn chat_completions_refuses_what_the_vendor_refuses() {
    let form = Dialect::Chat(ChatForm::ReasoningContent);
    refused(
        form,
        &[
            (("/max_tokens", Some(json!(20))), "at the same time"),
            (("/input", Some(json!([]))), "input"),
            (("/messages", Some(json!([]))), "empty array"),
            (("/messages/2", None), "no tool call found"),
            (("/messages/3", None), "no tool output found"),
            (("/messages/2/tool_calls/0/id", Some(json!("c".repeat(41)))), "1 to 40 long"),
            (("/messages/2/tool_calls/0/function/arguments", Some(json!("{"))), "'arguments'"),
            (("/messages/2/tool_calls/0/function/arguments", Some(json!({}))), "/messages/2"),
            (("/messages/5/content", Some(json!(null))), "/messages/5"),
            (("/messages/3/tool_use_id", Some(json!("x"))), "tool_use_id"),
            (("/tools", Some(json!([{"name": "Read"}]))), "/tools/0"),
        ],
    );
    // OpenAI itself has no reasoning in messages, and Mistral accepts ids of one form only.
    let plain = read(Dialect::Chat(ChatForm::Plain), &good(form)).unwrap_err();
    assert!(plain.contains("reasoning_content"), "{plain}");
    let mistral = read(Dialect::Chat(ChatForm::ThinkingParts), &good(form)).unwrap_err();
    assert!(mistral.contains("length of 9"), "{mistral}");
}

#[test]
fn gemini_refuses_what_the_vendor_refuses() {
    let both = json!({"thinkingConfig": {"thinkingBudget": 100, "thinkingLevel": "LOW"}});
    refused(
        Dialect::Gemini,
        &[
            (("/messages", Some(json!([]))), "messages"),
            (("/generationConfig", Some(both)), "only one of"),
            (("/contents/0", None), "begin with a user role"),
            (("/contents/1", None), "equal to the number of function call parts"),
            (("/contents/2", None), "no function response parts"),
            (("/contents/2/parts/0", None), "equal to the number of function call parts"),
            (("/contents/1/parts/1/thoughtSignature", None), "missing a thought_signature"),
            (("/contents/1/parts/0/functionCall", Some(json!({"name": "Read"}))), "oneof field"),
            (("/contents/2/parts/0/functionResponse/name", Some(json!("Write"))), "function call parts"),
            (("/contents/2/parts/0/functionResponse/response", Some(json!("one"))), "response"),
            (("/tools/0/functionDeclarations/0/parameters", Some(json!({"type": "OBJECT"}))), "one of parameters"),
            (("/tools/0/functionDeclarations/0/name", Some(json!("9a"))), "tool name"),
        ],
    );
}

#[test]
fn converse_refuses_what_the_vendor_refuses() {
    refused(
        Dialect::Converse,
        &[
            (("/modelId", Some(json!("m"))), "modelId"),
            (("/messages/0", None), "start with a user message"),
            (("/messages/1", None), "alternate"),
            (("/messages/2", None), "no tool output found"),
            (("/messages/2/content/0", None), "no tool output found"),
            (("/toolConfig", None), "toolConfig field must be defined"),
            (("/messages/0/content/0/text", Some(json!(" "))), "blank"),
            (("/messages/1/content/1", Some(json!({"cachePoint": {"type": "default"}}))), "after reasoning block"),
            (("/messages/1/content/2/toolUse/toolUseId", Some(json!("a|b"))), "a|b"),
            (("/messages/1/content/2/toolUse/input", Some(json!([]))), "toolUse.input"),
            (("/messages/1/content/2/text", Some(json!("x"))), "more than 1 property"),
        ],
    );
}

#[test]
fn ollama_refuses_what_cannot_be_read() {
    refused(
        Dialect::Ollama,
        &[
            (("/max_tokens", Some(json!(20))), "max_tokens"),
            (("/messages/2", None), "a result of no call"),
            (("/messages/3", None), "calls without results"),
            (("/messages/2/tool_calls/0/function/arguments", Some(json!("{}"))), "arguments"),
            (("/messages/3/tool_name", Some(json!("Write"))), "a result of no call"),
        ],
    );
}

#[test]
fn an_answer_is_framed_as_its_vendor_does() {
    let answer = Answer::new("m").text(["a"]);
    let begins = |dialect: Dialect, start: &[u8]| dialect.reply(&answer, 0).body().starts_with(start);
    assert!(begins(Dialect::Messages, b"event: message_start\ndata: {\"type\":\"message_start\""));
    assert!(begins(Dialect::Responses, b"event: response.created\ndata: {\"type\":\"response.created\""));
    assert!(begins(Dialect::Chat(ChatForm::Plain), b"data: {\"id\":\"chatcmpl-"));
    assert!(begins(Dialect::Gemini, b"data: {\"candidates\":[{"));
    assert!(begins(Dialect::Ollama, b"{\"model\":\"m\","));
    assert!(Dialect::Gemini.reply(&answer, 0).body().ends_with(b"}\r\n\r\n"));
    assert!(Dialect::Chat(ChatForm::Plain).reply(&answer, 0).body().ends_with(b"data: [DONE]\n\n"));
    let event = Dialect::Converse.reply(&answer, 0).body();
    let total = u32::from_be_bytes(event[..4].try_into().unwrap());
    assert_eq!(total as usize, Dialect::Converse.reply(&answer, 0).event_ends()[0]);
}
