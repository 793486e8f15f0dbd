//! Services of the program for a terminal.

use crate::completion::CompletionCandidate;
use crate::history::HistoryEntry;
use async_trait::async_trait;
use std::io;

/// Output of a command that the person ran with `!`.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "programs make it")]
pub struct CommandOutput {
    /// Standard output and standard error in their order, of at most as many bytes as the program keeps.
    pub text: String,
    /// Exit code; `None` if the command was ended by a signal or could not be started.
    pub code: Option<i32>,
}

/// A session that can be resumed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "programs make it")]
pub struct SessionChoice {
    /// Id of the session.
    pub id: String,
    /// Title or first prompt.
    pub title: String,
    /// Further facts, such as its age.
    pub detail: String,
}

/// Services of the program for a terminal: files, commands, the history on disk.
///
/// ```
/// use std::io;
/// use windlass_terminal::app::{CommandOutput, SessionChoice, TerminalServices};
/// use windlass_terminal::completion::CompletionCandidate;
/// use windlass_terminal::history::HistoryEntry;
///
/// /// Neither files nor commands, and nothing is kept.
/// #[derive(Debug)]
/// struct Alone;
///
/// #[async_trait::async_trait]
/// impl TerminalServices for Alone {
///     async fn mentions(&self, _: &str) -> Vec<CompletionCandidate> {
///         Vec::new()
///     }
///
///     async fn run_command(&self, _: &str) -> CommandOutput {
///         CommandOutput { text: "Commands are switched off.".to_owned(), code: None }
///     }
///
///     fn edit(&self, _: &str) -> io::Result<String> {
///         Err(io::Error::other("no editor is configured"))
///     }
///
///     fn history(&self) -> Vec<HistoryEntry> {
///         Vec::new()
///     }
///
///     fn record(&self, _: &HistoryEntry) {}
///
///     async fn sessions(&self) -> Vec<SessionChoice> {
///         Vec::new()
///     }
///
///     fn status(&self) -> String {
///         "A terminal alone.".to_owned()
///     }
/// }
/// ```
#[async_trait]
pub trait TerminalServices: std::fmt::Debug + Send + Sync + 'static {
    /// Candidates behind an at sign, best first: files of the project, resources, agents.
    async fn mentions(&self, query: &str) -> Vec<CompletionCandidate>;

    /// Runs a command in the shell as the person's own.
    async fn run_command(&self, command: &str) -> CommandOutput;

    /// Opens an external editor with a text, and returns the text that it saved. The terminal belongs to the editor until
    /// this returns. Blocks, as nothing else may use the terminal meanwhile.
    ///
    /// # Errors
    /// No editor can be started, or the text cannot be read.
    fn edit(&self, text: &str) -> io::Result<String>;

    /// Earlier prompts, oldest first.
    fn history(&self) -> Vec<HistoryEntry>;

    /// Keeps a prompt.
    fn record(&self, entry: &HistoryEntry);

    /// Sessions that can be resumed, the newest first. A chosen one ends the conversation with
    /// [`TerminalEnd::Resume`](super::TerminalEnd::Resume).
    async fn sessions(&self) -> Vec<SessionChoice>;

    /// Text about the program for `/status`, such as its version, model, directory and session.
    fn status(&self) -> String;
}

/// Outcome of a service that takes time.
#[derive(Debug)]
pub(super) enum Outcome {
    Mentions(u64, Vec<CompletionCandidate>),
    Command(String, CommandOutput),
    Sessions(Vec<SessionChoice>),
    /// The service was stopped.
    Stopped,
    /// The service panicked.
    Failed,
}

impl Outcome {
    #[expect(clippy::needless_pass_by_value, reason = "a function for `unwrap_or_else`")]
    pub(super) fn of_error(error: tokio::task::JoinError) -> Self {
        if error.is_cancelled() { Self::Stopped } else { Self::Failed }
    }
}
