//! Interrupts and termination.

use crate::writer::Writer;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
#[cfg(unix)]
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Notify;
use windlass::SessionHandle;

/// Time limit for a session to close when the process is to end.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(4);
/// Time limit for the end of servers' programs and for the reader of the remaining output.
const CLEAN_UP: Duration = Duration::from_secs(3);

/// Listens for signals on a thread of its own, so that they are handled while other threads wait.
#[derive(Clone)]
pub(crate) struct Signals(Arc<SignalState>);

struct SignalState {
    session: Mutex<Option<SessionHandle>>,
    output: Writer,
    /// `true` while there is work that can be asked to end.
    stops: AtomicBool,
    stop: Notify,
    /// Exit code of a signal; zero for none.
    code: AtomicI32,
}

impl Signals {
    /// Begins to listen. Without a session the first signal ends the process. A signal to end does not
    /// wait for the reader of the output.
    ///
    /// # Errors
    /// The system refuses to report signals, or the thread for them: a signal would leave behind what the run has started.
    pub(crate) fn listen(output: Writer) -> io::Result<Self> {
        let signals = Self(Arc::new(SignalState {
            session: Mutex::default(),
            output,
            stops: AtomicBool::new(false),
            stop: Notify::new(),
            code: AtomicI32::new(0),
        }));
        let listener = signals.clone();
        let runtime = Background(Some(tokio::runtime::Builder::new_current_thread().enable_all().build()?));
        #[cfg(unix)]
        let arrivals = {
            let _entered = runtime.0.as_ref().map(tokio::runtime::Runtime::enter);
            EndSignals::listen()?
        };
        let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            #[cfg(unix)]
            runtime.block_on(listener.run(arrivals));
            #[cfg(not(unix))]
            runtime.block_on(listener.run());
        });
        thread.map_err(|error| io::Error::new(error.kind(), format!("no thread can be started: {error}")))?;
        Ok(signals)
    }

    /// Does work that is dropped when a signal comes; returns `None` then.
    pub(crate) async fn stopping<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        self.0.stops.store(true, Ordering::SeqCst);
        let done = tokio::select! {
            done = work => Some(done),
            () = self.0.stop.notified() => None,
        };
        self.0.stops.store(false, Ordering::SeqCst);
        // A signal that came as the work ended is used, too.
        done.filter(|_| self.exit_code().is_none())
    }

    /// Sets the session that signals stop from now on.
    pub(crate) fn watch(&self, session: SessionHandle) {
        *self.0.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(session);
    }

    /// Returns the exit code of a signal, if one came.
    pub(crate) fn exit_code(&self) -> Option<i32> {
        Some(self.0.code.load(Ordering::SeqCst)).filter(|code| *code != 0)
    }

    /// Returns the reason for which a signal stops the run, unless it is the user's Ctrl-C.
    pub(crate) fn stop_reason(&self) -> Option<&'static str> {
        match self.exit_code() {
            Some(143) => Some("The run was stopped: the program received SIGTERM"),
            Some(129) => Some("The run was stopped: the program received SIGHUP"),
            _ => None,
        }
    }

    fn session(&self) -> Option<SessionHandle> {
        self.0.session.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Handles an interrupt: the first one stops the run and its background work, the second one the process.
    fn interrupt(&self) {
        let again = self.0.code.swap(130, Ordering::SeqCst) != 0;
        match self.session() {
            Some(session) if !again => {
                if session.interrupt().is_err() || session.stop_tasks().is_err() {
                    std::process::exit(130);
                }
            }
            None if !again && self.0.stops.load(Ordering::SeqCst) => self.0.stop.notify_one(),
            _ => std::process::exit(130),
        }
    }

    /// Closes the session, so that no acknowledged entry is lost, and ends.
    async fn terminate(&self, code: i32) {
        self.0.code.store(code, Ordering::SeqCst);
        self.0.output.hurry();
        if let Some(session) = self.session() {
            if tokio::time::timeout(CLOSE_TIMEOUT, session.close()).await.is_err() {
                // The session's error names the entries without an answer of the log.
                session.give_up_log(CLOSE_TIMEOUT);
            }
            // The run has ended; the process ends by itself unless a task delays it. The watchdog ends the programs
            // that it then leaves.
            tokio::time::sleep(CLEAN_UP).await;
        } else if self.0.stops.load(Ordering::SeqCst) {
            self.0.stop.notify_one();
            tokio::time::sleep(CLEAN_UP).await;
        }
        std::process::exit(code);
    }

    #[cfg(unix)]
    async fn run(&self, mut signals: EndSignals) {
        loop {
            match signals.next().await {
                130 => self.interrupt(),
                code => self.terminate(code).await,
            }
        }
    }

    #[cfg(not(unix))]
    async fn run(&self) {
        while tokio::signal::ctrl_c().await.is_ok() {
            self.interrupt();
        }
    }
}

/// Stream of a signal's arrivals. A signal that this process was started to ignore, as `nohup` does, stays ignored.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct Arrivals(Option<tokio::signal::unix::Signal>);

#[cfg(unix)]
impl Arrivals {
    /// Begins to listen.
    ///
    /// # Errors
    /// The system refuses that.
    pub(crate) fn of(kind: SignalKind) -> io::Result<Self> {
        Ok(Self(if is_ignored(kind) { None } else { Some(signal(kind)?) }))
    }

    /// Waits for the next arrival. Cancel safe.
    pub(crate) async fn next(&mut self) {
        if let Some(arrivals) = &mut self.0
            && arrivals.recv().await.is_some()
        {
            return;
        }
        std::future::pending().await
    }
}

/// The signals that ask this process to end.
#[cfg(unix)]
#[derive(Debug)]
pub(crate) struct EndSignals {
    interrupt: Arrivals,
    terminate: Arrivals,
    hangup: Arrivals,
}

#[cfg(unix)]
impl EndSignals {
    /// Begins to listen.
    ///
    /// # Errors
    /// The system refuses that.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            interrupt: Arrivals::of(SignalKind::interrupt())?,
            terminate: Arrivals::of(SignalKind::terminate())?,
            hangup: Arrivals::of(SignalKind::hangup())?,
        })
    }

    /// Waits for the next signal, and returns the exit code for it. Cancel safe.
    pub(crate) async fn next(&mut self) -> i32 {
        tokio::select! {
            () = self.interrupt.next() => 130,
            () = self.terminate.next() => 143,
            () = self.hangup.next() => 129,
        }
    }
}

/// Returns `true` if this process ignores the signal, as it was started to. Known on Linux alone.
#[cfg(unix)]
fn is_ignored(kind: SignalKind) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or_default();
    let bit = kind.as_raw_value().checked_sub(1).and_then(|bit| u32::try_from(bit).ok());
    bit.and_then(|bit| mask.checked_shr(bit)).is_some_and(|mask| mask & 1 == 1)
}

/// A runtime that may be dropped inside of another one, which happens if its thread cannot be started.
struct Background(Option<tokio::runtime::Runtime>);

impl Background {
    fn block_on(&self, work: impl Future<Output = ()>) {
        if let Some(runtime) = &self.0 {
            runtime.block_on(work);
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}
