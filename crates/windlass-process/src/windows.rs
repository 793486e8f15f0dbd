//! Children on Windows: a job object holds all processes that a child starts, and the system ends them with its last
//! handle.
//!
//! `process-wrap` makes the calls. It sets no limit but that one, so it cannot carry out the limits of a
//! [`JobPlan`](crate::job::JobPlan) on processes, memory and windows. Nor can it retry when the system accepts no
//! second job: the start fails then.

use std::future::poll_fn;
use std::io;
use std::process::ExitStatus;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use process_wrap::tokio::{ChildWrapper, CommandWrap, JobObject, KillOnDrop};
use tokio::process::{ChildStderr, ChildStdin, ChildStdout, Command};
use windlass_tool::EndSignal;

use crate::command::ChildCommand;

#[derive(Debug)]
pub(crate) struct Child(Group);

impl Child {
    pub(crate) fn spawn(command: Command) -> io::Result<Self> {
        let mut command = CommandWrap::from(command);
        command.wrap(KillOnDrop).wrap(JobObject);
        Ok(Self(Group(Arc::new(Mutex::new(command.spawn()?)))))
    }

    pub(crate) fn start(command: ChildCommand) -> io::Result<Self> {
        Self::spawn(command.into())
    }

    /// Process number of the child, until it was waited for.
    pub(crate) fn id(&self) -> Option<u32> {
        self.0.job().id()
    }

    pub(crate) fn group(&self) -> Option<Group> {
        Some(self.0.clone())
    }

    pub(crate) fn take_stdin(&mut self) -> Option<ChildStdin> {
        self.0.job().stdin().take()
    }

    pub(crate) fn take_stdout(&mut self) -> Option<ChildStdout> {
        self.0.job().stdout().take()
    }

    pub(crate) fn take_stderr(&mut self) -> Option<ChildStderr> {
        self.0.job().stderr().take()
    }

    /// Waits for the child alone: the job may have other members for long.
    pub(crate) async fn wait(&mut self) -> io::Result<ExitStatus> {
        poll_fn(|cx| {
            let mut job = self.0.job();
            let waiting = job.inner_mut().wait();
            std::pin::pin!(waiting).as_mut().poll(cx)
        })
        .await
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Group(Arc<Mutex<Box<dyn ChildWrapper>>>);

impl Group {
    fn job(&self) -> MutexGuard<'_, Box<dyn ChildWrapper>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn signal(&self, signal: EndSignal) {
        if signal == EndSignal::Kill {
            // Fails when no process is left.
            let _ = self.job().start_kill();
        }
    }

    /// `false`: processes have no parents to wait for them.
    pub(crate) fn reap(&self) -> bool {
        false
    }
}
