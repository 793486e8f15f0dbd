//! Words of prompts that ask for more thought.

use std::sync::Arc;
use windlass::options::ModelOptions;
use windlass::{Effort, EventKind, Script, ScriptedModel, Session, Thinking, coding_tools, event::Status, session};
use windlass_model::ModelInfo;
use windlass_runtime::Prompt;
use windlass_types::ModelRequest;

/// Runs prompts in one session. Returns what each request asks for, and what broke the cache.
async fn asked(info: ModelInfo, on: bool, prompts: Vec<Prompt>) -> (Vec<Arc<ModelRequest>>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a"), "ultrathink").unwrap();
    let script = prompts.iter().fold(Script::new(), |script, _| {
        let read = serde_json::json!({"file_path": "a"});
        script.turn(|turn| turn.tool_use("Read", read)).turn(|turn| turn.text("ultrathink"))
    });
    let model = ScriptedModel::new(script).with_info(info);
    let builder = session()
        .provider(model.clone())
        .tools(coding_tools(folder.path()))
        .model(ModelOptions::new().thinking_keywords(on));
    let Session { handle, mut events, .. } = builder.open().await.unwrap();
    let mut broken = Vec::new();
    for prompt in prompts {
        handle.prompt(prompt).unwrap();
        while let Some(event) = events.try_next().await.unwrap() {
            match event.kind {
                EventKind::RunFinished(_) => break,
                EventKind::Status(Status::CacheBroken { cause }) => broken.push(cause),
                _ => {}
            }
        }
    }
    (model.requests(), broken)
}

fn settings(requests: &[Arc<ModelRequest>]) -> Vec<(Thinking, Option<Effort>)> {
    requests.iter().map(|request| (request.thinking, request.effort)).collect()
}

#[tokio::test]
async fn a_word_counts_for_the_run_of_its_prompt() {
    let mut info = ModelInfo::new(200_000, 64_000);
    (info.adaptive_thinking, info.prompt_cache, info.efforts) = (true, true, Effort::ALL.to_vec());
    let prompts = ["go", "ultrathink about it", "go on"].map(Prompt::text).to_vec();
    let (requests, broken) = asked(info.clone(), true, prompts.clone()).await;
    let (plain, max) = ((Thinking::Adaptive, None), (Thinking::Adaptive, Some(Effort::Max)));
    assert_eq!(settings(&requests), [plain, plain, max, max, plain, plain]);
    assert_eq!(broken, ["thinking", "thinking"], "on the way there and back");
    for pair in requests.windows(2) {
        assert_eq!((&pair[0].system, &pair[0].tools), (&pair[1].system, &pair[1].tools));
        assert!(pair[1].messages.starts_with(&pair[0].messages), "what was sent stays");
    }
    let (requests, broken) = asked(info.clone(), false, prompts.clone()).await;
    assert_eq!((settings(&requests), broken), (vec![plain; 6], Vec::new()), "off unless asked for");
    // A provider that caches no settings has no break to report.
    info.prompt_cache = false;
    let (requests, broken) = asked(info, true, prompts).await;
    assert_eq!((settings(&requests)[2], broken), (max, Vec::new()));
}

#[tokio::test]
async fn a_budget_leaves_room_for_the_answer() {
    let mut info = ModelInfo::new(200_000, 64_000);
    (info.thinking_budget, info.default_output_tokens) = (true, 8_000);
    let prompts = vec![Prompt::text("think hard"), Prompt::text("ultrathink"), Prompt::text("go")];
    let (requests, _) = asked(info.clone(), true, prompts).await;
    let budgets: Vec<_> = requests.iter().map(|request| (request.thinking, request.max_output_tokens)).collect();
    let hard = (Thinking::Budget(10_000), 18_000);
    let ultra = (Thinking::Budget(31_999), 39_999);
    let none = (Thinking::Off, 8_000);
    assert_eq!(budgets, [hard, hard, ultra, ultra, none, none]);
    // The model's limit holds.
    info.max_output_tokens = 4_000;
    let (requests, _) = asked(info, true, vec![Prompt::text("ultrathink")]).await;
    assert_eq!((requests[0].thinking, requests[0].max_output_tokens), (Thinking::Budget(3_999), 4_000));
}

#[tokio::test]
async fn words_that_are_not_of_the_user_do_not_count() {
    let mut info = ModelInfo::new(200_000, 64_000);
    (info.adaptive_thinking, info.efforts) = (true, Effort::ALL.to_vec());
    // The file that the tool reads and the model's own words have it too.
    let prompts = vec![Prompt::text("Read `ultrathink`"), Prompt::text("ultrathink").ignoring_keywords()];
    let (requests, _) = asked(info, true, prompts).await;
    assert_eq!(settings(&requests), vec![(Thinking::Adaptive, None); 4]);
}
