//! Services of the program for a terminal.

use super::reply::{CommandCall, CommandReply};
use crate::completion::CompletionCandidate;
use crate::history::HistoryEntry;
use async_trait::async_trait;
use serde_json::Value;
use std::io;
use windlass_conversation::SlashCommand;

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

    /// Version of the program, for the command of the status line. Default: empty.
    fn version(&self) -> &str {
        ""
    }

    /// Commands of the program beside those of the terminal and of the session. Default: none.
    fn commands(&self) -> Vec<SlashCommand> {
        Vec::new()
    }

    /// Carries out one of [`commands`](Self::commands). The person goes on meanwhile.
    async fn command(&self, call: CommandCall) -> CommandReply {
        CommandReply::Text(format!("/{} is not there.", call.name))
    }

    /// Runs a command of the program that asks the person, and returns a text about its end. The terminal belongs to the
    /// command until this returns. Blocks, as nothing else may use the terminal meanwhile.
    ///
    /// # Errors
    /// The command cannot be started. Default: always.
    fn attend(&self, _arguments: &[String]) -> io::Result<String> {
        Err(io::Error::other("this program has no commands of its own"))
    }

    /// `true` if a command of the person writes the row below the prompt. Default: `false`.
    fn has_status_command(&self) -> bool {
        false
    }

    /// First line of the output of that command, which reads the facts as JSON; `None` if it failed.
    async fn status_row(&self, _facts: &Value) -> Option<String> {
        None
    }

    /// Path of a file with the image of the clipboard. Default: an error.
    ///
    /// # Errors
    /// The reason why there is none, in a sentence.
    async fn clipboard_image(&self) -> Result<String, String> {
        Err("No image can be read from the clipboard here: give its path behind @.".to_owned())
    }

    /// Keeps a text in a file, or in a new one without a name, and returns its path. Default: an error.
    ///
    /// # Errors
    /// The file exists, or cannot be written.
    fn save(&self, _name: Option<&str>, _text: &str) -> io::Result<String> {
        Err(io::Error::other("this program keeps no files"))
    }

    /// Opens a page in the browser. Default: nothing happens.
    fn open_page(&self, _address: &str) {}
}

/// Outcome of a service that takes time.
#[derive(Debug)]
pub(super) enum Outcome {
    Mentions(u64, Vec<CompletionCandidate>),
    Command(String, CommandOutput),
    Sessions(Vec<SessionChoice>),
    Reply(Box<CommandReply>),
    StatusRow(Option<String>),
    Image(Result<String, String>),
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
