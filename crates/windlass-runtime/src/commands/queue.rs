//! Commands of the handles of a session, and requests that wait for it to come to rest.

use crate::commands::SessionCommand;
use std::collections::VecDeque;
use tokio::sync::{mpsc, oneshot};
use windlass_core::Machine;

/// The commands of the handles of a session.
#[derive(Debug)]
pub(crate) struct CommandQueue {
    incoming: mpsc::UnboundedReceiver<SessionCommand>,
    /// Commands that came while only read-only ones were taken.
    put_off: VecDeque<SessionCommand>,
    /// `true` while any handle can send commands.
    open: bool,
    /// Requests that wait until no run and no background work is left.
    quiet: Vec<oneshot::Sender<()>>,
    /// Requests that wait for the end of runs.
    settled: Vec<oneshot::Sender<()>>,
}

impl CommandQueue {
    pub(crate) fn new(incoming: mpsc::UnboundedReceiver<SessionCommand>) -> Self {
        Self { incoming, put_off: VecDeque::new(), open: true, quiet: Vec::new(), settled: Vec::new() }
    }

    /// Returns `true` if more commands can come.
    pub(crate) fn are_open(&self) -> bool {
        self.open
    }

    /// Returns `true` if there is a command, or the last handle is gone and that was not reported yet.
    pub(crate) fn have_next(&self) -> bool {
        self.open && (!self.put_off.is_empty() || !self.incoming.is_empty() || self.incoming.is_closed())
    }

    /// Returns the next command. `None`, once, when the last handle is gone. With `only_reads`, returns only read-only
    /// commands; the others wait. Cancel safe.
    pub(crate) async fn next(&mut self, only_reads: bool) -> Option<SessionCommand> {
        if only_reads {
            return Some(self.next_read().await);
        }
        let command = match self.put_off.pop_front() {
            Some(command) => Some(command),
            None => self.incoming.recv().await,
        };
        self.open = command.is_some();
        command
    }

    async fn next_read(&mut self) -> SessionCommand {
        loop {
            match self.incoming.recv().await {
                Some(read @ SessionCommand::ContextUsage(_)) => return read,
                Some(command) => self.put_off.push_back(command),
                // The loss of the last handle is reported when all commands are taken again.
                None => std::future::pending().await,
            }
        }
    }

    /// Answers when the machine is quiet.
    pub(crate) fn when_quiet(&mut self, waiting: oneshot::Sender<()>) {
        self.quiet.retain(|waiting| !waiting.is_closed());
        self.quiet.push(waiting);
    }

    /// Answers when the machine is settled.
    pub(crate) fn when_settled(&mut self, waiting: oneshot::Sender<()>) {
        self.settled.retain(|waiting| !waiting.is_closed());
        self.settled.push(waiting);
    }

    /// Answers the requests whose state the machine has reached.
    pub(crate) fn answer(&mut self, machine: &Machine) {
        for (waiting, is_reached) in [
            (&mut self.settled, Machine::is_settled as fn(&Machine) -> bool),
            (&mut self.quiet, Machine::is_quiet as fn(&Machine) -> bool),
        ] {
            if !waiting.is_empty() && is_reached(machine) {
                for waiting in waiting.drain(..) {
                    // The requester may have dropped its receiver.
                    let _ = waiting.send(());
                }
            }
        }
    }
}
