//! Token cost of the texts that begin each request.

use windlass::{Script, ScriptedModel, coding_tools, query};
use windlass_context::estimate_request;

/// Most tokens of the preset with all tools of it, by our estimate, which counts too many rather than too few.
const MOST: u64 = 10_000;

async fn tokens_and_text() -> (u64, String) {
    let folder = tempfile::tempdir().unwrap();
    let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("ok")));
    let ran = query("go").provider(model.clone()).tools(coding_tools(folder.path()));
    assert!(ran.await.unwrap().outcome.is_success());
    let request = model.requests().remove(0);
    let tools: Vec<String> = request.tools.iter().map(|tool| format!("{tool:?}")).collect();
    assert!(tools.len() >= 10 && !request.system.is_empty(), "{tools:?}");
    (estimate_request(&request), tools.join("\n"))
}

#[tokio::test]
async fn the_preset_with_all_tools_is_small_and_the_same_each_time() {
    let (tokens, tools) = tokens_and_text().await;
    println!("the preset with all tools: {tokens} tokens");
    assert!((1_000..=MOST).contains(&tokens), "{tokens}");
    assert_eq!(tokens_and_text().await.1, tools);
}
