//! Rewinds of files, of the conversation, or of both.

use super::Conversation;
use crate::input::{NotRewound, RewindScope, Rewound};
use crate::jobs::{PendingJob, PendingRewind, RequestedJob, RewindStage};
use crate::output::{Answer, Job, Order, Refusal, Ticket, Timer, Update};
use std::time::Duration;
use windlass_types::EntryId;

/// Maximum wait of a rewind for the run that continues. The SDKs wait for a minute.
const MAX_WAIT: Duration = Duration::from_secs(30);

impl Conversation {
    /// Begins a rewind, which is answered when it is done. A session that is not open is opened for it.
    pub(super) fn rewind(&mut self, id: &str, to: EntryId, scope: RewindScope, dry_run: bool) -> Result<(), Refusal> {
        if !self.jobs.has_room_for_rewind() {
            return Err(Refusal::new("too many rewinds wait already"));
        }
        let stage = if self.session.is_open() { RewindStage::Ordered } else { RewindStage::Early };
        let rewind = PendingRewind { to: to.clone(), scope, dry_run, stage, obstacle: None, is_late: false };
        let ticket = self.jobs.add(PendingJob::Request(id.to_owned(), RequestedJob::Rewind(rewind)));
        if stage == RewindStage::Ordered {
            self.order(Order::Begin(ticket, Job::Rewind { to, scope, dry_run }));
        }
        Ok(())
    }

    /// Sends those rewinds again that wait for the end of a run: one has ended.
    pub(super) fn rewind_again(&mut self) {
        for (_, rewind) in self.jobs.rewinds(RewindStage::Ordered) {
            rewind.stage = RewindStage::OrderedAgain;
        }
        self.begin_rewinds(RewindStage::Waiting);
    }

    /// Begins the rewinds that came before there was a session.
    pub(super) fn begin_early_rewinds(&mut self) {
        self.begin_rewinds(RewindStage::Early);
    }

    fn begin_rewinds(&mut self, stage: RewindStage) {
        let mut orders = Vec::new();
        for (ticket, rewind) in self.jobs.rewinds(stage) {
            rewind.stage = RewindStage::Ordered;
            let (to, scope, dry_run) = (rewind.to.clone(), rewind.scope, rewind.dry_run);
            orders.push(Order::Begin(ticket, Job::Rewind { to, scope, dry_run }));
        }
        for order in orders {
            self.order(order);
        }
    }

    /// There is no session for the rewinds that came before there was one.
    pub(super) fn fail_early_rewinds(&mut self, error: &str) {
        let early: Vec<_> = self.jobs.rewinds(RewindStage::Early).into_iter().map(|(ticket, _)| ticket).collect();
        for ticket in early {
            if let Some(PendingJob::Request(id, _)) = self.jobs.take(ticket) {
                self.update(Update::Answer(id, Err(Refusal::new(error))));
            }
        }
    }

    /// A rewind is done, or a run was in its way.
    pub(super) fn rewound(
        &mut self,
        ticket: Ticket,
        id: String,
        mut rewind: PendingRewind,
        outcome: Result<Rewound, NotRewound>,
    ) {
        let is_first = rewind.obstacle.is_none();
        let outcome = match outcome {
            Err(obstacle) if obstacle.is_running && !rewind.is_late => {
                rewind.obstacle = Some(obstacle);
                None
            }
            outcome => Some(outcome),
        };
        if let Some(outcome) = outcome {
            self.answer_rewind(id, rewind.dry_run, outcome);
            if rewind.scope != RewindScope::Files {
                // A rewind of the conversation is in the way of others, like a run, and prompts wait for it.
                self.begin_rewinds(RewindStage::Waiting);
                self.advance();
            }
            return;
        }
        let missed = rewind.stage == RewindStage::OrderedAgain;
        rewind.stage = RewindStage::Waiting;
        if is_first {
            self.order(Order::Wake(Timer::Rewind(ticket), MAX_WAIT));
        }
        self.jobs.put_back(ticket, PendingJob::Request(id, RequestedJob::Rewind(rewind)));
        if missed {
            // The run that was in the way may be the one that has ended meanwhile.
            self.begin_rewinds(RewindStage::Waiting);
        }
    }

    /// A rewind has waited long enough for the end of a run. One that the session is carrying out is not given up.
    pub(super) fn rewind_is_late(&mut self, ticket: Ticket) {
        match self.jobs.take(ticket) {
            Some(PendingJob::Request(id, RequestedJob::Rewind(rewind))) if rewind.stage == RewindStage::Waiting => {
                let obstacle = rewind.obstacle.unwrap_or_else(NotRewound::running);
                self.answer_rewind(id, rewind.dry_run, Err(obstacle));
            }
            Some(PendingJob::Request(id, RequestedJob::Rewind(mut rewind))) => {
                rewind.is_late = true;
                self.jobs.put_back(ticket, PendingJob::Request(id, RequestedJob::Rewind(rewind)));
            }
            Some(other) => self.jobs.put_back(ticket, other),
            None => {}
        }
    }

    fn answer_rewind(&mut self, id: String, dry_run: bool, outcome: Result<Rewound, NotRewound>) {
        let outcome = outcome.map_err(|failure| failure.reason);
        self.update(Update::Answer(id, Ok(Answer::Rewind { dry_run, outcome })));
    }
}
