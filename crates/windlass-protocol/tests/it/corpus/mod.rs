//! Every frame that the mapper can write, as a corpus for the parsers of the official SDKs.
//!
//! The events are made of every variant of every type that an event is made of;
//! the variants are read from the sources, so that a new one fails here until it
//! is covered. With `WINDLASS_FRAMES` set, the lines are written to that file:
//! `tests/hosts/frames.py` and `frames.mjs` give them to the SDKs.

mod cases;
mod variants;

use cases::Covered;
use serde_json::Value;
use std::collections::BTreeSet;
use windlass_protocol::{FrameMapper, FrameOptions, MAX_LINE};
use windlass_types::{Event, RunId, SessionId};

/// All lines: each event of the main agent and of a subagent, with and without what only some hosts want.
fn lines() -> Vec<Vec<u8>> {
    let mut ids = 0_u128;
    let mut all = Vec::new();
    for partial in [true, false] {
        let options = FrameOptions::default()
            .with_partial_messages(partial)
            .with_hook_events(partial)
            .with_subagent_text(partial)
            .with_api_key_source("ANTHROPIC_API_KEY");
        // Random bits are not needed: different ones are.
        let first = ids;
        ids += 1 << 32;
        let mut next = first;
        let mut mapper = FrameMapper::new(options, move || {
            next += 1;
            next << 64 | next
        });
        let mut out = Vec::new();
        for (at, kind) in cases::events().into_iter().enumerate() {
            let seq = u64::try_from(at).unwrap();
            let session = SessionId::from("12345678-1234-4234-8234-123456789abc");
            let mut event = Event::new(seq, session, RunId::from("r"), 1, kind);
            mapper.map(&event, &mut out);
            event.agent = event.agent.child("toolu_parent".into());
            mapper.map(&event, &mut out);
        }
        mapper.local_output("12345678-1234-4234-8234-123456789abc", "cost", "Total cost: $0", &mut out);
        mapper.refused("", "No conversation found with session ID: x", &mut out);
        assert_eq!(out.last(), Some(&b'\n'));
        out.pop();
        all.extend(out.split(|byte| *byte == b'\n').map(<[u8]>::to_vec));
    }
    all
}

#[test]
fn every_variant_is_in_the_corpus() {
    let mut problems = Vec::new();
    for Covered { file, name, found } in cases::covered() {
        let declared = variants::of(file, name);
        assert!(!declared.is_empty(), "no variants of {name} in {file}");
        problems.extend(declared.difference(&found).map(|variant| format!("the corpus lacks {name}::{variant}")));
        problems.extend(found.difference(&declared).map(|variant| format!("{name} has no {variant}")));
    }
    assert!(problems.is_empty(), "change cases.rs: {problems:#?}");
}

#[test]
fn the_corpus_holds_every_kind_of_frame() {
    let text = |frame: &Value, name: &str| frame.get(name).and_then(Value::as_str).map(str::to_owned);
    let mut kinds = BTreeSet::new();
    let mut ids = BTreeSet::new();
    let lines = lines();
    for line in &lines {
        assert!(line.len() <= MAX_LINE, "a line of {} bytes", line.len());
        let frame: Value = serde_json::from_slice(line).unwrap();
        let kind = text(&frame, "type").unwrap();
        // Frames of logged lines have their ids, and those are all the same here.
        let id = text(&frame, "uuid").unwrap();
        let logged = ["assistant", "user"].contains(&&*kind)
            || line.starts_with(br#"{"type":"system","subtype":"compact_boundary""#);
        assert!(ids.insert(id) || logged, "an id was given twice: {frame}");
        assert!(frame.get("session_id").is_some_and(Value::is_string), "{frame}");
        kinds.insert(text(&frame, "subtype").map_or_else(|| kind.clone(), |subtype| format!("{kind}/{subtype}")));
    }
    // Names in the mapper's sources; those of the server are checked with a running server.
    let parts = ["agents", "compaction", "end", "hooks", "local", "rate_limit", "status", "tasks"]
        .map(|name| format!("mapper/{name}.rs"));
    let files = parts.iter().map(String::as_str).chain(["mapper.rs", "outcome.rs"]);
    let written = variants::frames(&files.collect::<Vec<_>>());
    let missing: Vec<_> =
        written.iter().filter(|name| !kinds.iter().any(|kind| kind.split('/').any(|part| part == *name))).collect();
    assert!(missing.is_empty(), "the corpus lacks {missing:?}; it has {kinds:?}");
    if let Some(path) = std::env::var_os("WINDLASS_FRAMES") {
        std::fs::write(path, lines.join(&b'\n')).unwrap();
    }
}
