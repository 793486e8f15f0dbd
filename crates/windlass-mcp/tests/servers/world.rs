//! Helpers that the tests share.

use std::sync::Arc;
use std::time::Duration;
use windlass_mcp::{McpOptions, McpServerConfig, McpServerState, McpServerStatus, McpServers};
use windlass_tool::{DynTool, ToolOutput};
use windlass_types::{JsonText, ToolResultContent};

/// Longer than any working operation takes.
pub(crate) const LONG: Duration = Duration::from_secs(120);

/// Returns a server of `child.rs` with this behaviour.
pub(crate) fn program(behaviour: &str) -> McpServerConfig {
    McpServerConfig::stdio(std::env::current_exe().unwrap().to_str().unwrap())
        .arg("--ignored")
        .arg("--exact")
        .arg("--nocapture")
        .arg("child::server")
        .env("BEHAVIOUR", behaviour)
}

pub(crate) fn options() -> McpOptions {
    McpOptions::new().with_connect_timeout(Duration::from_secs(20))
}

/// Returns a set of one server of `child.rs`, settled.
pub(crate) async fn one(behaviour: &str) -> McpServers {
    one_with(behaviour, options()).await
}

pub(crate) async fn one_with(behaviour: &str, options: McpOptions) -> McpServers {
    let servers = McpServers::new(options);
    servers.add("s", program(behaviour)).unwrap();
    servers.settled(LONG).await;
    servers
}

pub(crate) fn status(servers: &McpServers) -> McpServerStatus {
    servers.status().remove(0)
}

/// Waits until the only server of a set is in a state.
pub(crate) async fn until(servers: &McpServers, state: McpServerState) -> McpServerStatus {
    let mut changes = servers.changes();
    let reached = async {
        loop {
            let status = status(servers);
            if status.state == state {
                return status;
            }
            assert!(changes.changed().await);
        }
    };
    tokio::time::timeout(LONG, reached).await.unwrap()
}

pub(crate) fn names(tools: &[Arc<dyn DynTool>]) -> Vec<String> {
    tools.iter().map(|tool| tool.spec().name).collect()
}

pub(crate) fn json(text: &str) -> JsonText {
    JsonText::parse(text).unwrap()
}

pub(crate) fn text(output: &ToolOutput) -> &str {
    match &output.content {
        ToolResultContent::Text(text) => text,
        ToolResultContent::Blocks(_) => "<blocks>",
    }
}

/// Counts the living processes that have a mark in their environment.
#[cfg(target_os = "linux")]
pub(crate) fn marked(mark: &str) -> usize {
    let needle = format!("MARK={mark}");
    let numbers = windlass_testkit::strace::again(|| std::fs::read_dir("/proc")?.collect::<std::io::Result<Vec<_>>>());
    let numbers = numbers.iter().filter_map(|entry| entry.file_name().into_string().ok());
    let has_mark = |pid: &String| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|entry| entry == needle.as_bytes())
    };
    numbers.filter(|pid| pid.parse::<u32>().is_ok()).filter(has_mark).count()
}

/// Waits until none of the marked processes lives. They are not children of this process, which is not notified of
/// their end.
#[cfg(target_os = "linux")]
pub(crate) async fn until_gone(mark: &str) {
    let begun = std::time::Instant::now();
    while marked(mark) > 0 {
        assert!(begun.elapsed() < Duration::from_secs(60), "{} processes are left", marked(mark));
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
