//! The floor of the command line: posts a request that is ready, shows the
//! answer, appends to one log.
//!
//! `floor URL BODY_FILE LOG_FILE [lines]`; with `lines` each event goes out as a
//! JSON line, and else the text.

use std::io::{Write, stdout};

use anyhow::{Context, Result};
use windlass_benches::floor::{Appender, Client};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what| arguments.next().with_context(|| format!("{what} is missing"));
    let (url, body, log) = (next("the URL")?, std::fs::read(next("the body")?)?, next("the log")?);
    let lines = arguments.next().is_some();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let log = Appender::create(log.as_ref())?;
    log.append(b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"hello\"}}\n".to_vec());
    let mut out = stdout().lock();
    let mut message = String::new();
    let mut line = Vec::new();
    let mut failed = Ok(());
    let client = Client::new(&url)?;
    runtime.block_on(client.message(body, |data, text| {
        message.push_str(text);
        line.clear();
        if lines {
            line.extend_from_slice(b"{\"type\":\"stream_event\",\"event\":");
            line.extend_from_slice(data.as_bytes());
            line.extend_from_slice(b"}\n");
        } else {
            line.extend_from_slice(text.as_bytes());
        }
        if failed.is_ok() {
            failed = out.write_all(&line).and_then(|()| out.flush());
        }
    }))?;
    failed?;
    log.append(serde_json::to_vec(&message)?);
    log.finish()?;
    Ok(())
}
