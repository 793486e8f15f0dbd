use super::*;
use crate::{LogEncoder, LogHeader, read_log, repair};

const SOURCE: &str = "00000000-0000-4000-8000-0000000000aa";

/// Returns the lines of a copy of a log.
fn forked(lines: &[&str]) -> Vec<serde_json::Value> {
    let log = lines.join("\n") + "\n";
    let (entries, _) = repair(read_log(log.as_bytes()).unwrap().entries);
    let mut count = 0_u128;
    let target = SessionId::from("target");
    let fork = fork(entries, &SOURCE.into(), &target, Timestamp::from_millis(9_999_999_999_999), || {
        count += 1;
        EntryId::from_bits(count << 64)
    });
    let mut encoder = LogEncoder::new(target, LogHeader::new("/w", "1", "test").with_origin(fork.origin));
    let mut out = Vec::new();
    fork.entries.iter().for_each(|entry| encoder.entry(entry, &mut out));
    String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn lines_of_other_programs_are_linked_anew_and_lose_what_belongs_to_the_source() {
    let lines = forked(&[
        r#"{"type":"system","subtype":"compact_boundary","uuid":"b0","parentUuid":null,"logicalParentUuid":"gone","teamless":1,"slug":"s"}"#,
        r#"{"type":"user","uuid":"u1","parentUuid":"b0","isCompactSummary":true,"message":{"role":"user","content":"sum"}}"#,
        r#"{"type":"progress","uuid":"p1","parentUuid":"u1"}"#,
        r#"{"type":"attachment","uuid":"a1","parentUuid":"p1","attachment":{"type":"date","n":1E+2}}"#,
        r#"{"type":"assistant","uuid":"m1","parentUuid":"a1","message":{"id":"m","content":[{"type":"text","text":"hi"}]}}"#,
        r#"{"type":"user","uuid":"x1","parentUuid":"m1","isSidechain":true,"message":{"role":"user","content":"aside"}}"#,
        r#"{"type":"tag","tag":"t","sessionId":"00000000-0000-4000-8000-0000000000aa"}"#,
        r#"{"type":"content-replacement","sessionId":"00000000-0000-4000-8000-0000000000aa","replacements":[1]}"#,
        r#"{"type":"content-replacement","sessionId":"another","replacements":[2]}"#,
    ]);
    let kinds: Vec<_> = lines.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["system", "user", "attachment", "assistant", "content-replacement"]);
    let mut parent = &serde_json::Value::Null;
    for (line, old) in lines.iter().zip(["b0", "u1", "a1", "m1"]) {
        assert_eq!(&line["parentUuid"], parent, "{line}");
        assert_eq!(line["forkedFrom"], serde_json::json!({ "sessionId": SOURCE, "messageUuid": old }));
        assert_eq!((&line["sessionId"], &line["isSidechain"]), (&"target".into(), &false.into()));
        parent = &line["uuid"];
    }
    assert_eq!(lines[0]["logicalParentUuid"], serde_json::Value::Null);
    assert_eq!((lines[0].get("slug"), lines[0]["teamless"].as_u64()), (None, Some(1)));
    assert_eq!(lines[1]["isCompactSummary"], true);
    assert_eq!(lines[2]["attachment"].to_string(), serde_json::json!({ "type": "date", "n": 1E+2 }).to_string());
    assert_eq!(lines[3]["timestamp"], "2286-11-20T17:46:39.999Z");
    assert_eq!(lines[4]["sessionId"], "target");
}

#[test]
fn lost_links_are_closed() {
    let lines = forked(&[
        r#"{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"a"}}"#,
        r#"{"type":"assistant","uuid":"m1","parentUuid":"lost","message":{"id":"m","content":[{"type":"text","text":"b"}]}}"#,
        r#"{"type":"user","uuid":"u2","message":{"role":"user","content":"c"}}"#,
    ]);
    let parents: Vec<_> = lines.iter().map(|line| &line["parentUuid"]).collect();
    assert_eq!(parents, [&serde_json::Value::Null, &lines[0]["uuid"], &lines[1]["uuid"]]);
}
