//! Wire formats of vendors: the streams that their servers write, and the requests that they accept.

mod chat;
mod converse;
mod framing;
mod gemini;
mod messages;
mod ollama;
mod responses;

use super::{Answer, Asked, Failure, RecordedRequest, Reply, WireServer, rules::BrokenRules, schema};
use bytes::Bytes;
pub use chat::ChatForm;

/// A wire format, as its vendor publishes it: the shapes are those of the vendor's own SDKs and pages, and not those
/// that a client here expects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Dialect {
    /// The Messages API of Anthropic.
    Messages,
    /// The Responses API of OpenAI.
    Responses,
    /// Chat Completions, in the form of one of its vendors.
    Chat(ChatForm),
    /// `streamGenerateContent` of Gemini.
    Gemini,
    /// `ConverseStream` of Amazon Bedrock.
    Converse,
    /// The chat of Ollama's own API.
    Ollama,
}

impl Dialect {
    /// Returns the answer as the vendor streams it. `number` goes into the ids that the vendor makes up.
    #[must_use]
    pub fn reply(self, answer: &Answer, number: usize) -> Reply {
        self.stream(self.pieces(answer, number))
    }

    /// Returns the first events of an answer, and then a failure inside the stream, after the status 200.
    #[must_use]
    pub fn failing_reply(self, answer: &Answer, events: usize, failure: &Failure) -> Reply {
        let mut pieces = self.pieces(answer, 0);
        pieces.truncate(events);
        pieces.push(match self {
            Self::Messages => messages::failure(failure),
            Self::Responses => responses::failure(failure, answer),
            Self::Chat(form) => form.failure(failure),
            Self::Gemini => gemini::failure(failure),
            Self::Converse => converse::failure(failure),
            Self::Ollama => ollama::failure(failure),
        });
        self.stream(pieces)
    }

    /// Returns a failure at once: a status, and the vendor's body.
    #[must_use]
    pub fn error(self, failure: &Failure) -> Reply {
        let answer = match self {
            Self::Messages => messages::error(failure),
            Self::Responses => chat::error(failure, true),
            Self::Chat(_) => chat::error(failure, false),
            Self::Gemini => gemini::error(failure),
            Self::Converse => converse::error(failure),
            Self::Ollama => ollama::error(failure),
        };
        let reply = Reply::status(answer.status, answer.body.to_string()).header("content-type", "application/json");
        answer.headers.iter().fold(reply, |reply, (name, value)| reply.header(name, value))
    }

    /// Reads the content of a request.
    ///
    /// # Errors
    /// The first of the vendor's published rules that the request breaks, in words.
    pub fn read(self, request: &RecordedRequest) -> Result<Asked, String> {
        let of_cloud = if self == Self::Messages { messages::from_vertex(request)? } else { None };
        let request = of_cloud.as_ref().unwrap_or(request);
        let mut body = request.json().map_err(|error| format!("the body is not JSON: {error}"))?;
        if self == Self::Gemini {
            gemini::name_as_published(&mut body);
        }
        let shown = match self {
            Self::Chat(form) => form.without_additions(body.clone()),
            Self::Ollama => ollama::without_additions(body.clone()),
            _ => body.clone(),
        };
        let shape = match self {
            Self::Messages => &messages::SHAPE,
            Self::Responses => &responses::SHAPE,
            Self::Chat(_) => &chat::SHAPE,
            Self::Gemini => &gemini::SHAPE,
            Self::Converse => &converse::SHAPE,
            Self::Ollama => &ollama::SHAPE,
        };
        if let Some(misfit) = schema::misfit(shape, &shown) {
            return Err(misfit);
        }
        let mut faults = BrokenRules::default();
        let asked = match self {
            Self::Messages => messages::read(request, &body, &mut faults),
            Self::Responses => responses::read(request, &body, &mut faults),
            Self::Chat(form) => form.read(request, &body, &mut faults),
            Self::Gemini => gemini::read(request, &body, &mut faults),
            Self::Converse => converse::read(request, &body, &mut faults),
            Self::Ollama => ollama::read(request, &body, &mut faults),
        };
        faults.first().map(|()| asked)
    }

    /// Lets a server check each request by the vendor's rules: one that breaks a rule is refused as the vendor refuses
    /// it, the others are answered.
    pub fn serve(self, server: &WireServer, answer: impl Fn(&Asked) -> Answer + Send + Sync + 'static) {
        server.on_request(move |request| self.answer(request, &answer));
    }

    /// Returns the reply to one request, for servers of several dialects.
    pub fn answer(self, request: &RecordedRequest, answer: impl FnOnce(&Asked) -> Answer) -> Reply {
        match self.read(request) {
            Ok(asked) => self.reply(&answer(&asked), request.index),
            Err(broken) => self.error(&Failure::invalid(broken)),
        }
    }

    /// Returns the text that later requests contain for reasoning with this text and token.
    #[must_use]
    pub fn replayed(self, text: &str, token: &str) -> String {
        match self {
            Self::Chat(form) => form.replayed(text, token),
            Self::Ollama => text.to_owned(),
            _ => token.to_owned(),
        }
    }

    /// Returns the index of the event that ends the message, of a number of events: those after it only count.
    pub(crate) fn end_signal(self, events: usize) -> usize {
        let behind = match self {
            Self::Chat(_) => 3,
            Self::Converse => 2,
            Self::Messages | Self::Responses | Self::Gemini | Self::Ollama => 1,
        };
        events.saturating_sub(behind)
    }

    /// Returns events that no version has yet, in the form that a later one may add.
    pub(crate) fn unknown_events(self) -> Vec<Bytes> {
        let texts: &[&'static str] = match self {
            Self::Messages => &[
                "event: future\ndata: {\"type\":\"future\",\"index\":7,\"future\":{\"a\":[1]}}\n\n",
                "event: ping\ndata: {\"type\": \"ping\"}\n\n",
                ": a comment\n\n",
            ],
            Self::Responses => &[
                "event: response.future.delta\ndata: {\"type\":\"response.future.delta\",\"sequence_number\":7,\"delta\":\"x\"}\n\n",
                "event: keepalive\ndata: {\"type\":\"keepalive\",\"sequence_number\":7}\n\n",
                ": a comment\n\n",
            ],
            Self::Chat(_) => &[
                "data: {\"id\":\"chatcmpl-wire000000\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[],\"future\":{\"a\":[1]}}\n\n",
                "data: {\"id\":\"chatcmpl-wire000000\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"future\":\"x\"},\"finish_reason\":null}]}\n\n",
                ": OPENROUTER PROCESSING\n\n",
            ],
            Self::Gemini => &["data: {\"future\": {\"a\": [1]}}\r\n\r\n", ": a comment\r\n\r\n"],
            Self::Ollama => &[
                "{\"model\":\"m\",\"created_at\":\"2026-11-22T10:00:00Z\",\"message\":{\"role\":\"assistant\",\"content\":\"\",\"future\":1},\"done\":false}\n",
            ],
            Self::Converse => return vec![converse::unknown_event()],
        };
        texts.iter().map(|text| Bytes::from_static(text.as_bytes())).collect()
    }

    pub(crate) fn pieces(self, answer: &Answer, number: usize) -> Vec<Bytes> {
        match self {
            Self::Messages => messages::pieces(answer, number),
            Self::Responses => responses::pieces(answer, number),
            Self::Chat(form) => form.pieces(answer, number),
            Self::Gemini => gemini::pieces(answer, number),
            Self::Converse => converse::pieces(answer),
            Self::Ollama => ollama::pieces(answer),
        }
    }

    pub(crate) fn stream(self, pieces: Vec<Bytes>) -> Reply {
        Reply::pieces(pieces).header(
            "content-type",
            match self {
                Self::Converse => "application/vnd.amazon.eventstream",
                Self::Ollama => "application/x-ndjson",
                Self::Gemini => "text/event-stream",
                _ => "text/event-stream; charset=utf-8",
            },
        )
    }
}
