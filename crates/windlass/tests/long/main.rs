//! Sessions of many turns: the CPU of a turn behind others, in each dialect, beside that of the bytes of its request.

#![cfg(all(target_os = "linux", feature = "gemini", feature = "openai"))]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failure here is a failed test")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use windlass::options::{CompactionOptions, LimitOptions, ModelOptions};
use windlass::provider::{ChatCompletions, Gemini, OpenAi};
use windlass::tool::{Access, DynTool, tool_fn};
use windlass::{Anthropic, EventKind, ModelProvider, query};
use windlass_testkit::wire::{Answer, ChatForm, Dialect};

#[derive(serde::Deserialize, windlass::schemars::JsonSchema)]
#[schemars(crate = "windlass::schemars")]
struct Nothing {}

/// Milliseconds of CPU that this thread has used.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e6
}

/// The dialects by name.
const DIALECTS: [(&str, Dialect); 5] = [
    ("messages", Dialect::Messages),
    ("responses", Dialect::Responses),
    ("chat", Dialect::Chat(ChatForm::Plain)),
    ("gemini", Dialect::Gemini),
    ("ollama", Dialect::Ollama),
];

/// A provider of a dialect at an address.
fn provider(dialect: &str, url: &str) -> Arc<dyn ModelProvider> {
    match dialect {
        "messages" => Arc::new(Anthropic::builder().api_key("k").base_url(url).build().unwrap()),
        "responses" => Arc::new(OpenAi::builder().api_key("k").base_url(url).build().unwrap()),
        "chat" => Arc::new(ChatCompletions::preset("openai").unwrap().api_key("k").base_url(url).build().unwrap()),
        "gemini" => Arc::new(Gemini::builder().api_key("k").base_url(url).build().unwrap()),
        _ => Arc::new(ChatCompletions::preset("ollama").unwrap().base_url(url).build().unwrap()),
    }
}

/// Reads a request. Returns the length of its body; `None` at the end of the connection.
fn read(stream: &mut BufReader<TcpStream>) -> Option<usize> {
    let (mut length, mut line) = (0, String::new());
    while line != "\r\n" {
        line.clear();
        if stream.read_line(&mut line).ok()? == 0 {
            return None;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length: ") {
            length = value.trim().parse().unwrap();
        }
    }
    std::io::copy(&mut stream.take(length), &mut std::io::sink()).ok()?;
    usize::try_from(length).ok()
}

/// Serves a model that calls a tool so many times, and keeps the length of the last request. Returns its address.
fn serve(dialect: Dialect, turns: usize, last_length: Arc<AtomicUsize>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut number = 0;
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            while let Some(length) = read(&mut stream) {
                last_length.store(length, Ordering::Relaxed);
                number += 1;
                let answer = Answer::new("m");
                let answer = match number > turns {
                    true => answer.text(["done"]),
                    false => answer.call(&format!("toolu_{number}"), "look", ["{}"]),
                };
                let body = dialect.reply(&answer, number).body();
                let kind = if dialect == Dialect::Ollama { "application/x-ndjson" } else { "text/event-stream" };
                let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", body.len());
                stream.get_mut().write_all(&[head.as_bytes(), &body].concat()).unwrap();
            }
        }
    });
    url
}

/// A turn: its CPU in milliseconds, and the bytes of the request that followed it.
#[derive(Clone, Copy)]
struct Turn {
    cpu: f64,
    bytes: usize,
}

/// The turns of a run.
async fn turns((name, dialect): (&str, Dialect), count: usize) -> Vec<Turn> {
    let place = tempfile::tempdir().unwrap();
    let look = tool_fn("look", "Looks.", |_: Nothing, _| async { Ok("some text ".repeat(20)) });
    let look = Arc::new(look.with_access(Access::NOTHING)) as Arc<dyn DynTool>;
    let last_length = Arc::<AtomicUsize>::default();
    let provider = provider(name, &serve(dialect, count, Arc::clone(&last_length)));
    // A window that holds the whole run.
    let window = windlass::provider::ModelOverride::new().context_window(100_000_000);
    let run = query("go")
        .provider(provider)
        .model("m")
        .model(ModelOptions::new().with_override("m", window))
        .cwd(place.path())
        .tools(vec![look]);
    let mut run = run
        .compaction(CompactionOptions::new().auto(false))
        .max_turns(u32::MAX)
        .limits(LimitOptions::new().max_repeated_turns(0))
        .stream();
    let (mut each, mut before) = (Vec::new(), cpu());
    while let Some(event) = run.try_next().await.unwrap() {
        if let EventKind::ToolFinished(_) = &event.kind {
            let now = cpu();
            each.push(Turn { cpu: now - before, bytes: last_length.load(Ordering::Relaxed) });
            before = now;
        }
    }
    each
}

/// CPU in milliseconds to copy so many bytes once and write them to a socket, as a request has to.
fn floor(bytes: usize) -> f64 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let reader = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        std::io::copy(&mut stream, &mut std::io::sink()).unwrap();
    });
    let (text, mut stream) = (vec![b'x'; bytes], TcpStream::connect(address).unwrap());
    let figures: Vec<f64> = (0..21)
        .map(|_| {
            let before = cpu();
            stream.write_all(&text.clone()).unwrap();
            cpu() - before
        })
        .collect();
    drop(stream);
    reader.join().unwrap();
    middle(&figures)
}

/// The middle of some figures, which other programs on the machine hardly move.
fn middle(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}

/// `WINDLASS_LONG_TURNS=5000 cargo test -p windlass --test long -- --ignored --nocapture` prints each tenth of a longer
/// run.
#[tokio::test]
#[ignore = "measures"]
#[expect(clippy::disallowed_methods, reason = "the length of a measurement")]
async fn the_cost_of_a_turn_behind_many_others() {
    let count = std::env::var("WINDLASS_LONG_TURNS").map_or(1500, |count| count.parse().unwrap());
    let only = std::env::var("WINDLASS_LONG_DIALECT").ok();
    for dialect in DIALECTS.into_iter().filter(|(name, _)| only.as_deref().is_none_or(|only| only == *name)) {
        let each = turns(dialect, count).await;
        assert_eq!(each.len(), count, "{}", dialect.0);
        for (at, fifth) in each.chunks(count / 5).enumerate() {
            let cpu = middle(&fifth.iter().map(|turn| turn.cpu).collect::<Vec<_>>());
            let bytes = fifth[fifth.len() / 2].bytes;
            let (behind, floor) = (at * (count / 5), floor(bytes));
            println!("{:>10} {behind:>6} turns behind it: {cpu:.3} ms, {bytes} bytes, floor {floor:.3} ms", dialect.0);
        }
    }
}
