//! Faulty streams, from the socket to the disk: nothing of an incomplete message is run, shown for good or stored.

use crate::common::{provider, stored_texts, watch};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use tokio::task::JoinSet;
use windlass::options::LimitOptions;
use windlass::{Anthropic, Home, Outcome, PermissionMode, coding_tools, event::RunFailureKind, query};
use windlass_testkit::wire::{Event, Message, RecordedRequest, Reply, WireServer};

/// The message that asks for a write, as its first or as a later attempt says it.
fn message(content: &str) -> Message {
    Message::new().id("msg_write_1").text_deltas(["I write ", "a ☂ ", "now."]).tool_use(
        "toolu_1",
        "Write",
        serde_json::json!({"file_path": "out.txt", "content": content}),
    )
}

const FIRST: &str = "of the first attempt";
const SECOND: &str = "of the second attempt";
const TEXT: &str = "I write a ☂ now.";

fn first() -> Reply {
    Reply::from(message(FIRST))
}

/// Expected end of a case.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Expect {
    /// The first attempt counts.
    First,
    /// The stream is incomplete or breaks the protocol: it leaves no trace.
    Withdrawn,
    /// The stream is odd but complete: it may be accepted as long as everything agrees.
    Either,
}

#[derive(Debug)]
struct Case {
    name: String,
    reply: Reply,
    expect: Expect,
}

impl Case {
    fn new(name: impl Into<String>, reply: Reply, expect: Expect) -> Self {
        Self { name: name.into(), reply, expect }
    }
}

/// Runs every case against one server, each in a workspace and a home of its own.
async fn run_all(cases: Vec<Case>, retries: u32) {
    let server = WireServer::start_on_thread().unwrap();
    server.forget_requests();
    let replies: Vec<Reply> = cases.iter().map(|case| case.reply.clone()).collect();
    let attempts: Mutex<HashMap<usize, usize>> = Mutex::default();
    server.on_request(move |request| answer(request, &replies, &attempts));
    let provider = provider(&server.url());
    let base = crate::common::fast_folder();
    let base: Arc<Path> = base.path().canonicalize().unwrap().into();
    // Most of a case that is retried is waiting.
    let gate = Arc::new(tokio::sync::Semaphore::new(if retries > 0 { 64 } else { 8 }));
    let mut running = JoinSet::new();
    for (number, case) in cases.into_iter().enumerate() {
        let (provider, base, gate) = (provider.clone(), Arc::clone(&base), Arc::clone(&gate));
        running.spawn(async move {
            let _permit = gate.acquire().await.unwrap();
            run_case(number, &case, retries, provider, &base).await;
        });
    }
    while let Some(ended) = running.join_next().await {
        ended.unwrap();
    }
}

fn answer(request: &RecordedRequest, replies: &[Reply], attempts: &Mutex<HashMap<usize, usize>>) -> Reply {
    let body = request.json().unwrap();
    let messages = body["messages"].as_array().unwrap();
    let prompt = messages[0]["content"].to_string();
    let number: usize = prompt.split("case ").nth(1).unwrap().split(';').next().unwrap().parse().unwrap();
    if messages.len() > 1 {
        return Message::new().text("Done.").into();
    }
    let mut attempts = attempts.lock().unwrap();
    let attempt = attempts.entry(number).or_default();
    *attempt += 1;
    if *attempt == 1 { replies[number].clone() } else { message(SECOND).into() }
}

async fn run_case(number: usize, case: &Case, retries: u32, provider: Anthropic, base: &Path) {
    let place = |kind: &str| -> PathBuf {
        let path = base.join(format!("{kind}-{number}"));
        std::fs::create_dir(&path).unwrap();
        path
    };
    let (workspace, home) = (place("w"), place("h"));
    let seen = watch(
        query(format!("case {number};"))
            .provider(provider)
            .tools(coding_tools(&workspace))
            .permission_mode(PermissionMode::AcceptEdits)
            .limits(LimitOptions::new().max_retries(retries))
            .persist(Home::new(&home)),
    )
    .await;
    let name = &case.name;
    let written = std::fs::read_to_string(workspace.join("out.txt")).ok();
    let outcome = &seen.result().outcome;
    let failed = match outcome {
        Outcome::Success => false,
        Outcome::Failed(failure) if retries == 0 => {
            assert!(matches!(failure.kind, RunFailureKind::Model(_)), "{name}: {failure:?}");
            true
        }
        other => panic!("{name}: {other:?}"),
    };
    assert_eq!(seen.texts, stored_texts(&home), "{name}: shown and stored");
    let (by, runs) = (written.as_deref(), seen.tool_results().len());
    match case.expect {
        Expect::First => {
            assert_eq!((failed, by, runs), (false, Some(FIRST), 1), "{name}");
            assert_eq!(seen.texts, [TEXT, "Done."], "{name}");
        }
        Expect::Withdrawn if retries == 0 => {
            assert_eq!((failed, by, runs, seen.texts.len()), (true, None, 0, 0), "{name}")
        }
        Expect::Withdrawn => {
            assert_eq!((failed, by, runs), (false, Some(SECOND), 1), "{name}");
            assert_eq!(seen.texts, [TEXT, "Done."], "{name}");
        }
        Expect::Either => {
            assert!(runs <= 1, "{name}");
            assert!([None, Some(FIRST), Some(SECOND)].contains(&by), "{name}: {written:?}");
            assert!(seen.texts.last().is_none_or(|last| last == "Done." || last == TEXT), "{name}: {:?}", seen.texts);
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stream_cut_at_any_byte_leaves_no_trace() {
    let length = first().body().len();
    let cases = (0..=length).map(|at| {
        let expect = if at == length { Expect::First } else { Expect::Withdrawn };
        let (how, reply) = match at % 3 {
            0 => ("closed", first().cut_at(at)),
            1 => ("ended", first().stop_at(at)),
            _ => ("closed by its end", first().until_close().cut_at(at)),
        };
        Case::new(format!("{how} at byte {at} of {length}"), reply, expect)
    });
    run_all(cases.collect(), 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cut_stream_is_repeated_and_shown_once() {
    let reply = first();
    let ends = reply.event_ends();
    let mut cases = Vec::new();
    for end in ends.iter().take(ends.len() - 1).copied().chain([0]) {
        cases.push(Case::new(format!("closed at {end}"), first().cut_at(end), Expect::Withdrawn));
        cases.push(Case::new(format!("closed at {end} and a bit"), first().cut_at(end + 11), Expect::Withdrawn));
        cases.push(Case::new(format!("reset at {end}"), first().reset_at(end), Expect::Withdrawn));
        let mut events = message(FIRST).events("msg_write_1");
        events.truncate(ends.iter().filter(|at| **at <= end).count());
        events.push(Event::named(
            "error",
            r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#,
        ));
        cases.push(Case::new(format!("an error event at {end}"), Reply::events(events), Expect::Withdrawn));
    }
    run_all(cases, 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn chunks_of_any_size_make_no_difference() {
    let length = first().body().len();
    let sizes = (1..=48).chain([64, 100, 500, length]);
    let mut cases: Vec<Case> = sizes
        .map(|size| Case::new(format!("chunks of {size}"), first().chunks_of(size).separate_writes(), Expect::First))
        .collect();
    cases.extend(
        (1..length)
            .step_by(7)
            .map(|at| Case::new(format!("split at {at}"), first().chunks_at([at]).separate_writes(), Expect::First)),
    );
    run_all(cases, 0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lost_repeated_and_swapped_events_never_act_by_halves() {
    let events = message(FIRST).events("msg_write_1");
    let structural = |event: &Event| !matches!(event.name.as_str(), "ping" | "content_block_delta");
    let mut cases = Vec::new();
    for (at, event) in events.iter().enumerate() {
        let described = format!("event {at}, {}", event.name);
        let mut lost = events.clone();
        lost.remove(at);
        let expect = if structural(event) { Expect::Withdrawn } else { Expect::Either };
        cases.push(Case::new(format!("without {described}"), Reply::events(lost), expect));

        let mut repeated = events.clone();
        repeated.insert(at, event.clone());
        let expect = match event.name.as_str() {
            "message_start" | "content_block_start" | "content_block_stop" => Expect::Withdrawn,
            "message_stop" | "ping" => Expect::First,
            _ => Expect::Either,
        };
        cases.push(Case::new(format!("twice {described}"), Reply::events(repeated), expect));

        if at + 1 < events.len() {
            let mut swapped = events.clone();
            swapped.swap(at, at + 1);
            let both = (event.name.as_str(), events[at + 1].name.as_str());
            let expect = match both {
                ("ping", "content_block_delta") => Expect::First,
                // A block may begin before the one before it is closed.
                ("content_block_stop", "content_block_start") => Expect::First,
                (a, b) if a == b || a == "ping" || b == "ping" => Expect::Either,
                _ => Expect::Withdrawn,
            };
            cases.push(Case::new(format!("swapped {described}"), Reply::events(swapped), expect));
        }
    }
    run_all(cases, 1).await;
}
