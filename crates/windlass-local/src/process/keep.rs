//! Captured output of remote programs, with the limits of local ones.

use windlass_tool::{ProcessCommand, ProcessOutcome};

use super::capture::{Capture, CaptureLimits};
use super::kept_space::KeptSpace;
use super::local::LocalProcess;
use super::port::{beside, last_lines, spilled, text_of};

/// Maximum number of bytes of the latest output in a progress report.
const MAX_RECENT_BYTES: usize = 1024;

/// Output of one program in bounded memory, with the file for all of it: for implementations of
/// [`Process`](windlass_tool::Process) that run programs elsewhere. The file is on this machine.
#[derive(Debug)]
pub struct KeptOutput {
    stdout: Capture,
    stderr: Capture,
    /// `true` if standard error wrote last.
    is_stderr_latest: bool,
}

impl KeptOutput {
    /// Creates a capture with the limits of `command`. Also creates its file if `spill_above` is zero.
    ///
    /// The file has the disk space of [`KeptLimits::default`](super::KeptLimits), in its folder alone.
    pub async fn new(command: &ProcessCommand) -> Self {
        // A new account measures the folder again for each output.
        Self::in_space(command, &KeptSpace::default()).await
    }

    /// [`new`](Self::new) with a file that takes its disk space from an account of the session and its home.
    pub async fn in_space(command: &ProcessCommand, space: &KeptSpace) -> Self {
        let limits = |spill| CaptureLimits {
            memory: command.inline_bytes,
            spill,
            spill_above: command.spill_above.unwrap_or(command.inline_bytes),
            spill_cap: command
                .spill_cap
                .map_or(LocalProcess::DEFAULT_SPILL_CAP, |cap| cap.min(LocalProcess::DEFAULT_SPILL_CAP)),
            space: space.clone(),
        };
        let mut stdout = Capture::new(limits(command.spill.clone()));
        let mut stderr = Capture::new(limits(command.spill.as_deref().map(beside).filter(|_| !command.merge_streams)));
        stdout.begin().await;
        stderr.begin().await;
        Self { stdout, stderr, is_stderr_latest: false }
    }

    /// Appends bytes of standard output. Not cancel safe: a part of the copy on disk may be lost.
    pub async fn take_stdout(&mut self, bytes: &[u8]) {
        self.is_stderr_latest = false;
        self.stdout.push(bytes).await;
    }

    /// Appends bytes of standard error. Not cancel safe, as for standard output.
    pub async fn take_stderr(&mut self, bytes: &[u8]) {
        self.is_stderr_latest = true;
        self.stderr.push(bytes).await;
    }

    /// Number of bytes appended to both streams.
    pub fn total(&self) -> u64 {
        self.stdout.total().saturating_add(self.stderr.total())
    }

    /// Last lines of the stream that was written last.
    pub fn latest(&self) -> String {
        let stream = if self.is_stderr_latest { &self.stderr } else { &self.stdout };
        last_lines(&stream.recent(MAX_RECENT_BYTES))
    }

    /// Moves the captured output of both streams into `outcome`.
    pub async fn finish(self, outcome: &mut ProcessOutcome) {
        let (stdout, stderr) = (self.stdout.finish().await, self.stderr.finish().await);
        outcome.spilled = spilled(&stdout, Some(&stderr));
        outcome.stdout = text_of(stdout, None);
        outcome.stderr = text_of(stderr, None);
    }
}
