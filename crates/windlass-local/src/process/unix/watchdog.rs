//! Watchdog that ends the children of a host that was killed.
//!
//! A program that gets SIGKILL runs no clean-up, so another process must. The watchdog is one `sh` in a session of its
//! own that reads from a pipe whose other end only the host holds: `+N` and `-N` add and remove a process group. The
//! kernel closes the host's end however the host dies; the shell then reads the end of its input, asks the listed
//! groups to stop, and kills them and (if `/proc` exists) all processes with the session's mark. `q` before the end
//! means that the host ends in order.
//!
//! The watchdog is started with the first child, holds no file of the host and sleeps in `read` all its life.

use std::collections::BTreeSet;
use std::io::{self, PipeWriter, Write as _};
use std::sync::{Mutex, PoisonError};

use windlass_process::{Child, ChildCommand, ChildStream};

const SCRIPT: &str = r#"
trap '' HUP INT QUIT TERM PIPE
live=' '
while read -r word; do
  case $word in
    q) exit 0 ;;
    +*) live="$live${word#+} " ;;
    -*) case $live in
          *" ${word#-} "*) live="${live%% ${word#-} *} ${live#* ${word#-} }" ;;
        esac ;;
  esac
done
each() { for group in $live; do kill "-$1" "-$group" 2>/dev/null; done; }
each TERM
[ "$live" = ' ' ] || sleep 0.3
each KILL
round=0
while [ -d /proc/self ] && [ "$round" -lt 5 ]; do
  found=$(grep -lsF "$1" /proc/[0-9]*/environ 2>/dev/null)
  [ -n "$found" ] || break
  for path in $found; do
    pid=${path#/proc/}
    kill -KILL "${pid%/environ}" 2>/dev/null
  done
  round=$((round + 1))
done
exit 0
"#;

/// The connection to the watchdog of one session.
#[derive(Debug)]
pub(in crate::process) struct Watchdog {
    /// Common part of the mark in every child's environment: `NAME=session`, without the number of the call.
    mark: String,
    state: Mutex<WatchdogState>,
}

#[derive(Debug, Default)]
struct WatchdogState {
    groups: BTreeSet<i32>,
    shell: Option<Shell>,
}

#[derive(Debug)]
struct Shell {
    pipe: PipeWriter,
    /// Kept so that the runtime reaps it.
    _child: Child,
}

impl Watchdog {
    pub(in crate::process) fn new(mark: String) -> Self {
        Self { mark, state: Mutex::default() }
    }

    /// Starts the watchdog unless it runs. Must be called before a child is started, inside a tokio runtime.
    pub(in crate::process) fn ready(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.shell.is_none() {
            self.restart(&mut state);
        }
    }

    /// Puts a group on the list.
    pub(in crate::process) fn add(&self, group: i32) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.groups.insert(group);
        self.send(&mut state, &format!("+{group}\n"));
    }

    /// Takes a group off the list.
    pub(in crate::process) fn remove(&self, group: i32) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.groups.remove(&group);
        // Outside a runtime (a call dropped at shutdown) a dead watchdog stays dead.
        if let Some(shell) = &mut state.shell {
            let _ = shell.pipe.write_all(format!("-{group}\n").as_bytes());
        }
    }

    fn send(&self, state: &mut WatchdogState, line: &str) {
        let sent = state.shell.as_mut().is_some_and(|shell| shell.pipe.write_all(line.as_bytes()).is_ok());
        if !sent {
            // The watchdog was killed; the new one gets the whole list.
            self.restart(state);
        }
    }

    fn restart(&self, state: &mut WatchdogState) {
        state.shell = None;
        let list: String = state.groups.iter().map(|group| format!("+{group}\n")).collect();
        let started = start(&self.mark).and_then(|mut shell| {
            shell.pipe.write_all(list.as_bytes())?;
            Ok(shell)
        });
        match started {
            Ok(shell) => state.shell = Some(shell),
            Err(error) => tracing::warn!(%error, "children would outlive a killed host: no watchdog"),
        }
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        let state = self.state.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let (Some(shell), true) = (&mut state.shell, state.groups.is_empty()) {
            let _ = shell.pipe.write_all(b"q\n");
        }
    }
}

fn start(mark: &str) -> io::Result<Shell> {
    let (read, pipe) = io::pipe()?;
    // A watchdog that does not read must not block the host.
    rustix::io::ioctl_fionbio(&pipe, true)?;
    let command = ChildCommand::new("/bin/sh", "/")
        .args(["-c", SCRIPT, "windlass-watchdog", mark])
        .envs([("PATH", "/usr/bin:/bin")])
        .stdin(ChildStream::File(read.into()));
    // The shell ends by itself, after it has ended the remaining processes.
    let child = Child::start(command)?.outliving();
    Ok(Shell { pipe, _child: child })
}
