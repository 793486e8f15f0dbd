//! Five hundred tools of servers, over four wire dialects. Their definitions are withheld until the model searches for
//! one.

use crate::common::turn;
use serde_json::Value;
use std::sync::{Arc, Mutex};
use windlass::mcp::{McpOptions, McpServerConfig, McpServers};
use windlass::options::ToolSetOptions;
use windlass::provider::{Anthropic, ChatCompletions, Gemini, OpenAi, Router};
use windlass::tool::{Access, DynTool, ToolBudget, ToolSet, tool_json};
use windlass::{Home, JsonText, Permissions, Session, session};
use windlass_testkit::wire::{Answer, Asked, ChatForm, Dialect, Failure, RecordedRequest, Reply, WireServer};

const WANTED: &str = "mcp__hub__count_417";
const MODELS: [(&str, Dialect); 4] = [
    ("claude-opus-5-5", Dialect::Messages),
    ("openai/gpt-5.1", Dialect::Responses),
    ("deepseek/deepseek-reasoner", Dialect::Chat(ChatForm::ReasoningContent)),
    ("gemini/gemini-3-pro-preview", Dialect::Gemini),
];

/// Requests to the model, and their bodies.
#[derive(Default)]
struct Seen {
    bodies: Vec<Value>,
    faults: Vec<String>,
}

/// The model calls the tool at once, searches for it when that is refused, calls it again, and is done.
fn answer(asked: &Asked, number: usize) -> Answer {
    let answer = Answer::new(&asked.model);
    let news = asked.news().join("\n");
    let id = format!("call_{number}");
    if news.contains("counted") {
        answer.text(["Done."])
    } else if news.contains("is not loaded") {
        answer.call(&id, "ToolSearch", [r#"{"query":"count 417"}"#])
    } else {
        answer.call(&id, WANTED, ["{}"])
    }
}

fn reply(request: &RecordedRequest, dialect: Dialect, seen: &Mutex<Seen>) -> Reply {
    let mut seen = seen.lock().unwrap();
    seen.bodies.push(request.json().unwrap());
    match dialect.read(request) {
        Ok(asked) => dialect.reply(&answer(&asked, seen.bodies.len()), request.index),
        Err(broken) => {
            seen.faults.push(broken.clone());
            dialect.error(&Failure::invalid(broken))
        }
    }
}

fn router(url: &str) -> Router {
    let anthropic = Anthropic::builder().api_key("k").base_url(url).build().unwrap();
    let openai = OpenAi::builder().api_key("k").base_url(format!("{url}/v1")).build().unwrap();
    let deepseek = ChatCompletions::preset("deepseek").unwrap().api_key("k").base_url(url).build().unwrap();
    let gemini = Gemini::builder().api_key("k").base_url(url).build().unwrap();
    Router::new("anthropic", anthropic).with("openai", openai).with("deepseek", deepseek).with("gemini", gemini)
}

/// A server with five hundred tools, whose schemas are as large as those of real ones.
fn hub() -> McpServerConfig {
    let property =
        r#""p":{"type":"string","description":"The path of what is to be counted, from the root of the hub."}"#;
    let schema = format!(r#"{{"type":"object","properties":{{{property}}}}}"#);
    let tools = (0..500).map(|at| {
        let schema = JsonText::parse(schema.as_str()).unwrap();
        let count = move |_: JsonText, _| async move { Ok(format!("counted {at}")) };
        let tool = tool_json(format!("count_{at}"), format!("Counts what is in part {at} of the hub."), schema, count);
        Arc::new(tool.with_access(Access::NOTHING)) as Arc<dyn DynTool>
    });
    McpServerConfig::tools("hub", ToolSet::new(tools).unwrap())
}

async fn open(url: &str, model: &str, home: &std::path::Path, config: McpServerConfig) -> (Session, McpServers) {
    let servers = McpServers::new(McpOptions::default());
    servers.add("hub", config).unwrap();
    let session = session()
        .provider(router(url))
        .model(model)
        .cwd(home)
        .permissions(Permissions::default().allow(["mcp__hub"]))
        .mcp_servers(servers.clone())
        .tools(ToolSetOptions::new().budget({
            let mut budget = ToolBudget::default();
            budget.tokens = Some(10_000);
            budget
        }))
        .persist(Home::new(home.join("home")));
    (session.open().await.unwrap(), servers)
}

#[tokio::test]
async fn a_model_of_each_dialect_searches_for_one_of_five_hundred_tools_and_calls_it() {
    for (model, dialect) in MODELS {
        let server = WireServer::start().await.unwrap();
        let seen = Arc::new(Mutex::new(Seen::default()));
        let kept = Arc::clone(&seen);
        server.on_request(move |request| reply(request, dialect, &kept));
        let folder = tempfile::tempdir().unwrap();
        let (mut session, _servers) = open(&server.url(), model, folder.path(), hub()).await;
        turn(&mut session, "Count part 417.").await;
        let usage = session.handle.context_usage().await.unwrap();
        assert!(usage.withheld() > 20_000, "{model}: {}", usage.withheld());
        session.handle.close().await.unwrap();
        let seen = seen.lock().unwrap();
        assert_eq!(seen.faults, Vec::<String>::new(), "{model}");
        let texts: Vec<String> = seen.bodies.iter().map(Value::to_string).collect();
        let schemas = |at: usize| texts[at].matches("The path of what is to be counted").count();
        // Refused, searched for, called, answered.
        assert_eq!((texts.len(), schemas(0), schemas(1)), (4, 0, 0), "{model}");
        assert!((1..=20).contains(&schemas(2)) && schemas(2) == schemas(3), "{model}: {}", schemas(2));
        assert!(texts[0].contains("- mcp__hub__{count_0, "), "{model}: {}", texts[0]);
        let length = texts.iter().map(String::len).max().unwrap_or_default();
        println!("{model}: {} tokens withheld, the largest request has {length} bytes", usage.withheld());
    }
}

#[tokio::test]
async fn a_server_that_is_always_loaded_withholds_nothing() {
    let server = WireServer::start().await.unwrap();
    let seen = Arc::new(Mutex::new(Seen::default()));
    let kept = Arc::clone(&seen);
    server.on_request(move |request| reply(request, Dialect::Messages, &kept));
    let folder = tempfile::tempdir().unwrap();
    let config = hub().settings(&JsonText::parse(r#"{"alwaysLoad":true}"#).unwrap());
    let (mut session, _servers) = open(&server.url(), MODELS[0].0, folder.path(), config).await;
    turn(&mut session, "Count part 417.").await;
    assert_eq!(session.handle.context_usage().await.unwrap().withheld(), 0);
    session.handle.close().await.unwrap();
    let seen = seen.lock().unwrap();
    let names: Vec<&str> =
        seen.bodies[0]["tools"].as_array().unwrap().iter().filter_map(|t| t["name"].as_str()).collect();
    assert!(names.len() == 500 && !names.contains(&"ToolSearch"), "{}", names.len());
}
