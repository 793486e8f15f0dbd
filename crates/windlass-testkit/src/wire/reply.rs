use bytes::Bytes;
use serde_json::{Value, json};

use super::{Event, Gate, Message};

/// Reply of the server to one request.
///
/// Positions are bytes of the body before transfer coding; a position beyond the end means the end. Streams are sent
/// with chunked coding, one HTTP chunk for each event, all of them in as few writes as the pauses allow.
#[derive(Clone, Debug)]
pub struct Reply {
    pub(super) head: ReplyHead,
    pub(super) body: ReplyBody,
    pub(super) framing: Framing,
    pub(super) chunks: ReplyChunks,
    pub(super) pauses: Vec<(usize, Gate)>,
    pub(super) end: ReplyEnd,
    pub(super) separate_writes: bool,
}

#[derive(Clone, Debug)]
pub(super) struct ReplyHead {
    pub(super) status: u16,
    pub(super) headers: Vec<(String, String)>,
}

#[derive(Clone, Debug)]
pub(super) enum ReplyBody {
    Message(Box<Message>),
    Events(Vec<Event>),
    Pieces(Vec<Bytes>),
    Bytes(Bytes),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Framing {
    Length,
    Chunked,
    Close,
    Raw,
}

#[derive(Clone, Debug)]
pub(super) enum ReplyChunks {
    Natural,
    Whole,
    Every(usize),
    At(Vec<usize>),
}

#[derive(Clone, Copy, Debug)]
pub(super) enum ReplyEnd {
    Complete,
    Stop(usize),
    Cut(usize),
    Reset(usize),
    Hang(usize),
}

impl From<Message> for Reply {
    fn from(message: Message) -> Self {
        Self::message(message)
    }
}

impl Reply {
    /// Returns a whole streamed message.
    #[must_use]
    pub fn message(message: Message) -> Self {
        Self::stream(ReplyBody::Message(Box::new(message)))
    }

    /// Returns a 200 stream of exactly these events.
    #[must_use]
    pub fn events(events: Vec<Event>) -> Self {
        Self::stream(ReplyBody::Events(events))
    }

    /// Returns a 200 stream of exactly these pieces, each an event in the framing of its dialect. The caller sets the
    /// content type.
    #[must_use]
    pub fn pieces(pieces: Vec<Bytes>) -> Self {
        let head = ReplyHead { status: 200, headers: vec![("request-id".into(), "req_wire".into())] };
        Self::new(head, ReplyBody::Pieces(pieces), Framing::Chunked)
    }

    /// Returns a 200 event stream of exactly these bytes, well formed or not.
    #[must_use]
    pub fn stream_bytes(bytes: impl Into<Bytes>) -> Self {
        Self::stream(ReplyBody::Bytes(bytes.into()))
    }

    /// Returns a 200 with a JSON body.
    #[must_use]
    pub fn json(body: &Value) -> Self {
        Self::status(200, body.to_string()).header("content-type", "application/json")
    }

    /// Returns an API error: the status and the error body of the API.
    #[must_use]
    pub fn error(status: u16, kind: &str, message: &str) -> Self {
        let body = json!({
            "type": "error",
            "error": {"type": kind, "message": message},
            "request_id": "req_wire",
        });
        Self::status(status, body.to_string()).header("content-type", "application/json")
    }

    /// Returns any status with any body.
    #[must_use]
    pub fn status(status: u16, body: impl Into<Bytes>) -> Self {
        Self::new(ReplyHead { status, headers: Vec::new() }, ReplyBody::Bytes(body.into()), Framing::Length)
    }

    /// Sends these bytes instead of an HTTP response, and then closes the connection.
    #[must_use]
    pub fn raw(bytes: impl Into<Bytes>) -> Self {
        Self { framing: Framing::Raw, ..Self::status(200, bytes) }
    }

    /// Reads the request and never answers.
    #[must_use]
    pub fn never() -> Self {
        Self { end: ReplyEnd::Hang(0), ..Self::raw(Bytes::new()) }
    }

    /// Closes the connection (FIN) without an answer.
    #[must_use]
    pub fn close() -> Self {
        Self::raw(Bytes::new())
    }

    /// Resets the connection (RST) without an answer.
    #[must_use]
    pub fn reset() -> Self {
        Self { end: ReplyEnd::Reset(0), ..Self::raw(Bytes::new()) }
    }

    /// Adds a response header.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.head.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Sends the body in HTTP chunks of `bytes` bytes, the last one shorter.
    #[must_use]
    pub fn chunks_of(mut self, bytes: usize) -> Self {
        self.chunks = ReplyChunks::Every(bytes.max(1));
        self
    }

    /// Ends an HTTP chunk at each of these positions and nowhere else.
    #[must_use]
    pub fn chunks_at(mut self, positions: impl IntoIterator<Item = usize>) -> Self {
        self.chunks = ReplyChunks::At(positions.into_iter().collect());
        self
    }

    /// Sends the body as one HTTP chunk.
    #[must_use]
    pub fn one_chunk(mut self) -> Self {
        self.chunks = ReplyChunks::Whole;
        self
    }

    /// Writes each HTTP chunk to the socket by itself.
    #[must_use]
    pub fn separate_writes(mut self) -> Self {
        self.separate_writes = true;
        self
    }

    /// Waits at the gate after a number of sent bytes; 0 is before the head.
    #[must_use]
    pub fn pause_at(mut self, position: usize, gate: &Gate) -> Self {
        self.pauses.push((position, gate.clone()));
        self
    }

    /// Ends the body here as if it were whole: a well-formed HTTP response with a shortened stream.
    #[must_use]
    pub fn stop_at(mut self, position: usize) -> Self {
        self.end = ReplyEnd::Stop(position);
        self
    }

    /// Closes the connection (FIN) here, in the middle of the HTTP body.
    #[must_use]
    pub fn cut_at(mut self, position: usize) -> Self {
        self.end = ReplyEnd::Cut(position);
        self
    }

    /// Resets the connection (RST) here.
    #[must_use]
    pub fn reset_at(mut self, position: usize) -> Self {
        self.end = ReplyEnd::Reset(position);
        self
    }

    /// Falls silent here and keeps the connection open until the client hangs up.
    #[must_use]
    pub fn hang_at(mut self, position: usize) -> Self {
        self.end = ReplyEnd::Hang(position);
        self
    }

    /// Sends the body without length or chunks: its end is the end of the connection, so that [`cut_at`](Self::cut_at)
    /// looks like a whole response.
    #[must_use]
    pub fn until_close(mut self) -> Self {
        self.framing = Framing::Close;
        self
    }

    fn stream(body: ReplyBody) -> Self {
        let head = ReplyHead {
            status: 200,
            headers: vec![
                ("content-type".into(), "text/event-stream; charset=utf-8".into()),
                ("request-id".into(), "req_wire".into()),
            ],
        };
        Self::new(head, body, Framing::Chunked)
    }

    fn new(head: ReplyHead, body: ReplyBody, framing: Framing) -> Self {
        Self {
            head,
            body,
            framing,
            chunks: ReplyChunks::Natural,
            pauses: Vec::new(),
            end: ReplyEnd::Complete,
            separate_writes: false,
        }
    }

    /// Returns the body of this reply, and the end of each event. `index` is the number of the request and names the
    /// message.
    pub(super) fn render(&self, index: usize) -> (Bytes, Vec<usize>) {
        match &self.body {
            ReplyBody::Bytes(bytes) => (bytes.clone(), Vec::new()),
            ReplyBody::Events(events) => frames(events),
            ReplyBody::Pieces(pieces) => {
                let ends = pieces.iter().scan(0, |end, piece| {
                    *end += piece.len();
                    Some(*end)
                });
                (pieces.concat().into(), ends.collect())
            }
            ReplyBody::Message(message) => frames(&message.events(&format!("msg_wire_{index:06}"))),
        }
    }

    /// Returns the bytes of the body, so that a test can cut or split at each of them. The id of a message without one
    /// has the same length for every request.
    #[must_use]
    pub fn body(&self) -> Bytes {
        self.render(0).0
    }

    /// Returns the ends of the events in the body, in bytes.
    #[must_use]
    pub fn event_ends(&self) -> Vec<usize> {
        self.render(0).1
    }
}

fn frames(events: &[Event]) -> (Bytes, Vec<usize>) {
    let mut body = String::new();
    let ends = events
        .iter()
        .map(|event| {
            body.push_str(&event.frame());
            body.len()
        })
        .collect();
    (body.into(), ends)
}
