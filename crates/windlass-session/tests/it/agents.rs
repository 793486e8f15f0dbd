//! Logs of agents, as read by their own reader and by others.

use proptest::prelude::*;
use std::collections::HashMap;
use windlass_session::{
    LogEncoder, LogHeader, ProjectKey, SessionKey, Transcript, check_messages, read_agent_log, read_log, repair,
};
use windlass_types::{Entry, EntryKind, SessionId};

fn session() -> SessionKey {
    SessionKey::new(ProjectKey::from_slug("-p"), SessionId::from_bits(7))
}

fn agent() -> SessionKey {
    session().of_agent("a1".into())
}

fn log_of(key: &SessionKey, entries: &[Entry]) -> Vec<u8> {
    let mut encoder = LogEncoder::of(key, LogHeader::new("/w", "1", "test"));
    let mut log = Vec::new();
    entries.iter().for_each(|entry| encoder.entry(entry, &mut log));
    encoder.checksum(&mut log);
    log
}

/// Returns the number of messages that are found backwards from the last one, each by the parent id.
fn in_line(messages: &[serde_json::Value]) -> usize {
    let by_id: HashMap<&str, &serde_json::Value> =
        messages.iter().map(|line| (line["uuid"].as_str().unwrap(), line)).collect();
    std::iter::successors(messages.last(), |line| line["parentUuid"].as_str().map(|parent| by_id[parent])).count()
}

proptest! {
    #[test]
    fn an_agent_comes_back_as_it_was_and_is_one_line_to_others(entries in crate::common::session()) {
        let log = log_of(&agent(), &entries);
        let read = read_agent_log(log.as_slice()).unwrap();
        prop_assert_eq!(&read.entries, &entries);
        prop_assert_eq!(read.report.off_branch, 0);
        prop_assert_eq!(&read.report.warnings, &Vec::<String>::new());
        prop_assert_eq!(read_log(log.as_slice()).unwrap().report.messages, 0);
        let messages: Vec<serde_json::Value> = log
            .split(|byte| *byte == b'\n')
            .filter_map(|line| serde_json::from_slice(line).ok())
            .filter(|line: &serde_json::Value| line.get("message").is_some())
            .collect();
        prop_assert_eq!(in_line(&messages), messages.len());
    }

    #[test]
    fn damage_costs_no_more_than_in_the_log_of_a_session(
        entries in crate::common::session(),
        lost in any::<prop::sample::Index>(),
    ) {
        let without = |log: &[u8]| -> Vec<u8> {
            let lines: Vec<&[u8]> = log.split_inclusive(|byte| *byte == b'\n').collect();
            let lost = lost.index(entries.len());
            lines.iter().enumerate().filter(|(at, _)| *at != lost).flat_map(|(_, line)| line.to_vec()).collect()
        };
        let agent = read_agent_log(without(&log_of(&agent(), &entries)).as_slice()).unwrap();
        let session = read_log(without(&log_of(&session(), &entries)).as_slice()).unwrap();
        let is_message = |entry: &&Entry| matches!(entry.kind, EntryKind::User(_) | EntryKind::Assistant(_));
        for entry in session.entries.iter().filter(is_message) {
            let is_there = agent.entries.iter().any(|other| other.id == entry.id && other.kind == entry.kind);
            prop_assert!(is_there, "{:?} is not in {:?}", entry, agent.entries);
        }
        let messages = Transcript::from_entries(&repair(agent.entries).0).messages();
        prop_assert_eq!(check_messages(messages.iter().map(|message| &**message)), Ok(()));
    }
}
