//! Programs of a model, friendly and malicious.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed, and helpers of tests fail by panicking"
)]

mod attacks;
mod language;
mod stops;

use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use windlass_program::{Program, ProgramLimits};
use windlass_testkit::ToolBench;
use windlass_tool::{BoxFuture, Calls, ToolCx, ToolError, ToolOutput};
use windlass_types::{JsonText, ToolOutcome};

/// Answers to calls: a function of the tool's name and its input.
type Answers = dyn Fn(&str, &Value) -> ToolOutcome + Send + Sync;

/// Answers calls at once, and records them.
pub(crate) struct Tools {
    pub(crate) made: Mutex<Vec<(String, Value)>>,
    answers: Box<Answers>,
}

impl std::fmt::Debug for Tools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Tools")
    }
}

impl Calls for Tools {
    fn call(&self, tool: String, input: JsonText) -> BoxFuture<'static, ToolOutcome> {
        let input: Value = serde_json::from_str(input.as_str()).unwrap();
        let outcome = (self.answers)(&tool, &input);
        self.made.lock().unwrap().push((tool, input));
        Box::pin(async move { outcome })
    }
}

pub(crate) fn answering(answers: impl Fn(&str, &Value) -> ToolOutcome + Send + Sync + 'static) -> Arc<Tools> {
    Arc::new(Tools { made: Mutex::default(), answers: Box::new(answers) })
}

/// Tools: `echo` returns its input as text and data, `big` a long text; `no` fails.
pub(crate) fn tools() -> Arc<Tools> {
    answering(|tool, input| match tool {
        "echo" => {
            let mut outcome = ToolOutcome::ok(input.to_string());
            outcome.structured = JsonText::of(input).ok();
            outcome
        }
        "big" => ToolOutcome::ok("x".repeat(3_000_000)),
        "no" => ToolOutcome::error("it is denied"),
        other => ToolOutcome::error(format!("There is no tool {other}.")),
    })
}

pub(crate) fn cx(tools: Arc<dyn Calls>) -> ToolCx {
    let mut parts = ToolBench::new(Program::default()).parts();
    parts.clock = Arc::new(windlass_tool::SystemClock::default());
    parts.abilities.calls = Some(tools);
    ToolCx::new(parts)
}

/// Runs a program within limits.
pub(crate) async fn within(limits: ProgramLimits, program: &str, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
    let input = serde_json::from_value(json!({ "program": program })).unwrap();
    windlass_tool::Tool::call(&Program::new(limits), input, cx).await
}

/// Output of a program; `true` if it failed.
pub(crate) async fn run(program: &str) -> (String, bool) {
    let output = within(ProgramLimits::default(), program, &cx(tools())).await.unwrap();
    (output.content.text(), output.is_error)
}

/// Output of a program that does not fail.
pub(crate) async fn gives(program: &str) -> String {
    let (text, failed) = run(program).await;
    assert!(!failed, "{text}");
    text
}

/// Error of a program that fails.
pub(crate) async fn fails(program: &str) -> String {
    let (text, failed) = run(program).await;
    assert!(failed, "{text}");
    text
}
