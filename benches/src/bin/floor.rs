//! The floor of the command line: posts a request that is ready, shows the answer, appends to one log.
//!
//! `floor URL BODY_FILE LOG_FILE [lines]` prints each event as a JSON line if `lines` is given, otherwise the text.
//!
//! `floor URL BODY_FILE LOG_FILE reads FOLDER NEXT_BODY_FILE` makes a turn with tools. After the first answer it reads
//! the files of the folder and posts the second request.

use std::io::{Write, stdout};

use anyhow::{Context, Result};
use windlass_benches::floor::{Appender, Client};

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let mut next = |what| arguments.next().with_context(|| format!("{what} is missing"));
    let (url, body, log) = (next("the URL")?, std::fs::read(next("the body")?)?, next("the log")?);
    let more = arguments.next();
    let lines = more.as_deref() == Some("lines");
    let reads = match more.as_deref() {
        Some("reads") => Some((arguments.next().context("no folder")?, arguments.next().context("no second body")?)),
        _ => None,
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let log = Appender::create(log.as_ref())?;
    log.append(b"{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"hello\"}}\n".to_vec());
    let mut out = stdout().lock();
    let mut message = String::new();
    let mut line = Vec::new();
    let mut failed = Ok(());
    let client = Client::new(&url)?;
    let mut show = |data: &str, text: &str| {
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
    };
    runtime.block_on(client.message(body, &mut show))?;
    if let Some((folder, next)) = reads {
        log.append(b"{\"type\":\"assistant\",\"message\":{\"role\":\"assistant\"}}\n".to_vec());
        for entry in std::fs::read_dir(folder)? {
            std::fs::read(entry?.path())?;
        }
        log.append(b"{\"type\":\"user\",\"message\":{\"role\":\"user\"}}\n".to_vec());
        runtime.block_on(client.message(std::fs::read(next)?, &mut show))?;
    }
    failed?;
    log.append(serde_json::to_vec(&message)?);
    log.finish()?;
    Ok(())
}
