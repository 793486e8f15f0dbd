//! How much a program may use.

use std::time::Duration;

/// How much a program may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgramLimits {
    /// Rounds of loops, and calls of functions. Default: 20,000,000.
    pub steps: u64,
    /// Bytes of all its values at a time. Default: 32 MiB.
    pub memory: usize,
    /// How long it may compute. The time in which it waits for its calls does not count. Default: 10 s.
    pub computing: Duration,
    /// Calls of tools. Default: 200.
    pub calls: usize,
    /// Bytes that it may print, and bytes of what it returns. What goes beyond is left out, and the model reads so.
    /// Default: 50,000.
    pub output: usize,
    /// Bytes that it takes of the text of a result; the rest is left out. Default: 1 MiB.
    pub result: usize,
}

impl Default for ProgramLimits {
    fn default() -> Self {
        Self {
            steps: 20_000_000,
            memory: 32 * 1024 * 1024,
            computing: Duration::from_secs(10),
            calls: 200,
            output: 50_000,
            result: 1024 * 1024,
        }
    }
}
