//! Events as JSON: round trips, and comparison with the published documents.

mod samples;

use super::*;
use crate::PermissionAnswer;
use proptest::prelude::*;
use samples::{Source, Variants};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fmt::Debug;

/// Checks that a value survives a round trip, and that its text contains no name twice.
fn round_trip<T: Serialize + serde::de::DeserializeOwned + PartialEq + Debug>(value: &T) {
    let text = serde_json::to_string(value).unwrap();
    let back: T = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
    assert_eq!(&back, value, "{text}");
    assert_eq!(serde_json::to_string(&back).unwrap(), text);
}

proptest! {
    #![proptest_config(ProptestConfig { fork: false, timeout: 0, ..ProptestConfig::with_cases(64) })]

    #[test]
    fn events_of_all_kinds_come_back_as_they_were(choices in prop::collection::vec(any::<u64>(), 0..80)) {
        for kind in EventKind::variants() {
            let event = samples::event(&mut Source::hard(&choices), kind);
            round_trip(&event);
            round_trip(&event.kind);
        }
    }

    #[test]
    fn answers_and_results_come_back_as_they_were(choices in prop::collection::vec(any::<u64>(), 0..80)) {
        round_trip(&Source::hard(&choices).make::<PermissionAnswer>());
        round_trip(&Source::hard(&choices).make::<RunResult>());
        round_trip(&Source::hard(&choices).make::<PermissionRequest>());
    }
}

fn written(event: &Event) -> JsonText {
    JsonText::of(event).unwrap()
}

fn event(kind: EventKind) -> Event {
    let mut event = Event::new(u64::MAX, "s".into(), "r".into(), 1, kind);
    event.agent = event.agent.child("toolu_1".into());
    event
}

#[test]
fn no_name_occurs_twice_and_the_envelope_counts() {
    let result = RunResult::new(crate::Outcome::Success, "other".into());
    let call = crate::ToolUse::new("t", "Bash", JsonText::empty_object());
    let decision = Decision::new(crate::Behavior::Ask, crate::DecisionReason::Default, "why");
    let request = PermissionRequest::new(call, "ls".into(), decision, crate::CallDigest::new("0"));
    for kind in [EventKind::RunFinished(result), EventKind::PermissionRequested(request)] {
        let text = written(&event(kind));
        text.check_strict().unwrap();
        let back: Event = text.to().unwrap();
        assert_eq!((back.session_id.as_str(), back.agent.to_string()), ("s", "toolu_1".to_owned()));
        match back.kind {
            EventKind::RunFinished(result) => assert_eq!(result.session_id.as_str(), "s"),
            EventKind::PermissionRequested(request) => assert_eq!(request.agent, back.agent),
            other => panic!("{other:?}"),
        }
    }
    for kind in EventKind::variants() {
        written(&samples::event(&mut Source::plain(&[1; 40]), kind)).check_strict().unwrap();
    }
}

#[test]
fn numbers_and_the_json_of_others_stay_exact() {
    let frame = r#"{ "n":1.0000000000000000001,"big":123456789012345678901234567890, "a":"\u00e9" }"#;
    let exact = event(EventKind::ModelFrame { frame: JsonText::parse(frame).unwrap() });
    let text = written(&exact);
    assert!(text.as_str().contains(frame), "{text}");
    assert!(text.as_str().contains(r#""seq":18446744073709551615"#), "{text}");
    assert_eq!(text.to::<Event>().unwrap(), exact);
    // A tree keeps the number, not the text of others.
    let tree: Value = text.to().unwrap();
    let event: Event = serde_json::from_value(tree).unwrap();
    assert_eq!(event.seq, u64::MAX);
    assert_ne!(event, exact);
}

#[test]
fn fields_that_are_not_known_are_ignored() {
    let known = event(EventKind::StateChanged(StateChange::Model { model: "opus".into() }));
    let text = written(&known);
    let longer = text.as_str().replacen('{', r#"{"newer":{"a":1},"#, 1);
    assert_eq!(serde_json::from_str::<Event>(&longer).unwrap(), known);
}

#[test]
fn an_event_of_a_type_that_is_not_known_is_passed_on() {
    let text = r#"{"seq":3,"session_id":"s","agent":[],"run_id":"r","turn":0,"at":"2026-01-01T00:00:00.000Z","type":"newer","b":{ "n":1.50 },"a":null}"#;
    let event: Event = serde_json::from_str(text).unwrap();
    let EventKind::Unknown(unknown) = &event.kind else { panic!("{event:?}") };
    assert_eq!((event.seq, unknown.event_type()), (3, "newer"));
    assert_eq!(unknown.field("b").map(JsonText::as_str), Some(r#"{ "n":1.50 }"#));
    assert_eq!(unknown.field("seq"), None);
    assert_eq!(written(&event).as_str(), text);
}

#[test]
fn what_is_no_event_is_an_error_that_says_why() {
    let envelope = r#""seq":3,"session_id":"s","agent":[],"run_id":"r","turn":0,"at":"2026-01-01T00:00:00.000Z""#;
    for (rest, expected) in [
        ("", "missing field `type`"),
        (r#","type":7"#, "invalid type: integer `7`"),
        (r#","type":"tool_progress","tool_use_id":"t""#, "missing field `tool`"),
        (r#","type":"block_delta","index":-1,"delta":{"kind":"text","text":"x"}"#, "invalid value: integer `-1`"),
        (r#","type":"status","status":"newer""#, "unknown variant `newer`"),
        (r#","type":"state_changed","state":"newer""#, "unknown state \"newer\""),
        (r#","type":"model_frame","frame":1,"seq":4"#, "duplicate field `seq`"),
    ] {
        let error = serde_json::from_str::<Event>(&format!("{{{envelope}{rest}}}")).unwrap_err().to_string();
        assert!(error.contains(expected), "{rest}: {error}");
    }
    let error = serde_json::from_str::<Event>(r#"{"type":"newer"}"#).unwrap_err().to_string();
    assert!(error.contains("missing field `seq`"), "{error}");
}

/// Collects the fields of an object with the words in them. `place` names the object.
fn features(place: &str, value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => fields.iter().for_each(|(name, value)| {
            let place = place.rsplit('.').next().unwrap_or_default();
            features(&format!("{place}.{name}"), value, found);
        }),
        Value::Array(items) if !items.is_empty() => items.iter().for_each(|item| features(place, item, found)),
        Value::String(text) if text.contains(|c: char| c.is_ascii_digit()) => drop(found.insert(place.to_owned())),
        Value::Number(_) => drop(found.insert(place.to_owned())),
        other => drop(found.insert(format!("{place}={other}"))),
    }
}

/// Returns a few of many samples, so that each shows a feature that those before it, and `seen`, do not show.
fn examples<T: Serialize>(
    name: &str,
    seen: &mut BTreeSet<String>,
    mut make: impl FnMut(&mut Source<'_>) -> T,
) -> Vec<String> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state >> 11
    };
    let mut samples: Vec<(String, BTreeSet<String>)> = (0..300)
        .map(|_| {
            let choices: Vec<u64> = (0..60).map(|_| next()).collect();
            let line = serde_json::to_string(&make(&mut Source::plain(&choices))).unwrap();
            let mut found = BTreeSet::new();
            features(name, &serde_json::from_str(&line).unwrap(), &mut found);
            (line, found)
        })
        .collect();
    let mut lines = Vec::new();
    loop {
        samples.iter_mut().for_each(|(_, found)| found.retain(|feature| !seen.contains(feature)));
        let Some((line, found)) = samples.iter().rev().max_by_key(|(_, found)| found.len()) else { return lines };
        if found.is_empty() {
            return lines;
        }
        seen.extend(found.iter().cloned());
        lines.push(line.clone());
    }
}

/// Compares a file of the documentation with its expected content. Writes the file if `WINDLASS_RENEW` is set.
#[expect(clippy::disallowed_methods, reason = "whoever runs the test says that the file is to be written")]
fn published(name: &str, lines: &[String]) {
    let file = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/schema").join(name);
    let expected = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    if std::env::var_os("WINDLASS_RENEW").is_some() {
        std::fs::write(&file, expected).unwrap();
        return;
    }
    let found = std::fs::read_to_string(&file).unwrap_or_default();
    let first = expected.lines().zip(found.lines()).find(|(expected, found)| expected != found);
    assert!(
        found == expected,
        "docs/schema/{name} is not what is written today (first difference: {first:?}). If the change of the form is meant, \
         renew it with `for c in types testkit; do WINDLASS_RENEW=1 cargo test -p windlass-$c published; done`"
    );
}

#[test]
fn the_examples_are_published() {
    let known = EventKind::variants();
    let known = known.iter().take(known.len() - 1).enumerate();
    let mut seen = BTreeSet::new();
    let events = known.flat_map(|(at, kind)| examples(&at.to_string(), &mut seen, |s| samples::event(s, kind)));
    published("events.jsonl", &events.collect::<Vec<_>>());
    published("answers.jsonl", &examples("", &mut BTreeSet::new(), |s| s.make::<PermissionAnswer>()));
}
