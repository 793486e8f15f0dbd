//! The jobs whose outcome is awaited, each for a request of the host or for a turn.

use super::io::{RewindScope, Ticket};
use crate::server::hooks::table::HookTable;
use crate::server::setup::Initialize;
use std::collections::BTreeMap;
use windlass_types::{EntryId, PermissionMode};

/// Most rewinds that wait at the same time.
const MOST_REWINDS: usize = 16;
/// Most orders to MCP servers that are being carried out.
const MOST_MCP: usize = 64;

/// The jobs whose outcome is awaited, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct Tickets {
    last: Ticket,
    open: BTreeMap<Ticket, Pending>,
}

/// What happens with the outcome of a job.
#[derive(Debug)]
pub(crate) enum Pending {
    /// It answers this request.
    Request(String, Asked),
    /// It is the output of a slash command.
    Turn,
    /// The session gets this title.
    Title(String),
}

/// What a request asked for.
#[derive(Debug)]
pub(crate) enum Asked {
    Mcp,
    McpStatus,
    Context,
    Moved,
    /// The mode that it wants.
    Mode(PermissionMode),
    Tail,
    Rename {
        title: String,
    },
    Reload {
        hold: bool,
    },
    Initialize(Box<Greeting>),
    Rewind(Rewinding),
}

/// An `initialize` that is being carried out.
#[derive(Debug)]
pub(crate) struct Greeting {
    pub(crate) initialize: Initialize,
    pub(crate) hooks: HookTable,
    pub(crate) forwards_text: bool,
}

/// A rewind that the host wants.
#[derive(Debug, Clone)]
pub(crate) struct Rewinding {
    pub(crate) to: EntryId,
    pub(crate) scope: RewindScope,
    pub(crate) dry_run: bool,
    pub(crate) stage: Stage,
    /// Whether its timer was started.
    pub(crate) has_waited: bool,
    /// Whether it has waited for the end of a run long enough.
    pub(crate) is_late: bool,
}

/// How far a rewind is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It waits for a session.
    Early,
    /// The session carries it out.
    Ordered,
    /// The same, and a run has ended meanwhile: if one was in the way, it is ordered again.
    OrderedAgain,
    /// A run was in the way: it waits for its end.
    Waiting,
}

impl Tickets {
    /// A number that no other job or wait has.
    pub(crate) fn number(&mut self) -> Ticket {
        self.last += 1;
        self.last
    }

    /// A number for a job.
    pub(crate) fn add(&mut self, pending: Pending) -> Ticket {
        let ticket = self.number();
        self.open.insert(ticket, pending);
        ticket
    }

    /// The job is done.
    pub(crate) fn take(&mut self, ticket: Ticket) -> Option<Pending> {
        self.open.remove(&ticket)
    }

    /// The job is to be done again, or its state is changed.
    pub(crate) fn put_back(&mut self, ticket: Ticket, pending: Pending) {
        self.open.insert(ticket, pending);
    }

    /// Ends the wait for all of them: hands out the requests.
    pub(crate) fn close(&mut self) -> Vec<String> {
        let request = |pending| match pending {
            Pending::Request(request, _) => Some(request),
            Pending::Turn | Pending::Title(_) => None,
        };
        std::mem::take(&mut self.open).into_values().filter_map(request).collect()
    }

    /// Whether a job runs that decides how the next session is opened or what a prompt means.
    pub(crate) fn prepares(&self) -> bool {
        self.asked().any(|asked| matches!(asked, Asked::Initialize(_) | Asked::Reload { .. }))
    }

    /// Whether a job runs that the end of the input waits for: its answer is a matter of the disk alone.
    pub(crate) fn delays_the_end(&self) -> bool {
        let delays = |asked: &Asked| {
            matches!(asked, Asked::Initialize(_) | Asked::Reload { .. } | Asked::Rename { .. } | Asked::Tail)
        };
        self.asked().any(delays) || self.open.values().any(|pending| matches!(pending, Pending::Title(_)))
    }

    /// Whether an `initialize` is being carried out.
    pub(crate) fn greets(&self) -> bool {
        self.asked().any(|asked| matches!(asked, Asked::Initialize(_)))
    }

    /// Whether another rewind may wait.
    pub(crate) fn has_room_for_rewind(&self) -> bool {
        self.asked().filter(|asked| matches!(asked, Asked::Rewind(_))).count() < MOST_REWINDS
    }

    /// Whether another order to an MCP server may be carried out.
    pub(crate) fn has_room_for_mcp(&self) -> bool {
        self.asked().filter(|asked| matches!(asked, Asked::Mcp)).count() < MOST_MCP
    }

    /// Whether a session rewinds its conversation: prompts wait for that.
    pub(crate) fn rewinds_conversation(&self) -> bool {
        let rewinds = |asked: &Asked| match asked {
            Asked::Rewind(rewind) => {
                rewind.scope != RewindScope::Files
                    && !rewind.dry_run
                    && matches!(rewind.stage, Stage::Ordered | Stage::OrderedAgain)
            }
            _ => false,
        };
        self.asked().any(rewinds)
    }

    /// The rewinds at a stage, in the order in which they came.
    pub(crate) fn rewinds(&mut self, stage: Stage) -> Vec<(Ticket, &mut Rewinding)> {
        let rewind = |(ticket, pending): (&Ticket, _)| match pending {
            &mut Pending::Request(_, Asked::Rewind(ref mut rewind)) if rewind.stage == stage => Some((*ticket, rewind)),
            _ => None,
        };
        self.open.iter_mut().filter_map(rewind).collect()
    }

    fn asked(&self) -> impl Iterator<Item = &Asked> {
        self.open.values().filter_map(|pending| match pending {
            Pending::Request(_, asked) => Some(asked),
            Pending::Turn | Pending::Title(_) => None,
        })
    }
}
