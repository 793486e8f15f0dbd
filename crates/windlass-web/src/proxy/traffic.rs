//! Connections that end when no byte passes for too long.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf, copy_bidirectional};
use tokio::time::sleep;

/// Counter of passed bytes.
#[derive(Debug, Clone, Default)]
pub(super) struct Traffic(Arc<AtomicU64>);

impl Traffic {
    /// Runs until the work is done, or until nothing has passed for `limit`, or up to twice that.
    pub(super) async fn bound<T>(&self, limit: Duration, work: impl Future<Output = T>) -> Option<T> {
        let silence = async {
            loop {
                let before = self.0.load(Ordering::Relaxed);
                sleep(limit).await;
                if self.0.load(Ordering::Relaxed) == before {
                    return;
                }
            }
        };
        tokio::select! {
            done = work => Some(done),
            () = silence => None,
        }
    }

    fn passed(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

/// Stream whose bytes are counted.
pub(super) struct CountedStream<S> {
    stream: S,
    traffic: Traffic,
}

impl<S> CountedStream<S> {
    pub(super) fn new(stream: S, traffic: &Traffic) -> Self {
        Self { stream, traffic: traffic.clone() }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for CountedStream<S> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.traffic.passed();
        }
        polled
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for CountedStream<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, data);
        if matches!(polled, Poll::Ready(Ok(written)) if written > 0) {
            self.traffic.passed();
        }
        polled
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

/// Passes bytes in both directions until both have ended, or nothing passes for too long.
pub(super) async fn tunnel(
    client: impl AsyncRead + AsyncWrite + Unpin,
    server: impl AsyncRead + AsyncWrite + Unpin,
    limit: Duration,
) {
    let traffic = Traffic::default();
    let (mut client, mut server) = (CountedStream::new(client, &traffic), CountedStream::new(server, &traffic));
    // Both sides of a tunnel notice its end.
    let _ = traffic.bound(limit, copy_bidirectional(&mut client, &mut server)).await;
}
