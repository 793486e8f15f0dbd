//! Servers that bring tools to the messages that they have written: the calls go back to them.

use crate::sampling::Newest;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use windlass::mcp::{McpOptions, McpServerConfig, McpServers};
use windlass::{
    ContentBlock, EventKind, Outcome, PermissionAnswer, Permissions, RunResult, ScriptedModel, ScriptedTurn,
    async_trait, query,
};
use windlass_mcp::{Sampling, SamplingAnswer, SamplingLimits, SamplingRequest};
use windlass_types::{ModelRequest, Role, StopReason, ToolChoice};

/// Has the model call a tool, carries the call out, and has the model continue. Answers with both replies.
const SERVER: &str = r#"
SUM=${SUM-'{"name":"calc.add","description":"Adds.","inputSchema":{"type":"object","properties":{"a[0]":{"type":"number"}}}}'}
USER='{"role":"user","content":{"type":"text","text":"Add 2 and 3."}}'
say() { printf '%s\n' "$1"; }
ask() {
  say '{"jsonrpc":"2.0","id":"s'$1'","method":"sampling/createMessage","params":{"messages":['"$2"'],"systemPrompt":"For a server.","maxTokens":500,"tools":['"$3"'],"toolChoice":{"mode":"'$4'"}}}'
}
while read -r line; do
  id=${line#*'"id":'}
  id=${id%%[,\}]*}
  case $line in
    *'"id":"s1"'*'"tool_use"'*)
      told=${line//[\"\\]/}
      call=${line#*'"type":"tool_use","id":"'}
      call=${call%%'"'*}
      history=$USER',{"role":"assistant","content":{"type":"tool_use","id":"'$call'","name":"calc.add","input":{"a[0]":2}}}'
      history=$history',{"role":"user","content":{"type":"tool_result","toolUseId":"'${WRONG:-$call}'","content":[{"type":"text","text":"5"}]}}'
      ask 2 "$history" "$LATER" ${MODE:-none} ;;
    *'"id":"s'*)
      say '{"jsonrpc":"2.0","id":'$asked',"result":{"content":[{"type":"text","text":"'"$able $told ${line//[\"\\]/}"'"}]}}' ;;
    *'"initialize"'*)
      able='cannot bring tools:'
      case $line in *'"sampling":{"tools":{}}'*) able='can bring tools:' ;; esac
      say '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"n","version":"1"}}}' ;;
    *'"tools/list"'*)
      say '{"jsonrpc":"2.0","id":'$id',"result":{"tools":[{"name":"go","inputSchema":{"type":"object"}}]}}' ;;
    *'"tools/call"'*) asked=$id; told=; ask 1 "$USER" "$SUM" required ;;
  esac
done
"#;

const GO: &str = "mcp__notes__go";
const SAMPLING: &str = "mcp__notes__sampling_createMessage";

fn program() -> McpServerConfig {
    McpServerConfig::stdio("/bin/bash").arg("-c").arg(SERVER).sampling(SamplingLimits::default())
}

fn is_for_server(request: &ModelRequest) -> bool {
    request.system.first().is_some_and(|section| &*section.text == "For a server.")
}

fn has_result(request: &ModelRequest) -> bool {
    request.messages.iter().any(|message| matches!(message.content[..], [ContentBlock::ToolResult(_), ..]))
}

/// Calls the tool of the server, for which it writes what `writes` says.
fn writing(writes: impl Fn(&ModelRequest) -> ScriptedTurn + Send + Sync + 'static) -> ScriptedModel {
    ScriptedModel::from_fn(move |request, _| match request.messages.iter().any(|one| one.role == Role::Assistant) {
        _ if is_for_server(request) => writes(request),
        false => ScriptedTurn::new().tool_use(GO, json!({})),
        true => ScriptedTurn::new().text("Done."),
    })
}

fn model() -> ScriptedModel {
    writing(|request| match has_result(request) {
        false => ScriptedTurn::new().text("I add.").tool_use("calc_add", json!({ "a_0_": 2 })),
        true => ScriptedTurn::new().text("It is 5."),
    })
}

async fn run(model: &ScriptedModel, config: McpServerConfig, permissions: Permissions) -> (RunResult, Vec<EventKind>) {
    let servers = McpServers::new(McpOptions::new());
    servers.add("notes", config).unwrap();
    let query = query("Go").provider(model.clone()).mcp_servers(servers).permissions(permissions);
    let (mut run, mut events, mut result) = (query.stream(), Vec::new(), None);
    while let Some(event) = run.try_next().await.unwrap() {
        if let EventKind::RunFinished(finished) = &event.kind {
            result = Some(finished.clone());
        }
        events.push(event.kind);
    }
    (result.unwrap(), events)
}

async fn told(model: &ScriptedModel, config: McpServerConfig) -> String {
    let (result, _) = run(model, config, Permissions::new().allow(["mcp__notes"])).await;
    assert_eq!(result.outcome, Outcome::Success);
    let requests = model.requests();
    let last = requests.iter().rev().find(|request| !is_for_server(request)).unwrap();
    format!("{:?}", last.messages.last().unwrap().content)
}

fn for_server(model: &ScriptedModel) -> Vec<Arc<ModelRequest>> {
    model.requests().iter().filter(|request| is_for_server(request)).cloned().collect()
}

#[tokio::test]
async fn a_server_carries_out_what_the_model_calls() {
    let model = model();
    let told = told(&model, program()).await;
    assert!(told.contains("can bring tools:"), "{told}");
    let call = told.split("s1").nth(1).unwrap().split("s2").next().unwrap();
    assert!(call.contains("text:I add.") && call.contains("stopReason:toolUse"), "{call}");
    assert!(call.contains("name:calc.add,input:{a[0]:2}"), "{call}");
    let end = told.split("s2").nth(1).unwrap();
    assert!(end.contains("text:It is 5.") && end.contains("stopReason:endTurn"), "{end}");

    let [first, second] = &for_server(&model)[..] else { panic!("{told}") };
    let names: Vec<&str> = first.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!((names, &first.tool_choice, &first.server_tools[..]), (vec!["calc_add"], &ToolChoice::Any, &[][..]));
    // A provider that reads calls wants tools, and the server has brought none.
    let names: Vec<&str> = second.tools.iter().map(|tool| tool.name.as_str()).collect();
    assert_eq!((names, &second.tool_choice), (vec!["calc_add"], &ToolChoice::None));
    let [_, called, found] = &second.messages[..] else { panic!("{second:?}") };
    let [ContentBlock::ToolUse(call)] = &called.content[..] else { panic!("{called:?}") };
    let [ContentBlock::ToolResult(result)] = &found.content[..] else { panic!("{found:?}") };
    assert_eq!((call.name.as_str(), &call.id), ("calc_add", &result.tool_use_id));
    // Other requests have the tools of the session, and none of the server's.
    let others = model.requests();
    let mut others = others.iter().filter(|request| !is_for_server(request));
    assert!(others.all(|request| request.tools.iter().all(|tool| tool.name != "calc_add")));
}

#[tokio::test]
async fn each_message_of_a_loop_is_judged_shown_and_counted() {
    let (model, seen) = (model(), Arc::new(Mutex::new(Vec::new())));
    let heard = Arc::clone(&seen);
    let permissions = Permissions::ask(move |request| {
        heard.lock().unwrap().push(request.input.to::<Value>().unwrap());
        async { PermissionAnswer::allow() }
    });
    let (result, events) = run(&model, program(), permissions.allow([GO])).await;
    let seen = seen.lock().unwrap();
    let [first, second] = &seen[..] else { panic!("{seen:?}") };
    assert_eq!((&first["tools"][0]["name"], &first["tools"][0]["description"]), (&json!("calc_add"), &json!("Adds.")));
    assert_eq!(first["tools"][0]["inputSchema"]["type"], "object");
    assert_eq!(second["messages"][1]["content"][0]["input"], json!({ "a[0]": 2 }));
    assert_eq!(second["messages"][2]["content"][0]["content"], json!(["5"]));
    // The gate sees the request alone: the call of the model is no call of the session.
    let tools: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            EventKind::PermissionResolved { tool, .. } => Some(tool.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(tools, [SAMPLING, SAMPLING]);
    assert_eq!(events.iter().filter(|event| matches!(event, EventKind::ToolFinished(_))).count(), 1);
    let all: u64 = result.model_usage.values().map(|used| used.usage.output_tokens).sum();
    assert!(all > result.usage.output_tokens);
}

#[tokio::test]
async fn the_messages_of_a_loop_count_in_the_limit_of_the_run() {
    let limited = program().sampling(SamplingLimits::default().max_requests(1));
    let model = model();
    let told = told(&model, limited).await;
    assert!(told.contains("may have 1 of these"), "{told}");
    assert_eq!(for_server(&model).len(), 1);
}

#[tokio::test]
async fn requests_whose_tools_and_results_do_not_fit_are_refused_with_a_reason() {
    let tool = r#"{"name":"t","inputSchema":{"type":"object"}}"#;
    let many = vec![tool; 65].join(",");
    for (name, value, written, expected) in [
        ("SUM", "", 0, "there is none"),
        ("SUM", many.as_str(), 0, "more than 64 tools"),
        // Texts that the library does not read as such a request.
        ("SUM", "7", 0, "invalid type"),
        ("SUM", r#"{"name":[],"inputSchema":{}}"#, 0, "tool 1 cannot be offered: invalid type"),
        ("SUM", &format!("{tool},{tool}"), 0, "occurs twice"),
        ("SUM", r#"{"name":"t","inputSchema":{"type":"array"}}"#, 0, "not one of an object"),
        ("WRONG", "other", 1, "has no result in the message that follows it"),
        ("MODE", "required", 1, "there is none"),
    ] {
        let model = model();
        let told = told(&model, program().env(name, value)).await;
        assert!(told.contains(expected) && told.contains("code:-32602"), "{expected}: {told}");
        assert_eq!(for_server(&model).len(), written, "{expected}");
    }
}

#[tokio::test]
async fn only_whole_calls_go_back() {
    let call = || ScriptedTurn::new().text("I add.").tool_use("calc_add", json!({}));
    let cases: [(ScriptedTurn, &str, &str); 4] = [
        (call().stop_reason(StopReason::MaxTokens), "stopReason:maxTokens", "type:tool_use"),
        (call().stop_reason(StopReason::MalformedToolCall), "a call that cannot be read", "type:tool_use"),
        (call().stop_reason(StopReason::EndTurn), "stopReason:toolUse", "endTurn"),
        (ScriptedTurn::new().tool_use("made_up", json!({})), "name:made_up", "text:I add"),
    ];
    for (turn, expected, absent) in cases {
        let model = writing(move |request| match has_result(request) {
            false => turn.clone(),
            true => ScriptedTurn::new().text("Done."),
        });
        let told = told(&model, program()).await;
        let first = told.split("s2").next().unwrap();
        assert!(first.contains(expected) && !first.contains(absent), "{expected}: {first}");
    }
}

/// Writes messages for servers, and knows no tools.
struct Plain;

#[async_trait]
impl Sampling for Plain {
    async fn sample(&self, _: SamplingRequest) -> Result<SamplingAnswer, String> {
        Ok(SamplingAnswer::new("own", "Plain."))
    }
}

#[tokio::test]
async fn a_program_that_writes_by_itself_says_whether_it_takes_tools() {
    let servers = McpServers::new(McpOptions::new().with_sampling(Arc::new(Plain)));
    servers.add("notes", program()).unwrap();
    let model = model();
    let query = query("Go").provider(model.clone()).mcp_servers(servers);
    let result = query.permissions(Permissions::new().allow(["mcp__notes"])).await.unwrap();
    assert_eq!(result.outcome, Outcome::Success);
    let told = format!("{:?}", model.requests().last().unwrap().messages.last().unwrap().content);
    assert!(told.contains("cannot bring tools:") && told.contains("tools are not offered"), "{told}");
}

fn input_required(messages: &Value) -> Value {
    let tool = json!({ "name": "calc.add", "inputSchema": { "type": "object" } });
    let params = json!({ "maxTokens": 9, "systemPrompt": "For a server.", "messages": messages, "tools": [tool] });
    json!({ "resultType": "input_required", "requestState": messages.to_string(),
        "inputRequests": { "s": { "method": "sampling/createMessage", "params": params } } })
}

/// Asks in place of a result: for a call, then for the end.
fn called(params: &Value) -> Value {
    let able = &params["_meta"]["io.modelcontextprotocol/clientCapabilities"]["sampling"]["tools"];
    assert_eq!(able, &json!({}), "{params}");
    let user = json!({ "role": "user", "content": { "type": "text", "text": "Add." } });
    let reply = &params["inputResponses"]["s"];
    match reply["stopReason"].as_str() {
        None => input_required(&json!([user])),
        Some("toolUse") => {
            let call = &reply["content"].as_array().unwrap()[1];
            let found =
                json!({ "type": "tool_result", "toolUseId": call["id"], "content": [{ "type": "text", "text": "5" }] });
            let made = json!({ "role": "assistant", "content": reply["content"] });
            input_required(&json!([user, made, { "role": "user", "content": [found] }]))
        }
        Some(_) => json!({ "resultType": "complete", "content": [{ "type": "text", "text": reply.to_string() }] }),
    }
}

#[tokio::test]
async fn a_server_that_asks_in_place_of_a_result_has_calls_too() {
    let model = model();
    let config = McpServerConfig::in_process(Arc::new(Newest(called))).sampling(SamplingLimits::default());
    let told = told(&model, config).await;
    assert!(told.contains("It is 5."), "{told}");
    assert_eq!(for_server(&model).len(), 2);
}
