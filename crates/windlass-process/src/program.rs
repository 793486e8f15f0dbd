//! A program that runs beside calls, with all it has started.

use std::any::Any;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::process::{ChildStdin, ChildStdout};
use tokio::sync::{oneshot, watch};
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};
use windlass_tool::{EndSignal, ProcessCommand, ProgramWatch, WatchedProgram};

use crate::{Child, ChildCommand, ChildStream, LastWords};

/// How long a program may take to end after its input was closed.
const FAREWELL: Duration = Duration::from_millis(500);
/// Between the request to end and the kill.
const GRACE: Duration = Duration::from_millis(500);
/// After the kill, until the rest is left to the drop.
const GIVE_UP: Duration = Duration::from_millis(1500);
/// Between two looks at what is left.
const LOOK: Duration = Duration::from_millis(10);
/// How long the last words are waited for once no process is left.
const LINGER: Duration = Duration::from_millis(500);

/// A running program with its tree, such as a server that is spoken to over its standard streams.
///
/// When it is stopped or dropped, it may end by itself for half a second, since its input is closed by then; it is asked to end,
/// and after another half second killed with its group and all that its watch finds. What it leaves behind when it ends by itself
/// is killed as well. A drop does not wait for that, and when the runtime is gone, all is killed at once.
#[derive(Debug)]
pub struct Program {
    stop: Mutex<Option<oneshot::Sender<()>>>,
    ended: watch::Receiver<bool>,
    words: LastWords,
}

impl Program {
    /// Starts a program with exactly the variables of its command and one by which the watch finds it. Of the command, program,
    /// arguments, directory and variables count. `until_end` is kept until the tree has ended.
    ///
    /// Without a watch, what has left the group is not found, and a killed host leaves the program behind. Needs a tokio runtime
    /// with time and I/O.
    ///
    /// # Errors
    /// It cannot be started: no such program or directory, or no free process or file numbers.
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
        let mut tree = Tree { child: Child::start(command)?, watched: None, is_killed: false };
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
            // The rest of the pipe may explain why it ended.
            let _ = timeout(LINGER, drain).await;
            drop(until_end);
            end.send_replace(true);
        });
        Ok((Self { stop: Mutex::new(Some(stop)), ended, words }, stdin, stdout))
    }

    /// Its last words.
    pub fn words(&self) -> &LastWords {
        &self.words
    }

    /// Has it end, and does not wait for that. Its input should be closed by then.
    pub fn stop(&self) {
        // Dropping the sender is the signal.
        self.stop.lock().unwrap_or_else(PoisonError::into_inner).take();
    }

    /// Waits until no process of it is left. That takes 3 seconds at most from the moment when it is stopped or ends by itself:
    /// a process that cannot be killed is not waited for. Cancel safe.
    pub async fn ended(&self) {
        // It fails only when the task is gone, and the tree with it.
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

/// A child and all it has started. Killed when dropped.
struct Tree {
    child: Child,
    watched: Option<Arc<dyn WatchedProgram>>,
    is_killed: bool,
}

impl Tree {
    fn kill_group(&mut self) {
        // Not twice: once no process is left, its number may mean another tree.
        if !std::mem::replace(&mut self.is_killed, true) {
            self.child.group().signal(EndSignal::Kill);
        }
    }

    /// Signals all that is known to belong to it; how many there were.
    async fn signal(&self, signal: EndSignal) -> usize {
        let Some(watched) = self.watched.clone() else { return 0 };
        tokio::task::spawn_blocking(move || watched.signal(signal)).await.unwrap_or_default()
    }

    /// Asks all of it to end.
    async fn ask(&self) {
        self.child.group().signal(EndSignal::Ask);
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
            #[cfg(unix)]
            self.child.end_all().await;
            while self.child.group().reap() {
                sleep(LOOK).await;
            }
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
        words.note_exit(status);
    } else {
        tree.ask().await;
        let _ = timeout(GRACE, tree.child.wait()).await;
    }
    // Also what it leaves behind.
    tree.kill().await;
}
