//! Cost of 50 lazy servers at the start of the command line: time to its first request, and the part of that request
//! about them.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::json;
use windlass_benches::stats::median;
use windlass_testkit::wire::{Message, Reply, WireServer};

const SERVERS: usize = 50;
const TOOLS: usize = 10;
const ROUNDS: usize = 15;

/// Arrival time and body of each request.
type Seen = Arc<Mutex<Vec<(Instant, Vec<u8>)>>>;

pub fn measure() -> Result<()> {
    let windlass = std::env::current_exe()?.with_file_name("windlass");
    if !windlass.exists() {
        println!("\nThe rows of lazy servers are missing: build the command line first, with the same profile.");
        return Ok(());
    }
    let folder = tempfile::tempdir()?;
    let this = crate::this()?;
    let servers = |count: usize| -> serde_json::Map<String, serde_json::Value> {
        let entry = json!({"command": this, "args": ["serve", "0", TOOLS.to_string()], "lazy": true});
        (0..count).map(|number| (format!("service-{number}"), entry.clone())).collect()
    };
    for count in [0, SERVERS] {
        let config = json!({"mcpServers": servers(count)}).to_string();
        std::fs::write(folder.path().join(format!("{count}.json")), config)?;
    }
    let wire = WireServer::start_on_thread()?;
    let seen = Seen::default();
    let kept = Arc::clone(&seen);
    wire.on_request(move |request| {
        let body = request.body.to_vec();
        kept.lock().unwrap_or_else(PoisonError::into_inner).push((Instant::now(), body));
        Reply::message(Message::new().text("ok"))
    });
    // The first run starts all servers and keeps their lists of tools.
    first_request(&windlass, &wire.url(), folder.path(), SERVERS, &seen)?;
    let (mut without, mut with, mut sizes) = (Vec::new(), Vec::new(), (0, 0));
    for _ in 0..ROUNDS {
        let (took, size) = first_request(&windlass, &wire.url(), folder.path(), 0, &seen)?;
        without.push(took);
        sizes.0 = size;
        let (took, size) = first_request(&windlass, &wire.url(), folder.path(), SERVERS, &seen)?;
        with.push(took);
        sizes.1 = size;
    }
    crate::row("start of the command with 50 lazy servers, beside none", "20 ms more", median(without), median(with));
    let more = sizes.1.saturating_sub(sizes.0);
    println!(
        "\n50 servers with {TOOLS} tools each add {more} bytes to the first request, about {} tokens (target 2,000).",
        more / 4
    );
    Ok(())
}

fn first_request(windlass: &Path, url: &str, folder: &Path, count: usize, seen: &Seen) -> Result<(Duration, usize)> {
    seen.lock().unwrap_or_else(PoisonError::into_inner).clear();
    let mut command = Command::new(windlass);
    command.args(["-p", "hello", "--strict-mcp-config", "--mcp-config"]).arg(folder.join(format!("{count}.json")));
    command.env("ANTHROPIC_BASE_URL", url).env("ANTHROPIC_API_KEY", "k").env("WINDLASS_HOME", folder.join("home"));
    command.env("HOME", folder).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
    let began = Instant::now();
    let output = command.output()?;
    ensure!(output.status.success(), "windlass failed: {}", String::from_utf8_lossy(&output.stderr));
    let seen = seen.lock().unwrap_or_else(PoisonError::into_inner);
    let (at, body) = seen.first().context("there was no request")?;
    Ok((at.duration_since(began), body.len()))
}
