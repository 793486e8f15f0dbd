//! A tool that can start while its message still streams.

use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;
use windlass::{Access, EventKind, Home, Tool, ToolCx, ToolError, query};
use windlass_benches::stats::{median, micros};
use windlass_testkit::wire::{Gate, Message, Reply};

use crate::peer::{Peer, done, runtime};
use crate::report::Report;
use crate::turns::Place;
use windlass_benches::nothing::NoInput;

const ROUNDS: usize = 20;
const TOOL: Duration = Duration::from_millis(50);
const STREAM: Duration = Duration::from_millis(80);

/// Tool that takes a while and touches nothing.
struct Slow;

impl Tool for Slow {
    const NAME: &'static str = "slow";
    const DESCRIPTION: &'static str = "Takes a while.";
    type Input = NoInput;
    type Output = String;

    fn access(&self, _: &NoInput) -> Access {
        Access::NOTHING
    }

    async fn call(&self, _: NoInput, _: &ToolCx) -> Result<String, ToolError> {
        tokio::time::sleep(TOOL).await;
        Ok("ok".to_owned())
    }
}

/// Measures the time from the release of the held rest of the stream to the next request.
pub fn measure(report: &mut Report) -> Result<()> {
    let place = Place::new()?;
    let runtime = runtime()?;
    let mut samples = Vec::new();
    for _ in 0..ROUNDS {
        let gate = Gate::new();
        let message = Message::new().tool_use("toolu_0", "slow", json!({})).tool_use("toolu_1", "nothing", json!({}));
        let reply = Reply::message(message);
        // End of the first block: after its start, two deltas, its stop, the ping and the start of the message.
        let at = reply.event_ends().get(5).copied().unwrap_or_default();
        let held = reply.pause_at(at, &gate);
        let peer = Peer::cycle(vec![held, done()])?;
        let provider = peer.provider()?;
        let opened = runtime.block_on(async {
            let opening = tokio::spawn({
                let gate = gate.clone();
                async move {
                    gate.wait_arrived(1).await;
                    tokio::time::sleep(STREAM).await;
                    let opened = Instant::now();
                    gate.open();
                    opened
                }
            });
            let tools = place.tools().with(Slow);
            let mut run = query("go").provider(provider).tools(tools).persist(Home::new(place.home.path())).stream();
            while let Some(event) = run.try_next().await? {
                if let EventKind::ToolFinished(done) = &event.kind {
                    ensure!(!done.result.is_error, "the call failed: {done:?}");
                }
            }
            anyhow::Ok(opening.await?)
        })?;
        let arrivals = peer.take();
        ensure!(arrivals.len() == 2, "{} requests instead of two", arrivals.len());
        samples.extend(arrivals.last().map(|(at, _)| at.duration_since(opened)));
    }
    report.row("overlap: 50 ms tool, 80 ms stream, after its end", "ms", "5 ms", None, micros(median(samples)) / 1e3);
    Ok(())
}
