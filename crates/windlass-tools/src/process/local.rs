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

/// Runs programs on this machine, and ends them with all they started.
///
/// It owns the watchdog that ends the children of a killed host (one sleeping `sh`, started with the first
/// program and gone with this), and the limit on programs at a time. One may serve many sessions. It needs a
/// tokio runtime with time and I/O enabled.
///
/// On Linux a call's tree is found whatever it does, short of clearing its environment, leaving its session,
/// losing its parents and closing its output all at once. On other Unix systems the tree is the process
/// group, and what leaves it (`setsid`) is not found. On Windows it is a job object.
#[derive(Debug)]
pub struct LocalProcess {
    session: String,
    calls: AtomicU64,
    places: Semaphore,
    watchdog: Arc<Watchdog>,
    spill_cap: u64,
    space: KeptSpace,
    code_page: Option<u32>,
}

impl LocalProcess {
    /// The environment variable that marks everything a call starts. Its value names the session and the call.
    pub const MARK: &'static str = "WINDLASS_CALL";
    /// How many programs run at a time by default. More wait for their turn; those in the
    /// background do not count.
    pub const DEFAULT_CONCURRENCY: usize = 8;
    /// How much output of one call goes to its file by default: 1 GiB.
    pub const DEFAULT_SPILL_CAP: u64 = 1 << 30;

    /// Programs under a tag by which they are found, and ended. It must be fresh for each value of this type:
    /// random bits, never the id of a session alone, which two processes may have at a time. It ends up in the
    /// environment of the programs.
    pub fn new(tag: impl Into<String>) -> Self {
        let session = tag.into();
        let watchdog = Arc::new(Watchdog::new(format!("{}={session}.", Self::MARK)));
        Self {
            session,
            calls: AtomicU64::new(0),
            places: Semaphore::new(Self::DEFAULT_CONCURRENCY),
            watchdog,
            spill_cap: Self::DEFAULT_SPILL_CAP,
            space: KeptSpace::default(),
            code_page: None,
        }
    }

    /// Lets this many programs run at a time; at least one.
    #[must_use]
    pub fn with_concurrency(mut self, programs: usize) -> Self {
        self.places = Semaphore::new(programs.clamp(1, Semaphore::MAX_PERMITS));
        self
    }

    /// Lets the file with the full output of a call grow to this many bytes.
    #[must_use]
    pub fn with_spill_cap(mut self, bytes: u64) -> Self {
        self.spill_cap = bytes;
        self
    }

    /// Takes the files with outputs from this space. Default: that of [`KeptLimits::default`](super::KeptLimits), for each folder.
    #[must_use]
    pub fn with_kept_space(mut self, space: KeptSpace) -> Self {
        self.space = space;
        self
    }

    /// Reads output that is no UTF-8 in this code page of Windows, such as 874 or 1252. By default, and with code pages that are not
    /// known, what is no UTF-8 is replaced. UTF-16 is known by its mark.
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

    /// What marks the next call, and everything it starts.
    pub(super) fn next_mark(&self) -> String {
        format!("{}.{}", self.session, self.calls.fetch_add(1, Ordering::Relaxed))
    }

    /// A place among the programs that run at a time, for those that need one.
    async fn place(&self, spec: &Spec) -> io::Result<Option<SemaphorePermit<'_>>> {
        if spec.background {
            return Ok(None);
        }
        self.places.acquire().await.map(Some).map_err(io::Error::other)
    }

    /// Waits for a place, runs a program and ends all it started.
    #[expect(clippy::disallowed_methods, reason = "measures how long a real program waits and runs")]
    pub(crate) async fn execute(
        &self,
        spec: &Spec,
        cancel: impl Future<Output = ()>,
        progress: &mut (dyn FnMut(Progress) + Send),
    ) -> io::Result<Finished> {
        let asked = Instant::now();
        let mut cancel = pin!(cancel);
        let place = tokio::select! {
            biased;
            () = &mut cancel => return Ok(never_started(spec, asked.elapsed())),
            place = self.place(spec) => place?,
        };
        let value = self.next_mark();
        let finished = run::run(spec, (Self::MARK, &value), &self.watchdog, cancel, progress).await;
        drop(place);
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
