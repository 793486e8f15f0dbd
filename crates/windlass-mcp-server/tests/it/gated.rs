//! Tools behind the gate of a session.

use crate::world::{LONG, User, call, connected, failed, params, text};
use rmcp::model::{ClientRequest, Request};
use rmcp::service::PeerRequestOptions;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use tokio::sync::{Notify, Semaphore};
use windlass::tool::{Toolkit, tool_json};
use windlass::{JsonText, Permissions, ToolCx, coding_tools, session};
use windlass_mcp_server::{GatedTools, McpServer};

struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.txt"), "one\ntwo\n").unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().canonicalize().unwrap().join(name)
    }

    async fn server(&self, permissions: Permissions) -> McpServer {
        let tools = coding_tools(self.path("")).only(&["Read", "Write", "Edit", "Bash"]);
        let tools = GatedTools::open(session().tools(tools), permissions).await.unwrap();
        McpServer::new("ground", "1").service(tools)
    }
}

#[tokio::test]
async fn tools_are_listed_with_hints_as_a_model_would_be_offered_them() {
    let ground = Ground::new();
    let server = ground.server(Permissions::new().deny(["Bash"])).await.instructions("Read first.");
    let (client, served) = connected(server, User::default()).await;
    let tools = client.list_all_tools().await.unwrap();
    let names: Vec<&str> = tools.iter().map(|tool| tool.name.as_ref()).collect();
    assert_eq!(names, ["Edit", "Read", "Write"]);
    assert_eq!(tools[1].annotations.as_ref().unwrap().read_only_hint, Some(true));
    assert_eq!(tools[2].annotations.as_ref().unwrap().destructive_hint, Some(true));
    assert_eq!(tools[1].input_schema["type"], "object");
    assert_eq!(client.peer_info().unwrap().instructions.as_deref(), Some("Read first."));
    client.cancel().await.unwrap();
    served.await.unwrap().unwrap();
}

#[tokio::test]
async fn what_needs_a_question_is_asked_or_denied() {
    for (user, runs) in [(User::answering(true), true), (User::answering(false), false), (User::default(), false)] {
        let ground = Ground::new();
        let (client, _served) = connected(ground.server(Permissions::new()).await, user.clone()).await;
        let input = json!({ "file_path": ground.path("new.txt"), "content": "x" });
        let written = call(&client, "Write", input).await;
        assert_eq!((failed(&written), ground.path("new.txt").exists()), (!runs, runs), "{written:?}");
        let asked = user.asked.lock().unwrap().clone();
        match user.answer {
            Some(_) => assert!(asked[0].contains("new.txt"), "{asked:?}"),
            None => assert!(asked.is_empty() && text(&written).contains("cannot ask its user"), "{written:?}"),
        }
    }
}

#[tokio::test]
async fn rules_and_what_was_read_hold_over_many_calls() {
    let ground = Ground::new();
    let rules = Permissions::new().allow(["Edit"]).deny(["Read(secret*)"]);
    let (client, _served) = connected(ground.server(rules).await, User::default()).await;
    let edit = json!({ "file_path": ground.path("a.txt"), "old_string": "two", "new_string": "2" });
    assert!(failed(&call(&client, "Edit", edit.clone()).await), "a file that was not read is not edited");
    assert!(text(&call(&client, "Read", json!({ "file_path": ground.path("a.txt") })).await).contains("two"));
    let edited = call(&client, "Edit", edit).await;
    assert!(!failed(&edited), "{edited:?}");
    assert_eq!(std::fs::read_to_string(ground.path("a.txt")).unwrap(), "one\n2\n");
    // More failures in a row than end a run.
    std::fs::write(ground.path("secret.txt"), "s").unwrap();
    for _ in 0..12 {
        let denied = call(&client, "Read", json!({ "file_path": ground.path("secret.txt") })).await;
        assert!(failed(&denied), "{denied:?}");
    }
    assert!(!failed(&call(&client, "Read", json!({ "file_path": ground.path("a.txt") })).await));
}

#[tokio::test]
async fn what_is_no_call_of_a_tool_is_an_error() {
    let ground = Ground::new();
    let (client, _served) = connected(ground.server(Permissions::new()).await, User::default()).await;
    assert!(client.call_tool(params("Nope", json!({}))).await.unwrap_err().to_string().contains("no tool \"Nope\""));
    let wrong = call(&client, "Read", json!({ "file_path": 7 })).await;
    assert!(failed(&wrong) && text(&wrong).contains("string"), "{wrong:?}");
    assert!(failed(&call(&client, "Read", json!({})).await));
}

/// Returns a tool that reports its begin, and waits until it is released.
fn slow(begun: &Arc<Semaphore>, go: &Arc<Semaphore>, dropped: &Arc<Notify>) -> Toolkit {
    struct Gone(Arc<Notify>);
    impl Drop for Gone {
        fn drop(&mut self) {
            self.0.notify_one();
        }
    }
    let (begun, go, dropped) = (Arc::clone(begun), Arc::clone(go), Arc::clone(dropped));
    let schema = JsonText::parse(r#"{"type":"object"}"#).unwrap();
    Toolkit::new().with(tool_json("slow", "Waits.", schema, move |_: JsonText, cx: ToolCx| {
        let (begun, go, gone) = (Arc::clone(&begun), Arc::clone(&go), Gone(Arc::clone(&dropped)));
        async move {
            cx.progress("half way");
            begun.add_permits(1);
            tokio::select! {
                permit = go.acquire() => permit.unwrap().forget(),
                () = cx.cancel().cancelled() => {}
            }
            drop(gone);
            Ok("done")
        }
    }))
}

#[tokio::test]
async fn a_call_reports_progress_and_ends_when_it_is_cancelled() {
    let (begun, go, dropped) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)), Arc::new(Notify::new()));
    let tools = session().tools(slow(&begun, &go, &dropped));
    let tools = GatedTools::open(tools, Permissions::new().allow(["slow"])).await.unwrap();
    let user = User::default();
    let (client, _served) = connected(McpServer::new("slow", "1").service(tools), user.clone()).await;

    let request = ClientRequest::CallToolRequest(Request::new(params("slow", json!({}))));
    let waiting = client.send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap();
    tokio::time::timeout(LONG, user.reported.notified()).await.unwrap();
    assert_eq!(user.progress.lock().unwrap().first().unwrap(), "half way");
    begun.acquire().await.unwrap().forget();
    waiting.cancel(Some("enough".to_owned())).await.unwrap();
    tokio::time::timeout(LONG, dropped.notified()).await.unwrap();

    // The server still works.
    go.add_permits(1);
    assert_eq!(text(&call(&client, "slow", json!({})).await), "done");
}

#[tokio::test]
async fn many_calls_at_once_are_each_answered_once() {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&count);
    let schema = JsonText::parse(r#"{"type":"object"}"#).unwrap();
    let tool = tool_json("echo", "Says it again.", schema, move |input: JsonText, _: ToolCx| {
        counted.fetch_add(1, Ordering::SeqCst);
        async move { Ok(input.as_str().to_owned()) }
    });
    let builder = session().tools(Toolkit::new().with(tool));
    let tools = GatedTools::open(builder, Permissions::new().allow(["echo"])).await.unwrap();
    let (client, _served) = connected(McpServer::new("echo", "1").service(tools), User::default()).await;
    let client = Arc::new(client);
    let calls: Vec<_> = (0..60)
        .map(|number| {
            let client = Arc::clone(&client);
            tokio::spawn(async move { text(&call(&client, "echo", json!({ "n": number })).await) })
        })
        .collect();
    for (number, answer) in calls.into_iter().enumerate() {
        assert_eq!(answer.await.unwrap(), json!({ "n": number }).to_string());
    }
    assert_eq!(count.load(Ordering::SeqCst), 60);
}
