//! The mode auto: a model is asked about calls that rules leave undecided.

use serde_json::json;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use windlass::permission::{Classifier, DecisionReason};
use windlass::{
    ContentBlock, EventKind, PermissionAnswer, PermissionMode, Permissions, RunResult, ScriptedModel, ScriptedTurn,
    coding_tools, query,
};
use windlass_model::Gate;
use windlass_types::{ModelInfo, ModelRequest, Price, Role};

const ALLOW: &str = r#"{"verdict":"allow","reason":"It runs the tests"}"#;
const ASK: &str = r#"{"verdict":"ask","reason":"It reaches others"}"#;

/// The text of the last message of a request.
fn last_text(request: &ModelRequest) -> String {
    let blocks = &request.messages.last().unwrap().content;
    blocks.iter().filter_map(ContentBlock::as_text).collect()
}

/// A model that runs these commands one after another, and judges calls in this way.
fn model(commands: &'static [&'static str], verdict: &'static str) -> ScriptedModel {
    ScriptedModel::from_fn(move |request, _| {
        if is_judging(request) {
            return ScriptedTurn::new().text(verdict);
        }
        let done = request.messages.iter().filter(|message| message.role == Role::Assistant);
        match commands.get(done.count()) {
            Some(command) => ScriptedTurn::new().tool_use("Bash", json!({"command": command})),
            None => ScriptedTurn::new().text("Done."),
        }
    })
}

fn is_judging(request: &ModelRequest) -> bool {
    request.tools.is_empty()
}

fn asked(model: &ScriptedModel) -> Vec<String> {
    model.requests().iter().filter(|request| is_judging(request)).map(|request| last_text(request)).collect()
}

async fn run(model: &ScriptedModel, permissions: Permissions) -> (RunResult, tempfile::TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let tools = coding_tools(folder.path());
    let result = query("Run the tests").provider(model.clone()).tools(tools).permissions(permissions).await.unwrap();
    (result, folder)
}

#[tokio::test]
async fn what_the_classifier_allows_runs_and_is_asked_about_once() {
    let model = model(&["python3 -c 1 > made", "ls", "python3 -c 1 > made"], ALLOW);
    let (result, folder) = run(&model, Permissions::auto()).await;
    assert!(result.permission_denials.is_empty(), "{:?}", result.permission_denials);
    assert!(folder.path().join("made").exists());
    let asked = asked(&model);
    assert_eq!(asked.len(), 1, "what only reads is not asked about, and the same call is known: {asked:#?}");
    assert!(asked[0].contains("Run the tests") && asked[0].contains("python3 -c 1 > made"), "{}", asked[0]);
    assert!(result.usage.output_tokens > 0);
    let all: u64 = result.model_usage.values().map(|used| used.usage.output_tokens).sum();
    assert!(all > result.usage.output_tokens, "the classifier's call is booked: {:?}", result.model_usage);
}

#[tokio::test]
async fn without_anyone_to_ask_all_else_is_denied() {
    for verdict in [ASK, "allow", "", r#"Sure: {"verdict":"allow","reason":"x"}"#] {
        let model = model(&["python3 -c 1 > made"], verdict);
        let (result, folder) = run(&model, Permissions::auto()).await;
        assert_eq!(result.permission_denials.len(), 1, "{verdict}");
        assert!(!folder.path().join("made").exists(), "{verdict}");
    }
}

#[tokio::test]
async fn a_person_is_asked_with_the_reason_of_the_classifier() {
    let model = model(&["python3 -c 1 > made", "python3 -c 2 > made"], ASK);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&seen);
    let permissions = Permissions::ask(move |request| {
        heard.lock().unwrap().push(request.decision.message.clone());
        async { PermissionAnswer::allow() }
    });
    let (_, folder) = run(&model, permissions.mode(PermissionMode::Auto)).await;
    assert!(folder.path().join("made").exists());
    let seen = seen.lock().unwrap();
    assert!(seen[0].ends_with("The classifier wants it asked about: It reaches others."), "{seen:?}");
    assert_eq!((seen.len(), asked(&model).len()), (2, 1), "what begins alike is not judged again");
}

/// Neither a rule nor the floor is up to it.
#[tokio::test]
async fn what_is_decided_is_not_asked_about() {
    let model = model(&["curl https://example.com", "echo x > .git/config", "rm -rf /", "$CMD x"], ALLOW);
    let (result, _folder) = run(&model, Permissions::auto().deny(["Bash(curl *)"])).await;
    assert_eq!(result.permission_denials.len(), 4);
    assert_eq!(asked(&model), Vec::<String>::new());
}

#[tokio::test]
async fn a_classifier_that_does_not_answer_is_a_question() {
    let model = model(&["python3 -c 1 > made"], ALLOW);
    let silent = ScriptedModel::from_fn(|_, _| ScriptedTurn::new().gate(&Gate::new()).text("x"));
    let mut classifier = Classifier::new(Arc::new(silent), "judge");
    classifier.time_limit = Duration::from_millis(20);
    let (result, _folder) = run(&model, Permissions::auto().classifier(classifier)).await;
    assert_eq!(result.permission_denials.len(), 1);
    assert!(asked(&model).is_empty(), "another model is asked");
}

#[tokio::test]
async fn an_own_model_can_be_named() {
    let model = model(&["python3 -c 1"], ALLOW);
    let (result, _folder) = run(&model, Permissions::auto().classifier_model("judge")).await;
    let judged: Vec<_> = model.requests().iter().filter(|r| is_judging(r)).map(|r| r.model.clone()).collect();
    assert_eq!(judged, ["judge"]);
    assert!(result.model_usage.contains_key("judge"));
}

/// The budget of the session holds for its calls too: what it does not buy is asked about.
#[tokio::test]
async fn the_budget_holds_for_its_calls() {
    let priced = |per_token: u64| {
        let mut info = ModelInfo::new(200_000, 8_000);
        info.price = Some(Price::new(per_token, per_token));
        info
    };
    let model = model(&["python3 -c 1 > made"], ALLOW).with_info(priced(10));
    let dear = ScriptedModel::from_fn(|_, _| ScriptedTurn::new().text(ALLOW)).with_info(priced(1_000_000_000));
    let folder = tempfile::tempdir().unwrap();
    let mut run = query("Run the tests")
        .provider(model.clone())
        .tools(coding_tools(folder.path()))
        .permissions(Permissions::auto().classifier(Classifier::new(Arc::new(dear.clone()), "judge")))
        .max_budget_usd(1.0)
        .stream();
    let mut denials = Vec::new();
    while let Some(event) = run.try_next().await.unwrap() {
        if let EventKind::PermissionResolved { decision, .. } = event.kind {
            denials.push((decision.reason, decision.message));
        }
    }
    let [(DecisionReason::NobodyToAsk, message)] = &denials[..] else { panic!("{denials:?}") };
    assert!(message.contains("the budget does not buy its call"), "{message}");
    assert!(dear.requests().is_empty());
}
