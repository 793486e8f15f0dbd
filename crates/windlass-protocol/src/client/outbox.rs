//! Queue through which all lines leave.

use std::io;
use std::sync::Arc;
use tokio::io::{AsyncWrite, AsyncWriteExt};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc};

/// Maximum number of waiting bytes. When they are reached, writers wait.
const MAX_WAITING_BYTES: u32 = 4 * 1024 * 1024;

/// The reader is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Gone;

/// A queue of lines, bounded in bytes. Cheap to clone; the lines of several writers stay whole.
#[derive(Debug, Clone)]
pub(crate) struct LineOutbox {
    lines: mpsc::UnboundedSender<QueuedLines>,
    room: Arc<Semaphore>,
}

/// Queued lines, with the space that they take.
#[derive(Debug)]
struct QueuedLines {
    /// `None` is the end.
    bytes: Option<Vec<u8>>,
    _room: Option<OwnedSemaphorePermit>,
}

/// Reserved space in the queue for some lines.
#[derive(Debug)]
pub(crate) struct Slot<'a> {
    outbox: &'a LineOutbox,
    room: OwnedSemaphorePermit,
}

impl LineOutbox {
    pub(crate) fn new() -> (Self, Lane) {
        let (sender, lines) = mpsc::unbounded_channel();
        let room = Arc::new(Semaphore::new(MAX_WAITING_BYTES as usize));
        (Self { lines: sender, room: Arc::clone(&room) }, Lane { lines, room })
    }

    /// Waits until there is space for `len` bytes. Cancel safe.
    pub(crate) async fn reserve(&self, len: usize) -> Result<Slot<'_>, Gone> {
        // A line that is longer than the queue takes all of it.
        let len = u32::try_from(len).unwrap_or(MAX_WAITING_BYTES).min(MAX_WAITING_BYTES);
        let room = Arc::clone(&self.room).acquire_many_owned(len).await.map_err(|_| Gone)?;
        Ok(Slot { outbox: self, room })
    }

    /// Sends lines when there is space. Cancel safe: all of them or none.
    pub(crate) async fn send(&self, bytes: Vec<u8>) -> Result<(), Gone> {
        if bytes.is_empty() {
            return Ok(());
        }
        self.reserve(bytes.len()).await?.send(bytes);
        Ok(())
    }

    /// Sends a line without waiting for space. Only for lines that follow from a sent line, so that there are never
    /// more than those.
    pub(crate) fn send_now(&self, bytes: Vec<u8>) {
        let _ = self.lines.send(QueuedLines { bytes: Some(bytes), _room: None });
    }

    /// Ends the queue. Lines that are sent after this are lost.
    pub(crate) fn finish(&self) {
        let _ = self.lines.send(QueuedLines { bytes: None, _room: None });
    }
}

impl Slot<'_> {
    /// Sends the lines for the reserved space.
    pub(crate) fn send(self, bytes: Vec<u8>) {
        let _ = self.outbox.lines.send(QueuedLines { bytes: Some(bytes), _room: Some(self.room) });
    }
}

/// Receiving end: writes lines to a stream.
#[derive(Debug)]
pub(crate) struct Lane {
    lines: mpsc::UnboundedReceiver<QueuedLines>,
    room: Arc<Semaphore>,
}

impl Lane {
    /// Writes to the end, and flushes whenever no line waits.
    pub(crate) async fn carry(mut self, mut output: impl AsyncWrite + Unpin) -> io::Result<()> {
        while let Some(mut lines) = self.lines.recv().await {
            loop {
                let Some(bytes) = lines.bytes else { return output.flush().await };
                output.write_all(&bytes).await?;
                match self.lines.try_recv() {
                    Ok(next) => lines = next,
                    Err(_) => break,
                }
            }
            output.flush().await?;
        }
        Ok(())
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // Wakes writers that wait for space with an error.
        self.room.close();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn a_reader_that_does_not_read_makes_writers_wait() {
        let (outbox, lane) = LineOutbox::new();
        let (near, mut far) = tokio::io::duplex(16);
        let carried = tokio::spawn(lane.carry(near));
        outbox.send(vec![b'x'; MAX_WAITING_BYTES as usize]).await.unwrap();
        assert!(outbox.send(b"late\n".to_vec()).now_or_never().is_none());
        let mut all = vec![0; MAX_WAITING_BYTES as usize];
        far.read_exact(&mut all).await.unwrap();
        outbox.send(b"late\n".to_vec()).await.unwrap();
        let mut late = [0; 5];
        far.read_exact(&mut late).await.unwrap();
        assert_eq!(&late, b"late\n");
        outbox.finish();
        carried.await.unwrap().unwrap();
    }

    #[tokio::test]
    async fn a_reader_that_is_gone_ends_the_wait() {
        let (outbox, lane) = LineOutbox::new();
        let (near, far) = tokio::io::duplex(16);
        let carried = tokio::spawn(lane.carry(near));
        outbox.send(vec![b'x'; MAX_WAITING_BYTES as usize]).await.unwrap();
        let waiting = tokio::spawn({
            let outbox = outbox.clone();
            async move { outbox.send(b"late\n".to_vec()).await }
        });
        drop(far);
        assert_eq!(waiting.await.unwrap(), Err(Gone));
        assert!(carried.await.unwrap().is_err());
    }
}
