use super::*;
use crate::{Transcript, repair};

fn text(entry: &Entry) -> Option<String> {
    match &entry.kind {
        EntryKind::User(user) => Some(user.content.first()?.as_text()?.to_owned()),
        EntryKind::Assistant(message) => Some(message.content.first()?.as_text()?.to_owned()),
        _ => None,
    }
}

fn read(log: &str) -> (Vec<String>, LoadReport) {
    let log = read_log(log.as_bytes()).unwrap();
    (log.entries.iter().filter_map(text).collect(), log.report)
}

/// Returns a line from `user:id:parent` or `model:id:parent` with more fields. The text is the id.
fn line(short: &str) -> String {
    let (head, more) = short.split_once(' ').unwrap_or((short, ""));
    let [role, id, parent] = head.split(':').collect::<Vec<_>>().try_into().unwrap();
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    let role = if role == "model" { "assistant" } else { role };
    format!(
        r#"{{"parentUuid":{parent},"type":"{role}",{more}"uuid":"{id}","message":{{"id":"m-{id}","role":"{role}","content":[{{"type":"text","text":"{id}"}}]}}}}"#
    )
}

fn log(lines: &[&str]) -> String {
    lines.iter().map(|short| if short.starts_with('{') { (*short).to_owned() } else { line(short) } + "\n").collect()
}

#[test]
fn the_conversation_is_the_path_to_the_latest_line() {
    for (lines, expected) in [
        // In order.
        (vec!["user:a:", "model:b:a", "user:c:b"], "a b c"),
        // The user went back to b and continued there.
        (vec!["user:a:", "model:b:a", "user:c:b", "model:d:c", "user:e:b", "model:f:e"], "a b e f"),
        // The user changed the first prompt.
        (vec!["user:a:", "model:b:a", "user:c:", "model:d:c"], "c d"),
        // Parents that are missing, come later, or form a cycle.
        (vec!["user:a:", "model:b:a", "model:d:lost"], "a b d"),
        (vec!["user:a:", "user:c:b", "model:b:a"], "a b c"),
        (vec!["user:a:c", "model:b:a", "user:c:b"], "a b c"),
        (vec!["user:a:a", "model:b:a"], "a b"),
        (vec!["user:a:", "model:b:d", "user:c:b", "model:d:c"], "a b c d"),
        // The model never speaks first.
        (vec!["user:a:", "model:b:", "user:c:b"], "a b c"),
        // Other agents and other teams.
        (vec!["user:a:", "model:b:a", "user:s:b \"isSidechain\":true,", "model:t:s \"isSidechain\":true,"], "a b"),
        (vec!["user:a:", "model:b:a", "user:s:b \"teamName\":\"x\","], "a b"),
        // A note on an old branch does not make that the current one.
        (vec!["user:a:", "model:b:a", "user:c:b", "user:d:b", "model:e:d", "user:n:c \"isMeta\":true,"], "a b d e"),
        // Lines without content are followed, but not shown.
        (vec!["user:a:", r#"{"type":"attachment","uuid":"x","parentUuid":"a"}"#, "model:b:x"], "a b"),
        (vec!["user:a:", "model:b:a", r#"{"type":"system","uuid":"x","parentUuid":"b"}"#], "a b"),
    ] {
        let (found, report) = read(&log(&lines));
        assert_eq!(found.join(" "), expected, "{lines:?} {report:?}");
    }
}

#[test]
fn a_compaction_hides_what_was_before_only_if_its_summary_is_there() {
    let boundary =
        r#"{"type":"system","subtype":"compact_boundary","uuid":"x","parentUuid":null,"logicalParentUuid":"b"}"#;
    let summary = "user:s:x \"isCompactSummary\":true,";
    assert_eq!(read(&log(&["user:a:", "model:b:a", boundary, summary, "model:c:s"])).0, ["s", "c"]);
    assert_eq!(read(&log(&["user:a:", "model:b:a", boundary, "user:d:x", "model:c:d"])).0, ["a", "b", "d", "c"]);
}

#[test]
fn two_records_under_one_id_are_both_kept() {
    let (found, report) = read(&log(&["user:a:", "model:b:a", "user:b:a", "model:c:b"]));
    assert_eq!(found, ["a", "b", "b", "c"]);
    assert_eq!(report.warnings.len(), 1);
    let (found, report) = read(&log(&["user:a:", "model:b:a", "model:b:a", "user:c:b", "user:a:"]));
    assert_eq!(found, ["a", "b", "c"]);
    let skipped: Vec<u64> = report.skipped.iter().map(|skipped| skipped.line).collect();
    assert_eq!(skipped, [3, 5]);
}

#[test]
fn broken_unicode_is_replaced_but_not_in_signed_reasoning() {
    let broken = line("user:a:").replace(r#""text":"a""#, r#""text":"x\ud83dy""#) + "\n";
    assert_eq!(read(&broken).0, ["x\u{fffd}y"]);
    let mut bytes = line("user:a:").into_bytes();
    let at = bytes.windows(8).position(|window| window == br#"text":"a"#).unwrap() + 7;
    bytes[at] = 0xff;
    let log = read_log(bytes.as_slice()).unwrap();
    assert_eq!(log.entries.iter().filter_map(text).collect::<Vec<_>>(), ["\u{fffd}"]);
    assert_eq!(log.report.warnings.len(), 1);
    let signed = line("model:b:a")
        .replace(r#"{"type":"text","text":"b"}"#, r#"{"type":"thinking","thinking":"\udead","signature":"s"}"#);
    let (_, report) = read(&(line("user:a:") + "\n" + &signed));
    assert_eq!((report.entries, report.skipped.len()), (1, 1));
}

#[test]
fn several_blocks_and_results_in_one_line_are_taken_apart() {
    let message = r#"{"parentUuid":"a","type":"assistant","uuid":"b","message":{"id":"m","content":[{"type":"tool_use","id":"1","name":"T","input":{}},{"type":"tool_use","id":"2","name":"T","input":{}}]}}"#;
    let results = r#"{"parentUuid":"b","type":"user","uuid":"r","message":{"content":[{"type":"tool_result","tool_use_id":"2","content":"two"},{"type":"tool_result","tool_use_id":"1","content":"one"},{"type":"text","text":"and this"}]}}"#;
    let log = read_log(log(&["user:a:", message, results, "model:c:r"]).as_bytes()).unwrap();
    let (entries, report) = repair(log.entries);
    assert!(report.is_clean(), "{report:?}");
    let messages = Transcript::from_entries(&entries).messages();
    crate::check_messages(messages.iter().map(|message| &**message)).unwrap();
    assert_eq!(messages.len(), 4);
    assert_eq!(messages[2].content.len(), 3);
}

#[test]
fn what_a_repair_of_another_programs_line_made_is_found_again() {
    let message = r#"{"parentUuid":"a","type":"assistant","uuid":"b","message":{"id":"m","content":[{"type":"tool_use","id":"1","name":"T","input":{}},{"type":"tool_use","id":"1b","name":"T","input":{}}]}}"#;
    let mut log = log(&["user:a:", message, "user:c:b", "model:d:c"]).into_bytes();
    let (_, report) = repair(read_log(log.as_slice()).unwrap().entries);
    assert_eq!(report.synthetic.len(), 2);
    let mut encoder = crate::LogEncoder::new("s".into(), crate::LogHeader::default());
    for entry in &report.synthetic {
        encoder.entry(entry, &mut log);
    }
    let (entries, report) = repair(read_log(log.as_slice()).unwrap().entries);
    assert!(report.is_clean(), "{report:?}");
    assert_eq!(Transcript::from_entries(&entries).messages().len(), 4);
}

#[test]
fn lines_beside_the_conversation_are_kept_in_their_place() {
    let log = log(&["user:a:", r#"{"type":"tag","tag":"x"}"#, "model:b:a", r#"{"type":"mode","mode":"plan"}"#]);
    let entries = read_log(log.as_bytes()).unwrap().entries;
    let kinds: Vec<&str> = entries
        .iter()
        .map(|entry| match &entry.kind {
            EntryKind::Foreign(json) => json.as_str(),
            EntryKind::Mode(mode) => mode.as_str(),
            EntryKind::User(_) => "user",
            _ => "other",
        })
        .collect();
    assert_eq!(kinds, ["user", r#"{"type":"tag","tag":"x"}"#, "other", "plan"]);
}

#[test]
fn a_line_beyond_the_limit_takes_no_memory_and_no_neighbour() {
    let log = format!("{}\n{}\nab\n", "x".repeat(50), "y".repeat(9));
    let mut lines = lines::Lines::new(log.as_bytes(), 10);
    assert!(matches!(lines.next().unwrap(), Some(lines::Line::TooLong)));
    assert!(matches!(lines.next().unwrap(), Some(lines::Line::Whole(b"yyyyyyyyy"))));
    assert!(matches!(lines.next().unwrap(), Some(lines::Line::Whole(b"ab"))));
    assert!(lines.next().unwrap().is_none());
    assert_eq!(lines.bytes, log.len() as u64);
}

#[test]
fn a_report_stays_small_whatever_the_log() {
    let (_, report) = read(&"{\n".repeat(5_000));
    assert_eq!((report.skipped.len(), report.skipped_total), (LoadReport::LISTED, 5_000));
}

#[test]
fn a_line_that_a_kill_cut_off_is_no_damage_and_any_other_is() {
    let whole = log(&["user:a:", "model:b:a"]);
    let next = line("user:c:b");
    for cut in 1..next.len() {
        let torn = format!("{whole}{}{}{}", next.split_at(cut).0, crate::END_OF_TORN_LINE, log(&["user:d:b"]));
        let (texts, report) = read(&torn);
        assert_eq!(texts, ["a", "b", "d"], "cut at {cut}");
        assert_eq!((report.torn, report.skipped_total), (1, 0), "cut at {cut}: {report:?}");
    }
    // An unterminated line of another program, and invalid lines, are not reported as torn.
    let (texts, report) = read(&format!("{whole}{next}{}", crate::END_OF_TORN_LINE));
    assert_eq!((texts.len(), report.torn, report.skipped_total), (3, 0, 0));
    let (_, report) = read(&format!("{whole}nonsense{}", crate::END_OF_TORN_LINE));
    assert_eq!((report.torn, report.skipped_total), (0, 1));
    let (_, report) = read(&format!("{whole}{}\n", next.split_at(20).0));
    assert_eq!((report.torn, report.skipped_total), (0, 1));
}
