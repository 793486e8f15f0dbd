//! Clients that write a request and read its answer, and nothing else.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command};

use anyhow::{Context, Result};

/// Raw client over the standard streams of a server.
pub struct Stdio {
    child: Child,
    write: ChildStdin,
    read: BufReader<ChildStdout>,
    number: u64,
}

impl Stdio {
    pub fn start(program: &str) -> Result<Self> {
        let mut command = Command::new(program);
        command.args(["serve", "0", "1"]).stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
        let mut child = command.spawn()?;
        let write = child.stdin.take().context("no input")?;
        let read = BufReader::new(child.stdout.take().context("no output")?);
        Ok(Self { child, write, read, number: 0 })
    }

    pub fn call(&mut self) -> Result<()> {
        self.number += 1;
        self.write.write_all(format!("{}\n", crate::request(self.number)).as_bytes())?;
        let mut line = String::new();
        self.read.read_line(&mut line)?;
        crate::fits(&line, self.number)
    }
}

impl Drop for Stdio {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Raw client over one connection.
pub struct Http {
    write: TcpStream,
    read: BufReader<TcpStream>,
    number: u64,
}

impl Http {
    pub fn connect(address: SocketAddr) -> Result<Self> {
        let write = TcpStream::connect(address)?;
        write.set_nodelay(true)?;
        let read = BufReader::new(write.try_clone()?);
        Ok(Self { write, read, number: 0 })
    }

    pub fn call(&mut self) -> Result<()> {
        self.number += 1;
        let body = crate::request(self.number);
        let length = body.len();
        let request = format!("POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{body}");
        self.write.write_all(request.as_bytes())?;
        let (_, body) = crate::server::message(&mut self.read)?.context("the server closed the connection")?;
        crate::fits(std::str::from_utf8(&body)?, self.number)
    }
}
