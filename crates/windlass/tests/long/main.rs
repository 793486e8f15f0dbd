//! Sessions of many turns: what a turn costs behind others.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a failure here is a failed test")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use windlass::tool::{Access, DynTool, tool_fn};
use windlass::{Anthropic, EventKind, query};

#[derive(serde::Deserialize, windlass::schemars::JsonSchema)]
#[schemars(crate = "windlass::schemars")]
struct Nothing {}

/// Milliseconds of CPU that this thread has used.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    stat.split(' ').next().unwrap().parse::<f64>().unwrap() / 1e6
}

/// Reads a request; `None` at the end of the connection.
fn read(stream: &mut BufReader<TcpStream>) -> Option<()> {
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
    Some(())
}

/// The answer to a request: a call, and a text at the end.
fn answer(number: usize, is_last: bool) -> String {
    let (block, stop) = match is_last {
        true => (r#"{"type":"text","text":"done"}"#.to_owned(), "end_turn"),
        false => (format!(r#"{{"type":"tool_use","id":"toolu_{number}","name":"look","input":{{}}}}"#), "tool_use"),
    };
    let usage = r#""usage":{"input_tokens":10,"output_tokens":1}"#;
    let message = format!(
        r#"{{"id":"msg_{number}","type":"message","role":"assistant","model":"m","content":[],"stop_reason":null,"stop_sequence":null,{usage}}}"#
    );
    let stop = format!(r#"{{"stop_reason":"{stop}","stop_sequence":null}}"#);
    let events = [
        ("message_start", format!(r#""message":{message}"#)),
        ("content_block_start", format!(r#""index":0,"content_block":{block}"#)),
        ("content_block_stop", r#""index":0"#.to_owned()),
        ("message_delta", format!(r#""delta":{stop},"usage":{{"output_tokens":9}}"#)),
        ("message_stop", String::new()),
    ];
    let event = |(kind, rest): (&str, String)| {
        let comma = if rest.is_empty() { "" } else { "," };
        format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{comma}{rest}}}\n\n")
    };
    events.map(event).concat()
}

/// Serves a model that calls a tool so many times. Returns its address.
fn serve(turns: usize) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let mut number = 0;
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            while read(&mut stream).is_some() {
                number += 1;
                let body = answer(number, number > turns);
                let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream";
                let words = format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len());
                stream.get_mut().write_all(words.as_bytes()).unwrap();
            }
        }
    });
    url
}

/// CPU of each turn of a run, in milliseconds, and the number of the turn.
async fn turns(count: usize) -> Vec<f64> {
    let place = tempfile::tempdir().unwrap();
    let look = tool_fn("look", "Looks.", |_: Nothing, _| async { Ok("some text ".repeat(20)) });
    let look = Arc::new(look.with_access(Access::NOTHING)) as Arc<dyn DynTool>;
    let provider = Anthropic::builder().api_key("k").base_url(serve(count)).build().unwrap();
    let run = query("go").provider(provider).model("claude-sonnet-4-5").cwd(place.path()).tools(vec![look]);
    let mut run = run.auto_compact(false).max_turns(u32::MAX).stream();
    let (mut each, mut before) = (Vec::new(), cpu());
    while let Some(event) = run.try_next().await.unwrap() {
        if let EventKind::ToolFinished(_) = &event.kind {
            let now = cpu();
            each.push(now - before);
            before = now;
        }
    }
    each
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
    let each = turns(count).await;
    assert_eq!(each.len(), count);
    let tenths: Vec<f64> = each.chunks(count / 10).map(middle).collect();
    for (at, tenth) in tenths.iter().enumerate() {
        println!("{:>6} turns behind it: {tenth:.3} ms", at * (count / 10));
    }
}
