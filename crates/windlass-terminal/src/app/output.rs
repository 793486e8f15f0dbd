//! Output to a terminal that may stop reading, such as one behind a stalled network or Ctrl+S.
//!
//! A thread writes, so that keys are read and the run continues while the terminal does not read.

use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;

/// Longest wait for a terminal to take a frame before it counts as stalled. A terminal that reads needs less than a millisecond.
const PATIENCE: Duration = Duration::from_millis(25);

/// Writer of a terminal that never blocks for long: [`WouldBlock`](ErrorKind::WouldBlock) while the terminal does not read.
#[derive(Debug)]
pub(super) struct TerminalOutput {
    shared: Arc<Shared>,
    /// `true` if the terminal has not taken the bytes before within the patience.
    is_stalled: bool,
}

/// State of a [`TerminalOutput`] for the loop.
#[derive(Debug, Clone)]
pub(super) struct OutputState(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    frame: Mutex<Frame>,
    changed: Condvar,
    /// Permit for the loop once a terminal that was waited for has read.
    is_idle: Notify,
}

/// Bytes between the loop and the thread.
#[derive(Debug)]
struct Frame {
    bytes: Vec<u8>,
    /// `true` until the terminal has taken the bytes.
    is_busy: bool,
    /// `true` if the loop was refused and waits.
    is_awaited: bool,
    is_closed: bool,
    patience: Duration,
    failure: Option<Failure>,
}

/// Error of the writer, repeated for each later call.
#[derive(Debug, Clone, Copy)]
struct Failure {
    code: Option<i32>,
    kind: ErrorKind,
}

impl Failure {
    fn error(self) -> io::Error {
        self.code.map_or_else(|| self.kind.into(), io::Error::from_raw_os_error)
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Frame> {
        self.frame.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for the terminal to take the bytes, at most so long.
    fn wait(&self, limit: Duration) -> MutexGuard<'_, Frame> {
        let waited = self.changed.wait_timeout_while(self.lock(), limit, |frame| frame.is_busy);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }

    /// Writes what the loop hands over until it is closed.
    fn serve(&self, mut writer: impl Write) {
        loop {
            let bytes = {
                let idle = |frame: &mut Frame| !frame.is_busy && !frame.is_closed;
                let waited = self.changed.wait_while(self.lock(), idle);
                let mut frame = waited.unwrap_or_else(PoisonError::into_inner);
                if !frame.is_busy {
                    return;
                }
                std::mem::take(&mut frame.bytes)
            };
            let written = writer.write_all(&bytes).and_then(|()| writer.flush());
            let mut frame = self.lock();
            frame.is_busy = false;
            if let Err(error) = written {
                frame.failure = Some(Failure { code: error.raw_os_error(), kind: error.kind() });
            }
            if std::mem::take(&mut frame.is_awaited) {
                self.is_idle.notify_one();
            }
            drop(frame);
            self.changed.notify_all();
        }
    }
}

impl TerminalOutput {
    /// Output to a writer that may block.
    ///
    /// # Errors
    /// No thread can be started.
    pub(super) fn new(writer: impl Write + Send + 'static) -> io::Result<(Self, OutputState)> {
        let frame = Frame {
            bytes: Vec::new(),
            is_busy: false,
            is_awaited: false,
            is_closed: false,
            patience: PATIENCE,
            failure: None,
        };
        let shared = Arc::new(Shared { frame: Mutex::new(frame), changed: Condvar::new(), is_idle: Notify::new() });
        let served = Arc::clone(&shared);
        std::thread::Builder::new().name("screen".to_owned()).spawn(move || served.serve(writer))?;
        Ok((Self { shared: Arc::clone(&shared), is_stalled: false }, OutputState(shared)))
    }

    /// The frame between loop and thread, once the terminal has taken the bytes before.
    fn ready(&mut self) -> io::Result<MutexGuard<'_, Frame>> {
        let patience = if self.is_stalled { Duration::ZERO } else { self.shared.lock().patience };
        let mut frame = self.shared.wait(patience);
        if let Some(failure) = frame.failure {
            return Err(failure.error());
        }
        self.is_stalled = frame.is_busy;
        if frame.is_busy {
            frame.is_awaited = true;
            return Err(ErrorKind::WouldBlock.into());
        }
        Ok(frame)
    }
}

impl Write for TerminalOutput {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if bytes.is_empty() {
            return Ok(0);
        }
        let mut frame = self.ready()?;
        frame.bytes.extend_from_slice(bytes);
        frame.is_busy = true;
        drop(frame);
        self.shared.changed.notify_all();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.ready().map(drop)
    }
}

impl Drop for TerminalOutput {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_all();
    }
}

impl OutputState {
    /// Waits until a terminal that had stopped reading has read. Cancel safe.
    pub(super) async fn idle(&self) {
        self.0.is_idle.notified().await;
    }

    /// Waits for the terminal to read, at most so long. Returns `true` if it has.
    pub(super) fn wait(&self, limit: Duration) -> bool {
        !self.0.wait(limit).is_busy
    }

    /// Lets frames that follow wait for the terminal so long.
    pub(super) fn set_patience(&self, patience: Duration) {
        self.0.lock().patience = patience;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;

    /// A terminal that reads one piece for each permit.
    struct SlowTerminal {
        permits: mpsc::Receiver<()>,
        read: Arc<Mutex<Vec<u8>>>,
    }

    impl Write for SlowTerminal {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.permits.recv().map_err(|_| io::Error::from(ErrorKind::BrokenPipe))?;
            self.read.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_terminal_that_stalls_blocks_nobody_and_loses_nothing() {
        let (permit, permits) = mpsc::channel();
        let read = Arc::new(Mutex::new(Vec::new()));
        let (mut output, state) = TerminalOutput::new(SlowTerminal { permits, read: Arc::clone(&read) }).unwrap();
        assert_eq!(output.write(b"one").unwrap(), 3);
        assert_eq!(output.flush().unwrap_err().kind(), ErrorKind::WouldBlock);
        assert_eq!(output.write(b"two").unwrap_err().kind(), ErrorKind::WouldBlock);
        assert!(!state.wait(Duration::from_millis(1)));
        permit.send(()).unwrap();
        state.idle().await;
        output.flush().unwrap();
        permit.send(()).unwrap();
        assert_eq!(output.write(b"two").unwrap(), 3);
        assert!(state.wait(Duration::from_secs(30)));
        output.flush().unwrap();
        assert_eq!(*read.lock().unwrap(), b"onetwo");
        // A terminal that is gone.
        drop(permit);
        assert_eq!(output.write(b"three").unwrap(), 5);
        state.wait(Duration::from_secs(30));
        assert_eq!(output.flush().unwrap_err().kind(), ErrorKind::BrokenPipe);
    }

    #[test]
    fn the_last_bytes_are_written_after_the_output_is_dropped() {
        let (permit, permits) = mpsc::channel();
        let read = Arc::new(Mutex::new(Vec::new()));
        let (mut output, state) = TerminalOutput::new(SlowTerminal { permits, read: Arc::clone(&read) }).unwrap();
        assert_eq!(output.write(b"end").unwrap(), 3);
        drop(output);
        permit.send(()).unwrap();
        assert!(state.wait(Duration::from_secs(30)));
        assert_eq!(*read.lock().unwrap(), b"end");
    }
}
