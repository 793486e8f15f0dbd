//! Invariants of copies and truncation, over generated sessions.

use crate::common::{Writer, log_of, session};
use proptest::prelude::*;
use std::collections::HashSet;
use windlass_session::{LogEncoder, LogHeader, Transcript, check_messages, fork, read_log, repair, truncate};
use windlass_types::{ContentBlock, Entry, EntryId, EntryKind, SessionId, SharedMessage, Timestamp, UserEntry};

fn messages(entries: &[Entry]) -> Vec<SharedMessage> {
    let transcript = Transcript::from_entries(entries);
    assert!(!transcript.has_open_calls());
    let messages = transcript.messages();
    check_messages(messages.iter().map(|message| &**message)).unwrap();
    messages
}

fn ids(entries: &[Entry]) -> HashSet<EntryId> {
    let blocks = entries.iter().flat_map(|entry| match &entry.kind {
        EntryKind::Assistant(message) => message.block_ids.clone(),
        _ => Vec::new(),
    });
    entries.iter().map(|entry| entry.id.clone()).chain(blocks).collect()
}

/// Returns the log of a copy, and its entries.
fn copy(entries: Vec<Entry>) -> (Vec<u8>, Vec<Entry>) {
    let mut count = 0_u128;
    let target = SessionId::from_bits(9);
    let fork = fork(entries, &SessionId::from_bits(7), &target, Timestamp::from_millis(1), || {
        count += 1;
        EntryId::from_bits(count << 80 | 0xf0f)
    });
    let mut encoder = LogEncoder::new(target, LogHeader::new("/w", "1", "test").with_origin(fork.origin));
    let mut log = Vec::new();
    fork.entries.iter().for_each(|entry| encoder.entry(entry, &mut log));
    encoder.checksum(&mut log);
    (log, fork.entries)
}

/// Returns all points of a conversation: entries and blocks of messages.
fn points(entries: &[Entry]) -> Vec<EntryId> {
    let mut points = Vec::new();
    for entry in entries.iter().filter(|entry| entry.is_conversation()) {
        points.push(entry.id.clone());
        if let EntryKind::Assistant(message) = &entry.kind {
            points.extend(message.block_ids.iter().cloned());
        }
    }
    points
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_copy_of_what_is_valid_is_valid_and_has_the_same_content(entries in session()) {
        let (log, copied) = copy(entries.clone());
        let read = read_log(log.as_slice()).unwrap();
        prop_assert_eq!(&read.report.skipped, &[]);
        prop_assert_eq!(&read.report.warnings, &Vec::<String>::new());
        prop_assert_eq!(&read.entries, &copied);
        let (repaired, report) = repair(read.entries);
        prop_assert!(report.is_clean(), "{:?}", report);
        prop_assert_eq!(messages(&repaired), messages(&entries));
        prop_assert!(ids(&entries).is_disjoint(&ids(&copied)));
        for line in String::from_utf8(log).unwrap().lines().filter(|line| line.contains("\"message\":")) {
            let line: serde_json::Value = serde_json::from_str(line).unwrap();
            let old = EntryId::from(line["forkedFrom"]["messageUuid"].as_str().unwrap());
            prop_assert!(ids(&entries).contains(&old));
            prop_assert!(line["sessionId"] == SessionId::from_bits(9).as_str());
        }
    }

    #[test]
    fn a_copy_of_what_is_damaged_has_the_content_of_its_repair(
        entries in session(),
        gone in prop::collection::vec(any::<prop::sample::Index>(), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let log = log_of(&entries);
        let mut lines: Vec<&[u8]> = log.split_inclusive(|byte| *byte == b'\n').collect();
        for gone in gone {
            if lines.len() > 1 {
                lines.remove(gone.index(lines.len()));
            }
        }
        let log = lines.concat();
        let log = &log[..log.len() - cut.index(log.len()) / 4];
        let (repaired, _) = repair(read_log(log).unwrap().entries);
        let (copied, _) = copy(repaired.clone());
        let (read, report) = repair(read_log(copied.as_slice()).unwrap().entries);
        prop_assert!(report.is_clean(), "{:?}", report);
        prop_assert_eq!(messages(&read), messages(&repaired));
    }

    #[test]
    fn a_later_reading_agrees_with_going_back(entries in session(), at in any::<prop::sample::Index>(), turn in crate::common::turn()) {
        let points = points(&entries);
        let point = &points[at.index(points.len())];
        let truncated = truncate(entries.clone(), point).unwrap();
        let kept = truncated.into_entries();
        let mut live = kept.clone();
        let leaf = live.iter().rfind(|entry| entry.is_conversation()).unwrap().id.clone();
        // The next turn, as the loop would write it: its parent is the last kept entry.
        let mut writer = Writer::after(leaf, 1 << 40);
        writer.turn(&turn);
        live.extend(writer.entries.iter().cloned());
        let stored: Vec<Entry> = entries.into_iter().chain(writer.entries).collect();
        let (loaded, report) = repair(read_log(log_of(&stored).as_slice()).unwrap().entries);
        prop_assert!(report.is_clean(), "{:?}", report);
        prop_assert_eq!(messages(&loaded), messages(&live));
        // A second truncation at the same point.
        let again = truncate(loaded, point).unwrap().into_entries();
        prop_assert_eq!(messages(&again), messages(&kept));
    }

    #[test]
    fn going_back_to_a_message_whose_calls_never_ended_settles_them(entries in session(), at in any::<prop::sample::Index>()) {
        let cut = entries[..=at.index(entries.len())].to_vec();
        let (repaired, _) = repair(cut);
        for point in points(&repaired) {
            messages(&truncate(repaired.clone(), &point).unwrap().entries);
        }
    }
}

#[test]
fn an_entry_at_the_point_of_a_copy_is_its_last() {
    let mut writer = Writer::new();
    writer.user("one");
    let calls = writer.assistant(vec![ContentBlock::text("hello")]);
    assert!(calls.is_empty());
    writer.user("two");
    let point = writer.entries[1].id.clone();
    let kept = truncate(writer.entries, &point).unwrap().entries;
    let (_, copied) = copy(kept);
    assert_eq!(copied.len(), 2);
    assert!(!copied.iter().any(|entry| entry.kind == EntryKind::User(UserEntry::new(vec![ContentBlock::text("two")]))));
}
