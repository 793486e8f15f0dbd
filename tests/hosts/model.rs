//! A model that answers in microseconds, for `speed.py` and `speed.mjs`.
//!
//! It speaks as much of the Messages API as windlass needs: a prompt with
//! `add up N` in it has `mcp__calc__add` called so often, everything else is answered with a text.
//! `GET /time` tells how long it took by itself since it was last asked: from the
//! last byte of a request to the last byte of its answer. Built with `rustc -O`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

#[derive(Default)]
struct Clock {
    nanoseconds: AtomicU64,
    calls: AtomicU64,
}

fn event(out: &mut String, kind: &str, rest: &str) {
    let comma = if rest.is_empty() { "" } else { "," };
    out.push_str(&format!("event: {kind}\ndata: {{\"type\":\"{kind}\"{comma}{rest}}}\n\n"));
}

fn message(call: bool, number: u64) -> String {
    let mut out = String::new();
    let start = format!(
        r#""message":{{"id":"msg_{number}","type":"message","role":"assistant","model":"claude-sonnet-4-5","content":[],"stop_reason":null,"stop_sequence":null,"usage":{{"input_tokens":10,"output_tokens":1}}}}"#
    );
    event(&mut out, "message_start", &start);
    let (block, delta, stop) = if call {
        let block = format!(r#"{{"type":"tool_use","id":"toolu_{number}","name":"mcp__calc__add","input":{{}}}}"#);
        (block, r#"{"type":"input_json_delta","partial_json":"{\"a\":1,\"b\":2}"}"#, "tool_use")
    } else {
        (r#"{"type":"text","text":""}"#.to_owned(), r#"{"type":"text_delta","text":"Hello."}"#, "end_turn")
    };
    event(&mut out, "content_block_start", &format!(r#""index":0,"content_block":{block}"#));
    event(&mut out, "content_block_delta", &format!(r#""index":0,"delta":{delta}"#));
    event(&mut out, "content_block_stop", r#""index":0"#);
    let delta = format!(r#""delta":{{"stop_reason":"{stop}","stop_sequence":null}},"usage":{{"output_tokens":7}}"#);
    event(&mut out, "message_delta", &delta);
    event(&mut out, "message_stop", "");
    out
}

/// Whether the last prompt, `add up N`, has fewer than so many results.
fn wants_tool(body: &str) -> bool {
    let Some((_, last)) = body.rsplit_once("add up ") else { return false };
    // What comes behind a later prompt is not about it.
    let digits: String = last.chars().take_while(char::is_ascii_digit).collect();
    let wanted: usize = digits.parse().unwrap_or(0);
    last.matches(r#""type":"tool_result""#).count() < wanted
}

fn serve(stream: TcpStream, clock: &Clock) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut output = stream.try_clone()?;
    let mut input = BufReader::new(stream);
    loop {
        let mut line = String::new();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let asks_time = line.starts_with("GET");
        let mut length = 0;
        loop {
            line.clear();
            input.read_line(&mut line)?;
            if line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap_or(0);
            }
        }
        let mut body = vec![0; length];
        input.read_exact(&mut body)?;
        let began = Instant::now();
        let (kind, text) = if asks_time {
            let (spent, calls) = (clock.nanoseconds.swap(0, Ordering::SeqCst), clock.calls.swap(0, Ordering::SeqCst));
            ("application/json", format!(r#"{{"nanoseconds":{spent},"calls":{calls}}}"#))
        } else {
            let number = clock.calls.fetch_add(1, Ordering::SeqCst);
            ("text/event-stream", message(wants_tool(&String::from_utf8_lossy(&body)), number))
        };
        let answer = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n{text}", text.len());
        output.write_all(answer.as_bytes())?;
        if !asks_time {
            let spent = u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX);
            clock.nanoseconds.fetch_add(spent, Ordering::SeqCst);
        }
    }
}

fn main() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port is free");
    println!("http://{}", listener.local_addr().expect("it is bound"));
    let clock = Arc::new(Clock::default());
    for stream in listener.incoming().flatten() {
        let clock = Arc::clone(&clock);
        // A client that has gone is no news.
        std::thread::spawn(move || serve(stream, &clock));
    }
}
