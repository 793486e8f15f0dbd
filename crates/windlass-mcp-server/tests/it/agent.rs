//! Agent as one tool.

use crate::world::{LONG, User, call, connected, failed, text};
use serde_json::json;
use windlass::{Permissions, ScriptedModel, ScriptedTurn, coding_tools, session};
use windlass_mcp_server::{AgentTool, McpServer};

/// Returns an agent that writes a file and reports it.
fn agent(folder: &std::path::Path) -> AgentTool {
    let folder = folder.canonicalize().unwrap();
    AgentTool::new("coder", "Does it.", Permissions::new(), move || {
        let path = folder.join("new.txt");
        let model = ScriptedModel::from_fn(move |_, number| match number {
            0 => ScriptedTurn::new().tool_use("Write", json!({ "file_path": path, "content": "x" })),
            _ => ScriptedTurn::new().text("It is written."),
        });
        session().provider(model).tools(coding_tools(&folder))
    })
}

#[tokio::test]
async fn an_agent_works_asks_reports_and_answers_with_data() {
    for allow in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let user = User::answering(allow);
        let (client, _served) = connected(McpServer::new("a", "1").service(agent(folder.path())), user.clone()).await;
        let tools = client.list_all_tools().await.unwrap();
        assert!(tools[0].name == "coder" && tools[0].output_schema.is_some());
        let done = call(&client, "coder", json!({ "prompt": "Write it." })).await;
        assert_eq!((text(&done).as_str(), failed(&done)), ("It is written.", false));
        assert_eq!(folder.path().join("new.txt").exists(), allow);
        let data = done.structured_content.unwrap();
        assert_eq!(
            (&data["result"], &data["is_error"], &data["turns"]),
            (&json!("It is written."), &json!(false), &json!(2))
        );
        assert!(user.asked.lock().unwrap()[0].contains("new.txt"));
        tokio::time::timeout(LONG, user.reported.notified()).await.unwrap();
    }
}

#[tokio::test]
async fn a_task_that_cannot_be_done_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let (client, _served) = connected(McpServer::new("a", "1").service(agent(folder.path())), User::default()).await;
    for (input, part) in
        [(json!({}), "prompt"), (json!({ "prompt": " " }), "empty"), (json!({ "prompt": 7 }), "expected a string")]
    {
        let refused = call(&client, "coder", input).await;
        assert!(failed(&refused) && text(&refused).contains(part), "{refused:?}");
    }
    // Without a model no session opens.
    let bare = AgentTool::new("bare", "", Permissions::new(), session);
    let (client, _served) = connected(McpServer::new("a", "1").service(bare), User::default()).await;
    let refused = call(&client, "bare", json!({ "prompt": "x" })).await;
    assert!(failed(&refused) && text(&refused).contains("could not work"), "{refused:?}");
}
