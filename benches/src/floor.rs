//! The floor: requests that are ready, the least parsing of their answers, and the same synced appends. HTTP stack and
//! settings are the same.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use anyhow::{Result, ensure};
use reqwest::header::{HeaderMap, HeaderValue};
use serde::Deserialize;

/// Client that posts bodies and reads streams.
#[derive(Debug, Clone)]
pub struct Client {
    http: reqwest::Client,
    url: String,
    headers: HeaderMap,
}

/// Members that decide the kind of a streamed event.
#[derive(Deserialize)]
struct Frame<'a> {
    #[serde(borrow, rename = "type")]
    kind: &'a str,
    #[serde(borrow, default)]
    delta: Option<Delta<'a>>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, default)]
    text: Option<std::borrow::Cow<'a, str>>,
}

impl Client {
    /// Makes a client for a server that speaks the Messages format.
    ///
    /// # Errors
    /// The HTTP client cannot be set up.
    pub fn new(base_url: &str) -> Result<Self> {
        // An HTTP client that is built beside windlass needs a provider, although this one never speaks TLS. An error
        // means that there is one.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .redirect(reqwest::redirect::Policy::none())
            .retry(reqwest::retry::never())
            .tls_certs_only([])
            .no_proxy()
            .tcp_nodelay(true)
            .build()?;
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("content-type", "application/json"),
            ("anthropic-version", "2023-06-01"),
            ("accept", "text/event-stream"),
            ("accept-encoding", "identity"),
            ("x-api-key", "k"),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        Ok(Self { http, url: format!("{base_url}/v1/messages"), headers })
    }

    /// Posts a body and reads the answer to its end, giving each event's data and each text delta to `see`.
    ///
    /// # Errors
    /// The connection or the answer is broken.
    pub async fn message(&self, body: impl Into<reqwest::Body>, mut see: impl FnMut(&str, &str)) -> Result<()> {
        let request = self.http.post(&self.url).headers(self.headers.clone()).body(body);
        let mut response = request.send().await?;
        ensure!(response.status().is_success(), "the server said {}", response.status());
        let mut kept: Vec<u8> = Vec::new();
        let mut complete = false;
        while let Some(chunk) = response.chunk().await? {
            let (mut rest, joined);
            if kept.is_empty() {
                rest = &chunk[..];
            } else {
                kept.extend_from_slice(&chunk);
                joined = std::mem::take(&mut kept);
                rest = &joined[..];
            }
            while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
                let (line, after) = rest.split_at(end + 1);
                rest = after;
                let Some(data) = line.strip_prefix(b"data: ") else { continue };
                let data = std::str::from_utf8(data)?.trim_end();
                let frame: Frame<'_> = serde_json::from_str(data)?;
                complete |= frame.kind == "message_stop";
                see(data, frame.delta.as_ref().and_then(|delta| delta.text.as_deref()).unwrap_or_default());
            }
            kept = rest.to_vec();
        }
        ensure!(complete, "the answer was cut");
        Ok(())
    }
}

/// Appender to one file, with a thread of its own. Waiting bytes are written together and synced once, as the session
/// log does it.
#[derive(Debug)]
pub struct Appender {
    sender: Option<Sender<Vec<u8>>>,
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl Appender {
    /// Makes the file.
    ///
    /// # Errors
    /// The file cannot be made.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        let (sender, receiver) = channel();
        let thread = std::thread::spawn(move || append(file, &receiver));
        Ok(Self { sender: Some(sender), thread: Some(thread) })
    }

    /// Hands over bytes to be appended and synced.
    pub fn append(&self, bytes: Vec<u8>) {
        if let Some(sender) = &self.sender {
            // `send` fails only after a failed write, which `finish` reports.
            let _ = sender.send(bytes);
        }
    }

    /// Waits until everything is durable.
    ///
    /// # Errors
    /// Some bytes could not be written.
    pub fn finish(mut self) -> io::Result<()> {
        self.sender = None;
        match self.thread.take().map(JoinHandle::join) {
            Some(Ok(result)) => result,
            _ => Err(io::Error::other("the appending thread is gone")),
        }
    }
}

fn append(mut file: File, receiver: &Receiver<Vec<u8>>) -> io::Result<()> {
    while let Ok(mut bytes) = receiver.recv() {
        while let Ok(more) = receiver.try_recv() {
            bytes.extend(more);
        }
        file.write_all(&bytes)?;
        file.sync_data()?;
    }
    Ok(())
}
