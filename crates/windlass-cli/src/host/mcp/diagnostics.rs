//! Diagnostics of `--diagnostics-tool mcp__server__tool`.

use super::asked::AskedTool;
use crate::notes::note_to_stderr;
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::json;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use windlass::JsonText;
use windlass::mcp::McpServers;
use windlass::session::{Diagnostic, Diagnostics, Severity};
use windlass::text::clause;

/// Maximum number of diagnostics of one answer.
const MAX_DIAGNOSTICS: usize = 10_000;

/// A tool of an MCP server that reports diagnostics of compilers and linters for files, before and after a call changes
/// them. Without an answer the model reads nothing.
#[derive(Debug)]
pub(crate) struct DiagnosticsTool {
    tool: AskedTool,
    /// `true` once the host was notified that the tool gives no answer.
    complained: AtomicBool,
}

impl DiagnosticsTool {
    /// The tool of this whole name.
    pub(crate) fn new(servers: McpServers, tool: &str) -> Self {
        Self { tool: AskedTool::new(servers, tool), complained: AtomicBool::new(false) }
    }

    async fn ask(&self, paths: &[PathBuf]) -> Result<Vec<Diagnostic>, String> {
        let paths: Vec<_> = paths.iter().map(|path| path.to_string_lossy()).collect();
        read(&self.tool.ask(&json!({ "paths": paths })).await?)
    }
}

#[async_trait]
impl Diagnostics for DiagnosticsTool {
    async fn of_files(&self, paths: &[PathBuf]) -> Option<Vec<Diagnostic>> {
        let asked = self.ask(paths).await;
        if let Err(problem) = &asked
            && !self.complained.swap(true, Ordering::Relaxed)
        {
            let problem = clause(problem);
            note_to_stderr(&format!("--diagnostics-tool {} gave no answer: {problem}", self.tool.name));
        }
        asked.ok()
    }
}

#[derive(Deserialize)]
struct DiagnosticsReply {
    diagnostics: Vec<ReportedDiagnostic>,
}

#[derive(Deserialize)]
struct ReportedDiagnostic {
    path: PathBuf,
    line: u32,
    #[serde(default)]
    severity: Word,
    message: String,
    source: Option<String>,
}

/// Severity names of language servers.
#[derive(Deserialize, Default)]
#[serde(rename_all = "lowercase")]
enum Word {
    #[default]
    Error,
    Warning,
    Information,
    Hint,
}

fn read(answer: &JsonText) -> Result<Vec<Diagnostic>, String> {
    let answer: DiagnosticsReply = answer.to().map_err(|error| error.to_string())?;
    let read = |said: ReportedDiagnostic| {
        let severity = match said.severity {
            Word::Error => Severity::Error,
            Word::Warning => Severity::Warning,
            Word::Information | Word::Hint => Severity::Hint,
        };
        let mut diagnostic = Diagnostic::error(said.path, said.line, said.message).with_severity(severity);
        diagnostic.source = said.source;
        diagnostic
    };
    Ok(answer.diagnostics.into_iter().take(MAX_DIAGNOSTICS).map(read).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(text: &str) -> Result<Vec<Diagnostic>, String> {
        read(&JsonText::parse(text).unwrap())
    }

    #[test]
    fn answers_are_read_strictly() {
        assert_eq!(answer(r#"{"diagnostics":[]}"#), Ok(Vec::new()));
        let text = r#"{"diagnostics":[{"path":"/w/a.rs","line":4,"message":"no"},
            {"path":"/w/a.rs","line":1,"severity":"information","message":"long","source":"clippy","code":7}]}"#;
        let hint = Diagnostic::error("/w/a.rs", 1, "long").with_severity(Severity::Hint).with_source("clippy");
        assert_eq!(answer(text), Ok(vec![Diagnostic::error("/w/a.rs", 4, "no"), hint]));
        for bad in [
            "{}",
            "[]",
            r#"{"diagnostics":[{"path":"/w/a.rs","message":"no"}]}"#,
            r#"{"diagnostics":[{"path":"/w/a.rs","line":-1,"message":"no"}]}"#,
            r#"{"diagnostics":[{"path":"/w/a.rs","line":1,"severity":"fatal","message":"no"}]}"#,
        ] {
            assert!(answer(bad).is_err(), "{bad}");
        }
    }
}
