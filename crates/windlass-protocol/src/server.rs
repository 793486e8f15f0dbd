//! The server side of the host protocol.

mod agents;
mod commands;
mod control;
mod core;
mod extras;
mod flag_settings;
mod frames;
mod hooks;
mod joining;
mod mcp;
mod mirror;
mod options;
mod permission;
mod plugins;
mod pump;
mod queries;
mod queue;
mod reader;
mod rewind;
mod scene;
mod setup;
mod spent;
mod tasks;
mod told;
mod turn;
mod turns;

pub use commands::SlashCommand;
pub use extras::ContextPart;
pub use hooks::HostHooks;
pub use mcp::{
    HostElicitation, HostElicitationAnswer, HostMcp, HostMcpError, HostMcpServer, McpControl, McpControlError,
    McpServersChanged, McpStatus,
};
pub use mirror::Mirror;
pub use options::ServerOptions;
pub use permission::HostPermissions;
pub use plugins::{
    HostAgent, HostPlugin, HostPluginError, PluginControl, PluginListing, PluginOffer, PluginReload, PluginSource,
    PluginsReloaded,
};
pub use setup::{HostSetup, Initialize, Opened};

use self::core::Core;
use crate::channel::task::AbortOnDrop;
use crate::channel::{outbox, requests};
use outbox::Outbox;
use pump::PumpEnd;
use reader::{Reader, run};
use std::fmt;
use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use turns::Turns;

/// How long closing may take when nobody wants to wait for it.
const LAST_WORDS: Duration = Duration::from_secs(4);

/// What keeps a session from being opened.
pub type OpenFailure = Box<dyn std::error::Error + Send + Sync>;

/// Why a server ended before its host was done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServerError {
    /// The host sent something that is not a message.
    #[error("the input is not a message of the host protocol: {problem}: {start}")]
    Malformed {
        /// What is wrong.
        problem: String,
        /// How the line begins.
        start: String,
    },
    /// The host sent a line that is too long.
    #[error("a line of the input is longer than {limit} bytes")]
    TooLong {
        /// The limit.
        limit: usize,
    },
    /// The input failed.
    #[error("the input cannot be read: {0}")]
    Input(#[source] io::Error),
    /// The output failed: the host is gone.
    #[error("the output cannot be written: {0}")]
    Output(#[source] io::Error),
    /// The session could not be opened. The host was told.
    #[error("{0}")]
    Open(OpenFailure),
    /// The session could not go on. The host was told.
    #[error(transparent)]
    Session(#[from] windlass_runtime::SessionError),
}

/// How a server ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Served {
    /// Whether the last result was an error.
    pub is_error: bool,
    /// Whether it was told to end, and the host was not done.
    pub shut_down: bool,
}

/// Serves one host: reads its messages from a byte stream, runs its prompts in
/// one session, and writes frames to another byte stream.
///
/// The session is opened by `open` when the first prompt comes, with what the
/// host has said until then. Input is read all the time, also while a session is
/// opened and while a run goes on; prompts wait for their turn, and each gets
/// exactly one result.
///
/// # Messages during a turn
/// | `priority` | a message that comes while a turn goes on |
/// |---|---|
/// | none, `later` | has a turn and a result of its own, behind those that wait |
/// | `next` | joins the turn: the model reads it with the next results of tools, or before the turn would end. It has no result of its own; that of the turn lists it in `user_message_uuids` (64 at most) |
/// | `now` | stops the turn, and has one of its own before those that wait |
///
/// UserPromptSubmit hooks are asked about a message that is to join while tools run. One
/// that they keep out is `cancelled`, and a warning says why; the turn goes on. If the turn
/// ends before the model can read it (an interrupt, a limit, a failure), it has a turn and a
/// result of its own. So have slash commands, messages with `shouldQuery: false`, and what
/// comes behind one of those that is `next`, too: nothing is overtaken. Without a turn
/// `next` only stands before `later`. Until it is read, `cancel_async_message` and `interrupt` with
/// `cancel_queued` take it back.
///
/// # Slash commands
/// A prompt of one text that begins with a slash may be a command. `/clear` opens
/// a new session and closes the old one, whose log stays; `/compact` is a run that
/// replaces the conversation by a summary; `/cost` and `/context` are answered here.
/// Sessions may bring others, see [`Opened::with_commands`]. What is no command is
/// text. Messages with `client_composed: true` or `shouldQuery: false` are never commands.
///
/// # Bounds
/// 4 MiB of frames wait for a host that does not read; then the session waits.
/// 256 prompts or 64 MiB wait for the run before them; further ones get an error
/// as their result. A line of the host may be 64 MiB long.
pub struct Server<F> {
    open: F,
    options: ServerOptions,
}

impl<F> fmt::Debug for Server<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server").field("options", &self.options).finish_non_exhaustive()
    }
}

impl<F, O> Server<F>
where
    F: Fn(HostSetup) -> O,
    O: Future<Output = Result<Opened, OpenFailure>>,
{
    /// A server that opens its session with an async closure.
    pub fn new(open: F, options: ServerOptions) -> Self {
        Self { open, options }
    }

    /// Serves until the input ends, every prompt has its result and no background
    /// work goes on (see [`ServerOptions::background_wait`]), or until `shutdown` is ready. The session is closed then: runs are stopped, open
    /// calls settled, everything durable.
    ///
    /// Not cancel safe: dropping the future stops the session without waiting
    /// for it.
    ///
    /// # Errors
    /// The host sent nonsense or is gone, or the session failed. It is closed
    /// before this returns.
    #[expect(clippy::disallowed_methods, reason = "a deadline on the clock of tokio, which tests can hold")]
    pub async fn serve<R, W>(
        self,
        input: R,
        output: W,
        shutdown: impl Future<Output = ()>,
    ) -> Result<Served, ServerError>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin + Send + 'static,
    {
        let (outbox, lane) = Outbox::new();
        let mut writer = AbortOnDrop(tokio::spawn(lane.carry(output)));
        let core = Arc::new(Core::new(self.options, outbox));
        let _mirror = core.start_mirror().map(AbortOnDrop);
        let turns = Turns { core: Arc::clone(&core), open: &self.open, pumps: Mutex::default() };
        let reader = Reader { core: &core };
        let served = async {
            // Input is read also while a session is being opened: opening may need the host's answers.
            tokio::select! {
                read = reader.read(input) => read,
                stopped = turns.run() => stopped.map(|never| match never {}),
            }
        };
        let mut shutdown = pin!(shutdown);
        let (end, written) = tokio::select! {
            biased;
            () = &mut shutdown => (Ok(true), None),
            written = &mut writer.0 => (Ok(false), Some(written)),
            served = run(served) => (served.map(|()| false), None),
        };
        // From here on nobody answers.
        core.requests.close();
        let hurry = written.is_some() || !matches!(end, Ok(false));
        let limit = if hurry { LAST_WORDS } else { Duration::MAX };
        let began = tokio::time::Instant::now();
        let last_words = async {
            let closed = tokio::time::timeout(limit, turns.close()).await.unwrap_or(None);
            let end = async {
                // A host that is gone misses nothing.
                let _ = core.flush_mirror().await;
                core.outbox.finish();
                (&mut writer.0).await
            };
            let written = match written {
                Some(written) => Some(written),
                None => tokio::time::timeout(limit.saturating_sub(began.elapsed()), end).await.ok(),
            };
            (closed, written)
        };
        let mut interrupted = false;
        let (closed, written) = tokio::select! {
            last = last_words => last,
            // Told to end while it waits for a host that does not read.
            () = async { shutdown.await; tokio::time::sleep(LAST_WORDS).await }, if !hurry => {
                interrupted = true;
                (None, None)
            }
        };
        match (&end, written) {
            (Ok(false), Some(Ok(Ok(())))) | (Err(_) | Ok(true), _) | (_, None) => {}
            (Ok(false), Some(written)) => return Err(lost(written)),
        }
        let shut_down = end? || interrupted;
        if let Some(PumpEnd::Broken(error)) = closed {
            return Err(error.into());
        }
        Ok(Served { is_error: core.lock().last_is_error, shut_down })
    }
}

/// Why nothing can be written any more.
fn lost(written: Result<io::Result<()>, tokio::task::JoinError>) -> ServerError {
    ServerError::Output(match written {
        Ok(Err(error)) => error,
        Ok(Ok(())) => io::ErrorKind::BrokenPipe.into(),
        Err(error) => io::Error::other(error),
    })
}
