//! Deltas of text, written without a serialiser: there is one for each few letters of an answer.

use std::fmt::Write as _;

use windlass_types::{JsonText, StreamDelta};

/// Upper bound of the bytes around the text.
const FRAME: usize = 112;

/// Returns the frame of a delta of text, reasoning or tool input, as the serialiser writes it. `None` for other deltas.
pub(super) fn write(index: usize, delta: &StreamDelta) -> Option<JsonText> {
    let (kind, text) = match delta {
        StreamDelta::Text(text) => ("\"text_delta\",\"text\":", text),
        StreamDelta::Thinking(text) => ("\"thinking_delta\",\"thinking\":", text),
        StreamDelta::ToolInput(text) => ("\"input_json_delta\",\"partial_json\":", text),
        _ => return None,
    };
    let mut out = String::with_capacity(text.len() + FRAME);
    out.push_str("{\"type\":\"content_block_delta\",\"index\":");
    match index {
        0 => out.push('0'),
        // Writing to a string cannot fail.
        index => write!(out, "{index}").ok()?,
    }
    out.push_str(",\"delta\":{\"type\":");
    out.push_str(kind);
    JsonText::push_string(text, &mut out);
    out.push_str("}}");
    Some(JsonText::from_parsed(out))
}

#[cfg(test)]
mod tests {
    use super::super::{WireEvent, mirror_delta};
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn it_writes_what_the_serialiser_writes(index in any::<usize>(), text in any::<String>(), plain in "[ -~]*") {
            for text in [text, plain, "\"\\\n\u{0}\u{7f}é".to_owned(), String::new()] {
                for delta in [
                    StreamDelta::Text(text.clone()),
                    StreamDelta::Thinking(text.clone()),
                    StreamDelta::ToolInput(text.clone()),
                ] {
                    let whole = JsonText::of(&WireEvent::ContentBlockDelta { index, delta: mirror_delta(&delta) }).unwrap();
                    let written = write(index, &delta).unwrap();
                    prop_assert_eq!(written.as_str(), whole.as_str());
                }
                prop_assert!(write(index, &StreamDelta::Signature(text)).is_none());
            }
        }
    }
}
