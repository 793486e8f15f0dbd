//! The command that writes the row below the prompt.

use serde::Deserialize;
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;
use windlass::JsonText;

/// Longest run of the command.
const PATIENCE: Duration = Duration::from_secs(5);
/// Maximum number of bytes of the row.
const MOST: u64 = 16 * 1024;

/// A command of the user's settings that reads facts as JSON and writes a row.
#[derive(Debug, Clone)]
pub(super) struct StatusLineCommand {
    command: String,
    padding: usize,
}

impl StatusLineCommand {
    /// Reads the setting.
    ///
    /// # Errors
    /// The setting has no command.
    pub(super) fn read(setting: &JsonText) -> Result<Self, String> {
        #[derive(Deserialize)]
        struct StatusLineSettings {
            #[serde(default)]
            r#type: Option<String>,
            command: String,
            #[serde(default)]
            padding: usize,
        }
        let form = "write {\"type\": \"command\", \"command\": \"…\"}";
        let said: StatusLineSettings = setting.to().map_err(|_| format!("it names no command: {form}"))?;
        match said.r#type.as_deref() {
            None | Some("command") => Ok(Self { command: said.command, padding: said.padding.min(40) }),
            Some(other) => Err(format!("there is no type {other:?}: {form}")),
        }
    }

    /// Runs the command. Returns the first line of its output, or `None` if it failed or took too long.
    pub(super) async fn row(&self, facts: &Value, cwd: &Path) -> Option<String> {
        let row = tokio::time::timeout(PATIENCE, self.output(facts, cwd)).await.ok()??;
        let line = row.lines().next().unwrap_or_default();
        Some(format!("{}{line}", " ".repeat(self.padding)))
    }

    async fn output(&self, facts: &Value, cwd: &Path) -> Option<String> {
        let mut child = Command::new("/bin/sh")
            .arg("-c")
            .arg(&self.command)
            .current_dir(cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .ok()?;
        let (mut stdin, stdout) = (child.stdin.take()?, child.stdout.take()?);
        let facts = facts.to_string();
        // A command need not read the facts.
        let write = async {
            let _ = stdin.write_all(facts.as_bytes()).await;
            drop(stdin);
        };
        let mut text = Vec::new();
        let mut bounded = stdout.take(MOST);
        let (_, read) = tokio::join!(write, bounded.read_to_end(&mut text));
        read.ok()?;
        drop(bounded);
        child.wait().await.ok().filter(std::process::ExitStatus::success)?;
        Some(String::from_utf8_lossy(&text).into_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn command(text: &str) -> StatusLineCommand {
        let setting = json!({ "type": "command", "command": text });
        StatusLineCommand::read(&JsonText::of(&setting).unwrap()).unwrap()
    }

    #[tokio::test]
    async fn the_first_line_is_the_row_and_a_failure_has_none() {
        let here = std::env::temp_dir();
        let facts = json!({ "model": { "display_name": "opus" } });
        let row = command("grep -o opus; echo second").row(&facts, &here).await;
        assert_eq!(row.as_deref(), Some("opus"));
        assert_eq!(command("exit 3").row(&facts, &here).await, None);
        assert_eq!(command("true").row(&facts, &here).await.as_deref(), Some(""), "facts need not be read");
    }

    #[test]
    fn a_setting_without_a_command_is_refused() {
        for setting in [json!({ "type": "static" }), json!({ "type": "text", "command": "x" })] {
            assert!(StatusLineCommand::read(&JsonText::of(&setting).unwrap()).is_err(), "{setting}");
        }
    }
}
