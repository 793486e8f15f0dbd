//! Two hooks: one made from closures, which keeps the agent away from secrets and adds context, and one impl, which
//! counts.

use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use windlass::{
    Hook, HookContext, HookError, PreToolUseAction, Script, ScriptedModel, async_trait, coding_tools,
    hook::{HookEventName, Interest, PreToolUse, PromptAction},
    hook_fn, query,
};

/// Hook that counts tool calls.
#[derive(Clone, Default)]
struct Counted(Arc<AtomicU32>);

#[async_trait]
impl Hook for Counted {
    fn name(&self) -> &str {
        "counted"
    }

    fn interests(&self) -> Vec<Interest> {
        vec![Interest::all(HookEventName::PreToolUse)]
    }

    async fn pre_tool_use(&self, _: &HookContext, _: &PreToolUse) -> Result<PreToolUseAction, HookError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(PreToolUseAction::Continue)
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let house_rules = hook_fn("house-rules")
        .before_tool(["Read|Grep", "mcp__files__*"], |event| async move {
            Ok(match event.tool_input.as_str().contains(".env") {
                true => PreToolUseAction::deny("Environment files hold secrets; ask the user for what you need."),
                false => PreToolUseAction::Continue,
            })
        })
        .on_prompt(|_| async { Ok(PromptAction::AddContext("The release is frozen until Monday.".to_owned())) });
    let counted = Counted::default();

    let folder = windlass_examples::workspace()?;
    std::fs::write(folder.path().join(".env"), "TOKEN=secret\n")?;
    let model = ScriptedModel::new(
        Script::new()
            .turn(|turn| turn.tool_use("Read", json!({"file_path": ".env"})))
            .turn(|turn| turn.text("I may not read that file.")),
    );
    let requests = model.clone();
    let result = query("What is in .env?")
        .provider(model)
        .tools(coding_tools(folder.path()))
        .hook(house_rules)
        .hook(counted.clone())
        .await?;
    println!("{}", result.text);
    let sent = format!("{:?}", requests.requests());
    anyhow::ensure!(sent.contains("frozen until Monday"), "the context did not reach the model");
    anyhow::ensure!(!sent.contains("TOKEN=secret"), "the secret reached the model");
    anyhow::ensure!(counted.0.load(Ordering::Relaxed) == 1, "the call was not counted");
    Ok(())
}
