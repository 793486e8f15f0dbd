use std::fmt::Write as _;

use serde_json::{Value, json};

/// One server-sent event, before framing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "tests build and take events apart")]
pub struct Event {
    /// Value of the `event` field.
    pub name: String,
    /// Value of the `data` field, on one line.
    pub data: String,
}

impl Event {
    /// Returns an event whose name is the `type` of its data, as in the API.
    #[must_use]
    pub fn new(data: &Value) -> Self {
        let name = data.get("type").and_then(Value::as_str);
        Self::named(name.unwrap_or("message"), data.to_string())
    }

    /// Returns an event of this name with exactly this data.
    #[must_use]
    pub fn named(name: &str, data: impl Into<String>) -> Self {
        Self { name: name.to_owned(), data: data.into() }
    }

    /// Returns the bytes on the wire: two lines and the blank line.
    #[must_use]
    pub fn frame(&self) -> String {
        let mut frame = String::with_capacity(self.name.len() + self.data.len() + 16);
        // Writing to a string cannot fail.
        let _ = write!(frame, "event: {}\ndata: {}\n\n", self.name, self.data);
        frame
    }
}

/// An assistant message, streamed like those of the Messages API.
///
/// The stop reason is `tool_use` when there is a tool call and `end_turn` when not, unless it is set. The message id
/// differs for each request of a server, unless it is set.
#[derive(Clone, Debug)]
pub struct Message {
    id: Option<String>,
    model: String,
    blocks: Vec<WireBlockText>,
    stop_reason: Option<String>,
    input_tokens: u64,
    output_tokens: u64,
    cache_read: u64,
    cache_creation: u64,
}

/// JSON texts, because the API writes the `type` first and a JSON map would not.
#[derive(Clone, Debug)]
struct WireBlockText {
    start: String,
    deltas: Vec<String>,
    is_call: bool,
}

impl Default for Message {
    fn default() -> Self {
        Self::new()
    }
}

impl Message {
    /// Returns a message without content.
    #[must_use]
    pub fn new() -> Self {
        Self {
            id: None,
            model: "claude-wire-1".to_owned(),
            blocks: Vec::new(),
            stop_reason: None,
            input_tokens: 10,
            output_tokens: 5,
            cache_read: 0,
            cache_creation: 0,
        }
    }

    /// Adds a text block that is streamed in one delta.
    #[must_use]
    pub fn text(self, text: &str) -> Self {
        self.text_deltas([text])
    }

    /// Adds a text block that is streamed in these deltas.
    #[must_use]
    pub fn text_deltas<'a>(self, deltas: impl IntoIterator<Item = &'a str>) -> Self {
        let deltas =
            deltas.into_iter().map(|text| format!(r#"{{"type":"text_delta","text":{}}}"#, quoted(text))).collect();
        self.push(r#"{"type":"text","text":""}"#.to_owned(), deltas)
    }

    /// Adds a thinking block with its signature.
    #[must_use]
    pub fn thinking(self, thinking: &str, signature: &str) -> Self {
        let deltas = vec![
            format!(r#"{{"type":"thinking_delta","thinking":{}}}"#, quoted(thinking)),
            format!(r#"{{"type":"signature_delta","signature":{}}}"#, quoted(signature)),
        ];
        self.push(r#"{"type":"thinking","thinking":"","signature":""}"#.to_owned(), deltas)
    }

    /// Adds a redacted thinking block.
    #[must_use]
    pub fn redacted_thinking(self, data: &str) -> Self {
        self.push(format!(r#"{{"type":"redacted_thinking","data":{}}}"#, quoted(data)), Vec::new())
    }

    /// Adds a tool call. Its input is streamed in several deltas, the first one empty.
    #[expect(clippy::needless_pass_by_value, reason = "callers pass json!({..}) literals")]
    #[must_use]
    pub fn tool_use(self, id: &str, name: &str, input: Value) -> Self {
        self.tool_use_text(id, name, &input.to_string())
    }

    /// Adds a tool call whose input is exactly this text, valid JSON or not.
    #[must_use]
    pub fn tool_use_text(self, id: &str, name: &str, input: &str) -> Self {
        let deltas = std::iter::once(String::new())
            .chain(pieces(input, 24))
            .map(|part| format!(r#"{{"type":"input_json_delta","partial_json":{}}}"#, quoted(&part)))
            .collect();
        let start = format!(r#"{{"type":"tool_use","id":{},"name":{},"input":{{}}}}"#, quoted(id), quoted(name));
        let mut message = self.push(start, deltas);
        if let Some(block) = message.blocks.last_mut() {
            block.is_call = true;
        }
        message
    }

    /// Adds any block: the content of its start event, and its deltas.
    #[must_use]
    pub fn block(self, start: &Value, deltas: &[Value]) -> Self {
        self.push(start.to_string(), deltas.iter().map(Value::to_string).collect())
    }

    fn push(mut self, start: String, deltas: Vec<String>) -> Self {
        self.blocks.push(WireBlockText { start, deltas, is_call: false });
        self
    }

    /// Sets the message id.
    #[must_use]
    pub fn id(mut self, id: &str) -> Self {
        self.id = Some(id.to_owned());
        self
    }

    /// Sets the model that the message names. Default: `claude-wire-1`.
    #[must_use]
    pub fn model(mut self, model: &str) -> Self {
        model.clone_into(&mut self.model);
        self
    }

    /// Sets the stop reason.
    #[must_use]
    pub fn stop_reason(mut self, reason: &str) -> Self {
        self.stop_reason = Some(reason.to_owned());
        self
    }

    /// Sets the uncached input tokens and the output tokens. Default: 10 and 5.
    #[must_use]
    pub fn usage(mut self, input: u64, output: u64) -> Self {
        self.input_tokens = input;
        self.output_tokens = output;
        self
    }

    /// Sets the tokens read from and written to the cache. Default: 0 and 0.
    #[must_use]
    pub fn cache_usage(mut self, read: u64, creation: u64) -> Self {
        self.cache_read = read;
        self.cache_creation = creation;
        self
    }

    /// Returns the events of this message. `default_id` names it when it has no id.
    #[must_use]
    pub fn events(&self, default_id: &str) -> Vec<Event> {
        let mut events = vec![self.start(default_id)];
        for (index, block) in self.blocks.iter().enumerate() {
            events.push(Event::named(
                "content_block_start",
                format!(r#"{{"type":"content_block_start","index":{index},"content_block":{}}}"#, block.start),
            ));
            if index == 0 {
                events.push(Event::named("ping", r#"{"type": "ping"}"#));
            }
            events.extend(block.deltas.iter().map(|delta| {
                Event::named(
                    "content_block_delta",
                    format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#),
                )
            }));
            events.push(Event::named(
                "content_block_stop",
                format!(r#"{{"type":"content_block_stop","index":{index}}}"#),
            ));
        }
        events.push(Event::named(
            "message_delta",
            format!(
                r#"{{"type":"message_delta","delta":{{"stop_reason":{},"stop_sequence":null}},"usage":{{"output_tokens":{}}}}}"#,
                quoted(self.final_stop_reason()),
                self.output_tokens
            ),
        ));
        events.push(Event::named("message_stop", r#"{"type":"message_stop"}"#));
        events
    }

    fn start(&self, default_id: &str) -> Event {
        let usage = json!({
            "input_tokens": self.input_tokens,
            "cache_creation_input_tokens": self.cache_creation,
            "cache_read_input_tokens": self.cache_read,
            "output_tokens": 1,
        });
        let message = format!(
            r#"{{"id":{},"type":"message","role":"assistant","model":{},"content":[],"stop_reason":null,"stop_sequence":null,"usage":{usage}}}"#,
            quoted(self.id.as_deref().unwrap_or(default_id)),
            quoted(&self.model),
        );
        Event::named("message_start", format!(r#"{{"type":"message_start","message":{message}}}"#))
    }

    fn final_stop_reason(&self) -> &str {
        match &self.stop_reason {
            Some(reason) => reason,
            None if self.blocks.iter().any(|block| block.is_call) => "tool_use",
            None => "end_turn",
        }
    }
}

/// Returns the text as a JSON string.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn pieces(text: &str, chars: usize) -> Vec<String> {
    let mut rest = text.chars();
    std::iter::from_fn(|| {
        let piece: String = rest.by_ref().take(chars).collect();
        (!piece.is_empty()).then_some(piece)
    })
    .collect()
}
