//! The program of a server, with all that it has started.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use process_wrap::tokio::{ChildWrapper, CommandWrap};
use tokio::io::AsyncReadExt;
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::sync::oneshot;
use tokio::time::timeout;
use windlass_tool::{EndSignal, ProgramWatch, WatchedProgram};

/// How long a server may take to end after its input was closed.
const FAREWELL: Duration = Duration::from_millis(500);
/// After a kill, until the rest is left to the drop.
const GIVE_UP: Duration = Duration::from_millis(1500);
/// Kept of what a server wrote last on its standard error.
const TAIL: usize = 2048;

/// A running program. Dropping it ends the program with its tree, and does not wait for that.
#[derive(Debug)]
pub(crate) struct Program {
    words: Arc<Mutex<VecDeque<u8>>>,
    /// Dropping it is the sign to end.
    _stop: oneshot::Sender<()>,
}

impl Program {
    /// Starts a program in a session of its own.
    pub(crate) fn start(
        program: &Path,
        args: &[String],
        env: &[(OsString, OsString)],
        cwd: &Path,
        watch: Option<&dyn ProgramWatch>,
    ) -> io::Result<(Self, ChildStdin, ChildStdout)> {
        let mut command = Command::new(program);
        let env = env.iter().map(|(name, value)| (name, value));
        command.args(args).env_clear().envs(env).current_dir(cwd);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mark = watch.map(ProgramWatch::mark);
        if let Some((name, value)) = &mark {
            command.env(name, value);
        }
        let mut wrapped = CommandWrap::from(command);
        #[cfg(unix)]
        wrapped.wrap(process_wrap::tokio::ProcessSession);
        #[cfg(windows)]
        wrapped.wrap(process_wrap::tokio::JobObject);
        let mut tree = Tree { child: wrapped.spawn()?, watched: None, is_gone: false };
        if let (Some(watch), Some((_, mark)), Some(leader)) = (watch, &mark, tree.child.id()) {
            tree.watched = Some(watch.watch(leader, mark));
        }
        let missing = || io::Error::other("the program has no standard streams");
        let stdin = tree.child.stdin().take().ok_or_else(missing)?;
        let stdout = tree.child.stdout().take().ok_or_else(missing)?;
        let stderr = tree.child.stderr().take().ok_or_else(missing)?;
        let words = Arc::<Mutex<VecDeque<u8>>>::default();
        let (stop, stopped) = oneshot::channel();
        tokio::spawn(drain(stderr, Arc::clone(&words)));
        tokio::spawn(tree.attend(stopped));
        Ok((Self { words, _stop: stop }, stdin, stdout))
    }

    /// What it wrote last on its standard error.
    pub(crate) fn last_words(&self) -> String {
        let words = self.words.lock().unwrap_or_else(PoisonError::into_inner);
        let bytes: Vec<u8> = words.iter().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}

/// A child and all it has started. Killed when dropped.
struct Tree {
    child: Box<dyn ChildWrapper>,
    watched: Option<Arc<dyn WatchedProgram>>,
    is_gone: bool,
}

impl Tree {
    /// Waits for the end of the program, or brings it about.
    async fn attend(mut self, stopped: oneshot::Receiver<()>) {
        tokio::select! {
            _ = self.child.wait() => {}
            // Its input is closed by then; a well-behaved server ends by itself.
            _ = stopped => drop(timeout(FAREWELL, self.child.wait()).await),
        }
        // Also what it leaves behind.
        let _ = self.child.start_kill();
        if let Some(watched) = self.watched.clone() {
            let _ = tokio::task::spawn_blocking(move || watched.signal(EndSignal::Kill)).await;
        }
        self.is_gone = timeout(GIVE_UP, self.child.wait()).await.is_ok();
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        // Once it is gone, its number may mean another tree.
        if !self.is_gone {
            let _ = self.child.start_kill();
            if let Some(watched) = &self.watched {
                watched.signal(EndSignal::Kill);
            }
        }
    }
}

async fn drain(mut stderr: ChildStderr, words: Arc<Mutex<VecDeque<u8>>>) {
    let mut bytes = vec![0; 8 * 1024];
    while let Ok(count) = stderr.read(&mut bytes).await
        && count > 0
    {
        let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
        words.extend(bytes.get(..count).unwrap_or_default());
        let over = words.len().saturating_sub(TAIL);
        words.drain(..over);
    }
}

/// Finds a program: an absolute path, or a name in the absolute directories of `PATH`, so that no file of the working
/// directory can pass for one.
pub(crate) fn find(command: &str, env: &[(OsString, OsString)]) -> Result<PathBuf, String> {
    let path = Path::new(command);
    if path.is_absolute() {
        return Ok(path.to_owned());
    }
    if path.components().count() != 1 {
        return Err(format!("{command:?} is neither an absolute path nor a name"));
    }
    let search =
        env.iter().rev().find(|(name, _)| name.eq_ignore_ascii_case("PATH")).map(|(_, value)| value.as_os_str());
    let ends: &[&str] = if cfg!(windows) { &["", ".exe", ".cmd", ".bat"] } else { &[""] };
    std::env::split_paths(search.unwrap_or(OsStr::new("")))
        .filter(|directory| directory.is_absolute())
        .flat_map(|directory| ends.iter().map(move |end| directory.join(format!("{command}{end}"))))
        .find(|file| is_program(file))
        .ok_or_else(|| format!("there is no program {command:?} in PATH"))
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_for_in_absolute_directories_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sh"), "not the shell").unwrap();
        let env = |path: &str| vec![(OsString::from("PATH"), OsString::from(path))];
        assert_eq!(find("sh", &env(".:/bin")), Ok(PathBuf::from("/bin/sh")));
        assert_eq!(find("/bin/sh", &[]), Ok(PathBuf::from("/bin/sh")));
        assert!(find("./sh", &env("/bin")).is_err());
        assert!(find("sh", &env(folder.path().to_str().unwrap())).is_err(), "it may not be run");
    }
}
