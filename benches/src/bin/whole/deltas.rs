//! CPU of one streamed delta with one stream-json line out, in this process.

use std::fs::File;
use std::io::Write;
use std::time::Duration;
use windlass::options::HostOptions;

use anyhow::Result;
use nix::time::{ClockId, clock_gettime};
use windlass::query;
use windlass_benches::floor::Client;
use windlass_benches::stats::{median, micros};
use windlass_protocol::{FrameMapper, FrameOptions};
use windlass_testkit::wire::{Message, Reply};

use crate::peer::{Peer, runtime};
use crate::report::Report;

pub const FEW: usize = 1_000;
pub const MANY: usize = 21_000;
const ROUNDS: usize = 15;

/// Returns a message of `deltas` deltas of about four words.
pub fn message(deltas: usize) -> Reply {
    let reply = Reply::message(Message::new().text_deltas((0..deltas).map(|_| "some more words of text ")));
    // Chunks have the size in which a socket gives them, and are written as they come.
    Reply::stream_bytes(reply.body()).chunks_of(1400)
}

fn used() -> Result<Duration> {
    Ok(clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID)?.into())
}

pub fn measure(report: &mut Report) -> Result<()> {
    let runtime = runtime()?;
    let (mut floors, mut ours) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let mut cost = [[Duration::ZERO; 2]; 2];
        for (at, deltas) in [FEW, MANY].into_iter().enumerate() {
            let peer = Peer::cycle(vec![message(deltas)])?;
            let client = Client::new(&peer.server.url())?;
            let provider = peer.provider()?;
            let before = used()?;
            runtime.block_on(floor(&client))?;
            let between = used()?;
            runtime.block_on(lines(provider))?;
            if let [floor, ours] = &mut cost
                && let (Some(floor), Some(ours)) = (floor.get_mut(at), ours.get_mut(at))
            {
                (*floor, *ours) = (between - before, used()? - between);
            }
        }
        let [[few_floor, floor], [few, many]] = cost;
        floors.push(floor.saturating_sub(few_floor));
        ours.push(many.saturating_sub(few));
    }
    let each = |samples: Vec<Duration>| micros(median(samples)) / (MANY - FEW) as f64;
    report.row("CPU per streamed delta, a line out, in process", "µs", "4 µs", Some(each(floors)), each(ours));
    Ok(())
}

async fn floor(client: &Client) -> Result<()> {
    let mut out = File::create("/dev/null")?;
    let mut line = Vec::new();
    let mut text = String::new();
    client
        .message("{}", |data, delta| {
            text.push_str(delta);
            line.clear();
            line.extend_from_slice(b"{\"type\":\"stream_event\",\"event\":");
            line.extend_from_slice(data.as_bytes());
            line.extend_from_slice(b"}\n");
            let _ = out.write_all(&line);
        })
        .await
}

async fn lines(provider: windlass::Anthropic) -> Result<()> {
    let mut out = File::create("/dev/null")?;
    let mut next = 0;
    let mut mapper = FrameMapper::new(FrameOptions::default().with_partial_messages(true), move || {
        next += 1;
        next
    });
    let mut line = Vec::new();
    let mut run = query("go").provider(provider).host(HostOptions::new().partial_messages(true)).stream();
    while let Some(event) = run.try_next().await? {
        line.clear();
        mapper.map(&event, &mut line);
        if !line.is_empty() {
            out.write_all(&line)?;
        }
    }
    Ok(())
}
