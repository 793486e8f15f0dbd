//! Tools that ask their client: its user, its model, its directories.

use std::collections::BTreeMap;
use windlass::{JsonText, ToolOutput, async_trait};
use windlass_mcp_server::{Client, ClientAbility, ClientAnswer, McpService, Question, ServedCall, ServedTool};

const TEXT: &str = r#"{"type":"object","properties":{"prompt":{"type":"string"},"message":{"type":"string"}}}"#;

/// Tools with the questions that they ask at once.
const TOOLS: [(&str, &[Asked]); 13] = [
    ("test_sampling", &[Asked::Model("prompt")]),
    ("test_elicitation", &[Asked::Form("form", "message", USER)]),
    ("test_elicitation_sep1034_defaults", &[Asked::Form("form", "Review and update your values", DEFAULTS)]),
    ("test_elicitation_sep1330_enums", &[Asked::Form("form", "Choose", ENUMS)]),
    ("test_streaming_elicitation", &[Asked::Form("form", "What is your name?", NAME)]),
    ("test_input_required_result_elicitation", &[Asked::Form("user_name", "What is your name?", NAME)]),
    ("test_input_required_result_sampling", &[Asked::Model("What is the capital of France?")]),
    ("test_input_required_result_list_roots", &[Asked::Roots]),
    ("test_input_required_result_request_state", &[Asked::Form("confirm", "Please confirm", OK)]),
    ("test_input_required_result_tampered_state", &[Asked::Form("confirm", "Please confirm", OK)]),
    (
        "test_input_required_result_multiple_inputs",
        &[Asked::Form("user_name", "What is your name?", NAME), Asked::Model("Generate a greeting"), Asked::Roots],
    ),
    (
        "test_input_required_result_capabilities",
        &[Asked::Form("user_name", "What is your name?", NAME), Asked::Model("Generate a greeting")],
    ),
    ("test_input_required_result_multi_round", &[Asked::Form("step1", "Step 1: What is your name?", NAME)]),
];

const NAME: &str = r#"{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}"#;
const COLOR: &str = r#"{"type":"object","properties":{"color":{"type":"string"}},"required":["color"]}"#;
const OK: &str = r#"{"type":"object","properties":{"ok":{"type":"boolean"}},"required":["ok"]}"#;
const USER: &str = r#"{"type":"object","properties":{"username":{"type":"string","description":"User's response"},"email":{"type":"string","description":"User's email address"}},"required":["username","email"]}"#;
const DEFAULTS: &str = r#"{"type":"object","properties":{"name":{"type":"string","default":"John Doe"},"age":{"type":"integer","default":30},"score":{"type":"number","default":95.5},"status":{"type":"string","enum":["active","inactive","pending"],"default":"active"},"verified":{"type":"boolean","default":true}}}"#;
const ENUMS: &str = r#"{"type":"object","properties":{"untitledSingle":{"type":"string","enum":["option1","option2","option3"]},"titledSingle":{"type":"string","oneOf":[{"const":"value1","title":"First Option"},{"const":"value2","title":"Second Option"},{"const":"value3","title":"Third Option"}]},"legacyEnum":{"type":"string","enum":["opt1","opt2","opt3"],"enumNames":["Option One","Option Two","Option Three"]},"untitledMulti":{"type":"array","items":{"type":"string","enum":["option1","option2","option3"]}},"titledMulti":{"type":"array","items":{"anyOf":[{"const":"value1","title":"First Choice"},{"const":"value2","title":"Second Choice"},{"const":"value3","title":"Third Choice"}]}}}}"#;

#[derive(Clone, Copy)]
enum Asked {
    /// Name of the question, the message or the argument that holds it, and the form.
    Form(&'static str, &'static str, &'static str),
    /// Prompt, or the argument that holds it.
    Model(&'static str),
    Roots,
}

impl Asked {
    fn question(self, input: &BTreeMap<String, String>) -> Question {
        let text = |text: &str| input.get(text).cloned().unwrap_or_else(|| text.to_owned());
        match self {
            Self::Form(name, message, schema) => form(name, &text(message), schema),
            Self::Model(prompt) => Question::message(text(prompt), 100),
            Self::Roots => Question::roots(),
        }
    }
}

pub(crate) fn form(name: &str, message: &str, schema: &str) -> Question {
    let schema = JsonText::parse(schema).unwrap_or_else(|_| JsonText::empty_object());
    Question::form(message, schema).named(name)
}

pub(crate) struct Asking;

#[async_trait]
impl McpService for Asking {
    fn tools(&self) -> Vec<ServedTool> {
        let schema = JsonText::parse(TEXT).unwrap_or_else(|_| JsonText::empty_object());
        TOOLS.into_iter().map(|(name, _)| ServedTool::new(name, "Asks its client.", schema.clone())).collect()
    }

    async fn call(&self, call: ServedCall) -> ToolOutput {
        let input: BTreeMap<String, String> = call.input.to().unwrap_or_default();
        let questions = TOOLS.into_iter().find(|(name, _)| *name == call.tool).map(|(_, asked)| asked);
        let questions: Vec<_> = questions.unwrap_or_default().iter().map(|one| one.question(&input)).collect();
        let needed: Vec<ClientAbility> = questions.iter().map(Question::needs).collect();
        if !needed.iter().any(|ability| call.client.can(*ability)) {
            return ToolOutput::text("The client cannot be asked.").failed();
        }
        let mut answers = call.client.ask_all(questions).await;
        if call.tool == "test_input_required_result_multi_round" {
            answers.extend(second_round(&call.client).await);
        }
        ToolOutput::text(format!("state-ok. {}", answers.iter().map(words).collect::<Vec<_>>().join("; ")))
    }
}

async fn second_round(client: &Client) -> Vec<ClientAnswer> {
    client.ask_all(vec![form("step2", "Step 2: What is your favorite color?", COLOR)]).await
}

pub(crate) fn words(answer: &ClientAnswer) -> String {
    match answer {
        ClientAnswer::Accepted(value) => format!("action=accept, content={}", value.as_str()),
        ClientAnswer::Declined => "action=decline".to_owned(),
        ClientAnswer::Cancelled => "action=cancel".to_owned(),
        _ => "not answered".to_owned(),
    }
}
