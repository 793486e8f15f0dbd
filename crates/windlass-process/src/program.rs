//! A program that outlives calls, with all its descendants.

use std::any::Any;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{oneshot, watch};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};
use windlass_blocking::{BlockingError, run_blocking};
use windlass_tool::{EndSignal, ProcessCommand, ProgramWatch, WatchedProgram};

use crate::{Child, ChildCommand, ChildStream, LastWords};

/// Time that a program has to end by itself after its input was closed.
const INPUT_CLOSED_GRACE: Duration = Duration::from_millis(500);
/// Time between the request to end and the kill.
const END_REQUEST_GRACE: Duration = Duration::from_millis(500);
/// Maximum wait for killed processes. After it the drop of [`ChildTree`] kills any that remain.
const KILL_TIMEOUT: Duration = Duration::from_millis(1500);
/// Interval between two checks of the remaining processes.
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Time limit for the last output once no process is left.
const LAST_OUTPUT_TIMEOUT: Duration = Duration::from_millis(500);

/// A running program with its tree, such as a server with messages over its standard streams.
///
/// The caller closes the input before it stops or drops the program, which then has half a second to end by itself.
/// Then it is asked to end. After another half second its group and all processes that its watch finds are killed.
/// Processes that it leaves behind when it ends by itself are killed too. A drop does not wait for the end. Without a
/// runtime, it kills all processes at once.
#[derive(Debug)]
pub struct Program {
    stop: Mutex<Option<oneshot::Sender<()>>>,
    ended: watch::Receiver<bool>,
    words: LastWords,
}

impl Program {
    /// Starts a program with the variables of its command and a mark by which the watch finds its processes. Of the
    /// command, only program, arguments, directory and variables are used. `until_end` is dropped after the tree has
    /// ended.
    ///
    /// Without a watch, processes that have left the group are not found, and a killed host leaves the program behind.
    /// Needs a tokio runtime with time and I/O.
    ///
    /// # Errors
    /// The program cannot be started: no such program or directory, or no free process or file numbers.
    pub fn start(
        program: ProcessCommand,
        watch: Option<&dyn ProgramWatch>,
        until_end: Option<Box<dyn Any + Send + Sync>>,
    ) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        let mark = watch.map(ProgramWatch::mark);
        let command = ChildCommand::new(&program.program, program.cwd)
            .args(program.args)
            .envs(program.env)
            .envs(mark.clone())
            .stdin(ChildStream::Pipe)
            .stdout(ChildStream::Pipe)
            .stderr(ChildStream::Pipe);
        let mut tree = ChildTree { child: Child::start(command)?, watched: None, is_killed: false };
        if let (Some(watch), Some((_, mark))) = (watch, &mark) {
            tree.watched = Some(watch.watch(tree.child.id(), mark));
        }
        let missing = || io::Error::other("the program has no standard streams");
        let stdin = tree.child.take_stdin().ok_or_else(missing)?;
        let stdout = tree.child.take_stdout().ok_or_else(missing)?;
        let stderr = tree.child.take_stderr().ok_or_else(missing)?;
        let words = LastWords::default();
        let drain = tokio::spawn(words.clone().drain(stderr));
        let (stop, stopped) = oneshot::channel();
        let (end, ended) = watch::channel(false);
        let last_words = words.clone();
        tokio::spawn(async move {
            let _drain = AbortOnDrop(drain.abort_handle());
            supervise(tree, stopped, &last_words).await;
            // Output that is still in the pipe may explain why the program ended.
            let _ = timeout(LAST_OUTPUT_TIMEOUT, drain).await;
            drop(until_end);
            end.send_replace(true);
        });
        Ok((Self { stop: Mutex::new(Some(stop)), ended, words }, stdin, stdout))
    }

    /// Last output and exit of the program.
    pub fn words(&self) -> &LastWords {
        &self.words
    }

    /// Requests the end, without waiting for it. The input should be closed by then.
    pub fn stop(&self) {
        // Dropping the sender is the signal.
        self.stop.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Waits until no process of the program is left. That takes at most 3 seconds from the moment when it is stopped
    /// or ends by itself: a process that cannot be killed is not waited for. Cancel safe.
    pub async fn ended(&self) {
        // The wait fails only if the task is gone, which also dropped the tree.
        let _ = self.ended.clone().wait_for(|ended| *ended).await;
    }
}

/// A task that does not outlive its handle.
struct AbortOnDrop(AbortHandle);

impl Drop for AbortOnDrop {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A child and all its descendants. Killed on drop.
struct ChildTree {
    child: Child,
    watched: Option<Arc<dyn WatchedProgram>>,
    is_killed: bool,
}

impl ChildTree {
    fn kill_group(&mut self) {
        // The group is killed once only, because its id may be reused after its last process.
        if !std::mem::replace(&mut self.is_killed, true) {
            self.child.group().signal(EndSignal::Kill);
        }
    }

    /// Signals all known processes of the tree. Returns their number.
    async fn signal(&self, signal: EndSignal) -> usize {
        let Some(watched) = self.watched.clone() else { return 0 };
        let target = watched.clone();
        match run_blocking(move || target.signal(signal)).await {
            // Without a free thread the signal is sent on this one, because the processes have to end.
            Err(BlockingError::NoThread) => watched.signal(signal),
            done => done.unwrap_or_default(),
        }
    }

    /// Requests that all processes end.
    async fn request_end(&self) {
        self.child.group().signal(EndSignal::Ask);
        self.signal(EndSignal::Ask).await;
    }

    /// Kills all processes, and waits a bounded time until they are gone.
    async fn kill(&mut self) {
        let gone = async {
            self.kill_group();
            while self.signal(EndSignal::Kill).await > 0 {
                sleep(POLL_INTERVAL).await;
            }
            let _ = self.child.wait().await;
            #[cfg(unix)]
            self.child.end_all().await;
            while self.child.group().reap() {
                sleep(POLL_INTERVAL).await;
            }
        };
        if timeout(KILL_TIMEOUT, gone).await.is_ok() {
            // No process is left to kill on drop.
            self.watched = None;
        }
    }
}

impl Drop for ChildTree {
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

/// Waits until a program ends or is stopped, then ends its tree.
async fn supervise(mut tree: ChildTree, stopped: oneshot::Receiver<()>, words: &LastWords) {
    let exited = tokio::select! {
        status = tree.child.wait() => Some(status),
        // The writer has closed the input; a well-behaved server ends by itself.
        _ = stopped => timeout(INPUT_CLOSED_GRACE, tree.child.wait()).await.ok(),
    };
    if let Some(status) = exited {
        words.note_exit(status);
    } else {
        tree.request_end().await;
        let _ = timeout(END_REQUEST_GRACE, tree.child.wait()).await;
    }
    // The kill also ends processes that the program left behind.
    tree.kill().await;
}
