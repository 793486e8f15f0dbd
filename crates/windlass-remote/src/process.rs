//! Programs of the remote side.

use std::convert::Infallible;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout};
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::{Instant, sleep_until};
use windlass_local::{KeptOutput, KeptSpace};
use windlass_tool::{Cancel, Process, ProcessCommand, ProcessError, ProcessExit, ProcessOutcome};

use crate::connection::{Connected, Link, shown};
use crate::quote::quote;
use crate::said::{End, Said};
use crate::workspace::os_string;

/// Script for the remote side.
const RUN: &str = include_str!("far/run.sh");
/// Time for a stopped tree to be gone, before the connection is treated as lost.
const STOPPING: Duration = Duration::from_secs(20);
/// Time that the output may stay open after the end was reported.
const CLOSING: Duration = Duration::from_secs(10);
const PROGRESS_EVERY: Duration = Duration::from_millis(200);
const READ: usize = 64 * 1024;

/// Programs of a container or another machine. Made by [`Remote::process`](crate::Remote::process).
///
/// Each has a connection of its own. A program and all its descendants are ended when it ends by itself, is cancelled
/// or is out of time. The same happens when the host is gone or the connection is lost. All of them carry the variable
/// [`LocalProcess::MARK`](windlass_local::LocalProcess::MARK); processes that have cleared their environment and left
/// their session are not found. The time limit starts with the remote program. The file with full output is on this
/// machine. A sandbox of this machine does not apply.
#[derive(Debug)]
pub struct RemoteProcess {
    link: Arc<Link>,
    places: Semaphore,
    /// `None`: each output has the default space of its folder.
    space: Option<KeptSpace>,
}

impl RemoteProcess {
    /// Default maximum number of concurrent programs; those in the background are not included.
    pub const DEFAULT_CONCURRENCY: usize = 8;

    pub(crate) fn new(link: Arc<Link>) -> Self {
        Self { link, places: Semaphore::new(Self::DEFAULT_CONCURRENCY), space: None }
    }

    /// Takes the files with outputs, which are on this machine, from this space. Default: that of
    /// [`KeptLimits::default`](windlass_local::KeptLimits), for each folder.
    #[must_use]
    pub fn with_kept_space(mut self, space: KeptSpace) -> Self {
        self.space = Some(space);
        self
    }

    /// Reserves a slot among the concurrent programs, for a program that needs one.
    async fn place(&self, command: &ProcessCommand) -> Option<SemaphorePermit<'_>> {
        if command.background {
            return None;
        }
        // The semaphore is never closed.
        self.places.acquire().await.ok()
    }

    /// Script with the parameters of this program.
    fn script(&self, mark: &str, command: &ProcessCommand) -> Result<Vec<u8>, ProcessError> {
        let search = command.env.iter().find(|(name, _)| name == "PATH").map(|(_, value)| value.clone());
        let search = search.unwrap_or_else(|| "/usr/bin:/bin".into());
        let input = command.stdin.as_ref().map_or(0, |input| input.len());
        let tag = format!("{:032x}", self.link.ids.bits());
        let mut script = b"NL='\n'\nset --".to_vec();
        for (name, value) in &command.env {
            script.push(b' ');
            script.extend(word(&assignment(name, value)?)?);
        }
        // The remote side looks the program up.
        script.extend_from_slice(b" \"$NL@$NL\"");
        for argument in &command.args {
            script.push(b' ');
            script.extend(word(argument)?);
        }
        let program = &command.program;
        if program.as_encoded_bytes().contains(&b'=') {
            let message = format!("The program {} was not started: its name contains `=`.", program.display());
            return Err(ProcessError::new(message));
        }
        for (name, value) in [("FOLDER", command.cwd.as_os_str()), ("PROGRAM", program), ("SEARCH", &search)] {
            script.extend_from_slice(format!("\n{name}=").as_bytes());
            script.extend(word(value)?);
        }
        let (merge, report) = (u8::from(command.merge_streams), u8::from(command.reports_directory));
        let mut rest = String::new();
        let _ = write!(rest, "\nMARK={mark} TAG={tag} BYTES={input} MERGE={merge} REPORT={report}\n{RUN}\n:");
        script.extend_from_slice(rest.as_bytes());
        Ok(script)
    }

    fn lost(&self, what: &str, why: &(impl ToString + ?Sized)) -> ProcessError {
        let lost = self.link.lost(why);
        ProcessError::new(format!("{what}: {lost}")).with_source(lost)
    }

    /// Starts the connecting program, with the bytes to send.
    fn start(&self, command: &ProcessCommand) -> Result<Running, ProcessError> {
        let mark = format!("{:032x}", self.link.ids.bits());
        let mut payload = self.script(&mark, command)?;
        let not_started = "The program was not started";
        let mut connected =
            Connected::start(&self.link.transport, payload.len()).map_err(|error| self.lost(not_started, &error))?;
        let streams = connected.input.take().zip(connected.output.take()).zip(connected.errors.take());
        let Some(((input, stdout), stderr)) = streams else {
            return Err(self.lost(not_started, "it has no streams"));
        };
        if let Some(content) = &command.stdin {
            payload.extend_from_slice(content);
        }
        let input: Feed = Box::pin(feed(input, payload));
        let (stdout, stderr) = (Some(stdout), Some(stderr));
        Ok(Running { input, stdout, stderr, said: Said::new(&mark), connected, end: None })
    }
}

/// Sends bytes, and keeps the stream open until it is dropped.
async fn feed(mut input: ChildStdin, payload: Vec<u8>) -> Infallible {
    let _ = input.write_all(&payload).await;
    let _ = input.flush().await;
    let () = std::future::pending().await;
    drop(input);
    std::future::pending().await
}

type Feed = Pin<Box<dyn Future<Output = Infallible> + Send>>;

/// A running remote program.
struct Running {
    // First: dropping this ends the remote tree.
    input: Feed,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    said: Said,
    connected: Connected,
    /// Reason why this side has ended it.
    end: Option<ProcessExit>,
}

impl Running {
    /// Ends the remote tree; its output is still to be read.
    fn stop(&mut self, why: ProcessExit) {
        if self.end.is_none() {
            self.end = Some(why);
            self.input = Box::pin(std::future::pending());
        }
    }

    /// Reads until both streams have ended. Returns `true` if they did.
    #[expect(clippy::disallowed_methods, reason = "measures how long a real program waits and runs")]
    async fn attend(
        &mut self,
        command: &ProcessCommand,
        cancel: &Cancel,
        connect_time: Duration,
        kept: &mut KeptOutput,
    ) -> bool {
        let mut began = None;
        let mut deadline = Instant::now().checked_add(connect_time);
        let mut look = Instant::now() + PROGRESS_EVERY;
        let mut shown = 0;
        let (mut out, mut err) = (vec![0; READ], vec![0; READ]);
        while self.stdout.is_some() || self.stderr.is_some() {
            if began.is_none() && self.said.has_begun() {
                began = Some(Instant::now());
                deadline = command.timeout.and_then(|limit| Instant::now().checked_add(limit));
            }
            tokio::select! {
                biased;
                () = cancel.cancelled(), if self.end.is_none() => {
                    self.stop(ProcessExit::Cancelled);
                    deadline = Instant::now().checked_add(STOPPING);
                }
                () = until(deadline) => {
                    if began.is_none() || self.end.is_some() {
                        return false;
                    }
                    self.stop(ProcessExit::TimedOut);
                    deadline = Instant::now().checked_add(STOPPING);
                }
                () = sleep_until(look), if command.progress.is_some() && kept.total() > shown => {
                    shown = kept.total();
                    look = Instant::now() + PROGRESS_EVERY;
                    if let Some(report) = &command.progress {
                        report(&kept.latest());
                    }
                }
                read = some(self.stdout.as_mut(), &mut out), if self.stdout.is_some() => match read {
                    0 => self.stdout = None,
                    read => kept.take_stdout(out.get(..read).unwrap_or_default()).await,
                },
                read = some(self.stderr.as_mut(), &mut err), if self.stderr.is_some() => {
                    let written = self.said.take(err.get(..read).unwrap_or_default());
                    kept.take_stderr(&written).await;
                    if read == 0 {
                        self.stderr = None;
                        deadline = earlier(deadline, Instant::now().checked_add(CLOSING));
                    }
                }
                never = &mut self.input => match never {},
            }
        }
        true
    }
}

/// Next bytes of a stream; none at its end, or on failure.
async fn some(stream: Option<&mut (impl tokio::io::AsyncRead + Unpin)>, buffer: &mut [u8]) -> usize {
    match stream {
        Some(stream) => stream.read(buffer).await.unwrap_or_default(),
        None => 0,
    }
}

async fn until(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => sleep_until(deadline).await,
        None => std::future::pending().await,
    }
}

fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}

#[async_trait]
impl Process for RemoteProcess {
    #[expect(clippy::disallowed_methods, reason = "measures how long a real program runs")]
    async fn run(&self, command: ProcessCommand, cancel: &Cancel) -> Result<ProcessOutcome, ProcessError> {
        let began = std::time::Instant::now();
        let never_started = || Ok(ProcessOutcome::new(ProcessExit::Cancelled, began.elapsed()));
        let _place = tokio::select! {
            biased;
            () = cancel.cancelled() => return never_started(),
            place = self.place(&command) => place,
        };
        if command.terminal.is_some() {
            return Err(ProcessError::new("Programs that run elsewhere have no terminal: run it without one."));
        }
        let mut running = self.start(&command)?;
        let mut kept = match &self.space {
            Some(space) => KeptOutput::in_space(&command, space).await,
            None => KeptOutput::new(&command).await,
        };
        let began = std::time::Instant::now();
        let has_ended = running.attend(&command, cancel, self.link.transport.connect_time(), &mut kept).await;
        let Running { said, mut connected, end: stopped, .. } = running;
        if !said.has_begun() {
            return match stopped {
                Some(_) => never_started(),
                None => Err(self.not_started(&said, &command, has_ended, &mut connected).await),
            };
        }
        let (rest, end) = said.finish();
        kept.take_stderr(&rest).await;
        let Some(end) = end else {
            let what = "Whether the program has run to its end is not known, nor what it has done";
            let why = if has_ended { "it ended without a word" } else { "there was no answer" };
            return Err(self.lost(what, why));
        };
        let mut outcome = ProcessOutcome::new(stopped.unwrap_or_else(|| exit(end.code)), began.elapsed());
        outcome.stopped = if stopped.is_none() { end.stopped } else { 0 };
        outcome.directory = directory(&end).filter(|_| command.reports_directory);
        kept.finish(&mut outcome).await;
        Ok(outcome)
    }
}

impl RemoteProcess {
    /// Error for a program that did not begin.
    async fn not_started(
        &self,
        said: &Said,
        command: &ProcessCommand,
        has_ended: bool,
        connected: &mut Connected,
    ) -> ProcessError {
        let place = self.link.transport.place();
        let (program, cwd) = (command.program.display(), command.cwd.display());
        ProcessError::new(match said.why_not() {
            Ok("folder") => format!("The program was not started: the directory {cwd} does not exist in {place}."),
            Ok("program") => format!("The program was not started: {program} was not found in {place}."),
            Ok("place") => format!("The program was not started: {place} has no room for its temporary files."),
            Ok("tools") => format!("The program was not started: {place} has no /proc or no program setsid."),
            Ok(_) | Err(_) if !has_ended => return self.lost("The program was not started", "there was no answer"),
            Ok(_) => return self.lost("The program was not started", "its answer is unknown"),
            Err(noise) => {
                let how = connected.ended().await.map_or_else(|| "no end".to_owned(), |status| status.to_string());
                let what = "Whether the program was started is not known";
                return self.lost(what, &format!("{how}{}", shown(noise)));
            }
        })
    }
}

/// Exit from a code of a shell: above 128 for a signal.
fn exit(code: i32) -> ProcessExit {
    match code {
        129..=192 => ProcessExit::Signal(code.saturating_sub(128)),
        code => ProcessExit::Code(code),
    }
}

fn directory(end: &End) -> Option<std::path::PathBuf> {
    let path = end.rest.strip_suffix(b"\n").filter(|path| path.starts_with(b"/"))?;
    Some(os_string(path).into())
}

fn assignment(name: &OsString, value: &OsString) -> Result<OsString, ProcessError> {
    let bytes = name.as_encoded_bytes();
    if bytes.is_empty() || bytes.starts_with(b"-") || bytes.contains(&b'=') {
        let message = format!("The program was not started: no variable can be named {:?}.", name.display());
        return Err(ProcessError::new(message));
    }
    let mut assignment = name.clone();
    assignment.push("=");
    assignment.push(value);
    Ok(assignment)
}

/// A word of the script.
fn word(word: &std::ffi::OsStr) -> Result<Vec<u8>, ProcessError> {
    let bytes = word.as_encoded_bytes();
    if bytes.contains(&0) {
        return Err(ProcessError::new("The program was not started: one of its words contains a NUL byte."));
    }
    Ok(quote(bytes))
}
