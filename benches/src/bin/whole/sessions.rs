//! Memory of ten thousand waiting sessions in one process.

use std::process::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use async_trait::async_trait;
use windlass::{Home, ModelError, ModelProvider, coding_tools, session};
use windlass_types::{ModelInfo, ModelRequest};

use crate::peer::runtime;
use crate::report::Report;

const SESSIONS: usize = 10_000;

/// A model that never answers.
#[derive(Debug, Clone, Default)]
struct Silent(Arc<AtomicUsize>);

#[async_trait]
impl ModelProvider for Silent {
    fn name(&self) -> &str {
        "silent"
    }

    fn resolve_model(&self, name: &str) -> String {
        name.to_owned()
    }

    fn model_info(&self, _: &str) -> ModelInfo {
        ModelInfo::new(200_000, 32_000)
    }

    async fn stream(&self, _: Arc<ModelRequest>) -> Result<windlass_model::ModelStream, ModelError> {
        self.0.fetch_add(1, Ordering::Relaxed);
        std::future::pending().await
    }

    async fn count_tokens(&self, _: Arc<ModelRequest>) -> Result<u64, ModelError> {
        Ok(0)
    }
}

/// Returns the resident bytes of this process.
pub fn resident() -> Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no VmRSS")?;
    Ok(line.trim().trim_end_matches(" kB").parse::<u64>()? * 1024)
}

/// Opens sessions, lets them wait and prints the bytes per session.
pub fn hold(count: usize, state: &str) -> Result<()> {
    let work = tempfile::tempdir()?;
    let home = tempfile::tempdir()?;
    let provider = Silent::default();
    runtime()?.block_on(async {
        let mut open = Vec::with_capacity(count);
        // The first session also pays for one-time setup.
        let mut before = 0;
        for at in 0..=count {
            let mut builder = session().provider(provider.clone()).tools(coding_tools(work.path()));
            if state.ends_with("stored") {
                builder = builder.persist(Home::new(home.path()));
            }
            let opened = builder.open().await?;
            if !state.starts_with("idle") {
                opened.handle.prompt(windlass_runtime::Prompt::text("hello"))?;
                while provider.0.load(Ordering::Relaxed) <= at {
                    tokio::task::yield_now().await;
                }
            }
            open.push(opened);
            if at == 0 {
                before = resident()?;
            }
        }
        println!("{}", (resident()? - before) / count as u64);
        // The end of the sessions is not measured.
        std::process::exit(0)
    })
}

pub fn measure(report: &mut Report) -> Result<()> {
    for (state, name) in [
        ("idle", "memory per idle session"),
        ("model", "memory per session that waits for the model"),
        ("model-stored", "memory per session that waits for the model, with a log"),
    ] {
        let output =
            Command::new(std::env::current_exe()?).args(["sessions", &SESSIONS.to_string(), state]).output()?;
        ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let bytes: f64 = String::from_utf8_lossy(&output.stdout).trim().parse()?;
        report.row(name, "kB", "100 kB", None, bytes / 1000.0);
    }
    Ok(())
}
