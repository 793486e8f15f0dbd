//! Results of the last message that exceed the free space of the model's context window.

use crate::imitation::foreign_text;
use crate::trim::kept_whole;
use crate::{estimate_blocks, estimate_text};
use windlass_types::{ContentBlock, SharedMessage, ToolResult, ToolResultContent, TrimRecord, TrimmedResult};

/// Bytes of a text in a token, as in [`estimate_text`].
const BYTES_PER_TOKEN: u64 = 3;
/// Tokens of the frame of a result.
const FRAME: u64 = 8;
/// Minimum number of tokens that a result keeps.
const MIN_RESULT_TOKENS: u64 = 200;

/// Returns the tokens of all tool results in the last message, estimated high.
#[must_use]
pub fn tokens_of_last_results(messages: &[SharedMessage]) -> u64 {
    last_results(messages).map(|(_, tokens)| tokens).sum()
}

/// Returns the results of the last message with their middles left out, so that all of them together have at most
/// `room` tokens; `None` if they have that already, or if nothing becomes shorter. The largest ones are cut, all to the
/// same size. `context`: size of the conversation in tokens.
#[must_use]
pub fn results_to_fit(messages: &[SharedMessage], room: u64, context: u64) -> Option<TrimRecord> {
    let max_tokens =
        most_of_each(last_results(messages).map(|(_, tokens)| tokens).collect(), room)?.max(MIN_RESULT_TOKENS);
    let (mut cut, mut freed) = (Vec::new(), 0_u64);
    for (result, tokens) in last_results(messages).filter(|(_, tokens)| *tokens > max_tokens) {
        let note = ends(result, max_tokens);
        let saved = tokens.saturating_sub(estimate_text(&note).saturating_add(FRAME));
        if saved > 0 {
            freed = freed.saturating_add(saved);
            cut.push(TrimmedResult::new(result.tool_use_id.clone(), note));
        }
    }
    (!cut.is_empty()).then(|| TrimRecord::new(cut, context, freed))
}

fn last_results(messages: &[SharedMessage]) -> impl Iterator<Item = (&ToolResult, u64)> {
    let last = messages.last().map_or(&[] as &[ContentBlock], |message| &message.content);
    last.iter().filter_map(|block| match block {
        ContentBlock::ToolResult(result) => Some((result, estimate_blocks(std::slice::from_ref(block)))),
        _ => None,
    })
}

/// Returns the size to which the largest are cut so that all together have at most `room`; `None` if they have.
fn most_of_each(mut sizes: Vec<u64>, room: u64) -> Option<u64> {
    if sizes.iter().sum::<u64>() <= room {
        return None;
    }
    sizes.sort_unstable();
    let (mut remaining, mut count) = (room, sizes.len() as u64);
    for size in sizes {
        let share = remaining.checked_div(count)?;
        if size > share {
            return Some(share);
        }
        (remaining, count) = (remaining.saturating_sub(size), count.saturating_sub(1));
    }
    None
}

/// Returns at most `max_bytes` bytes from the start of a text, on a character boundary.
#[must_use]
pub fn beginning(text: &str, max_bytes: usize) -> &str {
    let end = (0..=max_bytes.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    text.get(..end).unwrap_or_default()
}

/// Returns at most `most` bytes up to the end of a text, on a character boundary.
#[must_use]
pub fn ending(text: &str, most: usize) -> &str {
    let start = text.len().saturating_sub(most);
    let start = (start..=text.len()).find(|index| text.is_char_boundary(*index)).unwrap_or(text.len());
    text.get(start..).unwrap_or_default()
}

/// Returns the beginning and the end of a result's text with a note between, all in at most `max_tokens` tokens.
fn ends(result: &ToolResult, max_tokens: u64) -> String {
    let text = result.content.text();
    let source_note = match kept_whole(&text) {
        Some(path) => format!("The whole is in {path}: read the part you need with Read or search it with Grep."),
        None => "Ask for less, or for a part of it.".to_owned(),
    };
    let media = match &result.content {
        ToolResultContent::Blocks(blocks) => blocks.iter().filter(|block| block.as_text().is_none()).count(),
        ToolResultContent::Text(_) => 0,
    };
    let media = if media > 0 { format!(" and {media} images or documents") } else { String::new() };
    let note = |left_out: usize| {
        foreign_text(&format!(
            "\n[… {left_out} bytes{media} left out here: the results of this message do not fit the model's context window. \
             {source_note} …]\n"
        ))
    };
    let bytes = usize::try_from(max_tokens.saturating_sub(FRAME).saturating_mul(BYTES_PER_TOKEN)).unwrap_or(usize::MAX);
    let half = bytes.saturating_sub(note(text.len()).len()) / 2;
    let head = beginning(&text, half);
    let rest = text.get(head.len()..).unwrap_or_default();
    let tail = ending(rest, half);
    format!("{head}{}{tail}", note(rest.len().saturating_sub(tail.len())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_types::Message;

    fn message(sizes: &[usize]) -> SharedMessage {
        let results = sizes.iter().enumerate().map(|(at, size)| {
            let text = format!("begin{}end", "é".repeat(size / 2));
            ContentBlock::ToolResult(ToolResult::ok(format!("t{at}").as_str(), text))
        });
        Message::user(results.collect()).into()
    }

    #[test]
    fn the_largest_give_way_until_all_fit() {
        let messages = [Message::user_text("go").into(), message(&[60_000, 900, 30_000])];
        assert!(results_to_fit(&messages, 31_000, 40_000).is_none());
        let record = results_to_fit(&messages, 6_000, 40_000).unwrap();
        let ids: Vec<&str> = record.results.iter().map(|result| result.tool_use_id.as_str()).collect();
        assert_eq!(ids, ["t0", "t2"]);
        let left = tokens_of_last_results(&messages) - record.freed_tokens;
        assert!((5_000..=6_000).contains(&left), "{left}");
        let note = &record.results[0].note;
        assert!(note.starts_with("beginé") && note.ends_with("éend"), "{note}");
        assert!(note.contains("bytes left out here: the results of this message do not fit"), "{note}");
    }

    #[test]
    fn a_file_that_has_the_whole_is_named_again() {
        let text = format!(
            "{}\n[… 5 bytes left out here. The whole is in /a/result-1.txt: read the part …]",
            "x".repeat(9_000)
        );
        let results = vec![ContentBlock::ToolResult(ToolResult::ok("t", text))];
        let record = results_to_fit(&[Message::user(results).into()], 1_000, 3_000).unwrap();
        assert!(record.results[0].note.contains("The whole is in /a/result-1.txt: read"), "{:?}", record.results);
    }

    #[test]
    fn only_the_last_message_counts() {
        let messages = [message(&[60_000]), Message::user_text("go on").into()];
        assert!(results_to_fit(&messages, 10, 40_000).is_none());
        assert!(results_to_fit(&[], 10, 0).is_none());
    }
}
