//! Standard output and standard error behind a queue.
//!
//! A thread of its own writes, so a reader that does not read delays only the tasks that wait for room in the queue:
//! meanwhile time limits run out, connections are served and signals are handled. Both streams go through one queue,
//! which keeps their order.

use std::collections::VecDeque;
use std::future::Future;
use std::io::{self, Write};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::io::AsyncWrite;
use tokio::sync::watch;

/// Maximum number of waiting bytes before producers have to wait.
const ROOM: usize = 256 * 1024;
/// Time limit for the remaining output after the signal to end.
const DRAIN_TIMEOUT: Duration = Duration::from_millis(300);
/// Stack size of the thread, in bytes. Writing takes little of it.
const STACK: usize = 128 * 1024;

/// The stream that a text goes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Target {
    /// Standard output.
    Out,
    /// Standard error, for errors, which must be written.
    Err,
    /// Standard error, for notes, which are left out when it is closed.
    Note,
}

/// Standard output and standard error. Clones share the queue.
#[derive(Clone)]
pub(crate) struct Writer(Arc<WriterShared>);

struct WriterShared {
    state: Mutex<WriterState>,
    /// Notified when there are bytes to write.
    work: Condvar,
    progress: watch::Sender<Progress>,
}

struct WriterState {
    waiting: VecDeque<(Target, Vec<u8>)>,
    /// Until the thread takes them.
    streams: Option<Streams>,
    failure: Option<Failure>,
}

struct Streams {
    out: Box<dyn Write + Send>,
    err: Box<dyn Write + Send>,
}

/// The state of the thread.
#[derive(Debug, Clone, Copy, Default)]
struct Progress {
    /// Bytes that are not written yet.
    left: usize,
    failed: bool,
    /// `true` once the process has the signal to end.
    hurry: bool,
}

/// The error after which no more is written.
#[derive(Debug, Clone)]
struct Failure {
    code: Option<i32>,
    kind: io::ErrorKind,
    text: String,
}

impl From<&io::Error> for Failure {
    fn from(error: &io::Error) -> Self {
        Self { code: error.raw_os_error(), kind: error.kind(), text: error.to_string() }
    }
}

impl From<&Failure> for io::Error {
    fn from(failure: &Failure) -> Self {
        match failure.code {
            Some(code) => Self::from_raw_os_error(code),
            None => Self::new(failure.kind, failure.text.clone()),
        }
    }
}

impl Writer {
    /// The streams of this process. The thread starts with the first output.
    pub(crate) fn of_process() -> Self {
        Self::over(io::stdout(), io::stderr())
    }

    fn over(out: impl Write + Send + 'static, err: impl Write + Send + 'static) -> Self {
        let streams = Some(Streams { out: Box::new(out), err: Box::new(err) });
        let state = Mutex::new(WriterState { waiting: VecDeque::new(), streams, failure: None });
        Self(Arc::new(WriterShared { state, work: Condvar::new(), progress: watch::Sender::default() }))
    }

    /// Returns one of the streams. Bytes written to it are queued at once, whether there is room or not.
    pub(crate) fn to(&self, target: Target) -> Stream {
        Stream { writer: self.clone(), target }
    }

    fn push(&self, target: Target, bytes: &[u8]) -> io::Result<()> {
        let mut state = self.0.lock();
        if let Some(failure) = &state.failure {
            // Notes may be left out.
            return if target == Target::Note { Ok(()) } else { Err(failure.into()) };
        }
        if bytes.is_empty() {
            return Ok(());
        }
        if let Some(streams) = state.streams.take() {
            let shared = Arc::clone(&self.0);
            let thread = std::thread::Builder::new().name("output".to_owned()).stack_size(STACK);
            let none = |error: io::Error| io::Error::new(error.kind(), format!("no thread can be started: {error}"));
            thread.spawn(move || shared.write(streams)).map_err(none)?;
        }
        match state.waiting.back_mut() {
            Some((last, waiting)) if *last == target => waiting.extend_from_slice(bytes),
            _ => state.waiting.push_back((target, bytes.to_vec())),
        }
        self.0.progress.send_modify(|progress| progress.left = progress.left.saturating_add(bytes.len()));
        self.0.work.notify_one();
        Ok(())
    }

    /// Waits until there is room for more, or for the signal to end. Cancel safe.
    ///
    /// # Errors
    /// The output cannot be written any more.
    pub(crate) async fn room(&self) -> io::Result<()> {
        self.until(|progress| progress.hurry || progress.left <= ROOM).await
    }

    /// Waits until all bytes are written, or for the signal to end. Cancel safe.
    ///
    /// # Errors
    /// The output cannot be written any more.
    pub(crate) async fn written(&self) -> io::Result<()> {
        self.until(|progress| progress.hurry || progress.left == 0).await
    }

    /// Waits until the output cannot be written any more, and returns the error. Cancel safe.
    pub(crate) async fn failed(&self) -> io::Error {
        match self.until(|_| false).await {
            Err(error) => error,
            Ok(()) => std::future::pending().await,
        }
    }

    /// Waits until all bytes are written, also for a slow reader; but only briefly when the process has the signal to
    /// end.
    ///
    /// # Errors
    /// A part could not be written.
    pub(crate) async fn finish(&self) -> io::Result<()> {
        self.written().await?;
        match tokio::time::timeout(DRAIN_TIMEOUT, self.until(|progress| progress.left == 0)).await {
            Ok(written) => written,
            // The rest is no longer waited for.
            Err(_) => Ok(()),
        }
    }

    /// Handles the signal to end: from now on no task waits for a reader.
    pub(crate) fn hurry(&self) {
        self.0.progress.send_modify(|progress| progress.hurry = true);
    }

    async fn until(&self, done: impl Fn(&Progress) -> bool) -> io::Result<()> {
        // Checked for each event, and nearly always so already.
        if matches!(&*self.0.progress.borrow(), progress if !progress.failed && done(progress)) {
            return Ok(());
        }
        let mut progress = self.0.progress.subscribe();
        // The wait cannot fail: `self` holds the sender.
        let failed = progress.wait_for(|progress| progress.failed || done(progress)).await.is_ok_and(|at| at.failed);
        match &self.0.lock().failure {
            Some(failure) if failed => Err(failure.into()),
            _ => Ok(()),
        }
    }
}

impl WriterShared {
    fn lock(&self) -> MutexGuard<'_, WriterState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes queued bytes, for as long as the streams accept them.
    fn write(&self, mut streams: Streams) {
        loop {
            let batch = {
                let mut state = self.lock();
                while state.waiting.is_empty() {
                    state = self.work.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
                std::mem::take(&mut state.waiting)
            };
            for (target, bytes) in batch {
                let stream = if target == Target::Out { &mut streams.out } else { &mut streams.err };
                let written = stream.write_all(&bytes).and_then(|()| stream.flush());
                if let Err(error) = written
                    && target != Target::Note
                {
                    let mut state = self.lock();
                    state.failure = Some(Failure::from(&error));
                    state.waiting.clear();
                    drop(state);
                    self.progress.send_modify(|progress| (progress.left, progress.failed) = (0, true));
                    return;
                }
                self.progress.send_modify(|progress| progress.left = progress.left.saturating_sub(bytes.len()));
            }
        }
    }
}

/// One stream of a [`Writer`].
#[derive(Clone)]
pub(crate) struct Stream {
    writer: Writer,
    target: Target,
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.writer.push(self.target, bytes).map(|()| bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

type Wait = Pin<Box<dyn Future<Output = io::Result<()>> + Send>>;

/// Standard output as a stream that waits for room, and whose flush waits for the reader.
pub(crate) struct WaitingOutput {
    writer: Writer,
    wait: Option<Wait>,
}

impl WaitingOutput {
    pub(crate) fn new(writer: Writer) -> Self {
        Self { writer, wait: None }
    }

    fn poll_wait(&mut self, cx: &mut Context<'_>, begin: impl FnOnce(Writer) -> Wait) -> Poll<io::Result<()>> {
        let wait = self.wait.get_or_insert_with(|| begin(self.writer.clone()));
        let done = ready!(wait.as_mut().poll(cx));
        self.wait = None;
        Poll::Ready(done)
    }
}

impl AsyncWrite for WaitingOutput {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        ready!(self.poll_wait(cx, |writer| Box::pin(async move { writer.room().await })))?;
        Poll::Ready(self.writer.push(Target::Out, bytes).map(|()| bytes.len()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_wait(cx, |writer| Box::pin(async move { writer.written().await }))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush(cx)
    }
}

#[cfg(test)]
mod tests;
