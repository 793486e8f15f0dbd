//! Services of the command for a terminal.

use super::clipboard;
use super::commands::{self, CommandContext};
use super::history::HistoryFile;
use super::mentions::MentionSource;
use super::shell;
use super::status_line::StatusLineCommand;
use crate::mcp::login::open_in_browser;
use crate::opening::Opening;
use serde_json::Value;
use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};
use tempfile::TempPath;
use windlass::Home;
use windlass::conversation::SlashCommand;
use windlass_terminal::app::{CommandCall, CommandOutput, CommandReply, SessionChoice, TerminalServices};
use windlass_terminal::completion::CompletionCandidate;
use windlass_terminal::history::HistoryEntry;

/// Maximum number of sessions in the list to resume from.
const MOST_SESSIONS: usize = 100;
/// Maximum size of a text that an editor may save, in bytes.
const LONGEST_TEXT: u64 = 4 * 1024 * 1024;

/// Services of the command: files of the project, the user's shell and editor, the history of a home.
pub(super) struct Services {
    cwd: PathBuf,
    mentions: MentionSource,
    /// `None` where sessions are not kept.
    history: Option<HistoryFile>,
    model: String,
    commands: CommandContext,
    status: Option<StatusLineCommand>,
    /// Images of the clipboard, which are removed at the end.
    images: Mutex<Vec<TempPath>>,
}

impl fmt::Debug for Services {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Services").field("cwd", &self.cwd).finish_non_exhaustive()
    }
}

impl Services {
    pub(super) fn new(opening: &Opening, cwd: &Path, model: String, status: Option<StatusLineCommand>) -> Self {
        let home = if opening.keeps_sessions() { Home::from_env().ok() } else { None };
        Self {
            cwd: cwd.to_path_buf(),
            mentions: MentionSource::of(opening.project().clone(), opening.servers().cloned(), cwd),
            history: home.map(|home| HistoryFile::of(home.root())),
            model,
            commands: CommandContext {
                args: opening.args().clone(),
                project: opening.project().clone(),
                servers: opening.servers().cloned(),
                cwd: cwd.to_path_buf(),
            },
            status,
            images: Mutex::default(),
        }
    }
}

#[async_trait::async_trait]
impl TerminalServices for Services {
    async fn mentions(&self, query: &str) -> Vec<CompletionCandidate> {
        let (source, query) = (self.mentions.clone(), query.to_owned());
        let mut found = tokio::task::spawn_blocking(move || source.find(&query)).await.unwrap_or_default();
        found.extend(self.mentions.others().await);
        found
    }

    async fn run_command(&self, command: &str) -> CommandOutput {
        shell::run(command, &self.cwd).await
    }

    fn edit(&self, text: &str) -> io::Result<String> {
        let mut file = tempfile::Builder::new().prefix("prompt-").suffix(".md").tempfile()?;
        file.write_all(text.as_bytes())?;
        file.flush()?;
        let named = |name: &str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let editor = named("VISUAL").or_else(|| named("EDITOR")).unwrap_or_else(|| "vi".to_owned());
        // The variable may hold arguments, such as `code --wait`.
        let status =
            Command::new("/bin/sh").arg("-c").arg(format!("{editor} \"$1\"")).arg("sh").arg(file.path()).status()?;
        if !status.success() {
            return Err(io::Error::other(format!("{editor} ended with {status}")));
        }
        let mut edited = String::new();
        std::fs::File::open(file.path())?.take(LONGEST_TEXT).read_to_string(&mut edited)?;
        Ok(edited.strip_suffix('\n').map(str::to_owned).unwrap_or(edited))
    }

    fn history(&self) -> Vec<HistoryEntry> {
        self.history.as_ref().map(HistoryFile::read).unwrap_or_default()
    }

    fn record(&self, entry: &HistoryEntry) {
        if let Some(history) = &self.history {
            // If that fails, the prompt is still in the history of this process.
            let _ = history.append(entry);
        }
    }

    async fn sessions(&self) -> Vec<SessionChoice> {
        let Some(home) = self.history.as_ref().and_then(|_| Home::from_env().ok()) else { return Vec::new() };
        let page = home.list().in_directory(&self.cwd).limit(MOST_SESSIONS).page().await;
        let sessions = page.map(|page| page.sessions).unwrap_or_default();
        sessions
            .into_iter()
            .map(|session| SessionChoice {
                id: session.id.to_string(),
                title: session.summary.summary.clone(),
                detail: crate::sessions::age(session.summary.last_modified),
            })
            .collect()
    }

    fn status(&self) -> String {
        format!("windlass {}\ndirectory: {}\nmodel: {}", self.version(), self.cwd.display(), self.model)
    }

    fn version(&self) -> &str {
        env!("CARGO_PKG_VERSION")
    }

    fn commands(&self) -> Vec<SlashCommand> {
        commands::listed()
    }

    async fn command(&self, call: CommandCall) -> CommandReply {
        commands::run(&self.commands, &call).await
    }

    fn attend(&self, arguments: &[String]) -> io::Result<String> {
        let status = Command::new(std::env::current_exe()?).args(arguments).current_dir(&self.cwd).status()?;
        let name = arguments.join(" ");
        Ok(match status.code() {
            Some(0) => format!("windlass {name} is done."),
            Some(code) => format!("windlass {name} did not succeed (exit code {code})."),
            None => format!("windlass {name} was stopped."),
        })
    }

    fn has_status_command(&self) -> bool {
        self.status.is_some()
    }

    async fn status_row(&self, facts: &Value) -> Option<String> {
        self.status.as_ref()?.row(facts, &self.cwd).await
    }

    async fn clipboard_image(&self) -> Result<String, String> {
        let image = clipboard::image().await?;
        let path = image.to_string_lossy().into_owned();
        self.images.lock().unwrap_or_else(PoisonError::into_inner).push(image);
        Ok(path)
    }

    fn save(&self, name: Option<&str>, text: &str) -> io::Result<String> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        let name = name.map_or_else(|| format!("conversation-{now}.txt"), str::to_owned);
        let path = self.cwd.join(name);
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&path)?.write_all(text.as_bytes())?;
        Ok(path.to_string_lossy().into_owned())
    }

    fn open_page(&self, address: &str) {
        open_in_browser(address);
    }
}
