//! The client side of the host protocol: a Rust host whose runtime lives in
//! another process.
//!
//! [`Client::spawn`] starts a program, such as `windlass`, and
//! [`Client::connect`] talks over any pair of byte streams. The callbacks of
//! [`ClientOptions`] are those of the runtime in process: a
//! [`CanUseTool`](windlass_permission::CanUseTool), a [`Hook`](windlass_hook::Hook) or a set of tools works in both places.
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
//! # Bounds
//! 16 MiB of messages wait to be read; then the other side is made to wait. A
//! host that does not read them still answers questions, and its orders are
//! answered, until twice as much waits. At most 256 questions, or one line's
//! bytes of them, are answered at the same time; further ones are refused. A
//! line may be 64 MiB long.

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
use process::Process;
use std::fmt;
use std::process::ExitStatus;
use std::sync::atomic::Ordering;
use std::time::Duration;
use tokio::time::timeout;
use windlass_types::{EntryId, JsonText};

/// How long is waited for the rest of the output of a process that has ended:
/// others may hold it open.
const LAST_LINES: Duration = Duration::from_secs(2);

/// A session in another process, or at the other end of a pair of streams.
///
/// Dropping it kills the process with its group; [`Client::close`] lets it end
/// in peace.
pub struct Client {
    handle: ClientHandle,
    outlet: Outlet,
    process: Option<Process>,
    initialized: JsonText,
    patience: Duration,
    /// Whether the end was reported.
    over: bool,
    _tasks: [AbortOnDrop<()>; 2],
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("process", &self.process).field("over", &self.over).finish_non_exhaustive()
    }
}

impl Client {
    /// The other side's answer to `initialize`: its commands, models and more, as it came.
    pub fn initialized(&self) -> &JsonText {
        &self.initialized
    }

    /// The id of the process, while it runs.
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().and_then(Process::id)
    }

    /// Gives orders, also from other tasks.
    pub fn handle(&self) -> &ClientHandle {
        &self.handle
    }

    /// Gives a prompt. See [`ClientHandle::prompt`].
    ///
    /// # Errors
    /// As [`ClientHandle::prompt`].
    pub async fn prompt(&self, prompt: impl Into<Prompt>) -> Result<EntryId, ClientError> {
        self.handle.prompt(prompt).await
    }

    /// Stops the current turn. See [`ClientHandle::interrupt`].
    ///
    /// # Errors
    /// As [`ClientHandle::interrupt`].
    pub async fn interrupt(&self) -> Result<(), ClientError> {
        self.handle.interrupt().await
    }

    /// The next message, or `None` once the other side has ended in peace: when
    /// no turn was running, and with an exit code of success.
    ///
    /// Cancel safe.
    ///
    /// # Errors
    /// The other side is gone, or does not speak the protocol. No message
    /// follows it.
    pub async fn next(&mut self) -> Result<Option<Message>, ClientError> {
        if self.over {
            return Ok(None);
        }
        let line = match &mut self.process {
            None => self.outlet.next().await,
            Some(process) => tokio::select! {
                biased;
                line = self.outlet.next() => line,
                _ = process.wait() => timeout(LAST_LINES, self.outlet.next()).await.unwrap_or(None),
            },
        };
        if let Some(line) = line {
            return Ok(Some(Message::read(line)));
        }
        let ended = self.ended().await;
        self.over = true;
        ended.map(|()| None)
    }

    /// Reads up to the end of the turn and leaves all other messages out.
    ///
    /// Cancel safe, but what was left out is gone.
    ///
    /// # Errors
    /// As [`Client::next`], and [`ClientError::Closed`] if there is no result any more.
    pub async fn result(&mut self) -> Result<ResultMessage, ClientError> {
        while let Some(message) = self.next().await? {
            if let Message::Result(result) = message {
                return Ok(result);
            }
        }
        Err(ClientError::Closed)
    }

    /// The messages as a stream, which ends with the first error.
    pub fn messages(&mut self) -> impl Stream<Item = Result<Message, ClientError>> + Send + '_ {
        futures_util::stream::unfold(self, |client| async {
            let message = client.next().await.transpose()?;
            Some((message, client))
        })
    }

    /// Ends the session: the other side's input is closed, and what
    /// it still writes is left out. The current turn is finished, but its questions
    /// are not answered; to prevent that, interrupt it first.
    ///
    /// A process may take 5 s, then it is asked to terminate, and 5 s later it is
    /// killed; see [`ClientOptions::patience`]. Dropping the future kills it at once.
    ///
    /// # Errors
    /// The process did not end in peace, or had to be ended.
    pub async fn close(mut self) -> Result<(), ClientError> {
        self.handle.0.switches.discard.send_replace(true);
        self.handle.0.outbox.finish();
        let patience = self.patience;
        let rest = async { while self.outlet.next().await.is_some() {} };
        match &mut self.process {
            None => {
                if timeout(patience, rest).await.is_err() {
                    return Err(ClientError::TimedOut { order: "close".to_owned(), limit: patience });
                }
            }
            Some(process) => {
                process.end().await.map_err(ClientError::Io)?;
                // Whether its last result was an error is known at the end of its output.
                let _ = timeout(LAST_LINES, rest).await;
            }
        }
        self.handle.0.in_turn.store(false, Ordering::Relaxed);
        self.ended().await
    }

    /// The reason why the other side ended before it answered `initialize`. Cancel safe.
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

    /// How the other side ended, or will have in a moment. Cancel safe.
    async fn ended(&mut self) -> Result<(), ClientError> {
        let shared = &self.handle.0;
        if let Some(error) = shared.take_end() {
            return Err(error);
        }
        let in_turn = shared.in_turn.load(Ordering::Relaxed);
        let Some(process) = &mut self.process else {
            return if in_turn { Err(ClientError::Closed) } else { Ok(()) };
        };
        shared.outbox.finish();
        let status = process.end().await.map_err(ClientError::Io)?;
        let failed_turn = status.code() == Some(1) && shared.last_is_error.load(Ordering::Relaxed);
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
        // Handles that are left must not wait for an answer.
        self.handle.0.requests.close();
    }
}
