//! Bytes that the keyboard sends.
//!
//! A thread waits for the terminal, but only while bytes are asked for: another program, such as an editor, may read the
//! same terminal in between.

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;
use std::sync::mpsc as requests;
use std::time::Duration;
use tokio::sync::mpsc;

/// Limit of the wait for the thread to let go of the terminal, in milliseconds.
const LETTING_GO: u32 = 1000;

/// Reader of a terminal.
#[derive(Debug)]
pub(super) struct TerminalReader {
    requests: requests::Sender<()>,
    replies: mpsc::UnboundedReceiver<Reply>,
    wake: OwnedFd,
    woken: Arc<OwnedFd>,
    /// `true` while the thread waits for bytes.
    is_asked: bool,
    /// Bytes that came while the terminal was let go of.
    early: Option<io::Result<Vec<u8>>>,
}

#[derive(Debug)]
enum Reply {
    Bytes(io::Result<Vec<u8>>),
    LetGo,
}

impl TerminalReader {
    /// A reader of the terminal behind a descriptor.
    ///
    /// # Errors
    /// No thread can be started, or the system has no descriptors left.
    pub(super) fn new(terminal: impl AsFd) -> io::Result<Self> {
        let terminal = terminal.as_fd().try_clone_to_owned()?;
        let (woken, wake) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
        let woken = Arc::new(woken);
        let awaited = Arc::clone(&woken);
        let (requests, asked) = requests::channel();
        let (replies, received) = mpsc::unbounded_channel();
        std::thread::Builder::new().name("keyboard".to_owned()).spawn(move || {
            for () in asked {
                if replies.send(wait(&terminal, &awaited)).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { requests, replies: received, wake, woken, is_asked: false, early: None })
    }

    /// Waits for bytes; none at the end of the terminal. Cancel safe.
    ///
    /// # Errors
    /// The terminal cannot be read.
    pub(super) async fn read(&mut self) -> io::Result<Vec<u8>> {
        loop {
            if let Some(early) = self.early.take() {
                return early;
            }
            if !self.is_asked {
                // A wake that came too late for the request before. The thread would take one for this request, too.
                while rustix::io::read(&self.woken, &mut [0; 16]).is_ok_and(|count| count > 0) {}
                self.is_asked = self.requests.send(()).is_ok();
            }
            match self.replies.recv().await {
                Some(Reply::Bytes(bytes)) => {
                    self.is_asked = false;
                    return bytes;
                }
                Some(Reply::LetGo) => self.is_asked = false,
                None => return Ok(Vec::new()),
            }
        }
    }

    /// Lets go of the terminal until the next [`read`](Self::read), at most a second later.
    pub(super) fn let_go(&mut self) {
        if !self.is_asked {
            return;
        }
        self.wake();
        for _ in 0..LETTING_GO {
            match self.replies.try_recv() {
                Ok(Reply::Bytes(bytes)) => self.early = Some(bytes),
                Ok(Reply::LetGo) | Err(mpsc::error::TryRecvError::Disconnected) => {}
                Err(mpsc::error::TryRecvError::Empty) => {
                    std::thread::sleep(Duration::from_millis(1));
                    continue;
                }
            }
            self.is_asked = false;
            return;
        }
    }

    fn wake(&self) {
        // A full pipe has woken the thread already.
        let _ = rustix::io::write(&self.wake, b"w");
    }
}

impl Drop for TerminalReader {
    fn drop(&mut self) {
        self.wake();
    }
}

/// Waits for bytes of the terminal, or for a wake.
fn wait(terminal: &OwnedFd, woken: &OwnedFd) -> Reply {
    loop {
        let mut descriptors = [PollFd::new(terminal, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
        match poll(&mut descriptors, None::<&Timespec>) {
            Ok(_) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Reply::Bytes(Err(error.into())),
        }
        let [keys, wake] = descriptors;
        if !wake.revents().is_empty() {
            return Reply::LetGo;
        }
        if keys.revents().is_empty() {
            continue;
        }
        let mut buffer = [0; 4096];
        return Reply::Bytes(match rustix::io::read(terminal, &mut buffer[..]) {
            Ok(count) => Ok(buffer.get(..count).unwrap_or_default().to_vec()),
            Err(rustix::io::Errno::INTR) => continue,
            // A terminal that is gone.
            Err(rustix::io::Errno::IO) => Ok(Vec::new()),
            Err(error) => Err(error.into()),
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn bytes_come_while_they_are_asked_for_and_stay_for_others_meanwhile() {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        let mut reader = TerminalReader::new(&read).unwrap();
        rustix::io::write(&write, b"one").unwrap();
        assert_eq!(reader.read().await.unwrap(), b"one");
        // A read that was given up waits on.
        assert!(tokio::time::timeout(Duration::from_millis(20), reader.read()).await.is_err());
        reader.let_go();
        rustix::io::write(&write, b"for an editor").unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
        let mut buffer = [0; 64];
        assert_eq!(rustix::io::read(&read, &mut buffer[..]).unwrap(), 13);
        rustix::io::write(&write, b"two").unwrap();
        assert_eq!(reader.read().await.unwrap(), b"two");
        drop(write);
        assert!(reader.read().await.unwrap().is_empty(), "the end of the terminal");
    }

    #[tokio::test]
    async fn a_terminal_that_is_asked_for_and_let_go_at_once_is_free() {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        let mut reader = TerminalReader::new(&read).unwrap();
        for _ in 0..100 {
            assert!(tokio::time::timeout(Duration::ZERO, reader.read()).await.is_err());
            reader.let_go();
            assert!(!reader.is_asked, "the thread still waits for the keys of another program");
        }
        rustix::io::write(&write, b"x").unwrap();
        assert_eq!(reader.read().await.unwrap(), b"x");
    }

    #[tokio::test]
    async fn bytes_that_come_as_the_terminal_is_let_go_are_kept() {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC).unwrap();
        let mut reader = TerminalReader::new(&read).unwrap();
        for _ in 0..50 {
            assert!(tokio::time::timeout(Duration::from_micros(50), reader.read()).await.is_err());
            rustix::io::write(&write, b"x").unwrap();
            reader.let_go();
            assert_eq!(reader.read().await.unwrap(), b"x");
        }
    }
}
