//! One child, and the group that it leads.

use std::io;
use std::process::ExitStatus;

use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use windlass_tool::EndSignal;

use crate::{ChildCommand, sys};

/// A child that leads a session and a process group of its own; on Windows, the first of a job object.
///
/// Dropping it before it was waited for kills it with its group, unless it may [outlive](Self::outliving) that. Once it was
/// waited for, what it left behind is ended by its [`Group`], and on Linux by the drop: there each child has a [keeper](Self::keeper)
/// above it, to which all processes come that lose their parents, whatever group, session and variables they have. It ends them when
/// this is dropped, and when this process is gone.
#[derive(Debug)]
pub struct Child {
    inner: sys::Child,
    id: u32,
    group: Group,
    is_killed_on_drop: bool,
}

impl Child {
    /// Starts a program, with the environment, directory and streams that the command has. Needs a tokio runtime with I/O.
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
    /// # Errors
    /// It cannot be started: no such program or directory, or no free process or file numbers.
    pub fn spawn(command: Command) -> io::Result<Self> {
        sys::Child::spawn(command).and_then(Self::of)
    }

    /// Starts a program with exactly the variables of its command. On Linux that takes the same time however much memory this
    /// process has, which [`spawn`](Self::spawn) has the system copy. Needs a tokio runtime with I/O.
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
    /// # Errors
    /// It cannot be started: no such program or directory, or no free process or file numbers.
    pub fn start(command: ChildCommand) -> io::Result<Self> {
        sys::Child::start(command).and_then(Self::of)
    }

    fn of(inner: sys::Child) -> io::Result<Self> {
        let missing = || io::Error::other("the child has no process number");
        let id = inner.id().ok_or_else(missing)?;
        let group = Group(inner.group().ok_or_else(missing)?);
        Ok(Self { inner, id, group, is_killed_on_drop: true })
    }

    /// Lets it live when this is dropped. On Windows its job ends all the same.
    #[must_use]
    pub fn outliving(mut self) -> Self {
        self.is_killed_on_drop = false;
        #[cfg(unix)]
        self.inner.let_outlive();
        self
    }

    /// Its process number, also after it has ended. On Unix it is that of its group, too.
    pub fn id(&self) -> u32 {
        self.id
    }

    /// The number of the process above it, its keeper. All that the child has started and left without a parent is below
    /// that. `None` on other systems than Linux, and where no keeper can be started. It may end with the last process below it.
    #[cfg(unix)]
    pub fn keeper(&self) -> Option<u32> {
        self.inner.keeper()
    }

    /// The group that it leads.
    pub fn group(&self) -> &Group {
        &self.group
    }

    /// Takes the writing end of its input, where the command has a pipe for it.
    pub fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.inner.take_stdin()
    }

    /// Takes the reading end of its output, where the command has a pipe for it.
    pub fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.inner.take_stdout()
    }

    /// Takes the reading end of its standard error, where the command has a pipe for it.
    pub fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.inner.take_stderr()
    }

    /// Waits until it has ended: the child alone, not what it has started. Its input is not closed by that. Cancel safe.
    ///
    /// # Errors
    /// The system cannot say how it ended.
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        self.inner.wait().await
    }

    /// Ends all that is below its [keeper](Self::keeper), and waits until none of it is left: that takes 0.3 seconds where a
    /// process does not obey. Nothing happens where there is no keeper. To be called after the child itself was waited for.
    /// Cancel safe.
    #[cfg(unix)]
    pub async fn end_all(&mut self) {
        self.inner.end_all().await;
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        // Its number is its own until it was waited for.
        if self.is_killed_on_drop && self.inner.id().is_some() {
            self.group.signal(EndSignal::Kill);
        }
    }
}

/// The processes of the group that a child leads: itself and what it has started, except what left the group. On Windows they
/// are those of its job object, which none leaves.
///
/// A clone is the same group.
#[derive(Debug, Clone)]
pub struct Group(sys::Group);

impl Group {
    /// Asks all of it to end, or ends it. Windows knows no way to ask: nothing happens there.
    ///
    /// Once the child was waited for and no process of the group is left, the system may give its number to another group. So
    /// call this at most once after the child was waited for, and soon.
    pub fn signal(&self, signal: EndSignal) {
        self.0.signal(signal);
    }

    /// Waits for processes of the group that were left to this process: orphans are, where it is the first process of a
    /// container. Says whether some of them still run. To be called after the child itself was waited for; does not block.
    pub fn reap(&self) -> bool {
        self.0.reap()
    }
}
