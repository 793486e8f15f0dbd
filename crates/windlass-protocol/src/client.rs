//! Client side of the host protocol: a Rust host whose runtime lives in another process.
//!
//! [`Client::spawn`] starts a program, such as `windlass`, and [`Client::connect`] talks over any pair of byte streams.
//! The callbacks of [`ClientOptions`] are those of the runtime in process: a
//! [`CanUseTool`](windlass_permission::CanUseTool), a [`Hook`](windlass_hook::Hook) or a set of tools works in both
//! places.
//!
//! ```no_run
//! use windlass_permission::can_use_tool_fn;
//! use windlass_protocol::client::{Client, ClientOptions, Message, Program};
//! use windlass_types::PermissionAnswer;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let program = Program::new("windlass").cwd("/path/to/project").allowed_tools(["Bash(cargo test *)"]);
//! let options = ClientOptions::new().can_use_tool(can_use_tool_fn(|request| async move {
//!     println!("{}?", request.title);
//!     PermissionAnswer::deny("Not today.")
//! }));
//! let mut client = Client::spawn(program, options).await?;
//! client.prompt("Fix the failing test").await?;
//! while let Some(message) = client.next().await? {
//!     match message {
//!         Message::Assistant(message) => println!("{}", message.text()),
//!         Message::Result(result) => {
//!             println!("{} turns, ${:.4}", result.counts.num_turns, result.counts.total_cost_usd);
//!             break;
//!         }
//!         _ => {}
//!     }
//! }
//! client.close().await?;
//! # Ok(())
//! # }
//! ```
//!
//! # Limits

mod answers;
mod connect;
mod error;
mod failure;
mod handle;
mod hooks;
mod inbox;
mod message;
mod options;
mod outbox;
mod permission;
mod priority;
mod process;
mod program;
mod reader;
mod requests;
mod status;
mod tools;

pub use error::ClientError;
pub use handle::ClientHandle;
pub use message::{
    AssistantMessage, Init, Message, OtherMessage, RateLimitMessage, ResultMessage, StreamEvent, SystemMessage,
    TaskMessage, TaskNotification, TaskProgress, TaskStarted, TurnCounts, UserMessage,
};
pub use options::ClientOptions;
pub use priority::Priority;
pub use program::Program;
pub use status::{ContextUsage, McpServer};
pub use windlass_types::Prompt;

use crate::channel::task::AbortOnDrop;
use futures_util::Stream;
use inbox::Outlet;
use process::ClientProcess;
use std::fmt;
use std::process::ExitStatus;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::timeout;
use windlass_types::{EntryId, JsonText};

/// Time limit for the remaining output of an ended process. Other processes may hold the output open.
const OUTPUT_TIMEOUT: Duration = Duration::from_secs(2);

/// A session in another process, or at the other end of a pair of streams.
///
/// Dropping it kills the process with its group; [`Client::close`] lets it end normally.
pub struct Client {
    handle: ClientHandle,
    outlet: Outlet,
    process: Option<ClientProcess>,
    initialized: JsonText,
    patience: Duration,
    /// `true` once the end was reported.
    is_over: bool,
    _tasks: [AbortOnDrop<()>; 2],
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("process", &self.process).field("over", &self.is_over).finish_non_exhaustive()
    }
}

impl Client {
    /// Answer of the other side to `initialize`, unchanged: its commands, models and more.
    pub fn initialized(&self) -> &JsonText {
        &self.initialized
    }

    /// Id of the process, while it runs.
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().and_then(ClientProcess::id)
    }

    /// Handle for prompts and control requests, also from other tasks.
    pub fn handle(&self) -> &ClientHandle {
        &self.handle
    }

    /// Sends a prompt. See [`ClientHandle::prompt`].
    ///
    /// # Errors
    /// The same as [`ClientHandle::prompt`].
    pub async fn prompt(&self, prompt: impl Into<Prompt>) -> Result<EntryId, ClientError> {
        self.handle.prompt(prompt).await
    }

    /// Stops the current turn. See [`ClientHandle::interrupt`].
    ///
    /// # Errors
    /// The same as [`ClientHandle::interrupt`].
    pub async fn interrupt(&self) -> Result<(), ClientError> {
        self.handle.interrupt().await
    }

    /// Returns the next message, or `None` once the other side has ended normally: when no turn was running, and with
    /// an exit code of success.
    ///
    /// Cancel safe.
    ///
    /// # Errors
    /// The other side is gone, or violates the protocol. No message follows the error.
    pub async fn next(&mut self) -> Result<Option<Message>, ClientError> {
        if self.is_over {
            return Ok(None);
        }
        let line = match &mut self.process {
            None => self.outlet.next().await,
            Some(process) => tokio::select! {
                biased;
                line = self.outlet.next() => line,
                _ = process.wait() => timeout(OUTPUT_TIMEOUT, self.outlet.next()).await.unwrap_or(None),
            },
        };
        if let Some(line) = line {
            return Ok(Some(Message::read(line)));
        }
        let ended = self.ended().await;
        self.is_over = true;
        ended.map(|()| None)
    }

    /// Reads up to the end of the turn and discards all other messages.
    ///
    /// Cancel safe, but discarded messages are gone.
    ///
    /// # Errors
    /// The same as [`Client::next`], and [`ClientError::Closed`] if no result follows.
    pub async fn result(&mut self) -> Result<ResultMessage, ClientError> {
        while let Some(message) = self.next().await? {
            if let Message::Result(result) = message {
                return Ok(result);
            }
        }
        Err(ClientError::Closed)
    }

    /// Messages as a stream, which ends with the first error.
    pub fn messages(&mut self) -> impl Stream<Item = Result<Message, ClientError>> + Send + '_ {
        futures_util::stream::unfold(self, |client| async {
            let message = client.next().await.transpose()?;
            Some((message, client))
        })
    }

    /// Ends the session: the other side's input is closed, and its remaining output is discarded. The current turn is
    /// finished, but its requests are not answered; to prevent that, interrupt it first.
    ///
    /// A process may take 5 s, then it is asked to terminate, and 5 s later it is killed; see
    /// [`ClientOptions::patience`]. Dropping the future kills it at once.
    ///
    /// # Errors
    /// The process ended with a failure, or had to be killed.
    pub async fn close(mut self) -> Result<(), ClientError> {
        self.handle.0.switches.discard.send_replace(true);
        self.handle.0.outbox.finish();
        let patience = self.patience;
        let drain = async { while self.outlet.next().await.is_some() {} };
        match &mut self.process {
            None => {
                if timeout(patience, drain).await.is_err() {
                    return Err(ClientError::TimedOut { order: "close".to_owned(), limit: patience });
                }
            }
            Some(process) => {
                process.end().await.map_err(ClientError::Io)?;
                // The end of the output shows whether the last result was an error.
                let _ = timeout(OUTPUT_TIMEOUT, drain).await;
            }
        }
        self.handle.0.in_turn.store(false, Ordering::Relaxed);
        self.ended().await
    }

    /// Reason why the other side ended before it answered `initialize`. Cancel safe.
    async fn ended_early(&mut self) -> ClientError {
        if let Some(error) = self.handle.0.take_end() {
            return error;
        }
        let Some(process) = &mut self.process else { return ClientError::Closed };
        self.handle.0.outbox.finish();
        match process.end().await {
            Ok(status) => exited(status, process.last_words().await),
            Err(error) => ClientError::Io(error),
        }
    }

    /// Waits for the end of the other side. Cancel safe.
    async fn ended(&mut self) -> Result<(), ClientError> {
        let state = &self.handle.0;
        if let Some(error) = state.take_end() {
            return Err(error);
        }
        let in_turn = state.in_turn.load(Ordering::Relaxed);
        let Some(process) = &mut self.process else {
            return if in_turn { Err(ClientError::Closed) } else { Ok(()) };
        };
        state.outbox.finish();
        let status = process.end().await.map_err(ClientError::Io)?;
        let failed_turn = status.code() == Some(1) && state.last_is_error.load(Ordering::Relaxed);
        if !in_turn && (status.success() || failed_turn) {
            return Ok(());
        }
        Err(exited(status, process.last_words().await))
    }
}

fn exited(status: ExitStatus, stderr: String) -> ClientError {
    ClientError::Exited { status, stderr }
}

impl Drop for Client {
    fn drop(&mut self) {
        // Remaining handles must not wait for an answer.
        self.handle.0.requests.close();
    }
}
