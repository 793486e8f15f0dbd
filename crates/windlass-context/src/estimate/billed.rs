//! Estimates for billing. They must not fall short, even for texts with few bytes per token: code, numbers, other
//! scripts, and the newest models, which count up to 1.35 times as many tokens as those before them.

use super::{BYTES_PER_TOKEN, FRAME_TOKENS, measure_block};
use windlass_types::{BlockStart, ContentBlock, Message, ModelEvent, ModelRequest, StreamDelta};

/// Letters of a word in one token, a low value.
const LETTERS_PER_TOKEN: u8 = 3;

/// Tokens of the frame around a call, which the model writes, too.
const CALL_TOKENS: u64 = 20;

/// Tokens that a provider adds to the input of a request with tools (Anthropic, "Tool use", pricing: 290 to 530
/// tokens).
const TOOLS_TOKENS: u64 = 530;

/// Returns the input tokens of a request, estimated so high that its cost is covered.
pub fn estimate_request(request: &ModelRequest) -> u64 {
    let system: u64 = request.system.iter().map(|section| billed_text(&section.text)).sum();
    let tools: u64 = request
        .tools
        .iter()
        .map(|tool| {
            FRAME_TOKENS
                + billed_text(&tool.name)
                + billed_text(&tool.description)
                + billed_text(tool.input_schema.as_str())
        })
        .sum();
    let offered = if request.tools.is_empty() { 0 } else { TOOLS_TOKENS };
    // Only the new part of a long conversation is measured before each request.
    let messages: u64 = request.messages.iter().map(|message| message.measured(billed_message)).sum();
    system + tools + offered + messages
}

fn billed_message(message: &Message) -> u64 {
    FRAME_TOKENS + message.content.iter().map(|block| measure_block(block, billed_text)).sum::<u64>()
}

fn billed_text(text: &str) -> u64 {
    let mut counted = TextTokens::default();
    counted.add(text);
    counted.tokens()
}

/// Token count of a text that arrives in pieces. The count does not depend on the splitting.
#[derive(Debug, Clone, Copy, Default)]
struct TextTokens {
    bytes: u64,
    /// Count by kinds of characters, in thirds of a token.
    thirds: u64,
    /// Letters that the last token of the word has space for, and `true` if the last letter was small.
    room: u8,
    was_small: bool,
    /// White space that may belong to the next word.
    blank: u64,
}

impl TextTokens {
    fn add(&mut self, text: &str) {
        // A copy stays in registers.
        let mut counted = *self;
        counted.bytes += text.len() as u64;
        for byte in text.bytes() {
            counted.add_byte(byte);
        }
        *self = counted;
    }

    /// Counts the first byte of a character; the others add nothing.
    fn add_byte(&mut self, byte: u8) {
        if byte.is_ascii_alphabetic() {
            // `camelCase` and random text are split where small letters end.
            if self.was_small && byte.is_ascii_uppercase() {
                self.room = 0;
            }
            if self.room == 0 {
                self.thirds += 3;
                self.room = LETTERS_PER_TOKEN;
            }
            self.room -= 1;
            self.was_small = byte.is_ascii_lowercase();
            self.blank = 0;
            return;
        }
        (self.room, self.was_small) = (0, false);
        if matches!(byte, b' ' | b'\t') {
            // One blank belongs to the next word; a row of them is a token of its own.
            self.blank += 1;
            self.thirds += if self.blank == 2 { 3 } else { 0 };
            return;
        }
        self.blank = 0;
        self.thirds += match byte {
            0x00..0x80 => 3,
            0x80..0xc0 => 0,
            0xc0..0xe0 => 2,
            0xe0..0xf0 => 6,
            0xf0.. => 9,
        };
    }

    fn tokens(&self) -> u64 {
        self.thirds.div_ceil(3).max(self.bytes.div_ceil(BYTES_PER_TOKEN))
    }
}

/// Output tokens of a model's stream, estimated so high that its cost is covered.
///
/// Hidden reasoning is counted by its signature, once that has arrived.
#[derive(Debug, Clone, Copy, Default)]
pub struct StreamedTokens {
    /// Tokens of the blocks before the last one.
    before: u64,
    shown: TextTokens,
    /// Bytes of data that represent hidden text.
    sealed: u64,
}

impl StreamedTokens {
    /// Counts an event of the stream.
    pub fn add(&mut self, event: &ModelEvent) {
        match event {
            ModelEvent::BlockStart { block, .. } => {
                *self = Self { before: self.tokens() + FRAME_TOKENS, ..Self::default() };
                self.add_start(block);
            }
            ModelEvent::BlockDelta { delta, .. } => match delta {
                StreamDelta::Text(text) | StreamDelta::Thinking(text) | StreamDelta::ToolInput(text) => {
                    self.shown.add(text);
                }
                StreamDelta::Signature(signature) => self.sealed += signature.len() as u64,
                _ => {}
            },
            _ => {}
        }
    }

    fn add_start(&mut self, block: &BlockStart) {
        match block {
            BlockStart::Text(text) => self.shown.add(text),
            BlockStart::Thinking { thinking, signature } => {
                self.shown.add(thinking);
                self.sealed += signature.len() as u64;
            }
            BlockStart::ToolUse { name, .. } => {
                self.before += CALL_TOKENS;
                self.shown.add(name);
            }
            BlockStart::Whole(ContentBlock::RedactedThinking { data }) => self.sealed += data.len() as u64,
            BlockStart::Whole(block) => self.before += measure_block(block, billed_text),
            _ => {}
        }
    }

    /// Returns the tokens until now.
    pub fn tokens(&self) -> u64 {
        // The signature contains the reasoning of which a summary is shown: the longer one is used.
        self.before + self.shown.tokens().max(self.sealed.div_ceil(BYTES_PER_TOKEN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::estimate_text;

    fn streamed(pieces: &[StreamDelta]) -> u64 {
        let mut streamed = StreamedTokens::default();
        streamed.add(&ModelEvent::BlockStart { index: 0, block: BlockStart::Text(String::new()) });
        for delta in pieces {
            streamed.add(&ModelEvent::BlockDelta { index: 0, delta: delta.clone() });
        }
        streamed.tokens() - FRAME_TOKENS
    }

    /// Tokens as counted by `cl100k_base`, with the factor of the newest models.
    #[test]
    fn no_kind_of_text_is_estimated_low() {
        for (text, tokens) in [
            ("The quick brown fox jumps over the lazy dog.", 10),
            ("fn main() {\n    println!(\"{}\", 1 + 2);\n}\n", 17),
            ("{\"id\":12345,\"ok\":true,\"at\":[1,2,3]}", 20),
            ("3.14159265358979", 7),
            ("getUserByIdOrNull", 6),
            ("我能吞下玻璃而不伤身体", 15),
            ("🎉🎉🎉", 6),
            ("==========", 1),
            ("", 0),
        ] {
            let newest = tokens * 135 / 100;
            let counted = streamed(&[StreamDelta::Text(text.to_owned())]);
            assert!(counted >= newest && counted <= 4 * newest + 10, "{text:?}: {counted} for {newest}");
            assert!(counted >= estimate_text(text));
        }
    }

    #[test]
    fn the_count_does_not_depend_on_where_a_text_is_split() {
        let text = "let camelCase = \"a  b\";\n\t世界 12 ÄÖ ok";
        let whole = streamed(&[StreamDelta::Text(text.to_owned())]);
        let pieces: Vec<_> = text.chars().map(|char| StreamDelta::Text(char.to_string())).collect();
        assert_eq!(streamed(&pieces), whole);
    }

    #[test]
    fn hidden_reasoning_counts_by_its_signature() {
        let summary = StreamDelta::Thinking("I look at it.".to_owned());
        let signature = StreamDelta::Signature("A".repeat(3_000));
        assert!(streamed(std::slice::from_ref(&summary)) < 20);
        assert_eq!(streamed(&[summary, signature]), 1_000);
    }
}
