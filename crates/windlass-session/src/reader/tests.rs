use super::*;
use crate::{LogEncoder, LogHeader};
use windlass_types::{
    AssistantEntry, ContentBlock, EntryId, EntryKind, SessionId, StopReason, Timestamp, ToolResult, ToolResultEntry,
    ToolUse, Usage, UserEntry,
};

/// Prompts, and messages of three lines with a result.
fn entries() -> Vec<Entry> {
    let mut entries = Vec::new();
    for turn in 0..6_u128 {
        let id = |number: u128| EntryId::from_bits(turn * 10 + number);
        let at = Timestamp::from_millis(1_700_000_000_000 + u64::try_from(turn).unwrap());
        let mut add = |number, parent, kind| entries.push(Entry::new(id(number), parent, at, kind));
        let parent = (turn > 0).then(|| EntryId::from_bits(turn * 10 - 6));
        add(1, parent, EntryKind::User(UserEntry::new(vec![ContentBlock::text("go\non")])));
        let call = ToolUse::new(format!("t{turn}"), "Read", windlass_types::JsonText::empty_object());
        let content = vec![ContentBlock::text("a"), ContentBlock::text("b"), ContentBlock::ToolUse(call)];
        let ids = vec![id(5), id(6), id(2)];
        let stop = Some(StopReason::ToolUse);
        let message = format!("msg_{turn}");
        let message = AssistantEntry::new(message.as_str().into(), "m".into(), content, ids, stop, Usage::new(1, 1));
        add(2, Some(id(1)), EntryKind::Assistant(message));
        add(3, None, EntryKind::Model("m".to_owned()));
        let result = ToolResultEntry::new(ToolResult::ok(format!("t{turn}").as_str(), "done".to_owned()), id(2));
        add(4, Some(id(2)), EntryKind::ToolResult(result));
    }
    entries
}

fn log(entries: &[Entry]) -> Vec<u8> {
    let mut encoder = LogEncoder::new(SessionId::from_bits(1), LogHeader::new("/w", "0", "test"));
    let mut log = Vec::new();
    for entry in entries {
        encoder.entry(entry, &mut log);
        encoder.checksum(&mut log);
    }
    log
}

/// Reads a log in chunks of at most so many bytes, beginning at a position.
fn read(log: &[u8], most: usize, mut position: u64) -> Vec<(u64, Entry)> {
    let mut all = Vec::new();
    loop {
        let rest = &log[usize::try_from(position).unwrap()..];
        let mut length = most.min(rest.len());
        // At least the first lines must fit.
        while length < rest.len() && LogChunk::new(position, rest[..length].to_vec(), true).into_entries().len() < 2 {
            length = (length + most).min(rest.len());
        }
        let chunk = LogChunk::new(position, rest[..length].to_vec(), length < rest.len());
        let Some((next, _)) = chunk.clone().into_entries().last().cloned() else { return all };
        all.extend(chunk.into_entries());
        position = next;
    }
}

#[test]
fn entries_are_read_once_and_in_order_from_every_position_in_chunks_of_any_size() {
    let written = entries();
    let log = log(&written);
    let whole = read(&log, log.len(), 0);
    assert_eq!(whole.iter().map(|(_, entry)| entry.clone()).collect::<Vec<_>>(), written);
    for most in [200, 333, 1_000, 5_000] {
        assert_eq!(read(&log, most, 0), whole, "{most} bytes at a time");
    }
    for (at, (position, _)) in whole.iter().enumerate() {
        assert_eq!(read(&log, 700, *position), whole[at + 1..], "behind entry {at}");
    }
}

#[test]
fn a_line_that_is_being_written_is_left_for_later() {
    let written = entries();
    let log = log(&written[..2]);
    let cut = log.len() - 10;
    let chunk = LogChunk::new(0, log[..cut].to_vec(), false);
    assert!(chunk.lines.len() < cut && chunk.lines.ends_with(b"\n"));
    let read = chunk.into_entries();
    assert_eq!(read.iter().map(|(_, entry)| entry.clone()).collect::<Vec<_>>(), written[..2]);
}
