use std::{fmt::Write as _, io};

use bytes::Bytes;
use tokio::{io::AsyncWriteExt, net::TcpStream};

use super::{
    Gate, Reply,
    reply::{Chunks, End, Framing, Head},
};

/// State of the connection after a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The reply is sent; the connection can carry another request.
    Kept,
    /// The reply asked for the end of the connection.
    Closed,
    /// The client hung up first.
    HungUp,
}

/// Sends one reply.
pub(super) async fn send(stream: &mut TcpStream, reply: &Reply, index: usize) -> io::Result<Outcome> {
    let (body, event_ends) = reply.render(index);
    let limit = match reply.end {
        End::Complete => body.len(),
        End::Stop(at) | End::Cut(at) | End::Reset(at) | End::Hang(at) => at.min(body.len()),
    };
    let mut sender = Sender { stream, pending: Vec::new(), chunked: reply.framing == Framing::Chunked };
    let mut stops = stops(reply, &event_ends, limit);
    if let Some(gate) = stops.first_gate()
        && sender.pause(&gate).await? == Outcome::HungUp
    {
        return Ok(Outcome::HungUp);
    }
    if reply.framing != Framing::Raw {
        sender.head(&reply.head, reply.framing, body.len());
    }
    let mut from = 0;
    for (end, gate) in stops.0 {
        sender.chunk(&body.slice(from..end));
        from = end;
        if reply.separate_writes {
            sender.flush().await?;
        }
        if let Some(gate) = gate
            && sender.pause(&gate).await? == Outcome::HungUp
        {
            return Ok(Outcome::HungUp);
        }
    }
    sender.finish(reply).await
}

/// The ends of the pieces to send, ascending, each with the gate to wait at.
struct Stops(Vec<(usize, Option<Gate>)>);

impl Stops {
    fn first_gate(&mut self) -> Option<Gate> {
        let (position, gate) = self.0.first_mut()?;
        if *position == 0 { gate.take() } else { None }
    }
}

fn stops(reply: &Reply, event_ends: &[usize], limit: usize) -> Stops {
    let mut ends: Vec<(usize, Option<Gate>)> = match &reply.chunks {
        Chunks::Natural => event_ends.iter().map(|end| (*end, None)).collect(),
        Chunks::Whole => Vec::new(),
        Chunks::Every(size) => (*size..limit).step_by(*size).map(|end| (end, None)).collect(),
        Chunks::At(positions) => positions.iter().map(|end| (*end, None)).collect(),
    };
    ends.push((limit, None));
    ends.extend(reply.pauses.iter().map(|(at, gate)| (*at, Some(gate.clone()))));
    // A pause past a cut is never reached; one past a whole body is at its end.
    let whole = matches!(reply.end, End::Complete);
    ends.retain(|(end, gate)| *end <= limit || (whole && gate.is_some()));
    for (end, _) in &mut ends {
        *end = (*end).min(limit);
    }
    ends.sort_by_key(|(end, _)| *end);
    Stops(ends)
}

struct Sender<'a> {
    stream: &'a mut TcpStream,
    pending: Vec<u8>,
    chunked: bool,
}

impl Sender<'_> {
    fn head(&mut self, head: &Head, framing: Framing, length: usize) {
        let mut text = format!("HTTP/1.1 {} Scripted\r\n", head.status);
        for (name, value) in &head.headers {
            // Writing to a string cannot fail.
            let _ = write!(text, "{name}: {value}\r\n");
        }
        let _ = match framing {
            Framing::Length => write!(text, "content-length: {length}\r\n\r\n"),
            Framing::Chunked => write!(text, "transfer-encoding: chunked\r\n\r\n"),
            Framing::Close | Framing::Raw => write!(text, "connection: close\r\n\r\n"),
        };
        self.pending.extend_from_slice(text.as_bytes());
    }

    fn chunk(&mut self, data: &Bytes) {
        if data.is_empty() {
            return;
        }
        if self.chunked {
            self.pending.extend_from_slice(format!("{:x}\r\n", data.len()).as_bytes());
        }
        self.pending.extend_from_slice(data);
        if self.chunked {
            self.pending.extend_from_slice(b"\r\n");
        }
    }

    async fn flush(&mut self) -> io::Result<()> {
        if !self.pending.is_empty() {
            self.stream.write_all(&self.pending).await?;
            self.pending.clear();
        }
        Ok(())
    }

    async fn pause(&mut self, gate: &Gate) -> io::Result<Outcome> {
        self.flush().await?;
        tokio::select! {
            () = gate.pass() => Ok(Outcome::Kept),
            () = hung_up(self.stream) => Ok(Outcome::HungUp),
        }
    }

    async fn finish(mut self, reply: &Reply) -> io::Result<Outcome> {
        let whole = matches!(reply.end, End::Complete | End::Stop(_));
        if whole && self.chunked {
            self.pending.extend_from_slice(b"0\r\n\r\n");
        }
        self.flush().await?;
        match reply.end {
            End::Complete | End::Stop(_) => match reply.framing {
                Framing::Chunked => Ok(Outcome::Kept),
                // A shortened body with a length is not whole.
                Framing::Length if matches!(reply.end, End::Complete) => Ok(Outcome::Kept),
                Framing::Length | Framing::Close | Framing::Raw => self.close().await,
            },
            End::Cut(_) => self.close().await,
            End::Reset(_) => {
                self.stream.set_zero_linger()?;
                Ok(Outcome::Closed)
            }
            End::Hang(_) => {
                hung_up(self.stream).await;
                Ok(Outcome::HungUp)
            }
        }
    }

    async fn close(&mut self) -> io::Result<Outcome> {
        self.stream.shutdown().await?;
        Ok(Outcome::Closed)
    }
}

/// Completes when the client has closed or reset the connection.
async fn hung_up(stream: &TcpStream) {
    let mut byte = [0];
    match stream.peek(&mut byte).await {
        Ok(0) | Err(_) => {}
        // The next request is already here: this client is still connected, and a hang-up cannot be seen before that
        // request is read.
        Ok(_) => std::future::pending().await,
    }
}
