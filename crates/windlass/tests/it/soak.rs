//! A hundred turns over four wire dialects in one session, with reasoning, tools, a compaction, a fork, a resume and
//! switches between every pair of providers.
//!
//! Each server gives out what its vendor wants back (signatures, encrypted items, ids) and looks in each request for exactly
//! that, in order: nothing of another vendor, nothing twice, nothing lost. And it refuses what the vendor would refuse:
//! calls without results, results without calls, roles that do not alternate, ids that do not fit.

use crate::common::{finished, turn};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use windlass::provider::{Anthropic, ChatCompletions, Gemini, OpenAi, Router};
use windlass::session::ForkOptions;
use windlass::tool::{Access, DynTool, tool_fn};
use windlass::{Home, session};
use windlass_testkit::wire::{Event, Message, RecordedRequest, Reply, WireServer};

/// What one model has given out since the conversation began or was compacted.
#[derive(Debug, Default)]
struct Given {
    /// By model, in order.
    opaque: BTreeMap<String, Vec<String>>,
    count: usize,
    requests: usize,
    checked: usize,
    faults: Vec<String>,
}

/// What a request shows, whatever its dialect.
#[derive(Debug, Default)]
struct Request {
    model: String,
    opaque: Vec<String>,
    calls: Vec<String>,
    results: Vec<String>,
    /// `u` and `a`, one for each message.
    roles: String,
    /// The text of the last message of the user, or what it holds instead.
    last: String,
}

/// What a server answers.
enum Answer {
    Summary,
    Call(String),
    Text,
}

fn decide(request: &Request, given: &mut Given) -> (Answer, String) {
    given.requests += 1;
    let known = given.opaque.entry(request.model.clone()).or_default();
    if *known != request.opaque {
        let fault = format!("{}: given {known:?}, came back {:?}", request.model, request.opaque);
        given.faults.push(fault);
    }
    given.checked += request.opaque.len();
    if request.calls != request.results {
        given.faults.push(format!("{}: calls {:?}, results {:?}", request.model, request.calls, request.results));
    }
    if request.roles.contains("aa") || !request.roles.starts_with('u') {
        given.faults.push(format!("{}: roles {}", request.model, request.roles));
    }
    given.count += 1;
    let opaque = format!("opaque-{}-{}", request.model, given.count);
    if request.last.contains("about to be replaced by a summary") {
        given.opaque.clear();
        return (Answer::Summary, opaque);
    }
    given.opaque.entry(request.model.clone()).or_default().push(opaque.clone());
    match request.last.contains("look around") {
        true => (Answer::Call(format!("call_{}", given.count)), opaque),
        false => (Answer::Text, opaque),
    }
}

fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().map(texts).collect::<Vec<_>>().join("\n"),
        Value::Object(part) => part.get("text").or(part.get("content")).map(texts).unwrap_or_default(),
        _ => String::new(),
    }
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

fn items<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value[name].as_array().into_iter().flatten()
}

fn role(name: &str) -> char {
    if name == "user" { 'u' } else { 'a' }
}

/// Adds a role. Results and texts of the user in a row are one message.
fn note(roles: &mut String, role: char) {
    if role == 'a' || !roles.ends_with(role) {
        roles.push(role);
    }
}

const SUMMARY: &str = "<summary>All went well so far.</summary>";

mod messages {
    use super::*;

    pub(super) fn read(body: &Value) -> Request {
        let mut request = Request { model: text(body, "model"), ..Request::default() };
        for message in items(body, "messages") {
            request.roles.push(role(&text(message, "role")));
            for block in items(message, "content") {
                match block["type"].as_str().unwrap_or_default() {
                    "thinking" => request.opaque.push(text(block, "signature")),
                    "tool_use" => request.calls.push(text(block, "id")),
                    "tool_result" => request.results.push(text(block, "tool_use_id")),
                    _ => {}
                }
            }
            request.last = texts(&message["content"]);
        }
        request
    }

    pub(super) fn write(answer: Answer, opaque: &str, model: &str) -> Reply {
        let message = Message::new().model(model).thinking("hm", opaque);
        Reply::from(match answer {
            Answer::Summary => message.text(SUMMARY),
            Answer::Call(id) => message.tool_use(&id, "look", json!({})),
            Answer::Text => message.text("Done."),
        })
    }
}

mod responses {
    use super::*;

    pub(super) fn read(body: &Value) -> Request {
        let mut request = Request { model: text(body, "model"), ..Request::default() };
        for item in items(body, "input") {
            match item["type"].as_str().unwrap_or("message") {
                "reasoning" => request.opaque.push(text(item, "encrypted_content")),
                "function_call" => request.calls.push(text(item, "call_id")),
                "function_call_output" => {
                    request.results.push(text(item, "call_id"));
                    request.last = texts(&item["output"]);
                    note(&mut request.roles, 'u');
                }
                _ if item["role"] == "user" => {
                    request.last = texts(&item["content"]);
                    note(&mut request.roles, 'u');
                }
                _ if item["role"] == "assistant" => request.roles.push('a'),
                _ => {}
            }
        }
        request
    }

    pub(super) fn write(answer: Answer, opaque: &str, model: &str) -> Reply {
        let reasoning = json!({"type": "reasoning", "id": format!("rs_{opaque}"), "encrypted_content": opaque,
            "summary": [{"type": "summary_text", "text": "hm"}]});
        let message = |text: &str| {
            json!({"type": "message", "id": format!("msg_{opaque}"), "role": "assistant", "status": "completed",
                "phase": "final_answer", "content": [{"type": "output_text", "text": text, "annotations": []}]})
        };
        let output = match answer {
            Answer::Summary => message(SUMMARY),
            Answer::Text => message("Done."),
            Answer::Call(id) => json!({"type": "function_call", "id": format!("fc_{opaque}"), "call_id": id,
                "name": "look", "arguments": "{}", "status": "completed"}),
        };
        let head = json!({"id": format!("resp_{opaque}"), "object": "response", "model": model, "status": "in_progress",
            "output": []});
        let mut done = head.clone();
        done["status"] = "completed".into();
        done["output"] = json!([reasoning, output]);
        done["usage"] = json!({"input_tokens": 10, "output_tokens": 5, "total_tokens": 15,
            "input_tokens_details": {"cached_tokens": 0}, "output_tokens_details": {"reasoning_tokens": 1}});
        let mut events = vec![json!({"type": "response.created", "response": head})];
        for (at, item) in [&reasoning, &output].into_iter().enumerate() {
            let mut begun = item.clone();
            begun["status"] = "in_progress".into();
            for name in ["content", "summary"] {
                if !begun[name].is_null() {
                    begun[name] = json!([]);
                }
            }
            if !begun["arguments"].is_null() {
                begun["arguments"] = "".into();
            }
            events.push(json!({"type": "response.output_item.added", "output_index": at, "item": begun}));
            let id = &item["id"];
            if item["type"] == "message" {
                events.push(json!({"type": "response.output_text.delta", "output_index": at, "content_index": 0,
                    "item_id": id, "delta": item["content"][0]["text"]}));
            } else if item["type"] == "function_call" {
                events
                    .push(json!({"type": "response.function_call_arguments.delta", "output_index": at, "item_id": id,
                    "delta": "{}"}));
            }
            events.push(json!({"type": "response.output_item.done", "output_index": at, "item": item}));
        }
        events.push(json!({"type": "response.completed", "response": done}));
        Reply::events(events.iter().map(Event::new).collect())
    }
}

mod chat {
    use super::*;

    /// Of this vendor reasoning goes back as text, with each message that has calls.
    pub(super) fn read(body: &Value) -> Request {
        let mut request = Request { model: text(body, "model"), ..Request::default() };
        for message in items(body, "messages") {
            match message["role"].as_str().unwrap_or_default() {
                "assistant" => {
                    request.roles.push('a');
                    request.opaque.extend(message["reasoning_content"].as_str().map(str::to_owned));
                    request.calls.extend(items(message, "tool_calls").map(|call| text(call, "id")));
                }
                "tool" => {
                    request.results.push(text(message, "tool_call_id"));
                    note(&mut request.roles, 'u');
                    request.last = texts(&message["content"]);
                }
                "user" => {
                    note(&mut request.roles, 'u');
                    request.last = texts(&message["content"]);
                }
                _ => {}
            }
        }
        // An empty one stands for messages of other vendors.
        request.opaque.retain(|opaque| !opaque.is_empty());
        request
    }

    pub(super) fn write(answer: Answer, opaque: &str, model: &str) -> Reply {
        let chunk = |delta: Value, finish: Value| {
            json!({"id": format!("chat-{opaque}"), "object": "chat.completion.chunk", "model": model,
                "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]})
        };
        let mut events = vec![chunk(json!({"role": "assistant", "reasoning_content": opaque}), Value::Null)];
        let finish = match answer {
            Answer::Summary => {
                events.push(chunk(json!({"content": SUMMARY}), Value::Null));
                "stop"
            }
            Answer::Text => {
                events.push(chunk(json!({"content": "Done."}), Value::Null));
                "stop"
            }
            Answer::Call(id) => {
                let call = json!({"index": 0, "id": id, "type": "function",
                    "function": {"name": "look", "arguments": "{}"}});
                events.push(chunk(json!({"tool_calls": [call]}), Value::Null));
                "tool_calls"
            }
        };
        events.push(chunk(json!({}), finish.into()));
        let mut usage = chunk(json!({}), Value::Null);
        usage["choices"] = json!([]);
        usage["usage"] = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15});
        events.push(usage);
        let mut frames: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
        frames.push_str("data: [DONE]\n\n");
        Reply::stream_bytes(frames)
    }
}

mod gemini {
    use super::*;

    /// A signature stands on the call or the text of each message.
    pub(super) fn read(body: &Value, model: &str) -> Request {
        let mut request = Request { model: model.to_owned(), ..Request::default() };
        for content in items(body, "contents") {
            request.roles.push(role(&text(content, "role")));
            request.last = String::new();
            for part in items(content, "parts") {
                let signature = text(part, "thoughtSignature");
                if !signature.is_empty() && signature != "skip_thought_signature_validator" {
                    request.opaque.push(signature);
                }
                if !part["functionCall"].is_null() {
                    request.calls.push(text(&part["functionCall"], "name"));
                } else if !part["functionResponse"].is_null() {
                    request.results.push(text(&part["functionResponse"], "name"));
                } else {
                    request.last.push_str(&text(part, "text"));
                }
            }
        }
        request
    }

    pub(super) fn write(answer: Answer, opaque: &str, model: &str) -> Reply {
        let part = match answer {
            Answer::Summary => json!({"text": SUMMARY, "thoughtSignature": opaque}),
            Answer::Text => json!({"text": "Done.", "thoughtSignature": opaque}),
            Answer::Call(id) => {
                json!({"functionCall": {"id": id, "name": "look", "args": {}}, "thoughtSignature": opaque})
            }
        };
        let event = json!({
            "responseId": format!("gemini-{opaque}"), "modelVersion": model,
            "candidates": [{"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}],
            "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
        });
        Reply::stream_bytes(format!("data: {event}\n\n"))
    }
}

/// Writes an answer with what its vendor wants back, as a model.
type Write = fn(Answer, &str, &str) -> Reply;

fn answer(request: &RecordedRequest, given: &Mutex<Given>) -> Reply {
    let body = request.json().unwrap();
    let mut given = given.lock().unwrap();
    let path = request.path.as_str();
    let (read, write): (Request, Write) = if path.ends_with("/messages") {
        (messages::read(&body), messages::write)
    } else if path.ends_with("/responses") {
        (responses::read(&body), responses::write)
    } else if path.ends_with("/chat/completions") {
        (chat::read(&body), chat::write)
    } else {
        let model = path.rsplit('/').next().and_then(|last| last.split(':').next()).unwrap().to_owned();
        (gemini::read(&body, &model), gemini::write)
    };
    let (answer, opaque) = decide(&read, &mut given);
    if path.ends_with("/chat/completions") && matches!(answer, Answer::Text) {
        // This vendor wants reasoning back with calls alone.
        given.opaque.get_mut(&read.model).unwrap().pop();
    }
    write(answer, &opaque, &read.model)
}

fn router(url: &str) -> Router {
    let anthropic = Anthropic::builder().api_key("k").base_url(url).build().unwrap();
    let openai = OpenAi::builder().api_key("k").base_url(format!("{url}/v1")).build().unwrap();
    let deepseek = ChatCompletions::preset("deepseek").unwrap().api_key("k").base_url(url).build().unwrap();
    let gemini = Gemini::builder().api_key("k").base_url(url).build().unwrap();
    Router::new("anthropic", anthropic).with("openai", openai).with("deepseek", deepseek).with("gemini", gemini)
}

const MODELS: [&str; 4] =
    ["claude-opus-5-5", "openai/gpt-5.1", "deepseek/deepseek-reasoner", "gemini/gemini-3-pro-preview"];

#[derive(serde::Deserialize, windlass::schemars::JsonSchema)]
#[schemars(crate = "windlass::schemars")]
struct Nothing {}

fn look() -> Arc<dyn DynTool> {
    let tool = tool_fn("look", "Looks.", |_: Nothing, _| async { Ok("green") });
    Arc::new(tool.with_access(Access::NOTHING))
}

#[tokio::test]
async fn a_hundred_turns_over_all_pairs_of_dialects_lose_and_mix_up_nothing() {
    let server = WireServer::start().await.unwrap();
    let given = Arc::new(Mutex::new(Given::default()));
    let kept = Arc::clone(&given);
    server.on_request(move |request| answer(request, &kept));
    let (home, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let open = async |resume: Option<String>| {
        let builder = session()
            .provider(router(&server.url()))
            .model(MODELS[0])
            .cwd(workspace.path())
            .tools(vec![look()])
            .auto_compact(false)
            .persist(Home::new(home.path()));
        match resume {
            Some(id) => builder.resume(id),
            None => builder,
        }
        .open()
        .await
        .unwrap()
    };
    let mut session = open(None).await;
    // Every model after every other one: twelve switches, twice.
    let order = [0, 1, 0, 2, 0, 3, 1, 2, 1, 3, 2, 3, 0];
    for number in 0..104 {
        match number {
            50 => {
                session.handle.compact(None).unwrap();
                finished(&mut session, "the compaction").await;
            }
            70 => {
                let id = session.handle.session_id().as_str().to_owned();
                session.handle.close().await.unwrap();
                session = open(Some(id)).await;
            }
            90 => {
                let id = session.handle.session_id().as_str().to_owned();
                session.handle.close().await.unwrap();
                let fork = Home::new(home.path()).fork_session(id, ForkOptions::default()).await.unwrap();
                session = open(Some(fork.as_str().to_owned())).await;
            }
            _ => {}
        }
        session.handle.set_model(MODELS[order[number / 4 % order.len()]]).unwrap();
        turn(&mut session, if number % 2 == 0 { "look around" } else { "go on" }).await;
    }
    session.handle.close().await.unwrap();
    let given = given.lock().unwrap();
    assert_eq!(given.faults, Vec::<String>::new());
    assert!(given.requests >= 156 && given.checked > 1_000, "{} {}", given.requests, given.checked);
}
