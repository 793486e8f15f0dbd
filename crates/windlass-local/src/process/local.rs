//! Programs on this machine.

use std::future::Future;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::{Semaphore, SemaphorePermit};

use super::capture::Captured;
use super::kept_space::KeptSpace;
use super::run;
use super::spec::{End, Finished, Progress, Spec, Streams};
use super::sys::Watchdog;

/// Runs programs on this machine, and ends them with all their descendants.
///
/// `LocalProcess` owns the limit on concurrent programs, and the watchdog that ends the children of a killed host. The
/// watchdog is one sleeping `sh`, started with the first program and ended on drop. One `LocalProcess` may serve many
/// sessions. It needs a tokio runtime with time and I/O enabled.
///
/// On Linux every process of a call is found, except one that at once clears its environment, leaves its session, loses
/// its parents and closes its output. On other Unix systems the tree is the process group, and processes that leave it
/// (`setsid`) are not found. On Windows it is a job object.
#[derive(Debug)]
pub struct LocalProcess {
    session: String,
    calls: AtomicU64,
    slots: Semaphore,
    watchdog: Arc<Watchdog>,
    spill_cap: u64,
    space: KeptSpace,
    code_page: Option<u32>,
}

impl LocalProcess {
    /// Environment variable that marks all processes of a call. Its value names the session and the call.
    pub const MARK: &'static str = "WINDLASS_CALL";
    /// Default maximum number of concurrent programs. More wait for their turn; those in the background are not
    /// included.
    pub const DEFAULT_CONCURRENCY: usize = 8;
    /// Default maximum size of the file with one call's output: 1 GiB.
    pub const DEFAULT_SPILL_CAP: u64 = 1 << 30;

    /// Runs programs under a tag by which they are found and ended. It must be fresh for each value of this type:
    /// random bits, never the id of a session alone, which two processes may have at a time. Programs can read it in
    /// their environment.
    pub fn new(tag: impl Into<String>) -> Self {
        let session = tag.into();
        let watchdog = Arc::new(Watchdog::new(format!("{}={session}.", Self::MARK)));
        Self {
            session,
            calls: AtomicU64::new(0),
            slots: Semaphore::new(Self::DEFAULT_CONCURRENCY),
            watchdog,
            spill_cap: Self::DEFAULT_SPILL_CAP,
            space: KeptSpace::default(),
            code_page: None,
        }
    }

    /// Sets the maximum number of concurrent programs; at least one.
    #[must_use]
    pub fn with_concurrency(mut self, programs: usize) -> Self {
        self.slots = Semaphore::new(programs.clamp(1, Semaphore::MAX_PERMITS));
        self
    }

    /// Sets the maximum size in bytes of the file with the full output of a call.
    #[must_use]
    pub fn with_spill_cap(mut self, bytes: u64) -> Self {
        self.spill_cap = bytes;
        self
    }

    /// Sets the disk space account of the files with outputs. Default: that of
    /// [`KeptLimits::default`](super::KeptLimits), for each folder.
    #[must_use]
    pub fn with_kept_space(mut self, space: KeptSpace) -> Self {
        self.space = space;
        self
    }

    /// Sets the Windows code page for output that is not UTF-8, such as 874 or 1252. By default, and with unknown code
    /// pages, invalid UTF-8 is replaced. UTF-16 is recognised by its mark.
    #[must_use]
    pub fn with_code_page(mut self, code_page: u32) -> Self {
        self.code_page = Some(code_page);
        self
    }

    pub(crate) fn code_page(&self) -> Option<u32> {
        self.code_page
    }

    pub(super) fn space(&self) -> &KeptSpace {
        &self.space
    }

    pub(crate) fn spill_cap(&self) -> u64 {
        self.spill_cap
    }

    pub(super) fn watchdog(&self) -> &Arc<Watchdog> {
        &self.watchdog
    }

    /// Mark of the next call, and of all its processes.
    pub(super) fn next_mark(&self) -> String {
        format!("{}.{}", self.session, self.calls.fetch_add(1, Ordering::Relaxed))
    }

    /// Reserves a slot among the concurrent programs, for a program that needs one.
    async fn acquire_slot(&self, spec: &Spec) -> io::Result<Option<SemaphorePermit<'_>>> {
        if spec.background {
            return Ok(None);
        }
        self.slots.acquire().await.map(Some).map_err(io::Error::other)
    }

    /// Waits for a slot, runs a program and ends all its processes.
    #[expect(clippy::disallowed_methods, reason = "measures how long a real program waits and runs")]
    pub(crate) async fn execute(
        &self,
        spec: &Spec,
        cancel: impl Future<Output = ()>,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> io::Result<Finished> {
        let requested_at = Instant::now();
        let mut cancel = pin!(cancel);
        let slot = tokio::select! {
            biased;
            () = &mut cancel => return Ok(never_started(spec, requested_at.elapsed())),
            slot = self.acquire_slot(spec) => slot?,
        };
        let value = self.next_mark();
        let finished = run::run(spec, (Self::MARK, &value), &self.watchdog, cancel, progress).await;
        drop(slot);
        finished
    }
}

fn never_started(spec: &Spec, elapsed: Duration) -> Finished {
    let empty = || Captured { head: Vec::new(), tail: Vec::new(), total: 0, spill: None };
    Finished {
        end: End::Cancelled,
        exit: None,
        stdout: empty(),
        stderr: (spec.streams == Streams::Separate).then(empty),
        stopped: 0,
        survivors: 0,
        elapsed,
    }
}
