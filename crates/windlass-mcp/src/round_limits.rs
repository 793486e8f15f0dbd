//! How often and how long a server may ask for something in place of a result.

use std::time::Duration;

/// How often and how long a server may ask for something in place of the result of one request (`input_required`, the
/// revision 2026-07-28). It holds for calls of tools, prompts and resources alike.
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
    /// How often it may ask. Default: 10 times.
    pub rounds: u32,
    /// Most bytes of what it wants back with the answers (`requestState`). Default: 256 KiB.
    pub state_bytes: usize,
    /// How long a request may take in all that is answered in rounds, with what people take for their answers. Default: 24 hours. A
    /// shorter [`timeout`](crate::McpServerConfig::timeout) of the server counts for its calls.
    pub time: Duration,
}

impl Default for RoundLimits {
    fn default() -> Self {
        Self { rounds: 10, state_bytes: 256 * 1024, time: Duration::from_secs(24 * 3600) }
    }
}

impl RoundLimits {
    /// Sets how often it may ask.
    #[must_use]
    pub fn rounds(mut self, most: u32) -> Self {
        self.rounds = most;
        self
    }

    /// Sets the most bytes of what it wants back.
    #[must_use]
    pub fn state_bytes(mut self, most: usize) -> Self {
        self.state_bytes = most;
        self
    }

    /// Sets how long a request may take in all.
    #[must_use]
    pub fn time(mut self, limit: Duration) -> Self {
        self.time = limit;
        self
    }
}
