//! Deltas of text in the form in which the API writes them, read without a JSON parser: members in their order, no
//! white space except the padding at the end.

use std::borrow::Cow;

use super::{FrameDelta, MessagesFrame};

/// Reads a delta of text, reasoning or tool input. `None` if the event is anything else, or is written in another form:
/// the JSON parser reads it then. An event that is read here is valid JSON, and the parser reads the same.
pub(super) fn read(data: &str) -> Option<MessagesFrame<'_>> {
    let rest = data.strip_prefix(r#"{"type":"content_block_delta","index":"#)?;
    let (index, rest) = rest.split_once(',')?;
    let rest = rest.strip_prefix(r#""delta":{"type":""#)?;
    let index = Some(number(index)?);
    let delta = if let Some(rest) = rest.strip_prefix(r#"text_delta","text":"#) {
        let text = Some(last_string(rest)?);
        FrameDelta { kind: Cow::Borrowed("text_delta"), text, ..FrameDelta::default() }
    } else if let Some(rest) = rest.strip_prefix(r#"input_json_delta","partial_json":"#) {
        let partial_json = Some(last_string(rest)?);
        FrameDelta { kind: Cow::Borrowed("input_json_delta"), partial_json, ..FrameDelta::default() }
    } else if let Some(rest) = rest.strip_prefix(r#"thinking_delta","thinking":"#) {
        let thinking = Some(last_string(rest)?);
        FrameDelta { kind: Cow::Borrowed("thinking_delta"), thinking, ..FrameDelta::default() }
    } else {
        return None;
    };
    Some(MessagesFrame {
        kind: Cow::Borrowed("content_block_delta"),
        index,
        delta: Some(delta),
        ..MessagesFrame::default()
    })
}

/// Reads a JSON number of few digits.
fn number(digits: &str) -> Option<usize> {
    let is_plain = digits.len() <= 9 && digits.bytes().all(|byte| byte.is_ascii_digit());
    let is_padded = digits.len() > 1 && digits.starts_with('0');
    if is_plain && !is_padded { digits.parse().ok() } else { None }
}

/// Reads a string with which two objects end.
fn last_string(rest: &str) -> Option<String> {
    let literal = rest.trim_end_matches(' ').strip_suffix('}')?.trim_end_matches(' ').strip_suffix('}')?;
    let text = literal.trim_end_matches(' ').strip_prefix('"')?.strip_suffix('"')?;
    // Without an early exit the compiler can process many bytes at once.
    let is_plain = text.bytes().fold(true, |plain, byte| plain & (byte >= b' ') & (byte != b'"') & (byte != b'\\'));
    if is_plain { Some(text.to_owned()) } else { serde_json::from_str(literal).ok() }
}

#[cfg(test)]
mod tests;
