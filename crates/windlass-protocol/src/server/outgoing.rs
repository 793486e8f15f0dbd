//! Output to the host: lines in their order.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::AsyncWrite;

/// Lines on their way to the host.
#[derive(Debug, Default)]
pub(super) struct OutgoingLines {
    bytes: Vec<u8>,
    /// Number of written bytes.
    written: usize,
    is_flushed: bool,
}

impl OutgoingLines {
    /// Number of waiting bytes.
    pub(super) fn len(&self) -> usize {
        self.bytes.len().saturating_sub(self.written)
    }

    /// `true` if all lines are written.
    pub(super) fn is_done(&self) -> bool {
        self.len() == 0 && self.is_flushed
    }

    /// Adds lines after the waiting ones.
    pub(super) fn push(&mut self, lines: Vec<u8>) {
        self.is_flushed = false;
        if self.len() == 0 {
            (self.bytes, self.written) = (lines, 0);
            return;
        }
        if self.written > self.bytes.len() / 2 {
            self.bytes.drain(..self.written);
            self.written = 0;
        }
        self.bytes.extend_from_slice(&lines);
    }

    /// Writes as much as possible now, and flushes when no frame waits. Ready when it made progress.
    ///
    /// # Errors
    /// The reader is gone.
    pub(super) fn poll_write(
        &mut self,
        mut output: Pin<&mut impl AsyncWrite>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<()>> {
        let len_before = self.len();
        while self.len() > 0 {
            let rest = self.bytes.get(self.written..).unwrap_or_default();
            match output.as_mut().poll_write(cx, rest)? {
                Poll::Ready(0) => return Poll::Ready(Err(io::ErrorKind::WriteZero.into())),
                Poll::Ready(written) => self.written += written,
                Poll::Pending if self.len() == len_before => return Poll::Pending,
                Poll::Pending => return Poll::Ready(Ok(())),
            }
        }
        if len_before > 0 {
            // A long line must not keep its memory for ever.
            (self.bytes, self.written) = (Vec::new(), 0);
            return Poll::Ready(Ok(()));
        }
        if self.is_flushed {
            return Poll::Pending;
        }
        ready!(output.as_mut().poll_flush(cx))?;
        self.is_flushed = true;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::future::poll_fn;
    use tokio::io::AsyncReadExt;

    #[tokio::test]
    async fn what_is_pushed_comes_out_in_order_however_little_is_read() {
        let (mut near, mut far) = tokio::io::duplex(7);
        let mut outgoing = OutgoingLines::default();
        let mut expected = String::new();
        let reading = tokio::spawn(async move {
            let mut all = String::new();
            far.read_to_string(&mut all).await.unwrap();
            all
        });
        for n in 0..100 {
            let line = format!("{n}{}\n", "x".repeat(n % 13));
            expected.push_str(&line);
            outgoing.push(line.into_bytes());
            if n % 3 == 0 {
                poll_fn(|cx| outgoing.poll_write(Pin::new(&mut near), cx)).await.unwrap();
            }
        }
        while !outgoing.is_done() {
            poll_fn(|cx| outgoing.poll_write(Pin::new(&mut near), cx)).await.unwrap();
        }
        assert_eq!(outgoing.len(), 0);
        drop(near);
        assert_eq!(reading.await.unwrap(), expected);
    }

    #[tokio::test]
    async fn a_reader_that_is_gone_is_an_error() {
        let (mut near, far) = tokio::io::duplex(7);
        drop(far);
        let mut outgoing = OutgoingLines::default();
        outgoing.push(b"x\n".to_vec());
        assert!(poll_fn(|cx| outgoing.poll_write(Pin::new(&mut near), cx)).await.is_err());
    }
}
