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

/// Time for a program to end after its input was closed.
const FAREWELL: Duration = Duration::from_millis(500);
/// Time between the request to end and the kill.
const GRACE: Duration = Duration::from_millis(500);
/// Time after the kill until the rest is left to the drop.
const GIVE_UP: Duration = Duration::from_millis(1500);
/// Interval between two checks of the remaining processes.
const LOOK: Duration = Duration::from_millis(10);
/// Time limit for the last output once no process is left.
const LINGER: Duration = Duration::from_millis(500);

/// A running program with its tree, such as a server with messages over its standard streams.
///
/// When it is stopped or dropped, its input is closed by then, and it may end by itself for half a second. Then it is
/// asked to end, and after another half second killed with its group and all processes that its watch finds. Processes
/// that it leaves behind when it ends by itself are killed as well. A drop does not wait for that, and when the runtime
/// is gone, all are killed at once.
#[derive(Debug)]
pub struct Program {
    stop: Mutex<Option<oneshot::Sender<()>>>,
    ended: watch::Receiver<bool>,
    words: LastWords,
}

impl Program {
    /// Starts a program with exactly the variables of its command and one by which the watch finds it. Of the command,
    /// only program, arguments, directory and variables are used. `until_end` is kept until the tree has ended.
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
        let said = words.clone();
        tokio::spawn(async move {
            let _drain = AbortOnDrop(drain.abort_handle());
            attend(tree, stopped, &said).await;
            // The rest of the pipe may explain the end.
            let _ = timeout(LINGER, drain).await;
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
        // Fails only when the task is gone, and the tree with it.
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
        // Not twice: once no process is left, its number may belong to another tree.
        if !std::mem::replace(&mut self.is_killed, true) {
            self.child.group().signal(EndSignal::Kill);
        }
    }

    /// Signals all known processes of the tree. Returns their number.
    async fn signal(&self, signal: EndSignal) -> usize {
        let Some(watched) = self.watched.clone() else { return 0 };
        let apart = watched.clone();
        match run_blocking(move || apart.signal(signal)).await {
            // The rest of a program has to end all the same.
            Err(BlockingError::NoThread) => watched.signal(signal),
            done => done.unwrap_or_default(),
        }
    }

    /// Asks all processes to end.
    async fn ask(&self) {
        self.child.group().signal(EndSignal::Ask);
        self.signal(EndSignal::Ask).await;
    }

    /// Kills all processes, and waits a bounded time until they are gone.
    async fn kill(&mut self) {
        let gone = async {
            self.kill_group();
            while self.signal(EndSignal::Kill).await > 0 {
                sleep(LOOK).await;
            }
            let _ = self.child.wait().await;
            #[cfg(unix)]
            self.child.end_all().await;
            while self.child.group().reap() {
                sleep(LOOK).await;
            }
        };
        if timeout(GIVE_UP, gone).await.is_ok() {
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

/// Waits for the end of a program, or causes it.
async fn attend(mut tree: ChildTree, stopped: oneshot::Receiver<()>, words: &LastWords) {
    let exited = tokio::select! {
        status = tree.child.wait() => Some(status),
        // The writer has closed the input; a well-behaved server ends by itself.
        _ = stopped => timeout(FAREWELL, tree.child.wait()).await.ok(),
    };
    if let Some(status) = exited {
        words.note_exit(status);
    } else {
        tree.ask().await;
        let _ = timeout(GRACE, tree.child.wait()).await;
    }
    // Including the processes that it leaves behind.
    tree.kill().await;
}
