//! Settings, agents and the prompt of a session are read once, whatever happens to their files while it opens.

use crate::instructions::Place;
use async_trait::async_trait;
use serde_json::json;
use std::fmt;
use std::sync::Arc;
use windlass::provider::{ModelInfo, ModelRequest, ModelStream};
use windlass::{
    ContentBlock, ModelError, ModelProvider, Permissions, ScriptedModel, ScriptedTurn, coding_tools, query,
};

/// A model that changes files while a session opens.
struct Meddler {
    model: ScriptedModel,
    change: Box<dyn Fn() + Send + Sync>,
}

impl fmt::Debug for Meddler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meddler").finish_non_exhaustive()
    }
}

#[async_trait]
impl ModelProvider for Meddler {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn resolve_model(&self, name: &str) -> String {
        self.model.resolve_model(name)
    }

    fn model_info(&self, model: &str) -> ModelInfo {
        self.model.model_info(model)
    }

    async fn prepare(&self, _: &str) {
        (self.change)();
    }

    async fn count_tokens(&self, request: Arc<ModelRequest>) -> Result<u64, ModelError> {
        self.model.count_tokens(request).await
    }

    async fn stream(&self, request: Arc<ModelRequest>) -> Result<ModelStream, ModelError> {
        self.model.stream(request).await
    }
}

/// Runs a prompt in a project whose file changes while the session opens. Returns the texts of the last request.
async fn run(place: &Arc<Place>, prompt: &str, change: (&'static str, &'static str)) -> String {
    let model = ScriptedModel::from_fn(|_, at| match at {
        0 => ScriptedTurn::new().tool_use("Bash", json!({ "command": "true" })),
        _ => ScriptedTurn::new().text("ok"),
    });
    let changed = Arc::clone(place);
    let meddler = Meddler { model: model.clone(), change: Box::new(move || changed.write(change.0, change.1)) };
    let project = place.project().trust(true).agent("careful");
    let tools = coding_tools(place.path("work"));
    let permissions = Permissions::new().allow(["Bash"]);
    let query = query(prompt).provider(meddler).tools(tools).project(project).permissions(permissions);
    query.await.unwrap().success().unwrap();
    let requests = model.requests();
    let blocks = requests.last().unwrap().messages.iter().flat_map(|message| &message.content);
    let texts = blocks.map(|block| match block {
        ContentBlock::Text { text, .. } => text.clone(),
        ContentBlock::ToolResult(result) => result.content.text(),
        _ => String::new(),
    });
    texts.collect::<Vec<_>>().join("\n")
}

const CAREFUL: &str = "---\nname: careful\ndescription: Careful\nhooks:\n  PreToolUse:\n    - matcher: Bash\n      hooks:\n        - type: command\n          command: echo 'ask first' >&2; exit 2\n---\nBe careful.";

fn place() -> Arc<Place> {
    Arc::new(Place::new(&[
        ("home/.claude/commands/fix.md", "The first text."),
        ("home/.claude/agents/careful.md", CAREFUL),
    ]))
}

#[tokio::test]
async fn a_prompt_is_expanded_once() {
    let place = place();
    let read = run(&place, "/fix", ("home/.claude/commands/fix.md", "The second text.")).await;
    assert!(read.contains("The first text.") && !read.contains("The second text."), "{read}");
}

#[cfg(unix)]
#[tokio::test]
async fn the_agents_of_a_project_are_read_once() {
    let place = place();
    let without_hooks = "---\nname: careful\ndescription: Careful\n---\nBe careful.";
    let read = run(&place, "go", ("home/.claude/agents/careful.md", without_hooks)).await;
    assert!(read.contains("ask first"), "{read}");
}
