//! Tasks: calls that continue without a waiting client.

use crate::world::{Connected, User, connected_anew, params};
use rmcp::model::{CallToolResponse, ClientRequest, CustomRequest};
use rmcp::service::ServiceError;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep};
use windlass::{JsonText, ToolOutput, async_trait};
use windlass_mcp_server::{ClientAbility, McpServer, McpService, Question, ServedCall, ServedTool};

const DAY: Duration = Duration::from_secs(24 * 3600);

/// Tools named by the behaviour of their calls: work for some seconds, ask, or panic.
#[derive(Default)]
struct Slow {
    begun: AtomicUsize,
    /// Number of calls that were dropped or finished.
    over: AtomicUsize,
}

struct Over<'a>(&'a AtomicUsize);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

#[async_trait]
impl McpService for Slow {
    fn tools(&self) -> Vec<ServedTool> {
        let tool = |name: &str| ServedTool::new(name, "Works.", JsonText::empty_object());
        let at_once = |name: &str| tool(name).with_task(Duration::ZERO);
        vec![
            tool("waits"),
            tool("later").with_task(Duration::from_secs(10)),
            at_once("at once"),
            at_once("asks"),
            at_once("panics"),
            at_once("long"),
            at_once("only").with_need(ClientAbility::Tasks),
        ]
    }

    async fn call(&self, call: ServedCall) -> ToolOutput {
        self.begun.fetch_add(1, Ordering::SeqCst);
        let _over = Over(&self.over);
        let seconds = call.input.to::<Value>().unwrap()["seconds"].as_u64().unwrap_or_default();
        match call.tool.as_str() {
            "panics" => std::panic::resume_unwind(Box::new("no result")),
            "long" => {
                sleep(Duration::from_secs(seconds)).await;
                return ToolOutput::text("x".repeat(30 << 20));
            }
            "asks" => {
                let form = JsonText::parse(r#"{"type":"object","properties":{}}"#).unwrap();
                let asked = ["one", "two"].map(|name| Question::form("May I?", form.clone()).named(name));
                return ToolOutput::text(format!("{:?}", call.client.ask_all(asked.into()).await));
            }
            _ => {}
        }
        call.client.progress("half way").await;
        sleep(Duration::from_secs(seconds)).await;
        ToolOutput::text("worked")
    }
}

struct Ground {
    client: Connected,
    service: Arc<Slow>,
}

impl Ground {
    async fn new(takes_tasks: bool) -> Self {
        let service = Arc::new(Slow::default());
        let server = McpServer::new("t", "1").shared_service(Arc::clone(&service) as Arc<_>);
        let (client, _) = connected_anew(server, User { takes_tasks, ..User::answering(true) }).await;
        Self { client, service }
    }

    /// Returns the id of the task that a call becomes, or its result as text.
    async fn call(&self, tool: &str, seconds: u64) -> Result<String, String> {
        let called = self.client.call_tool_once(params(tool, json!({ "seconds": seconds }))).await;
        match called.map_err(|error| format!("{error:?}"))? {
            CallToolResponse::Task(created) => Ok(created.task.task_id),
            other => Err(format!("{other:?}")),
        }
    }

    async fn ask(&self, method: &str, params: Value) -> Result<Value, i64> {
        let request = ClientRequest::CustomRequest(CustomRequest::new(method, Some(params)));
        match self.client.send_request(request).await {
            Ok(answer) => Ok(serde_json::to_value(answer).unwrap()),
            Err(ServiceError::McpError(error)) => Err(i64::from(error.code.0)),
            Err(error) => panic!("{error:?}"),
        }
    }

    async fn get(&self, task: &str) -> Value {
        self.ask("tasks/get", json!({ "taskId": task })).await.unwrap()
    }

    fn counts(&self) -> (usize, usize) {
        (self.service.begun.load(Ordering::SeqCst), self.service.over.load(Ordering::SeqCst))
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_long_becomes_a_task_whose_client_asks_how_it_is() {
    let ground = Ground::new(true).await;
    let begun = Instant::now();
    let answered = ground.call("later", 9).await.unwrap_err();
    assert!(answered.contains("worked") && begun.elapsed().as_secs() == 9, "{answered}");
    let (begun, task) = (Instant::now(), ground.call("later", 100).await.unwrap());
    assert_eq!((begun.elapsed().as_secs(), task.len()), (10, 32));
    let working = ground.get(&task).await;
    assert_eq!((&working["status"], &working["statusMessage"]), (&json!("working"), &json!("half way")));
    assert_eq!((&working["ttlMs"], &working["result"]), (&json!(86_400_000), &Value::Null));
    sleep(Duration::from_secs(91)).await;
    let done = ground.get(&task).await;
    assert_eq!((&done["status"], &done["result"]["content"][0]["text"]), (&json!("completed"), &json!("worked")));
    assert_eq!(ground.counts(), (2, 2), "a task is the same call");
    // A task from its begin, and a call that never becomes a task.
    assert!(ground.call("at once", 0).await.is_ok());
    assert!(ground.call("waits", 1000).await.unwrap_err().contains("worked"));
}

#[tokio::test(start_paused = true)]
async fn clients_that_do_not_take_tasks_wait_or_are_refused() {
    let ground = Ground::new(false).await;
    for tool in ["later", "at once"] {
        assert!(ground.call(tool, 1000).await.unwrap_err().contains("worked"), "{tool}");
    }
    assert!(ground.call("only", 0).await.unwrap_err().contains("-32021"));
    let with_tasks = Ground::new(true).await;
    let task = with_tasks.call("only", 0).await.unwrap();
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        assert_eq!(ground.ask(method, json!({ "taskId": task, "inputResponses": {} })).await, Err(-32021), "{method}");
    }
}

#[tokio::test(start_paused = true)]
async fn questions_of_a_task_are_open_until_each_is_answered() {
    let ground = Ground::new(true).await;
    let task = ground.call("asks", 0).await.unwrap();
    let open = |state: &Value| state["inputRequests"].as_object().map(|open| open.keys().cloned().collect::<Vec<_>>());
    sleep(Duration::from_millis(1)).await;
    let asked = ground.get(&task).await;
    assert_eq!((&asked["status"], open(&asked)), (&json!("input_required"), Some(vec!["one".into(), "two".into()])));
    let yes = json!({ "action": "accept", "content": {} });
    for (responses, left) in [
        (json!({ "other": yes }), Some(vec!["one".to_owned(), "two".to_owned()])),
        (json!({ "one": 7 }), Some(vec!["one".to_owned(), "two".to_owned()])),
        (json!({ "one": yes }), Some(vec!["two".to_owned()])),
        (json!({ "two": { "action": "decline" } }), None),
    ] {
        let taken = ground.ask("tasks/update", json!({ "taskId": task, "inputResponses": responses })).await.unwrap();
        assert_eq!(taken["resultType"], "complete");
        sleep(Duration::from_millis(1)).await;
        assert_eq!(open(&ground.get(&task).await), left, "{responses}");
    }
    let said = ground.get(&task).await["result"]["content"][0]["text"].to_string();
    assert!(said.contains("Accepted") && said.contains("Declined"), "{said}");
}

#[tokio::test(start_paused = true)]
async fn a_task_is_stopped_by_its_client_and_one_that_has_ended_stays() {
    let ground = Ground::new(true).await;
    let task = ground.call("at once", 100).await.unwrap();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(ground.counts(), (1, 0));
    ground.ask("tasks/cancel", json!({ "taskId": task })).await.unwrap();
    assert_eq!(ground.get(&task).await["status"], "cancelled");
    sleep(Duration::from_secs(1)).await;
    assert_eq!(ground.counts(), (1, 1), "the call was dropped");
    let ended = ground.call("at once", 0).await.unwrap();
    sleep(Duration::from_secs(1)).await;
    ground.ask("tasks/cancel", json!({ "taskId": ended })).await.unwrap();
    assert_eq!(ground.get(&ended).await["status"], "completed");
    let failed = ground.call("panics", 0).await.unwrap();
    sleep(Duration::from_secs(1)).await;
    let failed = ground.get(&failed).await;
    assert_eq!((&failed["status"], &failed["error"]["code"]), (&json!("failed"), &json!(-32603)));
    for id in ["", "x", &format!("{task}0"), &"9".repeat(100_000)] {
        for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
            assert_eq!(
                ground.ask(method, json!({ "taskId": id, "inputResponses": {} })).await,
                Err(-32602),
                "{method}"
            );
        }
    }
}

#[tokio::test(start_paused = true)]
async fn tasks_are_bounded_in_number_and_time() {
    let ground = Ground::new(true).await;
    let mut tasks = Vec::new();
    for _ in 0..64 {
        tasks.push(ground.call("at once", 48 * 3600).await.unwrap());
    }
    assert!(ground.call("at once", 7).await.unwrap_err().contains("worked"), "its client waits");
    ground.ask("tasks/cancel", json!({ "taskId": tasks[0] })).await.unwrap();
    let last = ground.call("at once", 7).await.unwrap();
    sleep(DAY - Duration::from_secs(60)).await;
    assert_eq!(ground.get(&tasks[1]).await["status"], "working");
    assert_eq!(ground.get(&last).await["status"], "completed");
    sleep(Duration::from_secs(120)).await;
    for task in tasks.iter().chain([&last]) {
        assert_eq!(ground.ask("tasks/get", json!({ "taskId": task })).await, Err(-32602));
    }
    assert_eq!(ground.counts(), (66, 66), "what runs for a day is stopped");
}

/// Memory is bounded, whatever the results: the oldest are removed, and polls report that.
#[tokio::test(start_paused = true)]
async fn the_oldest_results_make_room_for_newer_ones() {
    let ground = Ground::new(true).await;
    let short = ground.call("at once", 1).await.unwrap();
    let mut tasks = Vec::new();
    for seconds in [2, 3, 4] {
        tasks.push(ground.call("long", seconds).await.unwrap());
    }
    sleep(Duration::from_secs(3)).await;
    assert_eq!(ground.get(&short).await["status"], "completed");
    sleep(Duration::from_secs(2)).await;
    for task in [&short, &tasks[0]] {
        let gone = ground.get(task).await;
        assert_eq!(gone["status"], "failed");
        assert!(gone["error"]["message"].as_str().unwrap().contains("no longer kept"), "{gone}");
    }
}
