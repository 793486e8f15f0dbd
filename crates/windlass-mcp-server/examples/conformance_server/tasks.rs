//! Tools whose calls are tasks: some from their begin, one after it has asked.

use std::collections::BTreeMap;
use std::time::Duration;
use windlass::{JsonText, ToolOutput, async_trait};
use windlass_mcp_server::{ClientAbility, ClientAnswer, McpService, Question, ServedCall, ServedTool};

const COMPUTE: &str = r#"{"type":"object","properties":{"seconds":{"type":"number"},"label":{"type":"string"}}}"#;
const GREET: &str = r#"{"type":"object","properties":{"name":{"type":"string"}}}"#;
const CONFIRM: &str = r#"{"type":"object","properties":{"confirm":{"type":"boolean"}},"required":["confirm"]}"#;
const NAME: &str = r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}"#;

pub(crate) struct Slow;

fn tool(name: &str, does: &str, schema: &str) -> ServedTool {
    ServedTool::new(name, does, JsonText::parse(schema).unwrap_or_else(|_| JsonText::empty_object()))
}

#[async_trait]
impl McpService for Slow {
    fn tools(&self) -> Vec<ServedTool> {
        let now = Duration::ZERO;
        vec![
            tool("greet", "Greets.", GREET),
            tool("slow_compute", "Takes as many seconds as it is told.", COMPUTE).with_task(now),
            tool("failing_job", "Fails.", "{}").with_task(now).with_need(ClientAbility::Tasks),
            tool("protocol_error_job", "Ends without a result.", "{}").with_task(now),
            tool("confirm_delete", "Asks once.", "{}").with_task(now),
            tool("multi_input", "Asks for two things at once.", "{}").with_task(now),
            tool("test_tool_with_task", "Asks, and works then.", "{}").with_task(Duration::from_millis(300)),
        ]
    }

    async fn call(&self, call: ServedCall) -> ToolOutput {
        let text = |name: &str| {
            let given: BTreeMap<String, serde_json::Value> = call.input.to().unwrap_or_default();
            given.get(name).cloned().unwrap_or_default()
        };
        match call.tool.as_str() {
            "greet" => ToolOutput::text(format!("Hello, {}!", text("name").as_str().unwrap_or_default())),
            "slow_compute" => {
                tokio::time::sleep(Duration::from_secs_f64(text("seconds").as_f64().unwrap_or_default())).await;
                ToolOutput::text("Computed.")
            }
            "failing_job" => {
                tokio::time::sleep(Duration::from_secs(1)).await;
                ToolOutput::text("It failed.").failed()
            }
            // Imitates a tool that panics.
            "protocol_error_job" => std::panic::resume_unwind(Box::new("no result")),
            "confirm_delete" => said(&call, &[("confirm", "Delete it?", CONFIRM)]).await,
            "multi_input" => said(&call, &[("first", "One?", CONFIRM), ("second", "Two?", CONFIRM)]).await,
            _ => {
                let said = said(&call, &[("user_name", "What is your name?", NAME)]).await;
                tokio::time::sleep(Duration::from_secs(1)).await;
                said
            }
        }
    }
}

async fn said(call: &ServedCall, asked: &[(&str, &str, &str)]) -> ToolOutput {
    let questions = asked.iter().map(|(name, message, schema)| crate::questions::form(name, message, schema));
    let answers = call.client.ask_all(questions.collect::<Vec<Question>>()).await;
    let said: Vec<&str> = answers
        .iter()
        .map(|answer| match answer {
            ClientAnswer::Accepted(values) => values.as_str(),
            _ => "no answer",
        })
        .collect();
    ToolOutput::text(said.join(" "))
}
