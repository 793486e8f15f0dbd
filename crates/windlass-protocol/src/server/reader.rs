//! Reading what the host sends.

use super::ServerError;
use super::core::Core;
use super::outbox::Gone;
use crate::input::{Inbound, LineError, LineReader, Priority};
use std::time::Duration;
use tokio::io::AsyncRead;

/// How often a host that can no longer write is asked for a sign of life: only
/// writing shows that it is gone.
pub(super) const KEEP_ALIVE: Duration = Duration::from_secs(5);

/// Why serving ends early.
pub(super) enum Stop {
    Error(ServerError),
    /// Nobody reads our output; whoever writes says why.
    Gone,
}

impl From<Gone> for Stop {
    fn from(_: Gone) -> Self {
        Self::Gone
    }
}

/// Serves until there is nothing left to do.
pub(super) async fn run(served: impl Future<Output = Result<(), Stop>>) -> Result<(), ServerError> {
    match served.await {
        Ok(()) => Ok(()),
        Err(Stop::Error(error)) => Err(error),
        Err(Stop::Gone) => std::future::pending().await,
    }
}

/// Reads what the host sends.
pub(super) struct Reader<'a> {
    pub(super) core: &'a Core,
}

impl Reader<'_> {
    /// Reads to the end of the input, and waits for the results of all prompts and for background work.
    pub(super) async fn read(&self, input: impl AsyncRead + Unpin) -> Result<(), Stop> {
        let core = self.core;
        let mut lines = LineReader::new(input, core.options.max_line);
        loop {
            tokio::select! {
                line = lines.next() => match line {
                    Ok(Some(line)) if line.trim_ascii().is_empty() => {}
                    Ok(Some(line)) => {
                        let message = Inbound::parse(line).map_err(|error| Stop::Error(malformed(line, &error)))?;
                        self.take(message).await?;
                    }
                    Ok(None) => break,
                    Err(LineError::TooLong { limit }) => return Err(Stop::Error(ServerError::TooLong { limit })),
                    Err(LineError::Io(error)) => return Err(Stop::Error(ServerError::Input(error))),
                },
                // The session ended by itself; closing it says why.
                () = core.session_over() => return Ok(()),
                // As if the input had ended here.
                () = core.done.notified() => break,
            }
        }
        // Nobody answers any more, so nothing may wait for an answer.
        core.requests.close();
        Ok(core.wait_for_the_rest().await?)
    }

    async fn take(&self, message: Inbound) -> Result<(), Stop> {
        let core = self.core;
        match message {
            Inbound::User(message) => {
                let now = message.priority == Priority::Now;
                core.enqueue(*message).await?;
                if now {
                    core.stop_run();
                }
                core.advance();
                core.offer_waiting();
            }
            Inbound::Request { id, subtype, body } => core.request(&id, &subtype, &body).await?,
            Inbound::Response { id, answer } => core.requests.answer(&id, answer),
            // Orders are carried out at once, so there is nothing to cancel.
            Inbound::Cancel { id } => tracing::debug!(id, "the host no longer waits for an answer"),
            Inbound::Environment(variables) => core.renew_environment(variables),
            Inbound::Other { kind } => tracing::debug!(kind, "a message of this type is left alone"),
        }
        Ok(())
    }
}

fn malformed(line: &[u8], error: &windlass_types::JsonError) -> ServerError {
    let start: String = String::from_utf8_lossy(line).chars().take(80).collect();
    ServerError::Malformed { problem: error.to_string(), start }
}
