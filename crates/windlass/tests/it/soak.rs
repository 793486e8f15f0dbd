//! A hundred turns over six wire dialects in one session, with reasoning, tools, a compaction, a fork, a resume and
//! switches from every provider to every other.
//!
//! The server takes only requests that keep the vendor's published rules: shape, pairs, order, ids, signatures. Each
//! model gives out the parts that its vendor wants back. The server looks in each request for exactly those, in order:
//! nothing of another vendor, nothing twice, nothing lost. The same holds for the texts and calls of all models
//! together.

use crate::common::{finished, turn};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use windlass::options::CompactionOptions;
use windlass::provider::{Anthropic, Bedrock, ChatCompletions, Gemini, OpenAi, Router};
use windlass::session::ForkOptions;
use windlass::tool::{Access, DynTool, tool_fn};
use windlass::{Home, session};
use windlass_testkit::wire::{
    Answer, Asked, ChatForm, Dialect, Failure, RecordedRequest, Reply, Said, Tokens, WireServer,
};

/// Output of models since the conversation began or was compacted.
#[derive(Debug, Default)]
struct Given {
    /// Reasoning tokens by model, in order.
    reasoning: BTreeMap<String, Vec<String>>,
    /// Texts and ids of calls of all models, in order.
    said: Vec<String>,
    count: usize,
    requests: usize,
    checked: usize,
    faults: Vec<String>,
}

const SUMMARY: &str = "<summary>All went well so far.</summary>";

fn dialect(path: &str) -> Dialect {
    match path {
        path if path.ends_with("/messages") => Dialect::Messages,
        path if path.ends_with("/responses") => Dialect::Responses,
        path if path.ends_with("/chat/completions") => Dialect::Chat(ChatForm::ReasoningContent),
        path if path.ends_with("/api/chat") => Dialect::Ollama,
        path if path.ends_with("/converse-stream") => Dialect::Converse,
        _ => Dialect::Gemini,
    }
}

/// A call whose vendor gives no id.
const CALL: &str = "call";

fn has_ids(dialect: Dialect) -> bool {
    !matches!(dialect, Dialect::Gemini | Dialect::Ollama)
}

/// Texts and ids of calls, in order.
fn said(asked: &Asked, dialect: Dialect) -> Vec<String> {
    let pieces = asked.said.iter().filter_map(|said| match said {
        Said::Assistant(text) => Some(text.clone()),
        Said::Call { id, .. } if has_ids(dialect) => Some(id.clone()),
        Said::Call { .. } => Some(CALL.to_owned()),
        _ => None,
    });
    pieces.collect()
}

/// The same texts and calls. One of them may not know the id of a call.
fn is_same(found: &[String], expected: &[String]) -> bool {
    let fits = |(one, other): (&String, &String)| {
        one == other || (one == CALL && other.starts_with(CALL)) || (other == CALL && one.starts_with(CALL))
    };
    found.len() == expected.len() && found.iter().zip(expected).all(fits)
}

impl Given {
    fn check(&mut self, asked: &Asked, dialect: Dialect) {
        self.requests += 1;
        let known = self.reasoning.entry(asked.model.clone()).or_default();
        if asked.reasoning() != *known {
            self.faults.push(format!("{}: given {known:?}, came back {:?}", asked.model, asked.reasoning()));
        }
        self.checked += known.len();
        if asked.calls() != asked.results() {
            self.faults.push(format!("{}: calls {:?}, results {:?}", asked.model, asked.calls(), asked.results()));
        }
        let found = said(asked, dialect);
        if !is_same(&found, &self.said) {
            self.faults.push(format!("{}: said {:?}, came back {found:?}", asked.model, self.said));
        }
    }

    fn answer(&mut self, asked: &Asked, dialect: Dialect) -> Answer {
        self.check(asked, dialect);
        self.count += 1;
        let (text, token) = (format!("hm {}", self.count), format!("opaque-{}-{}", asked.model, self.count));
        // The prompt tokens of Ollama are compared with the prompt; 0 means that it was cached.
        let answer = Answer::new(&asked.model).reasoning([&*text], &token).tokens(Tokens::new(0, 0, 20, 8));
        let last = asked.news().join("\n");
        if last.contains("about to be replaced by a summary") {
            self.reasoning.clear();
            self.said.clear();
            return answer.text([SUMMARY]);
        }
        let is_call = last.contains("look around");
        // DeepSeek wants reasoning back with calls alone.
        if is_call || !matches!(dialect, Dialect::Chat(_)) {
            self.reasoning.entry(asked.model.clone()).or_default().push(dialect.replayed(&text, &token));
        }
        if is_call {
            let id = format!("call_{}", self.count);
            self.said.push(if has_ids(dialect) { id.clone() } else { CALL.to_owned() });
            answer.call(&id, "look", ["{}"])
        } else {
            let done = format!("Done {}.", self.count);
            self.said.push(done.clone());
            answer.text([&*done])
        }
    }
}

fn reply(request: &RecordedRequest, given: &Mutex<Given>) -> Reply {
    let dialect = dialect(request.path.split('?').next().unwrap());
    let mut given = given.lock().unwrap();
    match dialect.read(request) {
        Ok(asked) => dialect.reply(&given.answer(&asked, dialect), request.index),
        Err(broken) => {
            given.faults.push(format!("{}: {broken}", request.path));
            dialect.error(&Failure::invalid(broken))
        }
    }
}

fn router(url: &str) -> Router {
    let anthropic = Anthropic::builder().api_key("k").base_url(url).build().unwrap();
    let openai = OpenAi::builder().api_key("k").base_url(format!("{url}/v1")).build().unwrap();
    let deepseek = ChatCompletions::preset("deepseek").unwrap().api_key("k").base_url(url).build().unwrap();
    let gemini = Gemini::builder().api_key("k").base_url(url).build().unwrap();
    let ollama = ChatCompletions::preset("ollama").unwrap().base_url(url).build().unwrap();
    let bedrock = Bedrock::builder().region("us-east-1").api_key("k").base_url(url).build().unwrap();
    Router::new("anthropic", anthropic)
        .with("openai", openai)
        .with("deepseek", deepseek)
        .with("gemini", gemini)
        .with("ollama", ollama)
        .with("bedrock", bedrock)
}

const MODELS: [&str; 6] = [
    "claude-opus-5-5",
    "openai/gpt-5.1",
    "deepseek/deepseek-reasoner",
    "gemini/gemini-3-pro-preview",
    "ollama/qwen3:8b",
    "bedrock/global.amazon.nova-2-lite-v1:0",
];

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
    server.on_request(move |request| reply(request, &kept));
    let (home, workspace) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let open = async |resume: Option<String>| {
        let builder = session()
            .provider(router(&server.url()))
            .model(MODELS[0])
            .cwd(workspace.path())
            .tools(vec![look()])
            .compaction(CompactionOptions::new().auto(false))
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
    // From every model to every other one: thirty switches.
    let order = [0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 1, 2, 1, 3, 1, 4, 1, 5, 2, 3, 2, 4, 2, 5, 3, 4, 3, 5, 4, 5, 0];
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
        session.handle.set_model(MODELS[order[number / 3 % order.len()]]).unwrap();
        turn(&mut session, if number % 2 == 0 { "look around" } else { "go on" }).await;
    }
    session.handle.close().await.unwrap();
    let given = given.lock().unwrap();
    assert_eq!(given.faults, Vec::<String>::new());
    assert!(given.requests >= 156 && given.checked > 1_000, "{} {}", given.requests, given.checked);
}
