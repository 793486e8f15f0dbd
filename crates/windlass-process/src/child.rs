//! A child, and the group that it leads.

use std::io;
use std::process::ExitStatus;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use windlass_tool::EndSignal;

use crate::{ChildCommand, sys};

/// A child that leads a session and a process group of its own; on Windows, the first member of a job object.
///
/// Dropping it before it was waited for kills it with its group, unless it may [outlive](Self::outliving) that. Once it
/// was waited for, its [`Group`] ends the processes that it left behind; on Linux the drop does that as well. There
/// each child has a [keeper](Self::keeper) above it, which adopts all orphans, whatever group, session and variables
/// they have. The keeper ends them when this is dropped, and when this process is gone.
#[derive(Debug)]
pub struct Child {
    inner: sys::Child,
    id: u32,
    group: Group,
    is_killed_on_drop: bool,
}

impl Child {
    /// Starts a program, with the environment, directory and streams of the command. Needs a tokio runtime with I/O.
    ///
    /// ```
    /// # async fn example() -> std::io::Result<()> {
    /// use tokio::process::Command;
    /// use windlass_process::Child;
    ///
    /// let mut command = Command::new("/usr/bin/make");
    /// command.env_clear().env("PATH", "/usr/bin:/bin").current_dir("/work/project");
    /// let status = Child::spawn(command)?.wait().await?;
    /// # let _ = status;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The program cannot be started: no such program or directory, or no free process or file numbers.
    pub fn spawn(command: Command) -> io::Result<Self> {
        sys::Child::spawn(command).and_then(Self::of)
    }

    /// Starts a program with exactly the variables of its command. On Linux the time does not depend on the memory of
    /// this process, unlike [`spawn`](Self::spawn), which has the system copy it. Needs a tokio runtime with I/O.
    ///
    /// ```
    /// # async fn example() -> std::io::Result<()> {
    /// use windlass_process::{Child, ChildCommand};
    ///
    /// let command = ChildCommand::new("/usr/bin/make", "/work/project").args(["all"]).envs([("PATH", "/usr/bin:/bin")]);
    /// let status = Child::start(command)?.wait().await?;
    /// # let _ = status;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// The program cannot be started: no such program or directory, or no free process or file numbers.
    pub fn start(command: ChildCommand) -> io::Result<Self> {
        sys::Child::start(command).and_then(Self::of)
    }

    fn of(inner: sys::Child) -> io::Result<Self> {
        let missing = || io::Error::other("the child has no process number");
        let id = inner.id().ok_or_else(missing)?;
        let group = Group(inner.group().ok_or_else(missing)?);
        Ok(Self { inner, id, group, is_killed_on_drop: true })
    }

    /// Lets the child live when this is dropped. On Windows its job ends all the same.
    #[must_use]
    pub fn outliving(mut self) -> Self {
        self.is_killed_on_drop = false;
        #[cfg(unix)]
        self.inner.let_outlive();
        self
    }

    /// Process number of the child, also after it has ended. On Unix it is also that of its group.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Number of the keeper above the child, which adopts all orphans of the child. `None` on systems other than Linux,
    /// and if no keeper can be started. The keeper may end with the last process below it.
    #[cfg(unix)]
    pub fn keeper(&self) -> Option<u32> {
        self.inner.keeper()
    }

    /// Group that the child leads.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// Takes the writing end of the input, if the command has a pipe for it.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.inner.take_stdin()
    }

    /// Takes the reading end of the output, if the command has a pipe for it.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.inner.take_stdout()
    }

    /// Takes the reading end of the standard error, if the command has a pipe for it.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.inner.take_stderr()
    }

    /// Waits until the child has ended: the child alone, not its descendants. This does not close its input. Cancel
    /// safe.
    ///
    /// # Errors
    /// The system cannot report its exit status.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.inner.wait().await
    }

    /// Ends all processes below the [keeper](Self::keeper), and waits until none is left: that takes 0.3 seconds if a
    /// process does not obey. Does nothing without a keeper. To be called after the child itself was waited for. Cancel
    /// safe.
    #[cfg(unix)]
    pub async fn end_all(&mut self) {
        self.inner.end_all().await;
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // The number stays reserved until the child was waited for.
        if self.is_killed_on_drop && self.inner.id().is_some() {
            self.group.signal(EndSignal::Kill);
        }
    }
}

/// Processes of the group that a child leads: the child and its descendants, except those that left the group. On
/// Windows they are the members of its job object, which none can leave.
///
/// Clones refer to the same group.
#[derive(Debug, Clone)]
pub struct Group(sys::Group);

impl Group {
    /// Asks all processes to end, or kills them. Windows has no way to ask: nothing happens there.
    ///
    /// Once the child was waited for and no process of the group is left, the system may give its number to another
    /// group. So call this at most once after the child was waited for, and soon.
    pub fn signal(&self, signal: EndSignal) {
        self.0.signal(signal);
    }

    /// Waits for orphans of the group that belong to this process, which happens if it is the first process of a
    /// container. Returns `true` if some of them still run. To be called after the child itself was waited for; does
    /// not block.
    pub fn reap(&self) -> bool {
        self.0.reap()
    }
}
