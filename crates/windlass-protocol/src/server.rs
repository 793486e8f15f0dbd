//! The server side of the host protocol.

mod asking;
mod error;
mod frames;
mod hooks;
mod jobs;
mod machine;
mod mcp;
mod mirror;
mod options;
mod orders;
mod outgoing;
mod permission;
mod plugins;
mod pump;
mod scene;
mod setup;

pub use error::{Served, ServerError};
pub use hooks::HostHooks;
pub use mcp::{
    HostElicitation, HostElicitationAnswer, HostMcp, HostMcpError, HostMcpServer, McpControl, McpControlError,
    McpServersChanged, McpStatus,
};
pub use mirror::Mirror;
pub use options::{CommandOptions, HostModel, McpSetup, PermissionOptions, ReportOptions, ServerOptions};
pub use permission::HostPermissions;
pub use plugins::{
    HostAgent, HostPlugin, HostPluginError, PluginControl, PluginListing, PluginOffer, PluginReload, PluginSource,
    PluginsReloaded,
};
pub use setup::{HostSetup, Initialize, Opened};
pub use windlass_conversation::{Expanded, Expansion, OpenFailure, OpenSession, SessionSettings, SlashCommand};

use pump::Pump;
use std::fmt;
use std::future::Future;
use tokio::io::{AsyncRead, AsyncWrite};

/// Serves one host: reads its messages from a byte stream, runs its prompts in
/// one session, and writes frames to another byte stream.
///
/// The session is opened by `open` when the first prompt arrives, with the host's settings until then. Input is read
/// all the time, also while a session is opened and during a run; prompts wait for their turn, and each gets exactly
/// one result.
///
/// # Messages during a turn
/// | `priority` | a message that comes during a turn |
/// |---|---|
/// | none, `later` | has a turn and a result of its own, behind those that wait |
/// | `next` | joins the turn: the model reads it with the next results of tools, or before the turn would end. It has no result of its own; that of the turn lists it in `user_message_uuids` (64 at most) |
/// | `now` | stops the turn, and has one of its own before those that wait |
///
/// UserPromptSubmit hooks are called for a message that is to join while tools run. A blocked message is `cancelled`,
/// and a warning gives the reason; the turn continues. If the turn ends before the model can read the message (an
/// interrupt, a limit, a failure), it gets a turn and a result of its own. So do slash commands, messages with
/// `shouldQuery: false`, and a `next` message behind one of those: none is overtaken. Without a turn, `next` only
/// precedes `later`. Until the message is read, `cancel_async_message` and `interrupt` with `cancel_queued` cancel it.
///
/// # Slash commands
/// A prompt of one text that begins with a slash may be a command. `/clear` opens a new session and closes the old one,
/// whose log stays; `/compact` is a run that replaces the conversation by a summary; `/cost` and `/context` are
/// answered here. Sessions may add others, see [`OpenSession::with_commands`]. An unknown command is text. Messages
/// with `client_composed: true` or `shouldQuery: false` are never commands.
///
/// # Order
/// All frames and requests are one stream: a request about a call follows the frame of the call. Control requests of
/// the host are handled in order. Those that concern a disk or a server are carried out beside all other work, so their
/// answers may follow those to later ones.
///
/// # Limits
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
    /// Creates a server that opens its session with an async closure.
    pub fn new(open: F, options: ServerOptions) -> Self {
        Self { open, options }
    }

    /// Serves until the input ends, every prompt has its result and no background work is running (see
    /// [`ServerOptions::background_wait`]), or until `shutdown` is ready. The session is closed then: runs are stopped,
    /// open calls settled, all entries durable.
    ///
    /// Not cancel safe: dropping the future stops the session without waiting for it.
    ///
    /// # Errors
    /// The host sent an invalid line, or is gone, or the session failed. The session is closed before this returns.
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
        Pump::new(&self.open, self.options, input, output).serve(shutdown).await
    }
}
