use std::{fmt::Write as _, io};

use bytes::Bytes;
use tokio::{io::AsyncWriteExt, net::TcpStream};

use super::{
    Gate, Reply,
    reply::{Framing, ReplyChunks, ReplyEnd, ReplyHead},
};

/// State of the connection after a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConnectionState {
    /// The reply is sent; the connection can carry another request.
    Kept,
    /// The reply asked for the end of the connection.
    Closed,
    /// The client hung up first.
    HungUp,
}

/// Sends one reply.
pub(super) async fn send(stream: &mut TcpStream, reply: &Reply, index: usize) -> io::Result<ConnectionState> {
    let (body, event_ends) = reply.render(index);
    let limit = match reply.end {
        ReplyEnd::Complete => body.len(),
        ReplyEnd::Stop(at) | ReplyEnd::Cut(at) | ReplyEnd::Reset(at) | ReplyEnd::Hang(at) => at.min(body.len()),
    };
    let mut sender = Sender { stream, pending: Vec::new(), chunked: reply.framing == Framing::Chunked };
    let mut stops = stops(reply, &event_ends, limit);
    if let Some(gate) = stops.first_gate()
        && sender.pause(&gate).await? == ConnectionState::HungUp
    {
        return Ok(ConnectionState::HungUp);
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
            && sender.pause(&gate).await? == ConnectionState::HungUp
        {
            return Ok(ConnectionState::HungUp);
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
        ReplyChunks::Natural => event_ends.iter().map(|end| (*end, None)).collect(),
        ReplyChunks::Whole => Vec::new(),
        ReplyChunks::Every(size) => (*size..limit).step_by(*size).map(|end| (end, None)).collect(),
        ReplyChunks::At(positions) => positions.iter().map(|end| (*end, None)).collect(),
    };
    ends.push((limit, None));
    ends.extend(reply.pauses.iter().map(|(at, gate)| (*at, Some(gate.clone()))));
    // A pause past a cut is never reached; one past a whole body is at its end.
    let whole = matches!(reply.end, ReplyEnd::Complete);
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
    fn head(&mut self, head: &ReplyHead, framing: Framing, length: usize) {
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

    async fn pause(&mut self, gate: &Gate) -> io::Result<ConnectionState> {
        self.flush().await?;
        tokio::select! {
            () = gate.pass() => Ok(ConnectionState::Kept),
            () = hung_up(self.stream) => Ok(ConnectionState::HungUp),
        }
    }

    async fn finish(mut self, reply: &Reply) -> io::Result<ConnectionState> {
        let whole = matches!(reply.end, ReplyEnd::Complete | ReplyEnd::Stop(_));
        if whole && self.chunked {
            self.pending.extend_from_slice(b"0\r\n\r\n");
        }
        self.flush().await?;
        match reply.end {
            ReplyEnd::Complete | ReplyEnd::Stop(_) => match reply.framing {
                Framing::Chunked => Ok(ConnectionState::Kept),
                // A shortened body with a length is not whole.
                Framing::Length if matches!(reply.end, ReplyEnd::Complete) => Ok(ConnectionState::Kept),
                Framing::Length | Framing::Close | Framing::Raw => self.close().await,
            },
            ReplyEnd::Cut(_) => self.close().await,
            ReplyEnd::Reset(_) => {
                self.stream.set_zero_linger()?;
                Ok(ConnectionState::Closed)
            }
            ReplyEnd::Hang(_) => {
                hung_up(self.stream).await;
                Ok(ConnectionState::HungUp)
            }
        }
    }

    async fn close(&mut self) -> io::Result<ConnectionState> {
        self.stream.shutdown().await?;
        Ok(ConnectionState::Closed)
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
