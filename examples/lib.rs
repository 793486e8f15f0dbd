//! Helpers that the examples share: a folder to work in, and a client of services. Run an example with `cargo run -p
//! windlass-examples --example quickstart`.

#[cfg(doctest)]
mod listings {
    include!(concat!(env!("OUT_DIR"), "/listings.rs"));
}

use std::io;
use std::net::SocketAddr;
use tempfile::TempDir;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::net::TcpStream;

/// Makes a temporary folder with one small program in it.
///
/// # Errors
/// The folder cannot be made.
pub fn workspace() -> io::Result<TempDir> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("greet.py"), "def greet(name):\n    return 'Helo ' + name\n")?;
    Ok(folder)
}

/// Sends a request and reads the answer to its end, or up to the line that contains `until`. Then the client hangs up.
///
/// # Errors
/// There is no connection, or the answer ends before that line.
pub async fn http(at: SocketAddr, request: &str, header: &str, body: &str, until: &str) -> anyhow::Result<Vec<String>> {
    let mut stream = BufReader::new(TcpStream::connect(at).await?);
    let text = format!("{request} HTTP/1.0\r\nContent-Length: {}\r\n{header}\r\n{body}", body.len());
    stream.write_all(text.as_bytes()).await?;
    let (mut lines, mut read) = (stream.lines(), Vec::new());
    while let Some(line) = lines.next_line().await? {
        let is_last = line.contains(until);
        read.push(line);
        if is_last {
            return Ok(read);
        }
    }
    anyhow::bail!("{request} ended without {until}: {read:?}")
}
