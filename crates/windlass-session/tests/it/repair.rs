//! Invariants of the codec, the repair and the transcript, over generated sessions.

use crate::common::{log_of, repeating_session, session};
use proptest::prelude::*;
use windlass_session::{RepairReport, Transcript, check_messages, read_log, repair};
use windlass_types::{Entry, EntryKind, SharedMessage};

fn check(messages: &[SharedMessage]) -> Result<(), String> {
    check_messages(messages.iter().map(|message| &**message))
}

fn assert_sendable(entries: &[Entry]) {
    let transcript = Transcript::from_entries(entries);
    assert!(!transcript.has_open_calls() || transcript.open_calls().next().is_some());
    check(&transcript.messages()).unwrap();
}

/// Drops, repeats and swaps entries.
fn damage(mut entries: Vec<Entry>, edits: &[(u8, prop::sample::Index, prop::sample::Index)]) -> Vec<Entry> {
    for (kind, a, b) in edits {
        if entries.is_empty() {
            break;
        }
        let (a, b) = (a.index(entries.len()), b.index(entries.len()));
        match kind % 3 {
            0 => drop(entries.remove(a)),
            1 => entries.insert(b, entries[a].clone()),
            _ => entries.swap(a, b),
        }
    }
    entries
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn lines_hold_entries_exactly(entries in session()) {
        let log = read_log(log_of(&entries).as_slice()).unwrap();
        prop_assert_eq!(&log.report.skipped, &[]);
        prop_assert_eq!(&log.report.warnings, &Vec::<String>::new());
        prop_assert_eq!(log.entries, entries);
    }

    #[test]
    fn what_is_valid_stays_as_it_is(entries in session()) {
        let (repaired, report) = repair(entries.clone());
        prop_assert!(report.is_clean(), "{:?}", report);
        prop_assert_eq!(&repaired, &entries);
        assert_sendable(&repaired);
    }

    /// After a repair each call has an id of its own, and the same answer as before.
    #[test]
    fn ids_that_come_again_are_replaced_for_good(entries in repeating_session(), at in any::<prop::sample::Index>()) {
        let cut = entries[..=at.index(entries.len())].to_vec();
        let (repaired, report) = repair(read_log(log_of(&cut).as_slice()).unwrap().entries);
        assert_sendable(&repaired);
        prop_assert_eq!(&repair(repaired.clone()), &(repaired.clone(), RepairReport::default()));
        // Without the repair, the conversation is the same after all calls are settled.
        let mut plain = Transcript::from_entries(&cut);
        plain.settle();
        prop_assert_eq!(plain.messages(), Transcript::from_entries(&repaired).messages());
        // Entries created by the repair are appended under the ids of the log; the next reading gives the same.
        let mut stored = cut;
        stored.extend(report.synthetic.iter().cloned());
        let (loaded, second) = repair(read_log(log_of(&stored).as_slice()).unwrap().entries);
        prop_assert_eq!(&second.renamed, &report.renamed);
        prop_assert!(second.synthetic.is_empty() && second.dropped_results == 0, "{:?}", second);
        let (now, then) = (Transcript::from_entries(&loaded), Transcript::from_entries(&repaired));
        prop_assert_eq!(now.messages(), then.messages());
    }

    #[test]
    fn repairing_twice_is_repairing_once(
        entries in prop_oneof![session(), repeating_session()],
        edits in prop::collection::vec((any::<u8>(), any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..8),
    ) {
        let damaged = damage(entries, &edits);
        let (once, first) = repair(damaged.clone());
        let (again, _) = repair(damaged);
        prop_assert_eq!(&once, &again, "the same damage gives the same ids");
        let (twice, second) = repair(once.clone());
        prop_assert!(second.is_clean(), "{:?} after {:?}", second, first);
        prop_assert_eq!(&twice, &once);
        assert_sendable(&once);
        prop_assert!(!Transcript::from_entries(&once).has_open_calls());
    }

    #[test]
    fn a_session_cut_anywhere_is_repaired_for_good_by_appending(entries in session(), at in any::<prop::sample::Index>()) {
        let cut = entries[..=at.index(entries.len())].to_vec();
        let (repaired, report) = repair(cut.clone());
        assert_sendable(&repaired);
        // Entries created by the repair are appended, whatever their place in the conversation.
        let mut stored = cut;
        stored.extend(report.synthetic.iter().cloned());
        let (loaded, second) = repair(read_log(log_of(&stored).as_slice()).unwrap().entries);
        prop_assert!(second.is_clean(), "{:?}", second);
        let (now, then) = (Transcript::from_entries(&loaded), Transcript::from_entries(&repaired));
        prop_assert_eq!(now.messages(), then.messages());
    }

    #[test]
    fn a_lost_result_is_replaced_for_good_by_appending(entries in session(), at in any::<prop::sample::Index>()) {
        let results: Vec<usize> =
            (0..entries.len()).filter(|at| matches!(entries[*at].kind, EntryKind::ToolResult(_))).collect();
        prop_assume!(!results.is_empty());
        let mut damaged = entries;
        damaged.remove(results[at.index(results.len())]);
        let (repaired, report) = repair(read_log(log_of(&damaged).as_slice()).unwrap().entries);
        prop_assert_eq!(report.synthetic.len(), 1);
        damaged.extend(report.synthetic.iter().cloned());
        let (loaded, second) = repair(read_log(log_of(&damaged).as_slice()).unwrap().entries);
        prop_assert!(second.is_clean(), "{:?}", second);
        let (now, then) = (Transcript::from_entries(&loaded), Transcript::from_entries(&repaired));
        prop_assert_eq!(now.messages(), then.messages());
    }

    #[test]
    fn each_request_begins_with_the_one_before(entries in session()) {
        let mut transcript = Transcript::new();
        let mut before: Vec<SharedMessage> = Vec::new();
        for entry in &entries {
            transcript.apply(entry);
            if !transcript.is_ready() {
                continue;
            }
            let messages = transcript.messages();
            check(&messages).unwrap();
            for (old, new) in before.iter().zip(&messages) {
                prop_assert_eq!(old.role, new.role);
                prop_assert!(new.content.starts_with(&old.content));
            }
            prop_assert!(messages.len() >= before.len());
            before = messages;
        }
    }

    #[test]
    fn the_order_in_which_results_arrive_does_not_matter(entries in session(), seed in any::<u64>()) {
        let mut shuffled = entries.clone();
        let mut state = seed;
        for at in 1..shuffled.len() {
            let pair = (&shuffled[at - 1].kind, &shuffled[at].kind);
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let free = matches!(pair, (EntryKind::ToolResult(_), EntryKind::ToolResult(_)));
            if free && state >> 63 == 1 {
                shuffled.swap(at - 1, at);
            }
        }
        let (one, two) = (Transcript::from_entries(&entries), Transcript::from_entries(&shuffled));
        prop_assert_eq!(one.messages(), two.messages());
    }

    #[test]
    fn any_bytes_load(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let (entries, _) = repair(read_log(bytes.as_slice()).unwrap().entries);
        assert_sendable(&entries);
    }
}
