//! Remote shells that answer one request after the other.

use std::process::ExitStatus;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use memchr::memmem;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::time::timeout;
use windlass_process::Child;
use windlass_tool::{EditOrder, EndSignal, Ids};

use crate::answer::{Answer, Ending};
use crate::{ConnectionLost, Transport};

/// Scripts for the remote side.
const FILES: &str = include_str!("far/files.sh");

/// Maximum number of idle shells. More may be at work at a time.
const IDLE: usize = 8;
/// Maximum number of bytes of an answer.
const LARGEST: usize = 32 * 1024 * 1024;
/// Number of kept bytes of the connecting program's error output.
const WORDS: usize = 4 * 1024;
/// Time for a connecting program to end when it is no longer needed.
const FAREWELL: Duration = Duration::from_secs(10);
const READ: usize = 64 * 1024;

/// State shared by all shells of one place.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) transport: Transport,
    pub(crate) ids: Arc<dyn Ids>,
    /// Order of file changes by all users of the connection.
    pub(crate) order: EditOrder,
    idle: Mutex<Vec<Shell>>,
}

impl Link {
    pub(crate) fn new(transport: Transport, ids: Arc<dyn Ids>) -> Self {
        Self { transport, ids, order: EditOrder::default(), idle: Mutex::default() }
    }

    /// Sends a read-only request.
    pub(crate) async fn look(&self, request: &[u8]) -> Result<Answer, ConnectionLost> {
        let (shell, answer) = self.look_and_hold(request).await?;
        self.give_back(shell);
        Ok(answer)
    }

    /// Sends a read-only request. Also returns the shell that has answered. An idle one that was lost meanwhile is
    /// replaced once.
    pub(crate) async fn look_and_hold(&self, request: &[u8]) -> Result<(Shell, Answer), ConnectionLost> {
        if let Some(mut shell) = self.take()
            && let Ok(answer) = shell.ask(request, None).await
        {
            return Ok((shell, answer));
        }
        let mut shell = self.begin().await?;
        let answer = shell.ask(request, None).await?;
        Ok((shell, answer))
    }

    /// Sends a change request, once.
    pub(crate) async fn change(&self, request: &[u8], content: Option<&[u8]>) -> Result<Answer, ConnectionLost> {
        let mut shell = self.shell().await?;
        let answer = shell.ask(request, content).await?;
        // A shell that refused expected content has ended.
        if content.is_none() || answer.code == 0 {
            self.give_back(shell);
        }
        Ok(answer)
    }

    /// A shell that was alive a moment ago.
    async fn shell(&self) -> Result<Shell, ConnectionLost> {
        if let Some(mut shell) = self.take()
            && shell.ask(b":", None).await.is_ok()
        {
            return Ok(shell);
        }
        self.begin().await
    }

    /// Returns a shell for the next request. It must not be in the middle of an answer.
    pub(crate) fn give_back(&self, shell: Shell) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE {
            idle.push(shell);
        }
    }

    fn take(&self) -> Option<Shell> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    async fn begin(&self) -> Result<Shell, ConnectionLost> {
        let mark = format!("{:032x}", self.ids.bits());
        let script = format!("MARK={mark}\n{FILES}\n:");
        let mut connected = Connected::start(&self.transport, script.len()).map_err(|error| self.lost(&error))?;
        connected.is_up = false;
        let Some((input, output)) = connected.input.take().zip(connected.output.take()) else {
            return Err(self.lost("it has no streams"));
        };
        let limit = self.transport.connect_time();
        let mut shell = Shell { input, output, mark, connected, limit, place: self.transport.place() };
        // The first answer comes unrequested.
        let answer = shell.ask_raw(script.as_bytes(), None).await?;
        shell.connected.is_up = true;
        match answer.code {
            0 => Ok(shell),
            code => Err(self.lost(&format!("its shell began with {code}"))),
        }
    }

    pub(crate) fn lost(&self, why: &(impl ToString + ?Sized)) -> ConnectionLost {
        ConnectionLost { place: self.transport.place(), why: why.to_string() }
    }
}

/// The connecting program. When dropped, it ends by itself with its input, or is ended a while later; one that is not
/// up yet is ended at once.
#[derive(Debug)]
pub(crate) struct Connected {
    child: Option<Child>,
    /// `true` if the remote side may have to learn of the end.
    is_up: bool,
    pub(crate) input: Option<ChildStdin>,
    pub(crate) output: Option<ChildStdout>,
    pub(crate) errors: Option<ChildStderr>,
}

impl Connected {
    pub(crate) fn start(transport: &Transport, script: usize) -> Result<Self, String> {
        let mut child = transport.spawn(script).map_err(|error| {
            let name = transport.name().display();
            format!("{name} could not be started: {error}")
        })?;
        let (input, output, errors) = (child.take_stdin(), child.take_stdout(), child.take_stderr());
        Ok(Self { child: Some(child), is_up: true, input, output, errors })
    }

    /// Exit of the program, if it ends within the time limit.
    pub(crate) async fn ended(&mut self) -> Option<ExitStatus> {
        let child = self.child.as_mut()?;
        timeout(FAREWELL, child.wait()).await.ok()?.ok()
    }
}

impl Drop for Connected {
    fn drop(&mut self) {
        // The input ends first, which ends the remote side.
        drop(self.input.take());
        let Some(mut child) = self.child.take() else { return };
        if !self.is_up {
            // The program may be waiting for a network, without reading its input. Its remote side finds no script to
            // run.
            child.group().signal(EndSignal::Kill);
        }
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        runtime.spawn(async move {
            if timeout(FAREWELL, child.wait()).await.is_err() {
                child.group().signal(EndSignal::Kill);
                let _ = child.wait().await;
            }
        });
    }
}

/// One remote shell.
#[derive(Debug)]
pub(crate) struct Shell {
    // In this order: the input ends before the program is waited for.
    input: ChildStdin,
    output: ChildStdout,
    mark: String,
    connected: Connected,
    limit: Duration,
    place: String,
}

impl Shell {
    /// Sends a request of one line, and the content after it, and waits for the answer. After a drop half-way, or a
    /// failure, the shell must not be used again.
    pub(crate) async fn ask(&mut self, request: &[u8], content: Option<&[u8]>) -> Result<Answer, ConnectionLost> {
        let mut line = request.to_vec();
        line.push(b'\n');
        self.ask_raw(&line, content).await
    }

    async fn ask_raw(&mut self, request: &[u8], content: Option<&[u8]>) -> Result<Answer, ConnectionLost> {
        // One part of the content at a time, each within the limit: a large file may take long, silence may not.
        let mut unsent = self.send(request).await.err();
        for part in content.unwrap_or_default().chunks(READ) {
            if unsent.is_none() {
                unsent = self.send(part).await.err();
            }
        }
        // A shell that refuses content ends without reading it, but still answers.
        match self.answer().await {
            Ok(answer) => Ok(answer),
            Err(why) => {
                let words = self.last_words().await;
                let why = unsent.map_or(why, |unsent| unsent.to_string());
                Err(ConnectionLost { place: self.place.clone(), why: format!("{why}{words}") })
            }
        }
    }

    async fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        match timeout(self.limit, self.input.write_all(bytes)).await {
            Ok(sent) => sent,
            Err(_) => Err(std::io::Error::new(std::io::ErrorKind::TimedOut, "it takes nothing")),
        }
    }

    async fn answer(&mut self) -> Result<Answer, String> {
        let (mut ending, mut body) = (Ending::new(&self.mark), Vec::new());
        loop {
            if let Some(answer) = ending.find(&mut body) {
                return Ok(answer);
            }
            if body.len() > LARGEST {
                return Err(format!("an answer is larger than {LARGEST} bytes"));
            }
            body.reserve(READ);
            match timeout(self.limit, self.output.read_buf(&mut body)).await {
                Ok(Ok(0)) => return Err("it ended in the middle of an answer".to_owned()),
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return Err(error.to_string()),
                Err(_) => return Err(format!("there was no answer for {} seconds", self.limit.as_secs())),
            }
        }
    }

    /// Error output of the connecting program, for an error.
    async fn last_words(&mut self) -> String {
        match self.connected.errors.take() {
            Some(errors) => shown(&words(errors).await),
            None => String::new(),
        }
    }
}

/// Last bytes of an error stream that is about to end.
async fn words(mut errors: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut said = Vec::new();
    let mut part = [0; 1024];
    while let Ok(Ok(read @ 1..)) = timeout(Duration::from_secs(1), errors.read(&mut part)).await {
        said.extend_from_slice(part.get(..read).unwrap_or_default());
        let excess = said.len().saturating_sub(WORDS);
        said.drain(..excess);
    }
    said
}

/// Output of a program in parentheses, on one line.
pub(crate) fn shown(said: &[u8]) -> String {
    let text = String::from_utf8_lossy(said);
    let clean: Vec<&str> =
        text.split(|c: char| c.is_control()).map(str::trim).filter(|line| !line.is_empty()).collect();
    match clean.is_empty() {
        true => String::new(),
        false => format!(" ({})", clean.join("; ")),
    }
}

/// Position of a word in bytes.
pub(crate) fn position(bytes: &[u8], word: &[u8]) -> Option<usize> {
    memmem::find(bytes, word)
}
