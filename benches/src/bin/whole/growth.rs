//! A tool turn in a growing conversation.

use std::time::Duration;

use anyhow::{Result, ensure};
use serde_json::json;
use windlass::options::LimitOptions;
use windlass::{Access, EventKind, Home, Tool, ToolCx, ToolError, query};
use windlass_benches::floor::{Appender, Client};
use windlass_benches::stats::{median, micros};
use windlass_testkit::wire::Message;

use crate::peer::{Peer, done, ready, runtime};
use crate::report::Report;
use crate::turns::Place;
use windlass_benches::nothing::NoInput;

const TURNS: usize = 420;
const RESULT: usize = 5_000;
const ROUNDS: usize = 4;
const SIZES: [usize; 4] = [250_000, 500_000, 1_000_000, 2_000_000];

struct Grow;

impl Tool for Grow {
    const NAME: &'static str = "grow";
    const DESCRIPTION: &'static str = "Says much.";
    type Input = NoInput;
    type Output = String;

    fn access(&self, _: &NoInput) -> Access {
        Access::NOTHING
    }

    async fn call(&self, _: NoInput, _: &ToolCx) -> Result<String, ToolError> {
        Ok("some text ".repeat(RESULT / 10))
    }
}

fn peer() -> Result<Peer> {
    Peer::start(|request| {
        let at = request.index % (TURNS + 1);
        if at == TURNS {
            return done();
        }
        ready(Message::new().id(&format!("msg_{at}")).tool_use(&format!("toolu_{at}"), "grow", json!({})))
    })
}

/// Times between a request and the next one of about the same size, for each size.
type BySize = Vec<Vec<Duration>>;

fn sort(peer: &Peer, into: &mut BySize) -> Result<()> {
    let arrivals = peer.take();
    ensure!(arrivals.len() == TURNS + 1, "{} requests", arrivals.len());
    for pair in arrivals.windows(2) {
        let [(before, _), (at, size)] = pair else { continue };
        for (wanted, samples) in SIZES.iter().zip(into.iter_mut()) {
            if size.abs_diff(*wanted) < wanted / 20 {
                samples.push(at.duration_since(*before));
            }
        }
    }
    Ok(())
}

async fn floor(client: &Client, place: &Place, fixed: usize) -> Result<()> {
    let log = Appender::create(&place.home.path().join("floor.jsonl"))?;
    let mut body = format!("{{\"model\":\"m\",\"system\":\"{}\",\"messages\":[{{}}", "x".repeat(fixed)).into_bytes();
    for at in 0..=TURNS {
        let mut request = Vec::with_capacity(body.len() + 2);
        request.extend_from_slice(&body);
        request.extend_from_slice(b"]}");
        client.message(request, |_, _| {}).await?;
        let message = format!(
            ",{{\"role\":\"assistant\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"toolu_{at}\",\"name\":\"grow\",\"input\":{{}}}}]}}"
        );
        log.append(message.clone().into_bytes());
        let text = "some text ".repeat(RESULT / 10);
        let result = format!(
            ",{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"toolu_{at}\",\"content\":\"{text}\"}}]}}"
        );
        log.append(result.clone().into_bytes());
        body.extend_from_slice(message.as_bytes());
        body.extend_from_slice(result.as_bytes());
    }
    log.finish()?;
    Ok(())
}

async fn ours(peer: &Peer, place: &Place) -> Result<()> {
    let provider = peer.provider()?;
    let tools = place.tools().with(Grow);
    let mut run = query("go")
        .provider(provider)
        .tools(tools)
        .persist(Home::new(place.home.path()))
        .limits(LimitOptions::new().max_repeated_turns(0))
        .stream();
    while let Some(event) = run.try_next().await? {
        if let EventKind::ToolFinished(done) = &event.kind {
            ensure!(!done.result.is_error, "the call failed: {done:?}");
        }
    }
    Ok(())
}

pub fn measure(report: &mut Report) -> Result<()> {
    let place = Place::new()?;
    let runtime = runtime()?;
    let (theirs, own) = (peer()?, peer()?);
    let client = Client::new(&theirs.server.url())?;
    let mut small = Vec::new();
    let (mut floors, mut all) = (vec![Vec::new(); SIZES.len()], vec![Vec::new(); SIZES.len()]);
    for _ in 0..ROUNDS {
        runtime.block_on(async {
            for _ in 0..=TURNS {
                client.message("{}", |_, _| {}).await?;
            }
            anyhow::Ok(())
        })?;
        small.extend(theirs.take().windows(2).filter_map(|pair| match pair {
            [(before, _), (at, _)] => Some(at.duration_since(*before)),
            _ => None,
        }));
        runtime.block_on(floor(&client, &place, 12_000))?;
        sort(&theirs, &mut floors)?;
        runtime.block_on(ours(&own, &place))?;
        sort(&own, &mut all)?;
    }
    let model = median(small);
    for ((size, floor), ours) in SIZES.iter().zip(floors).zip(all) {
        let name = format!("tool turn at {} kB of context", size / 1000);
        let target = if *size == 1_000_000 { "1.2 ms" } else { "–" };
        let over = |samples: Vec<Duration>| micros(median(samples).saturating_sub(model)) / 1e3;
        report.row(&name, "ms", target, Some(over(floor)), over(ours));
    }
    Ok(())
}
