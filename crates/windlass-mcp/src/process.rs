//! A server that is a program.

use crate::transport::{AbortOnDrop, Fault};
use process_wrap::tokio::{ChildWrapper, CommandWrap};
use std::any::Any;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{ChildStdin, ChildStdout, Command};
use tokio::sync::{oneshot, watch};
use tokio::time::{sleep, timeout};
use windlass_context::Masks;
use windlass_tool::{EndSignal, ProcessCommand, ProgramWatch, WatchedProgram};

/// How long a server may take to end after its input was closed.
const FAREWELL: Duration = Duration::from_millis(500);
/// Between SIGTERM and SIGKILL.
const GRACE: Duration = Duration::from_millis(500);
/// After SIGKILL, until the rest is left to the drop.
const GIVE_UP: Duration = Duration::from_millis(1500);
/// Between two looks at what is left.
const LOOK: Duration = Duration::from_millis(10);
/// Kept of what a server wrote last on its standard error.
const TAIL: usize = 4096;

/// What is started.
pub(crate) struct Spec<'a> {
    pub(crate) command: ProcessCommand,
    /// What is kept until it has ended.
    pub(crate) until_end: Option<Box<dyn Any + Send + Sync>>,
    /// What people should know when it fails.
    pub(crate) advice: Option<String>,
    /// The watch that ends it when this process is killed, and finds what has left its group.
    pub(crate) watch: Option<&'a dyn ProgramWatch>,
}

/// A running program with its tree. Dropping it ends the tree without waiting.
#[derive(Debug)]
pub(crate) struct Process {
    stop: Mutex<Option<oneshot::Sender<()>>>,
    ended: watch::Receiver<bool>,
    words: LastWords,
}

/// The last words of a program, for error texts.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastWords {
    stderr: Arc<Mutex<VecDeque<u8>>>,
    exit: Arc<Mutex<Option<String>>>,
    pub(crate) fault: Fault,
    /// The secrets that it was given.
    masks: Masks,
    /// What people should know when it fails.
    advice: Option<String>,
}

impl LastWords {
    /// Of a program with these variables.
    fn of(env: &[(OsString, OsString)]) -> Self {
        let variables = env.iter().map(|(name, value)| (name.to_string_lossy(), value.to_string_lossy()));
        Self { masks: Masks::new().with_environment(variables), ..Self::default() }
    }

    fn note(&self, bytes: &[u8]) {
        let mut tail = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        tail.extend(bytes.iter().rev().take(TAIL).rev());
        let over = tail.len().saturating_sub(TAIL);
        tail.drain(..over);
    }

    /// How it ended, if that is known, else an empty text.
    pub(crate) fn exit(&self) -> String {
        self.exit.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or_default()
    }

    /// What it wrote that explains its end, as the rest of a sentence: empty, or with a leading semicolon. Secrets that it was
    /// given, and what looks like one, are masked. This is for the host: nothing marks it as the words of a program.
    pub(crate) fn output(&self) -> String {
        let stderr = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let stderr = String::from_utf8_lossy(&stderr.iter().copied().collect::<Vec<_>>()).trim().to_owned();
        let wrote = (!stderr.is_empty()).then(|| format!("it wrote: {stderr}"));
        let parts = [self.fault.get(), wrote, self.advice.clone()].into_iter().flatten();
        parts.map(|part| format!("; {}", self.masks.mask(&part))).collect()
    }
}

impl Process {
    /// Starts a program in a session of its own.
    pub(crate) fn start(spec: Spec<'_>) -> std::io::Result<(Self, ChildStdin, ChildStdout)> {
        let Spec { command: meant, until_end, advice, watch } = spec;
        let words = LastWords { advice, ..LastWords::of(&meant.env) };
        let mut command = Command::new(&meant.program);
        command
            .args(meant.args)
            .env_clear()
            .envs(meant.env)
            .current_dir(meant.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mark = watch.map(ProgramWatch::mark);
        if let Some((name, value)) = &mark {
            command.env(name, value);
        }
        let mut wrapped = CommandWrap::from(command);
        #[cfg(unix)]
        wrapped.wrap(process_wrap::tokio::ProcessSession);
        #[cfg(windows)]
        wrapped.wrap(process_wrap::tokio::JobObject);
        let mut child = Tree { child: wrapped.spawn()?, watched: None, killed: false };
        if let (Some(watch), Some((_, mark)), Some(leader)) = (watch, &mark, child.child.id()) {
            child.watched = Some(watch.watch(leader, mark));
        }
        let missing = || std::io::Error::other("the program has no standard streams");
        let stdin = child.child.stdin().take().ok_or_else(missing)?;
        let stdout = child.child.stdout().take().ok_or_else(missing)?;
        let stderr = child.child.stderr().take().ok_or_else(missing)?;
        let drain = tokio::spawn(drain(stderr, words.clone()));
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = watch::channel(false);
        let exit = words.clone();
        tokio::spawn(async move {
            let _drain = AbortOnDrop(drain.abort_handle());
            attend(child, stopped, &exit).await;
            // The rest of the pipe may explain why it ended.
            let _ = timeout(Duration::from_millis(50), drain).await;
            drop(until_end);
            end.send_replace(true);
        });
        Ok((Self { stop: Mutex::new(Some(stop)), ended, words }, stdin, stdout))
    }

    /// Its last words.
    pub(crate) fn words(&self) -> &LastWords {
        &self.words
    }

    /// Asks it to end.
    pub(crate) fn stop(&self) {
        // Dropping the sender is the signal.
        self.stop.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Waits until no process of it is left.
    pub(crate) async fn ended(&self) {
        // It fails only when the task is gone, and the tree with it.
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
    }
}

/// A child and all it has started. Killed when dropped.
struct Tree {
    child: Box<dyn ChildWrapper>,
    watched: Option<Arc<dyn WatchedProgram>>,
    killed: bool,
}

impl Tree {
    fn kill_group(&mut self) {
        // Not twice: once no process is left, its number may mean another tree.
        if !std::mem::replace(&mut self.killed, true) {
            // It fails when no process is left.
            let _ = self.child.start_kill();
        }
    }

    /// Signals all that is known to belong to it; how many there were.
    async fn signal(&self, signal: EndSignal) -> usize {
        let Some(watched) = self.watched.clone() else { return 0 };
        tokio::task::spawn_blocking(move || watched.signal(signal)).await.unwrap_or_default()
    }

    /// Asks all of it to end.
    async fn ask(&self) {
        #[cfg(unix)]
        {
            const SIGTERM: i32 = 15;
            let _ = self.child.signal(SIGTERM);
        }
        self.signal(EndSignal::Ask).await;
    }

    /// Kills all of it, and waits a bounded time until it is gone.
    async fn kill(&mut self) {
        let gone = async {
            self.kill_group();
            while self.signal(EndSignal::Kill).await > 0 {
                sleep(LOOK).await;
            }
            let _ = self.child.wait().await;
        };
        if timeout(GIVE_UP, gone).await.is_ok() {
            // There is no process left to kill when it is dropped.
            self.watched = None;
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.kill_group();
        if let Some(watched) = &self.watched {
            for _ in 0..3 {
                if watched.signal(EndSignal::Kill) == 0 {
                    break;
                }
            }
        }
    }
}

/// Waits for the end of a program, or brings it about.
async fn attend(mut tree: Tree, stopped: oneshot::Receiver<()>, words: &LastWords) {
    let exited = tokio::select! {
        status = tree.child.wait() => Some(status),
        // Its input was closed by the writer; a well-behaved server ends by itself.
        _ = stopped => timeout(FAREWELL, tree.child.wait()).await.ok(),
    };
    if let Some(status) = exited {
        let text = status.map_or_else(|error| error.to_string(), |status| status.to_string());
        *words.exit.lock().unwrap_or_else(PoisonError::into_inner) = Some(format!("it ended with {text}"));
    } else {
        tree.ask().await;
        let _ = timeout(GRACE, tree.child.wait()).await;
    }
    // Also what it leaves behind.
    tree.kill().await;
}

async fn drain(mut stderr: impl AsyncRead + Unpin, words: LastWords) {
    let mut bytes = vec![0; 8 * 1024];
    while let Ok(count) = stderr.read(&mut bytes).await {
        match bytes.get(..count) {
            Some(read) if count > 0 => words.note(read),
            _ => return,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_words_are_bounded_and_readable() {
        let words = LastWords::default();
        words.note(&[b'x'; 3 * TAIL]);
        words.note("…and then it failed\n".as_bytes());
        let text = words.output();
        assert!(text.starts_with("; it wrote: x") && text.ends_with("and then it failed"), "{text}");
        assert!(text.len() < TAIL + 20);
    }
}
