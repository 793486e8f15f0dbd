//! Interrupts and termination.

use crate::writer::Writer;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, watch};
use windlass::SessionHandle;

/// How long a session may take to close when the process is to end.
const LAST_WORDS: Duration = Duration::from_secs(4);
/// How long the rest may take: servers that are programs end, and a reader takes what is left.
const CLEAN_UP: Duration = Duration::from_secs(3);

/// Listens for signals on a thread of its own, so that they count while
/// other threads wait.
#[derive(Clone)]
pub(crate) struct Signals(Arc<Shared>);

struct Shared {
    session: Mutex<Option<SessionHandle>>,
    output: Writer,
    /// Whether there is work that ends by itself, and what tells it to.
    stops: AtomicBool,
    stop: Notify,
    /// The exit code that a signal asks for; zero for none.
    code: AtomicI32,
    /// Whether the listener has begun, or never will. Until then signals do what they do by default.
    begun: watch::Sender<bool>,
}

impl Signals {
    /// Begins to listen. Without a session the first signal ends the process. A signal to end does not
    /// wait for the reader of the output.
    pub(crate) fn listen(output: Writer) -> Self {
        let signals = Self(Arc::new(Shared {
            session: Mutex::default(),
            output,
            stops: AtomicBool::new(false),
            stop: Notify::new(),
            code: AtomicI32::new(0),
            begun: watch::Sender::new(false),
        }));
        let listener = signals.clone();
        let thread = std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            if let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() {
                runtime.block_on(listener.run());
            }
            listener.0.begun.send_replace(true);
        });
        if thread.is_err() {
            signals.0.begun.send_replace(true);
        }
        signals
    }

    /// Does work that is dropped when a signal comes; `None` then. The work may start programs, which a signal by default would leave
    /// behind, so it waits for the listener.
    pub(crate) async fn stopping<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        // The sender is held here, so it is not gone.
        let _ = self.0.begun.subscribe().wait_for(|begun| *begun).await;
        self.0.stops.store(true, Ordering::SeqCst);
        let done = tokio::select! {
            done = work => Some(done),
            () = self.0.stop.notified() => None,
        };
        self.0.stops.store(false, Ordering::SeqCst);
        // A signal that came as the work ended counts too.
        done.filter(|_| self.exit_code().is_none())
    }

    /// The session that signals are about from now on.
    pub(crate) fn watch(&self, session: SessionHandle) {
        *self.0.session.lock().unwrap_or_else(PoisonError::into_inner) = Some(session);
    }

    /// The exit code that a signal asks for, if one came.
    pub(crate) fn exit_code(&self) -> Option<i32> {
        Some(self.0.code.load(Ordering::SeqCst)).filter(|code| *code != 0)
    }

    /// The reason for which a signal stops the run, if it is another one than the user's Ctrl-C.
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

    /// The first interrupt stops the run and what it left in the background, the second the process.
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
            let _ = tokio::time::timeout(LAST_WORDS, session.close()).await;
            // The run has ended; the process does so by itself unless a task holds it up. The programs that it then leaves
            // are ended by the watchdog.
            tokio::time::sleep(CLEAN_UP).await;
        } else if self.0.stops.load(Ordering::SeqCst) {
            self.0.stop.notify_one();
            tokio::time::sleep(CLEAN_UP).await;
        }
        std::process::exit(code);
    }

    #[cfg(unix)]
    async fn run(&self) {
        use tokio::signal::unix::{SignalKind, signal};
        let (Ok(mut interrupt), Ok(mut terminate), Ok(mut hangup)) =
            (signal(SignalKind::interrupt()), signal(SignalKind::terminate()), signal(SignalKind::hangup()))
        else {
            return;
        };
        self.0.begun.send_replace(true);
        loop {
            tokio::select! {
                _ = interrupt.recv() => self.interrupt(),
                _ = terminate.recv() => self.terminate(143).await,
                _ = hangup.recv() => self.terminate(129).await,
            }
        }
    }

    #[cfg(not(unix))]
    async fn run(&self) {
        self.0.begun.send_replace(true);
        while tokio::signal::ctrl_c().await.is_ok() {
            self.interrupt();
        }
    }
}
