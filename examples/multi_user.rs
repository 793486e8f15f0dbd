//! A server for many users. Each user has a directory, a home, rules and a budget of their own; the agent that they
//! share is one value.

use serde_json::json;
use std::path::{Path, PathBuf};
use windlass::options::{ContextOptions, WorkspaceOptions};
use windlass::provider::{ModelInfo, Price};
use windlass::session::Resume;
use windlass::{Agent, Home, PermissionMode, Permissions, RunResult, ScriptedModel, ScriptedTurn, agent, coding_tools};

struct User {
    name: &'static str,
    folder: PathBuf,
    /// Budget of this user, in dollars.
    budget: f64,
    may_write: bool,
}

impl User {
    fn new(name: &'static str, root: &Path, budget: f64, may_write: bool) -> std::io::Result<Self> {
        let folder = root.join(name);
        std::fs::create_dir_all(folder.join("work"))?;
        std::fs::write(folder.join("work/notes.txt"), format!("the secret of {name}\n"))?;
        Ok(Self { name, folder, budget, may_write })
    }

    /// Returns the shared agent with this user's own settings. Settings of the copy apply to the copy alone.
    fn agent(&self, shared: &Agent) -> Agent {
        let mode = if self.may_write { PermissionMode::AcceptEdits } else { PermissionMode::Default };
        shared
            .clone()
            .tools(coding_tools(self.folder.join("work")))
            .persist(Home::new(self.folder.join("home")))
            .workspace(WorkspaceOptions::new().user_home(&self.folder).env([("PATH", "/usr/bin:/bin")]))
            .permissions(Permissions::new().mode(mode))
            .max_budget_usd(self.budget)
            .context(ContextOptions::new().append_system_prompt(format!("The user is called {}.", self.name)))
    }

    async fn ask(&self, shared: &Agent, prompt: &str) -> Result<RunResult, windlass::Error> {
        self.agent(shared).resume(Resume::latest_or_new()).query(prompt).await
    }
}

/// A model that obeys the prompt: `read PATH`, `write PATH`, or plain talk.
fn model() -> ScriptedModel {
    let mut info = ModelInfo::new(200_000, 1_000);
    info.price = Some(Price::new(1_000, 5_000));
    let model = ScriptedModel::from_fn(|request, _| {
        let last = request.messages.last();
        let results = last.map(|message| message.content.iter().filter_map(|block| block.as_tool_result()));
        if let Some(result) = results.and_then(|mut results| results.next()) {
            return ScriptedTurn::new().text(result.content.text());
        }
        // The harness adds text after the prompt, such as the working directory.
        let prompt = last.and_then(|message| message.content.first()).and_then(|block| block.as_text());
        match prompt.unwrap_or_default().split_once(' ') {
            Some(("read", path)) => ScriptedTurn::new().tool_use("Read", json!({"file_path": path})),
            Some(("write", path)) => {
                ScriptedTurn::new().tool_use("Write", json!({"file_path": path, "content": "x\n"}))
            }
            _ => ScriptedTurn::new().text(format!("{} messages", request.messages.len())),
        }
    });
    model.with_info(info)
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let root = tempfile::tempdir()?;
    let shared = agent().provider(model()).max_turns(10).context(ContextOptions::new().git_status(false));
    let ada = User::new("ada", root.path(), 1.0, true)?;
    let ben = User::new("ben", root.path(), 1.0, false)?;
    let cleo = User::new("cleo", root.path(), 0.001, true)?;

    // Users read their own files at the same time, and nobody else's.
    let foreign = format!("read {}", ada.folder.join("work/notes.txt").display());
    let (own, other) = tokio::try_join!(ada.ask(&shared, "read notes.txt"), ben.ask(&shared, &foreign))?;
    println!("ada reads {:?}, ben is told {:?}", own.text, other.text);
    anyhow::ensure!(own.text.contains("the secret of ada"));
    anyhow::ensure!(!other.text.contains("the secret of ada") && other.permission_denials.len() == 1);

    // Rights differ.
    let (ada_wrote, ben_wrote) =
        tokio::try_join!(ada.ask(&shared, "write new.txt"), ben.ask(&shared, "write new.txt"))?;
    anyhow::ensure!(ada_wrote.permission_denials.is_empty() && ada.folder.join("work/new.txt").exists());
    anyhow::ensure!(ben_wrote.permission_denials.len() == 1 && !ben.folder.join("work/new.txt").exists());

    // Each conversation continues on its own. A small budget ends in a result that says so.
    let more = ada.ask(&shared, "hello").await?;
    anyhow::ensure!(more.session_id == own.session_id && more.session_id != other.session_id);
    let poor = cleo.ask(&shared, "hello").await?;
    println!("cleo: {} (exit code {})", poor.outcome, poor.outcome.exit_code());
    anyhow::ensure!(poor.outcome.exit_code() == 4, "{:?}", poor.outcome);
    Ok(())
}
