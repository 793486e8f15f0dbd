//! Many watchers of one session, and one that never reads.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use nix::time::{ClockId, clock_gettime};
use windlass::{EventKind, Script, ScriptedModel, session};
use windlass_runtime::{EventFeed, Prompt, Session, Watched};

use crate::peer::runtime;
use crate::report::Report;
use crate::sessions::resident;

const WATCHERS: usize = 1_000;
/// Number of deltas for sessions with watchers, small enough that none is missed. `MANY` is large enough that memory
/// would show it if all were kept.
const FEW: usize = 2_000;
const MANY: usize = 200_000;
const TEXT: &str = "some more words of text ";

/// Resources that the process has used at the end of a session.
struct Used {
    /// Bytes in memory, beyond those before the prompt.
    bytes: u64,
    cpu: Duration,
}

/// Opens a session whose model gives `deltas` deltas.
async fn open(deltas: usize) -> Result<Session> {
    let script = Script::new().turn(|turn| turn.text(TEXT.repeat(deltas)).delta_chars(TEXT.len()));
    Ok(session().provider(ScriptedModel::new(script).without_recording()).open().await?)
}

/// Reads to the end of the run and returns the number of events seen.
async fn read(mut feed: EventFeed) -> Result<usize> {
    let mut seen = 0;
    while let Some(item) = feed.try_next().await? {
        if let Watched::Event(event) = item {
            seen += 1;
            if matches!(event.kind, EventKind::RunFinished(_)) {
                break;
            }
        }
    }
    Ok(seen)
}

fn cpu() -> Result<Duration> {
    Ok(clock_gettime(ClockId::CLOCK_PROCESS_CPUTIME_ID)?.into())
}

/// Runs one session with `count` watchers that read. Without any, one watcher never reads if `idle`; otherwise there is
/// none and the host reads.
async fn watch(count: usize, deltas: usize, idle: bool) -> Result<Used> {
    let Session { handle, mut events, .. } = open(deltas).await?;
    let (bytes, began) = (resident()?, cpu()?);
    if count == 0 && !idle {
        handle.prompt(Prompt::text("go"))?;
        while let Some(event) = events.try_next().await? {
            if matches!(event.kind, EventKind::RunFinished(_)) {
                break;
            }
        }
        return Ok(Used { bytes: resident()?.saturating_sub(bytes), cpu: cpu()? - began });
    }
    events.detach();
    let feeds: Vec<EventFeed> = (0..count + usize::from(idle)).map(|_| handle.subscribe()).collect();
    if idle {
        handle.prompt(Prompt::text("go"))?;
        handle.settled().await;
        let used = Used { bytes: resident()?.saturating_sub(bytes), cpu: cpu()? - began };
        drop(feeds);
        return Ok(used);
    }
    let watchers: Vec<_> = feeds.into_iter().map(|feed| tokio::spawn(read(feed))).collect();
    handle.prompt(Prompt::text("go"))?;
    for watcher in watchers {
        let seen = watcher.await??;
        ensure!(seen > deltas, "a watcher missed events: {seen} of {deltas}");
    }
    Ok(Used { bytes: resident()?.saturating_sub(bytes), cpu: cpu()? - began })
}

/// Holds one session in a process of its own.
pub fn hold(count: usize, deltas: usize, state: &str) -> Result<()> {
    let used = runtime()?.block_on(watch(count, deltas, state == "idle"))?;
    println!("{} {}", used.bytes, used.cpu.as_nanos());
    Ok(())
}

fn measured(count: usize, deltas: usize, state: &str) -> Result<(f64, f64)> {
    let numbers = [count.to_string(), deltas.to_string()];
    let output = Command::new(std::env::current_exe()?).arg("watchers").args(&numbers).arg(state).output()?;
    ensure!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let (bytes, cpu) = said.trim().split_once(' ').context("two numbers")?;
    Ok((bytes.parse()?, cpu.parse()?))
}

pub fn measure(report: &mut Report) -> Result<()> {
    let (alone, many) = (measured(1, FEW, "read")?, measured(WATCHERS, FEW, "read")?);
    let more = (WATCHERS - 1) as f64;
    report.row("memory per watcher, of 1,000 of one session", "kB", "–", None, (many.0 - alone.0) / more / 1e3);
    report.row("CPU per event and watcher", "µs", "–", None, (many.1 - alone.1) / more / FEW as f64 / 1e3);
    let (none, idle) = (measured(0, MANY, "host")?, measured(0, MANY, "idle")?);
    // Both hold the text of the answer; the events kept for the watcher are limited.
    report.row("growth of a session by 200,000 events, without watchers", "MB", "–", None, none.0 / 1e6);
    report.row("the same, with a watcher that never reads", "MB", "–", None, idle.0 / 1e6);
    Ok(())
}
