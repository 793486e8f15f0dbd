//! A hook that keeps the agent away from secrets, and one that adds context.

use async_trait::async_trait;
use serde_json::json;
use windlass::{
    Hook, HookContext, HookError, HookEventName, Interest, PreToolUse, PreToolUseAction, PromptAction, Script,
    ScriptedModel, UserPromptSubmit, coding_tools, query,
};

struct NoSecrets;

#[async_trait]
impl Hook for NoSecrets {
    fn name(&self) -> &str {
        "no-secrets"
    }

    fn interests(&self) -> Vec<Interest> {
        vec![Interest::tools(HookEventName::PreToolUse, ["Read", "Grep"])]
    }

    async fn pre_tool_use(&self, _: &HookContext, event: &PreToolUse) -> Result<PreToolUseAction, HookError> {
        if event.tool_input.as_str().contains(".env") {
            return Ok(PreToolUseAction::deny("Environment files hold secrets; ask the user for what you need."));
        }
        Ok(PreToolUseAction::Continue)
    }
}

struct Today;

#[async_trait]
impl Hook for Today {
    fn name(&self) -> &str {
        "today"
    }

    fn interests(&self) -> Vec<Interest> {
        vec![Interest::all(HookEventName::UserPromptSubmit)]
    }

    async fn user_prompt_submit(&self, _: &HookContext, _: &UserPromptSubmit) -> Result<PromptAction, HookError> {
        Ok(PromptAction::AddContext("The release is frozen until Monday.".to_owned()))
    }
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
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
        .hook(NoSecrets)
        .hook(Today)
        .await?;
    println!("{}", result.text);
    let sent = format!("{:?}", requests.requests());
    anyhow::ensure!(sent.contains("frozen until Monday"), "the context did not reach the model");
    anyhow::ensure!(!sent.contains("TOKEN=secret"), "the secret reached the model");
    Ok(())
}
