//! The command that a proxy runs, and the signals that reach the two.

use crate::signals::Arrivals;
use crate::terminal::clean;
use anyhow::Context;
use rustix::process::{Pid, Signal, kill_process};
use std::ffi::OsString;
use std::future::Future;
use std::io::{self, IsTerminal, Write, stderr, stdin};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::ExitStatus;
use std::time::Duration;
use tokio::signal::unix::SignalKind;
use tokio::time::{Instant, sleep_until};
use windlass::provider::CredentialProxy;

/// Time limit for a command to end after the signal.
const EXIT_TIMEOUT: Duration = Duration::from_secs(10);

/// Runs a command with the nonce until it ends; returns its exit code.
pub(super) async fn run(proxy: CredentialProxy, command: &[OsString]) -> anyhow::Result<i32> {
    let mut signals = Signals::listen()?;
    let mut child = prepared(command)?
        .env_clear()
        .envs(proxy.child_environment(std::env::vars_os()))
        .kill_on_drop(true)
        .spawn()
        .context("the command cannot be started")?;
    let mut deadline = None;
    loop {
        tokio::select! {
            status = child.wait() => return Ok(code(status.context("the command cannot be waited for")?)),
            signal = signals.next() => {
                let id = child.id().and_then(|id| Pid::from_raw(id.try_into().ok()?));
                if let Some(id) = id && !comes_from_terminal(signal) {
                    // A command that has ended needs no signal.
                    let _ = kill_process(id, signal);
                }
                if signal == Signal::TERM || signal == Signal::HUP {
                    deadline.get_or_insert_with(|| Instant::now() + EXIT_TIMEOUT);
                }
            }
            () = sleep_until(deadline.unwrap_or_else(Instant::now)), if deadline.is_some() => {
                let _ = child.start_kill();
                deadline = None;
            }
        }
    }
}

/// Returns `true` for signals that a terminal sends to the command itself. Forwarded as well, they would arrive twice.
fn comes_from_terminal(signal: Signal) -> bool {
    (signal == Signal::INT || signal == Signal::QUIT) && stdin().is_terminal()
}

fn code(status: ExitStatus) -> i32 {
    status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1)
}

/// Returns the command to start. On Linux a process can learn of its parent's end, but only by itself: this program is
/// started once more, and becomes the command.
#[cfg(target_os = "linux")]
fn prepared(command: &[OsString]) -> anyhow::Result<tokio::process::Command> {
    let program = std::env::current_exe().context("this program cannot be found")?;
    let mut launcher = tokio::process::Command::new(program);
    launcher.args(["proxy", "--launched-by", &std::process::id().to_string(), "--"]).args(command);
    Ok(launcher)
}

#[cfg(not(target_os = "linux"))]
fn prepared(command: &[OsString]) -> anyhow::Result<tokio::process::Command> {
    let (program, arguments) = command.split_first().context("there is no command")?;
    let mut prepared = tokio::process::Command::new(program);
    prepared.args(arguments);
    Ok(prepared)
}

/// Becomes the command. Returns only if that fails.
pub(super) fn launch(parent: u32, command: &[OsString]) -> anyhow::Result<i32> {
    let (program, arguments) = command.split_first().context("there is no command")?;
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_parent_process_death_signal(Some(Signal::TERM))?;
        let still = rustix::process::getppid().map(|id| id.as_raw_nonzero().get().unsigned_abs());
        if still != Some(parent) {
            // The parent ended before it could be watched.
            return Ok(143);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = parent;
    let error = std::process::Command::new(program).args(arguments).exec();
    let text = clean(&format!("{} cannot be started: {error}", program.display()));
    let _ = writeln!(stderr(), "windlass: {text}");
    Ok(if error.kind() == io::ErrorKind::NotFound { 127 } else { 126 })
}

/// Waits for a signal to end, and returns the exit code for it.
pub(super) fn ended() -> anyhow::Result<impl Future<Output = i32>> {
    let mut signals = Signals::listen()?;
    Ok(async move { 128 + signals.next().await.as_raw() })
}

struct Signals {
    interrupt: Arrivals,
    quit: Arrivals,
    terminate: Arrivals,
    hangup: Arrivals,
}

impl Signals {
    fn listen() -> anyhow::Result<Self> {
        let listen = |kind| Arrivals::of(kind).context("signals cannot be listened to");
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            quit: listen(SignalKind::quit())?,
            terminate: listen(SignalKind::terminate())?,
            hangup: listen(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) -> Signal {
        tokio::select! {
            () = self.interrupt.next() => Signal::INT,
            () = self.quit.next() => Signal::QUIT,
            () = self.terminate.next() => Signal::TERM,
            () = self.hangup.next() => Signal::HUP,
        }
    }
}

/// Lets a shell that collects the output continue.
pub(super) fn release_stdout() {
    if let Ok(null) = std::fs::OpenOptions::new().write(true).open("/dev/null") {
        // If it stays open, the shell waits for the end of the proxy.
        let _ = rustix::stdio::dup2_stdout(&null);
    }
}
