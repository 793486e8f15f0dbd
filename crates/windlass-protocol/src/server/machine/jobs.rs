//! Jobs of the host protocol whose outcome is awaited, each for a request of the host.

use super::io::JobNumber;
use crate::server::hooks::table::HookTable;
use crate::server::setup::Initialize;
use std::collections::BTreeMap;

/// Maximum number of concurrent control requests to MCP servers.
const MAX_MCP_ORDERS: usize = 64;

/// Jobs whose outcome is awaited, by their numbers.
#[derive(Debug, Default)]
pub(crate) struct PendingJobs {
    last: JobNumber,
    open: BTreeMap<JobNumber, (String, HostJob)>,
}

/// Job of a request of the host.
#[derive(Debug)]
pub(crate) enum HostJob {
    Mcp,
    McpStatus,
    Reload { hold: bool },
    Initialize(Box<PendingInitialize>),
}

/// An `initialize` that is being carried out.
#[derive(Debug)]
pub(crate) struct PendingInitialize {
    pub(crate) initialize: Initialize,
    pub(crate) hooks: HookTable,
    pub(crate) forwards_text: bool,
}

impl PendingJobs {
    /// Adds the job of a request. Returns its number.
    pub(crate) fn add(&mut self, request: &str, job: HostJob) -> JobNumber {
        self.last += 1;
        self.open.insert(self.last, (request.to_owned(), job));
        self.last
    }

    /// Removes a job that is done. Returns it with the id of its request.
    pub(crate) fn take(&mut self, ticket: JobNumber) -> Option<(String, HostJob)> {
        self.open.remove(&ticket)
    }

    /// Ends the wait for all jobs. Returns the ids of the requests.
    pub(crate) fn close(&mut self) -> Vec<String> {
        std::mem::take(&mut self.open).into_values().map(|(request, _)| request).collect()
    }

    /// `true` while an `initialize` is being carried out.
    pub(crate) fn greets(&self) -> bool {
        self.open.values().any(|(_, job)| matches!(job, HostJob::Initialize(_)))
    }

    /// `true` if another control request to an MCP server may be carried out.
    pub(crate) fn has_room_for_mcp(&self) -> bool {
        self.open.values().filter(|(_, job)| matches!(job, HostJob::Mcp)).count() < MAX_MCP_ORDERS
    }
}
