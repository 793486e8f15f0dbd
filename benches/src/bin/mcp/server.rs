//! The least server, over standard streams and over HTTP.

use std::io::{BufRead, BufReader, Write, stdin, stdout};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use anyhow::Result;

/// Answers lines until there are no more. The greeting comes after `delay`.
pub fn stdio(delay: Duration, tools: usize) -> Result<()> {
    std::thread::sleep(delay);
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        if let Some(answer) = crate::answer(&serde_json::from_str(&line?)?, tools) {
            out.write_all(format!("{answer}\n").as_bytes())?;
            out.flush()?;
        }
    }
    Ok(())
}

/// Answers each request with one JSON document, on threads of its own.
pub fn http() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = listener.local_addr()?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream));
        }
    });
    Ok(address)
}

fn serve(stream: TcpStream) -> Result<()> {
    stream.set_nodelay(true)?;
    let mut out = stream.try_clone()?;
    let mut read = BufReader::new(stream);
    while let Some((head, body)) = message(&mut read)? {
        let answer = match head.starts_with("POST") {
            true => crate::answer(&serde_json::from_slice(&body)?, 1).map_or_else(
                || "HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n".to_owned(),
                |answer| {
                    let length = answer.len();
                    format!(
                        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{answer}"
                    )
                },
            ),
            false => "HTTP/1.1 405 Method Not Allowed\r\ncontent-length: 0\r\n\r\n".to_owned(),
        };
        out.write_all(answer.as_bytes())?;
    }
    Ok(())
}

/// Reads the first line and the body of a message, or nothing at the end of the stream.
pub fn message(read: &mut impl BufRead) -> Result<Option<(String, Vec<u8>)>> {
    let (mut first, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        if read.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse()?;
        }
        if first.is_empty() {
            line.clone_into(&mut first);
        }
    }
    let mut body = vec![0; length];
    read.read_exact(&mut body)?;
    Ok(Some((first, body)))
}
