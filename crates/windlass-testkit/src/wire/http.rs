use std::io;

use bytes::{Buf, Bytes, BytesMut};
use tokio::{io::AsyncReadExt, net::TcpStream};

const MAX_HEAD: usize = 64 * 1024;
const MAX_BODY: usize = 256 * 1024 * 1024;

/// A request as received over the socket.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RecordedRequest {
    /// Position among all requests of the server, from 0.
    pub index: usize,
    /// Number of the connection, from 0 in order of arrival.
    pub connection: usize,
    /// HTTP method.
    pub method: String,
    /// Path with query, as sent.
    pub path: String,
    /// Headers in the order sent, names as sent.
    pub headers: Vec<(String, String)>,
    /// Body, without any transfer coding.
    pub body: Bytes,
}

impl RecordedRequest {
    /// Returns the first header of that name, ignoring case.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// Returns the body as JSON.
    ///
    /// # Errors
    /// The body is not JSON.
    pub fn json(&self) -> serde_json::Result<serde_json::Value> {
        serde_json::from_slice(&self.body)
    }
}

/// Reads requests from one kept-alive connection.
#[derive(Debug, Default)]
pub(super) struct RequestReader {
    buffer: BytesMut,
}

impl RequestReader {
    /// Reads the next request, or `None` when the client hung up between requests. Its numbers are left at zero.
    pub(super) async fn next(&mut self, stream: &mut TcpStream) -> io::Result<Option<RecordedRequest>> {
        let Some(head) = self.head(stream).await? else {
            return Ok(None);
        };
        let mut request = parse_head(&head)?;
        let chunked = request.header("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked"));
        request.body = if chunked {
            self.chunked_body(stream).await?
        } else {
            let length = match request.header("content-length") {
                Some(text) => text.parse().map_err(|_| invalid("content-length"))?,
                None => 0,
            };
            self.exactly(stream, length).await?
        };
        Ok(Some(request))
    }

    async fn head(&mut self, stream: &mut TcpStream) -> io::Result<Option<Bytes>> {
        let mut searched = 0;
        loop {
            if let Some(at) = find(&self.buffer, b"\r\n\r\n", searched) {
                let head = self.buffer.split_to(at).freeze();
                self.buffer.advance(4);
                return Ok(Some(head));
            }
            searched = self.buffer.len().saturating_sub(3);
            if searched > MAX_HEAD {
                return Err(invalid("head too long"));
            }
            if stream.read_buf(&mut self.buffer).await? == 0 {
                return if self.buffer.is_empty() { Ok(None) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
            }
        }
    }

    async fn exactly(&mut self, stream: &mut TcpStream, length: usize) -> io::Result<Bytes> {
        if length > MAX_BODY {
            return Err(invalid("body too long"));
        }
        self.buffer.reserve(length.saturating_sub(self.buffer.len()));
        while self.buffer.len() < length {
            if stream.read_buf(&mut self.buffer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(self.buffer.split_to(length).freeze())
    }

    async fn chunked_body(&mut self, stream: &mut TcpStream) -> io::Result<Bytes> {
        let mut body = BytesMut::new();
        loop {
            let line = self.line(stream).await?;
            let digits = line.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(digits, 16).map_err(|_| invalid("chunk size"))?;
            if size == 0 {
                while !self.line(stream).await?.is_empty() {}
                return Ok(body.freeze());
            }
            if body.len().saturating_add(size) > MAX_BODY {
                return Err(invalid("body too long"));
            }
            body.extend_from_slice(&self.exactly(stream, size).await?);
            self.exactly(stream, 2).await?;
        }
    }

    async fn line(&mut self, stream: &mut TcpStream) -> io::Result<String> {
        loop {
            if let Some(at) = find(&self.buffer, b"\r\n", 0) {
                let line = self.buffer.split_to(at);
                self.buffer.advance(2);
                return Ok(String::from_utf8_lossy(&line).into_owned());
            }
            if self.buffer.len() > MAX_HEAD {
                return Err(invalid("line too long"));
            }
            if stream.read_buf(&mut self.buffer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}

fn parse_head(head: &[u8]) -> io::Result<RecordedRequest> {
    let text = std::str::from_utf8(head).map_err(|_| invalid("head is not UTF-8"))?;
    let mut lines = text.split("\r\n");
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (Some(method), Some(path), Some(_version)) = (words.next(), words.next(), words.next()) else {
        return Err(invalid("request line"));
    };
    let headers = lines
        .map(|line| {
            let (name, value) = line.split_once(':').ok_or_else(|| invalid("header"))?;
            Ok((name.to_owned(), value.trim().to_owned()))
        })
        .collect::<io::Result<_>>()?;
    Ok(RecordedRequest {
        index: 0,
        connection: 0,
        method: method.to_owned(),
        path: path.to_owned(),
        headers,
        body: Bytes::new(),
    })
}

fn find(haystack: &[u8], needle: &[u8], from: usize) -> Option<usize> {
    haystack.get(from..)?.windows(needle.len()).position(|window| window == needle).map(|at| from + at)
}

fn invalid(what: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}
