//! Resource limits of a program.

use std::time::Duration;

/// Resource limits of a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgramLimits {
    /// Maximum number of loop iterations and function calls. Default: 20,000,000.
    pub steps: u64,
    /// Maximum number of bytes of all its values at a time. Default: 32 MiB.
    pub memory: usize,
    /// Maximum computing time, without the time that it waits for its calls. Default: 10 s.
    pub computing: Duration,
    /// Maximum number of tool calls. Default: 200.
    pub calls: usize,
    /// Maximum number of printed bytes, and of bytes of the returned value. The rest is left out, and the model reads a
    /// note. Default: 50,000.
    pub output: usize,
    /// Maximum number of bytes of a result's text; the rest is left out. Default: 1 MiB.
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
