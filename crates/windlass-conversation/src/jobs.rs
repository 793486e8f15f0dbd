//! Jobs whose outcome is awaited, each for a request or for a turn.

use crate::input::{NotRewound, RewindScope, SettingsChange};
use crate::output::Ticket;
use std::collections::BTreeMap;
use windlass_types::{EntryId, PermissionMode};

/// Maximum number of rewinds that wait at the same time.
const MAX_REWINDS: usize = 16;

/// The jobs whose outcome is awaited, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct PendingJobs {
    last: Ticket,
    open: BTreeMap<Ticket, PendingJob>,
}

/// Purpose of a job.
#[derive(Debug)]
pub(crate) enum PendingJob {
    /// The answer to the request with this id.
    Request(String, RequestedJob),
    /// The output of a slash command.
    Turn,
    /// The title of a new session.
    Title(String),
}

/// Job of a request.
#[derive(Debug)]
pub(crate) enum RequestedJob {
    Context,
    /// The permission mode that was asked for.
    Mode(PermissionMode),
    /// The model that was asked for, the one that was asked for before, and the settings to change if the session takes
    /// the model.
    Model {
        name: Option<String>,
        before: Option<Option<String>>,
        settings: SettingsChange,
    },
    Move,
    FileEnd,
    Rename {
        title: String,
    },
    Rewind(PendingRewind),
}

/// A rewind that is not answered yet.
#[derive(Debug, Clone)]
pub(crate) struct PendingRewind {
    pub(crate) to: EntryId,
    pub(crate) scope: RewindScope,
    pub(crate) dry_run: bool,
    pub(crate) stage: RewindStage,
    /// Run that was in the way when it was last ordered. Its timer has been started then.
    pub(crate) obstacle: Option<NotRewound>,
    /// `true` once it has waited long enough for the end of a run.
    pub(crate) is_late: bool,
}

/// Stage of a rewind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RewindStage {
    /// Waits for a session.
    Early,
    /// The session carries it out.
    Ordered,
    /// The same, and a run has ended meanwhile: if one was in the way, the rewind is ordered again.
    OrderedAgain,
    /// Waits for the end of the run that was in the way.
    Waiting,
}

impl PendingJobs {
    /// A number that no other job or wait has.
    pub(crate) fn number(&mut self) -> Ticket {
        self.last += 1;
        self.last
    }

    /// A number for a job.
    pub(crate) fn add(&mut self, pending: PendingJob) -> Ticket {
        let ticket = self.number();
        self.open.insert(ticket, pending);
        ticket
    }

    /// The job is done.
    pub(crate) fn take(&mut self, ticket: Ticket) -> Option<PendingJob> {
        self.open.remove(&ticket)
    }

    /// The job is to be done again, or its state is changed.
    pub(crate) fn put_back(&mut self, ticket: Ticket, pending: PendingJob) {
        self.open.insert(ticket, pending);
    }

    /// Ends the wait for all of them: hands out the requests.
    pub(crate) fn close(&mut self) -> Vec<String> {
        let request = |pending| match pending {
            PendingJob::Request(request, _) => Some(request),
            PendingJob::Turn | PendingJob::Title(_) => None,
        };
        std::mem::take(&mut self.open).into_values().filter_map(request).collect()
    }

    /// `true` while a job runs that the end of the input waits for: its answer is a matter of the disk alone.
    pub(crate) fn delays_the_end(&self) -> bool {
        self.open.values().any(|job| {
            matches!(
                job,
                PendingJob::Title(_) | PendingJob::Request(_, RequestedJob::Rename { .. } | RequestedJob::FileEnd)
            )
        })
    }

    /// `true` if another rewind may wait.
    pub(crate) fn has_room_for_rewind(&self) -> bool {
        self.requested().filter(|job| matches!(job, RequestedJob::Rewind(_))).count() < MAX_REWINDS
    }

    /// `true` while a session rewinds its conversation: prompts wait for that.
    pub(crate) fn rewinds_conversation(&self) -> bool {
        let rewinds = |job: &RequestedJob| match job {
            RequestedJob::Rewind(rewind) => {
                rewind.scope != RewindScope::Files
                    && !rewind.dry_run
                    && matches!(rewind.stage, RewindStage::Ordered | RewindStage::OrderedAgain)
            }
            _ => false,
        };
        self.requested().any(rewinds)
    }

    /// The rewinds at a stage, in the order in which they came.
    pub(crate) fn rewinds(&mut self, stage: RewindStage) -> Vec<(Ticket, &mut PendingRewind)> {
        let rewind = |(ticket, pending): (&Ticket, _)| match pending {
            &mut PendingJob::Request(_, RequestedJob::Rewind(ref mut rewind)) if rewind.stage == stage => {
                Some((*ticket, rewind))
            }
            _ => None,
        };
        self.open.iter_mut().filter_map(rewind).collect()
    }

    fn requested(&self) -> impl Iterator<Item = &RequestedJob> {
        self.open.values().filter_map(|pending| match pending {
            PendingJob::Request(_, job) => Some(job),
            PendingJob::Turn | PendingJob::Title(_) => None,
        })
    }
}
