//! A run over a real socket, and what a host sees of it.

use std::path::{Path, PathBuf};
use windlass::{Anthropic, Delta, Event, EventKind, Query, RunResult};

/// A provider that talks to this server.
pub(crate) fn provider(url: &str) -> Anthropic {
    Anthropic::builder().api_key("sk-test-key").base_url(url).build().unwrap()
}

/// A folder in memory where there is one: for tests that sync thousands of times and do not test that.
pub(crate) fn fast_folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// A run as seen by a host.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    pub(crate) events: Vec<Event>,
    /// The text of each message that stands, as it was streamed.
    pub(crate) texts: Vec<String>,
    pub(crate) withdrawn: usize,
}

impl Seen {
    pub(crate) fn result(&self) -> &RunResult {
        let last = self.events.last().map(|event| &event.kind);
        let Some(EventKind::RunFinished(result)) = last else { panic!("the last event is {last:?}") };
        result
    }

    /// The results of the calls, in order of completion: whether it failed, and its text.
    pub(crate) fn tool_results(&self) -> Vec<(bool, String)> {
        let finished = self.events.iter().filter_map(|event| match &event.kind {
            EventKind::ToolFinished(finished) => Some(finished),
            _ => None,
        });
        finished.map(|finished| (finished.result.is_error, finished.result.content.text())).collect()
    }
}

/// Runs a query to its end, showing text as a host does: what is withdrawn does not count.
pub(crate) async fn watch(query: Query) -> Seen {
    let mut run = query.stream();
    let mut seen = Seen::default();
    let mut shown = String::new();
    while let Some(event) = run.try_next().await.expect("a run that began has a result") {
        match &event.kind {
            EventKind::BlockDelta { delta: Delta::Text(text), .. } => shown.push_str(text),
            EventKind::MessageFinished { .. } => seen.texts.push(std::mem::take(&mut shown)),
            EventKind::MessageWithdrawn { .. } => {
                shown.clear();
                seen.withdrawn += 1;
            }
            _ => {}
        }
        seen.events.push(*event);
    }
    assert_eq!(shown, "", "text was shown that neither stands nor was withdrawn");
    assert!(seen.events.iter().map(|event| event.seq).eq(0..seen.events.len() as u64), "events are numbered");
    seen
}

/// The only session log below a home directory.
pub(crate) fn log_of(home: &Path) -> PathBuf {
    let mut logs = Vec::new();
    for project in std::fs::read_dir(home.join("projects")).unwrap() {
        for file in std::fs::read_dir(project.unwrap().path()).unwrap() {
            let path = file.unwrap().path();
            if path.extension().is_some_and(|extension| extension == "jsonl") {
                logs.push(path);
            }
        }
    }
    assert_eq!(logs.len(), 1, "{logs:?}");
    logs.remove(0)
}

/// The messages of a log as a request would carry them, after it was found valid.
pub(crate) fn stored_messages(home: &Path) -> Vec<serde_json::Value> {
    let log = log_of(home);
    let report = windlass_store::check_file(&log).unwrap();
    assert!(report.valid && report.skipped.is_empty() && report.synthetic_results == 0, "{report:?}");
    serde_json::from_str(&windlass_store::export_file(&log).unwrap()).unwrap()
}

/// The texts of the assistant messages of a log.
pub(crate) fn stored_texts(home: &Path) -> Vec<String> {
    let text_of = |message: serde_json::Value| match message.get("content")? {
        serde_json::Value::Array(blocks) => {
            let texts = blocks.iter().filter(|block| block["type"] == "text");
            Some(texts.filter_map(|block| block["text"].as_str()).collect::<String>())
        }
        content => content.as_str().map(str::to_owned),
    };
    stored_messages(home).into_iter().filter(|message| message["role"] == "assistant").filter_map(text_of).collect()
}

/// Gives a prompt to an open session and waits for the end of its run, which must be a success.
#[cfg(any(feature = "mcp", all(feature = "gemini", feature = "openai")))]
pub(crate) async fn turn(session: &mut windlass::Session, text: &str) {
    session.handle.prompt(windlass_runtime::Prompt::text(text)).unwrap();
    finished(session, text).await;
}

/// Waits for the end of a run, which must be a success.
#[cfg(any(feature = "mcp", all(feature = "gemini", feature = "openai")))]
pub(crate) async fn finished(session: &mut windlass::Session, text: &str) {
    while let Some(event) = session.events.try_next().await.unwrap() {
        if let EventKind::RunFinished(result) = event.kind {
            assert!(result.outcome.is_success(), "{text}: {result:?}");
            return;
        }
    }
    panic!("no result");
}
