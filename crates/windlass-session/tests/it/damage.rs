//! Damage to a log loses only the damaged parts.

use crate::common::{Writer, log_of};
use windlass_session::{check_log, export_messages, read_log};
use windlass_types::{ContentBlock, JsonText, ToolUse};

/// Returns a session in which every line of content has a mark of its own.
fn marked_log() -> Vec<u8> {
    let mut writer = Writer::new();
    let call = |id: &str, mark: &str| {
        let input = JsonText::parse(format!("{{\"m\":\"{mark}\"}}")).unwrap();
        ContentBlock::ToolUse(ToolUse::new(id, "Read", input))
    };
    writer.user("[M0]");
    let lines = writer.assistant(vec![ContentBlock::text("[M1]"), call("a", "[M2]"), call("b", "[M3]")]);
    writer.intent("b", &lines[1]);
    writer.result("b", &lines[1], "[R3]");
    writer.result("a", &lines[0], "[R2]");
    writer.assistant(vec![ContentBlock::text("[M4]")]);
    writer.user("[M5]");
    writer.assistant(vec![ContentBlock::text("[M6]")]);
    log_of(&writer.entries)
}

const MARKS: [&str; 9] = ["[M0]", "[M1]", "[M2]", "[M3]", "[R2]", "[R3]", "[M4]", "[M5]", "[M6]"];

fn lines(log: &[u8]) -> Vec<&[u8]> {
    log.split_inclusive(|byte| *byte == b'\n').collect()
}

fn marks_of(bytes: &[u8]) -> Vec<&'static str> {
    let text = String::from_utf8_lossy(bytes);
    MARKS.into_iter().filter(|mark| text.contains(mark)).collect()
}

/// Loads a log, and checks that the result can be sent and that all marks are present except those that may be lost:
/// the given ones, and the results of lost calls.
fn assert_keeps(log: &[u8], may_lose: &[&str], what: &str) {
    let report = check_log(log).unwrap();
    let exported = export_messages(log).unwrap();
    assert!(report.valid || report.messages == 0, "{what}: {report:?}");
    for mark in MARKS {
        let call = mark.replace('R', "M");
        if !exported.contains(mark) && !may_lose.contains(&mark) && !may_lose.contains(&call.as_str()) {
            panic!("{what}: {mark} is lost\n{report:?}\n{exported}\n{}", String::from_utf8_lossy(log));
        }
    }
}

#[test]
fn an_undamaged_log_has_everything_and_no_report() {
    let log = marked_log();
    assert_keeps(&log, &[], "whole");
    let report = check_log(log.as_slice()).unwrap();
    assert_eq!(report.messages, 6);
    assert!(report.skipped.is_empty() && report.warnings.is_empty(), "{report:?}");
    assert_eq!((report.synthetic_results, report.dropped_results), (0, 0));
}

#[test]
fn a_cut_at_any_byte_keeps_every_whole_line() {
    let log = marked_log();
    for cut in 0..log.len() {
        let kept = &log[..cut];
        let whole = kept.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let lost = marks_of(&log[whole..]);
        assert_keeps(kept, &lost, &format!("cut at {cut}"));
        // A torn line is terminated, never removed, and the next append is a line of its own. Other programs append
        // without a check.
        let mut resumed = kept.to_vec();
        if cut % 2 == 0 {
            resumed.push(b'\n');
        }
        resumed.extend_from_slice(&log[whole..]);
        assert_keeps(&resumed, &[], &format!("resumed after a cut at {cut}"));
    }
}

#[test]
fn a_changed_byte_costs_at_most_its_line() {
    let log = marked_log();
    let mut at = 0;
    for line in lines(&log) {
        let lost = marks_of(line);
        for byte in 0..line.len() {
            let change = [0x01_u8, 0x20, 0x80][byte % 3];
            let mut damaged = log.clone();
            damaged[at + byte] ^= change;
            assert_keeps(&damaged, &lost, &format!("byte {} ^ {change:#x}", at + byte));
        }
        at += line.len();
    }
}

#[test]
fn a_hole_of_zeros_costs_at_most_the_lines_it_touches() {
    let log = marked_log();
    for from in (0..log.len()).step_by(13) {
        let to = (from + 200).min(log.len());
        let mut damaged = log.clone();
        damaged[from..to].fill(0);
        let first = log[..from].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let last = log[to..].iter().position(|byte| *byte == b'\n').map_or(log.len(), |at| to + at + 1);
        assert_keeps(&damaged, &marks_of(&log[first..last]), &format!("zeros at {from}"));
        let mut inserted = log[..first].to_vec();
        inserted.extend([0; 4096]);
        inserted.extend_from_slice(&log[first..]);
        assert_keeps(&inserted, &[], &format!("zeros inserted at {first}"));
    }
}

#[test]
fn lines_dropped_repeated_joined_or_swapped_cost_no_other_line() {
    let log = marked_log();
    let lines = lines(&log);
    for at in 0..lines.len() {
        let mut dropped = lines.clone();
        dropped.remove(at);
        assert_keeps(&dropped.concat(), &marks_of(lines[at]), &format!("line {at} dropped"));
        for to in 0..=lines.len() {
            let mut repeated = lines.clone();
            repeated.insert(to, lines[at]);
            assert_keeps(&repeated.concat(), &[], &format!("line {at} repeated at {to}"));
        }
        for other in 0..lines.len() {
            let mut swapped = lines.clone();
            swapped.swap(at, other);
            assert_keeps(&swapped.concat(), &[], &format!("lines {at} and {other} swapped"));
        }
        let mut joined: Vec<Vec<u8>> = lines.iter().map(|line| line.to_vec()).collect();
        joined[at].pop();
        assert_keeps(&joined.concat(), &[], &format!("line {at} joined with the next"));
    }
}

#[test]
fn a_checksum_reveals_changes_that_parse() {
    let log = marked_log();
    let changed = String::from_utf8(log).unwrap().replace("[M4]", "[MX]");
    let report = check_log(changed.as_bytes()).unwrap();
    assert!(report.skipped.is_empty());
    assert!(report.warnings.iter().any(|warning| warning.contains("checksum")), "{report:?}");
}

#[test]
fn reading_is_the_same_twice() {
    let log = marked_log();
    let (one, two) = (read_log(log.as_slice()).unwrap(), read_log(log.as_slice()).unwrap());
    assert_eq!(one.entries, two.entries);
    assert_eq!(one.report, two.report);
    assert_eq!(one.bytes, log.len() as u64);
}
