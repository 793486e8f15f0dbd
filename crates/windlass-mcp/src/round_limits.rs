//! Limits of rounds in which a server requests input in place of a result.

use std::time::Duration;

/// Limits of the rounds in which a server requests input in place of the result of one request (`input_required`, the
/// revision 2026-07-28). They apply to calls of tools, prompts and resources alike.
///
/// ```
/// use std::time::Duration;
/// use windlass_mcp::{McpOptions, RoundLimits};
///
/// let limits = RoundLimits::default().rounds(3).state_bytes(8 * 1024).time(Duration::from_secs(600));
/// let options = McpOptions::new().with_round_limits(limits);
/// # drop(options);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct RoundLimits {
    /// Maximum number of rounds. Default: 10.
    pub rounds: u32,
    /// Maximum size of the state that the server wants back with the answers (`requestState`), in bytes. Default: 256
    /// KiB.
    pub state_bytes: usize,
    /// Maximum total duration of a request that is answered in rounds, including the time that people take for their
    /// answers. Default: 24 hours. A shorter [`timeout`](crate::McpServerConfig::timeout) of the server takes
    /// precedence for its calls.
    pub time: Duration,
}

impl Default for RoundLimits {
    fn default() -> Self {
        Self { rounds: 10, state_bytes: 256 * 1024, time: Duration::from_secs(24 * 3600) }
    }
}

impl RoundLimits {
    /// Sets the maximum number of rounds.
    #[must_use]
    pub fn rounds(mut self, most: u32) -> Self {
        self.rounds = most;
        self
    }

    /// Sets the maximum size of the request state, in bytes.
    #[must_use]
    pub fn state_bytes(mut self, most: usize) -> Self {
        self.state_bytes = most;
        self
    }

    /// Sets the maximum total duration of a request.
    #[must_use]
    pub fn time(mut self, limit: Duration) -> Self {
        self.time = limit;
        self
    }
}
