//! Servers that have the session's models write messages: through the gate, within limits, on the session's bill.

use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use windlass::mcp::{McpOptions, McpServerConfig, McpServers};
use windlass::options::CompactionOptions;
use windlass::permission::{AnsweredBy, Behavior, DecisionReason};
use windlass::{
    ContentBlock, EventKind, Home, JsonText, Outcome, PermissionAnswer, PermissionMode, Permissions, PreToolUseAction,
    Query, RunResult, ScriptedModel, ScriptedTurn, async_trait, hook_fn, query, session,
};
use windlass_mcp::{McpChannel, McpChannelError, SamplingLimits};
use windlass_model::Gate;
use windlass_types::{ModelInfo, ModelRequest, Price, Role, Status};

/// Asks for `TIMES` messages in each call, and answers with all replies.
const SERVER: &str = r#"
MESSAGES=${MESSAGES-'{"role":"user","content":{"type":"text","text":"Write a haiku."}}'}
say() { printf '%s\n' "$1"; }
ask() {
  asked=$((asked + 1))
  say '{"jsonrpc":"2.0","id":"s'$asked'","method":"sampling/createMessage","params":{"messages":['"$MESSAGES"'],"systemPrompt":"Be brief.","maxTokens":9000,"temperature":0.5,"modelPreferences":{"hints":[{"name":"'$HINT'"}]},"stopSequences":["STOP"]'$MORE'}}'
}
while read -r line; do
  id=${line#*'"id":'}
  id=${id%%[,\}]*}
  case $line in
    *'"id":"s'*)
      told="$told ${line//[\"\\]/}"
      if [ $asked -lt ${TIMES:-1} ]; then ask; else
        say '{"jsonrpc":"2.0","id":'$call',"result":{"content":[{"type":"text","text":"'"$able$told"'"}]}}'
      fi ;;
    *'"initialize"'*)
      able='cannot ask:'
      case $line in *'"sampling"'*) able='can ask:' ;; esac
      say '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"}}}' ;;
    *'"tools/list"'*)
      say '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"go","inputSchema":{"type":"object"}}]}}' ;;
    *'"tools/call"'*) call=$id asked=0 told=; ask ;;
  esac
done
"#;

const GO: &str = "mcp__notes__go";
const SAMPLING: &str = "mcp__notes__sampling_createMessage";

fn program() -> McpServerConfig {
    McpServerConfig::stdio("/bin/bash").arg("-c").arg(SERVER)
}

fn limits() -> SamplingLimits {
    SamplingLimits::default()
}

fn servers(config: McpServerConfig) -> McpServers {
    let servers = McpServers::new(McpOptions::new());
    servers.add("notes", config).unwrap();
    servers
}

fn is_for_server(request: &ModelRequest) -> bool {
    request.tools.is_empty()
}

/// Calls the tool of the server once, and writes a message when it is asked for one.
fn model() -> ScriptedModel {
    ScriptedModel::from_fn(|request, _| {
        if is_for_server(request) {
            return ScriptedTurn::new().text("An old silent pond. STOP and more");
        }
        match request.messages.iter().any(|message| message.role == Role::Assistant) {
            false => ScriptedTurn::new().tool_use(GO, json!({})),
            true => ScriptedTurn::new().text("Done."),
        }
    })
}

fn asking(model: &ScriptedModel, config: McpServerConfig) -> Query {
    query("Go").provider(model.clone()).mcp_servers(servers(config))
}

async fn run(query: Query) -> (RunResult, Vec<EventKind>) {
    let (mut run, mut events, mut result) = (query.stream(), Vec::new(), None);
    while let Some(event) = run.try_next().await.unwrap() {
        if let EventKind::RunFinished(finished) = &event.kind {
            result = Some(finished.clone());
        }
        events.push(event.kind);
    }
    (result.unwrap(), events)
}

async fn done(query: Query) {
    let (result, _) = run(query).await;
    assert_eq!(result.outcome, Outcome::Success);
}

/// The reply that the server got, as its tool returns it.
fn told(model: &ScriptedModel) -> String {
    let requests = model.requests();
    let last = requests.iter().rev().find(|request| !is_for_server(request)).unwrap();
    let blocks = &last.messages.last().unwrap().content;
    format!("{:?}", blocks.iter().filter(|block| matches!(block, ContentBlock::ToolResult { .. })).collect::<Vec<_>>())
}

fn for_server(model: &ScriptedModel) -> Vec<Arc<ModelRequest>> {
    model.requests().iter().filter(|request| is_for_server(request)).cloned().collect()
}

fn allowing(rules: &[&str]) -> Permissions {
    Permissions::new().allow(rules.iter().copied())
}

/// The verdicts that the log alone has on messages for the server.
async fn audited(permissions: Permissions) -> Vec<windlass::permission::AuditedDecision> {
    let folder = tempfile::tempdir().unwrap();
    let home = Home::new(folder.path());
    let query = asking(&model(), program().sampling(limits())).permissions(permissions.allow([GO]));
    let id = query.persist(home.clone()).await.unwrap().session_id;
    let audit = home.audit(&id).await.unwrap();
    let calls = audit.calls().map(|(_, call)| call).filter(|call| call.tool.as_deref() == Some(SAMPLING));
    let asked = calls.inspect(|call| assert!(call.input.as_ref().unwrap().as_str().contains("Write a haiku.")));
    asked.flat_map(|call| call.verdicts.iter().map(|known| known.verdict.clone())).collect()
}

#[tokio::test]
async fn the_log_says_why_a_server_was_given_a_message_or_refused() {
    let [by_rule] = &audited(allowing(&[SAMPLING])).await[..] else { panic!("one verdict") };
    assert_eq!((by_rule.decision.behavior, by_rule.decision.reason), (Behavior::Allow, DecisionReason::Rule));
    assert!(
        by_rule.decision.rule.as_ref().unwrap().rule.contains("sampling_createMessage") && by_rule.answer.is_none()
    );

    let [denied] = &audited(Permissions::new().deny([SAMPLING])).await[..] else { panic!("one verdict") };
    assert_eq!((denied.decision.behavior, denied.decision.reason), (Behavior::Deny, DecisionReason::Rule));

    let [no_one] = &audited(Permissions::new()).await[..] else { panic!("one verdict") };
    assert_eq!((no_one.decision.reason, no_one.answer.as_ref()), (DecisionReason::NobodyToAsk, None));

    for answer in [PermissionAnswer::allow(), PermissionAnswer::deny("No.")] {
        let allows = answer == PermissionAnswer::allow();
        let permissions = Permissions::ask(move |_| std::future::ready(answer.clone()));
        let [by_host] = &audited(permissions).await[..] else { panic!("one verdict") };
        assert_eq!(by_host.decision.behavior == Behavior::Allow, allows);
        assert_eq!(by_host.answer.as_ref().unwrap().by, AnsweredBy::Host);
    }
}

#[tokio::test]
async fn a_message_is_asked_about_written_and_booked() {
    let (model, seen) = (model(), Arc::new(Mutex::new(Vec::new())));
    let heard = Arc::clone(&seen);
    let permissions = Permissions::ask(move |request| {
        heard.lock().unwrap().push((request.tool.clone(), request.title.clone(), request.input.clone()));
        async { PermissionAnswer::allow() }
    });
    let (result, events) = run(asking(&model, program().sampling(limits())).permissions(permissions.allow([GO]))).await;

    let told = told(&model);
    assert!(told.contains("can ask:") && told.contains("role:assistant"), "{told}");
    assert!(told.contains("text:An old silent pond. }") && told.contains("stopReason:stopSequence"), "{told}");
    let written = for_server(&model);
    assert_eq!(written.len(), 1);
    let read = written[0].messages[0].content[0].as_text();
    assert_eq!((read, written[0].messages.len(), written[0].max_output_tokens), (Some("Write a haiku."), 1, 4096));
    assert_eq!(written[0].system.iter().map(|section| &*section.text).collect::<Vec<_>>(), ["Be brief."]);

    let seen = seen.lock().unwrap();
    let [(tool, title, input)] = &seen[..] else { panic!("{seen:?}") };
    assert_eq!((tool.as_str(), title.contains("\"notes\"")), (SAMPLING, true));
    let input: Value = input.to().unwrap();
    assert_eq!((&input["messages"][0]["content"][0], &input["maxTokens"]), (&json!("Write a haiku."), &json!(4096)));

    let kinds: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            EventKind::PermissionRequested(request) if request.tool == SAMPLING => Some("asked"),
            EventKind::PermissionResolved { tool, .. } if tool == SAMPLING => Some("settled"),
            EventKind::Status(Status::Notice { message }) if message.contains("wrote a message") => Some("written"),
            EventKind::ToolFinished(_) => Some("called"),
            _ => None,
        })
        .collect();
    assert_eq!(kinds, ["asked", "settled", "written", "called"]);
    let all: u64 = result.model_usage.values().map(|used| used.usage.output_tokens).sum();
    assert!(all > result.usage.output_tokens, "the message is booked beside the turns: {:?}", result.model_usage);
}

#[tokio::test]
async fn what_nobody_permits_is_not_written() {
    let no_model = hook_fn("no-model").before_tool([SAMPLING], |_| async { Ok(PreToolUseAction::deny("Not here.")) });
    let bypass = || Permissions::new().allow_bypass().mode(PermissionMode::BypassPermissions);
    let host = || Permissions::ask(|_| async { PermissionAnswer::deny("No poems.") });
    for (permissions, hooked, expected) in [
        (allowing(&[GO]), false, "Nobody is there"),
        (allowing(&[GO]).mode(PermissionMode::DontAsk), false, "dontAsk"),
        (host().allow([GO]), false, "No poems."),
        (allowing(&[GO, SAMPLING]).deny([SAMPLING]), false, "not permitted"),
        (bypass().ask_about([SAMPLING]), false, "Nobody is there"),
        (bypass(), true, "Not here."),
    ] {
        let model = model();
        let mut query = asking(&model, program().sampling(limits())).permissions(permissions);
        if hooked {
            query = query.hook(no_model.clone());
        }
        let (_, events) = run(query).await;
        let told = told(&model);
        assert!(told.contains("error") && told.contains(expected), "{expected}: {told}");
        assert!(for_server(&model).is_empty(), "{expected}");
        let denied =
            |event: &EventKind| matches!(event, EventKind::PermissionResolved { tool, .. } if tool == SAMPLING);
        assert!(events.iter().any(denied), "{expected}: the host is told");
    }
}

#[tokio::test]
async fn rules_and_modes_permit_it_like_a_tool_of_the_server() {
    let bypass = Permissions::new().allow_bypass().mode(PermissionMode::BypassPermissions);
    for permissions in [allowing(&[GO, SAMPLING]), allowing(&["mcp__notes"]), allowing(&["mcp__notes__*"]), bypass] {
        let model = model();
        done(asking(&model, program().sampling(limits())).permissions(permissions)).await;
        assert!(told(&model).contains("silent pond"), "{}", told(&model));
    }
}

#[tokio::test]
async fn a_server_has_as_many_messages_as_its_configuration_says() {
    let model = model();
    let config = program().env("TIMES", "4").sampling(limits().max_requests(2).max_tokens(70));
    done(asking(&model, config).permissions(allowing(&["mcp__notes"]))).await;
    let (told, written) = (told(&model), for_server(&model));
    assert_eq!((written.len(), told.matches("silent pond").count()), (2, 2), "{told}");
    assert_eq!(told.matches("may have 2 of these").count(), 2, "{told}");
    assert!(written.iter().all(|request| request.max_output_tokens == 70));
}

#[tokio::test]
async fn a_server_that_is_not_allowed_to_is_told_that_it_cannot_ask() {
    let model = model();
    done(asking(&model, program()).permissions(allowing(&["mcp__notes"]))).await;
    let told = told(&model);
    assert!(told.contains("cannot ask:") && told.contains("does not offer"), "{told}");
    assert!(for_server(&model).is_empty());
}

#[tokio::test]
async fn what_cannot_be_read_is_refused() {
    for (name, value, expected) in [
        ("MORE", r#","tools":[{"name":"","inputSchema":{"type":"object"}}]"#, "its name is empty"),
        ("MESSAGES", "", "must be the user"),
    ] {
        let model = model();
        let config = program().env(name, value).sampling(limits());
        done(asking(&model, config).permissions(allowing(&["mcp__notes"]))).await;
        assert!(told(&model).contains(expected), "{expected}: {}", told(&model));
        assert!(for_server(&model).is_empty());
    }
}

#[tokio::test]
async fn the_server_may_prefer_the_model_for_summaries() {
    for (hint, expected) in [("small", "a-small-model"), ("unknown", "a-large-model"), ("LARGE", "a-large-model")] {
        let model = model();
        let query = asking(&model, program().env("HINT", hint).sampling(limits()));
        let query = query.model("a-large-model").compaction(CompactionOptions::new().summarizer_model("a-small-model"));
        done(query.permissions(allowing(&["mcp__notes"]))).await;
        assert_eq!(for_server(&model)[0].model, expected, "{hint}");
        assert!(told(&model).contains(&format!("model:{expected}")));
    }
}

#[tokio::test]
async fn the_budget_of_the_session_holds_for_it() {
    let mut info = ModelInfo::new(200_000, 8_000);
    // A message of 4,096 tokens may cost 0.82 dollars.
    info.price = Some(Price::new(10, 200_000));
    for (budget, written) in [(5.0, 1), (0.7, 0)] {
        let model = model().with_info(info.clone());
        let query = asking(&model, program().sampling(limits())).max_budget_usd(budget);
        done(query.permissions(allowing(&["mcp__notes"]))).await;
        assert_eq!(for_server(&model).len(), written, "{budget}");
        assert_eq!(told(&model).contains("the budget of the session does not buy it"), written == 0, "{budget}");
    }
}

/// The model never answers the server: a stop of the run ends that, and what was sent is booked.
#[tokio::test]
async fn a_message_ends_with_its_run() {
    let gate = Gate::new();
    let model = ScriptedModel::from_fn(move |request, _| {
        if is_for_server(request) {
            return ScriptedTurn::new().gate(&gate).text("too late");
        }
        match request.messages.iter().any(|message| message.role == Role::Assistant) {
            false => ScriptedTurn::new().tool_use(GO, json!({})),
            true => ScriptedTurn::new().text("Done."),
        }
    });
    let servers = servers(program().sampling(limits()));
    let builder = session().provider(model.clone()).model("a-model").mcp_servers(servers);
    let mut session = builder.permissions(allowing(&["mcp__notes"])).open().await.unwrap();
    let handle = session.handle.clone();
    let stop = async {
        while for_server(&model).is_empty() {
            tokio::task::yield_now().await;
        }
        handle.interrupt().unwrap();
    };
    let (stopped, ()) = tokio::join!(session.ask("Go"), stop);
    let stopped = stopped.unwrap();
    assert!(matches!(stopped.outcome, Outcome::Interrupted { .. }), "{stopped:?}");
    let next = session.ask("Go on").await.unwrap();
    assert_eq!((next.outcome, next.text.as_str()), (Outcome::Success, "Done."));
    let read = next.model_usage["a-model"].usage.input_tokens;
    assert!(read > next.usage.input_tokens + stopped.usage.input_tokens, "{:?}", next.model_usage);
    session.handle.close().await.unwrap();
}

/// A server of the newest revision, with what it answers to a call with these parameters.
pub(crate) struct Newest(pub(crate) fn(&Value) -> Value);

/// Asks in place of a result.
fn called(params: &Value) -> Value {
    let reply = &params["inputResponses"]["s"];
    if reply.is_null() {
        let user = json!({ "role": "user", "content": { "type": "text", "text": "Hi" } });
        let params = json!({ "maxTokens": 9, "messages": [user] });
        let asks = json!({ "s": { "method": "sampling/createMessage", "params": params } });
        return json!({ "resultType": "input_required", "inputRequests": asks });
    }
    json!({ "resultType": "complete", "content": [{ "type": "text", "text": reply.to_string() }] })
}

#[async_trait]
impl McpChannel for Newest {
    async fn send(&self, message: JsonText) -> Result<Option<JsonText>, McpChannelError> {
        let message: Value = message.to().unwrap();
        let params = &message["params"];
        let result = match message["method"].as_str() {
            Some("server/discover") => json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                "supportedVersions": ["2026-07-28"], "capabilities": { "tools": {} }, "serverInfo": { "name": "n", "version": "1" } }),
            Some("tools/list") => json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private",
                "tools": [{ "name": "go", "inputSchema": { "type": "object" } }] }),
            Some("tools/call") => (self.0)(params),
            Some(_) if !message["id"].is_null() => {
                let error = json!({ "code": -32601, "message": "not here" });
                return Ok(Some(
                    JsonText::of(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": error })).unwrap(),
                ));
            }
            _ => return Ok(None),
        };
        Ok(Some(JsonText::of(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })).unwrap()))
    }
}

#[tokio::test]
async fn a_server_that_asks_in_place_of_a_result_has_it_too() {
    let model = model();
    let config = McpServerConfig::in_process(Arc::new(Newest(called))).sampling(limits());
    done(asking(&model, config).permissions(allowing(&["mcp__notes"]))).await;
    assert!(told(&model).contains("silent pond"), "{}", told(&model));
    assert_eq!(for_server(&model)[0].max_output_tokens, 9);
}
