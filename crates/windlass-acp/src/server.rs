//! The server: one connection with a client.

mod connection;

use crate::agent::AcpAgent;
use crate::error::AcpServerError;
use crate::options::AcpOptions;
use connection::Connection;
use std::fmt;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Lines that wait for a client that does not read.
const WAITING_LINES: usize = 32;

/// Limit of the last lines, once all sessions are closed.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// Serves one client: reads its messages from a byte stream, and writes messages to another one.
///
/// # Order
/// The updates of a prompt come before its answer, and each request has one answer. Sessions work beside each other, each in
/// a task of its own.
///
/// # Bounds
/// A client that does not read makes its sessions wait. Messages are limited by [`AcpOptions::max_message`], open sessions
/// by [`AcpOptions::max_sessions`], and requests that wait in one session to 256.
///
/// # Trust
/// A client is the program of a person, and yet every call of a tool is judged by the session as usual. The server opens no
/// file and starts no program.
pub struct AcpServer<A> {
    options: AcpOptions,
    agent: Arc<A>,
}

impl<A> fmt::Debug for AcpServer<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AcpServer").field("options", &self.options).finish_non_exhaustive()
    }
}

impl<A: AcpAgent> AcpServer<A> {
    /// A server of the sessions of this agent.
    pub fn new(options: AcpOptions, agent: A) -> Self {
        Self { options, agent: Arc::new(agent) }
    }

    /// Serves until the input ends or `shutdown` is ready. All sessions are closed then, within eight seconds: runs are
    /// stopped, and their logs are complete.
    ///
    /// Not cancel safe: dropping the future stops the sessions without waiting for them.
    ///
    /// # Errors
    /// The input cannot be read, or the output cannot be written. Sessions are closed before this returns.
    pub async fn serve<R, W>(
        self,
        input: R,
        output: W,
        shutdown: impl Future<Output = ()>,
    ) -> Result<(), AcpServerError>
    where
        R: AsyncRead + Unpin,
        W: AsyncWrite + Unpin,
    {
        let (out, lines) = mpsc::channel(WAITING_LINES);
        let connection = Connection::new(self.options, self.agent, out);
        let mut writing = pin!(write(output, lines));
        let mut serving = pin!(connection.serve(input, shutdown));
        let (served, written) = tokio::select! {
            served = &mut serving => {
                let late = || Err(io::ErrorKind::TimedOut.into());
                (served, timeout(LAST_WORDS, writing).await.unwrap_or_else(|_| late()))
            }
            // The client is gone, which the connection notices.
            written = &mut writing => (serving.await, written),
        };
        written.map_err(AcpServerError::Output)?;
        served.map_err(AcpServerError::Input)
    }
}

/// Writes lines until no more come.
async fn write<W: AsyncWrite + Unpin>(mut output: W, mut lines: mpsc::Receiver<Vec<u8>>) -> io::Result<()> {
    while let Some(line) = lines.recv().await {
        output.write_all(&line).await?;
        if lines.is_empty() {
            output.flush().await?;
        }
    }
    output.flush().await
}
