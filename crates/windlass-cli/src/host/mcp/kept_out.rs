//! Servers that settings keep out, whoever defines them.

use super::HostServers;
use std::collections::BTreeMap;
use std::sync::{MutexGuard, PoisonError};
use windlass::crates::mcp::McpError;
use windlass::{McpServerConfig, server_refusal};
use windlass_protocol::{McpControlError, McpStatus};

/// Most names of servers in a note.
const MOST_NAMES: usize = 8;

/// A server of the command line or the host that is kept out.
#[derive(Debug)]
pub(super) struct KeptOut {
    reason: String,
    /// Whether the host set it while the session was open.
    set: bool,
}

/// Why a server is not connected.
#[derive(Debug)]
pub(super) enum NotConnected {
    /// Settings keep it out.
    KeptOut(String),
    /// It cannot be added.
    Refused(McpError),
}

impl std::fmt::Display for NotConnected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::KeptOut(why) => f.write_str(why),
            Self::Refused(error) => error.fmt(f),
        }
    }
}

impl HostServers {
    /// Begins to connect a server, if settings let it in. All that are not inside the host come through here.
    pub(super) fn connect(&self, name: &str, config: McpServerConfig) -> Result<(), NotConnected> {
        match server_refusal(&self.policy, name, &config) {
            Some(why) => Err(NotConnected::KeptOut(why)),
            None => {
                self.servers.add(name, config).map_err(NotConnected::Refused)?;
                self.kept_out().remove(name);
                Ok(())
            }
        }
    }

    /// Whether settings keep a server out.
    pub(super) fn is_kept_out(&self, name: &str, config: &McpServerConfig) -> bool {
        server_refusal(&self.policy, name, config).is_some()
    }

    pub(super) fn kept_out(&self) -> MutexGuard<'_, BTreeMap<String, KeptOut>> {
        self.kept_out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Lists a server of the command line or the host as one that is kept out.
    pub(super) fn keep_out(&self, name: &str, reason: &str, set: bool) {
        self.kept_out().insert(name.to_owned(), KeptOut { reason: reason.to_owned(), set });
    }

    /// Forgets those that the host set.
    pub(super) fn forget_those_set(&self) {
        self.kept_out().retain(|_, kept| !kept.set);
    }

    /// Why a server of the command line or the host is not there, if it is kept out.
    pub(super) fn why_kept_out(&self, name: &str) -> Option<McpControlError> {
        let all = self.kept_out();
        all.get(name)
            .map(|kept| McpControlError::new(format!("the MCP server {name:?} is not started: {}", kept.reason)))
    }

    /// How hosts see these servers.
    pub(super) fn listed_as_kept_out(&self) -> Vec<McpStatus> {
        let all = self.kept_out();
        all.iter().map(|(name, kept)| super::listed(name, "disabled", "dynamic", &kept.reason)).collect()
    }
}

/// What people should know of servers that are not started: name, where it is defined, and why. Those with one place
/// and reason are one note.
pub(super) fn notes<'a>(all: impl IntoIterator<Item = (&'a str, String, &'a str)>) -> Vec<String> {
    let mut groups: BTreeMap<(String, &str), Vec<&str>> = BTreeMap::new();
    for (name, place, reason) in all {
        groups.entry((place, reason)).or_default().push(name);
    }
    let note = |((place, reason), names): ((String, &str), Vec<&str>)| match names.as_slice() {
        [name] => format!("the MCP server {name:?} of {place} is not started: {reason}"),
        many => {
            let some: Vec<String> = many.iter().take(MOST_NAMES).map(|name| format!("{name:?}")).collect();
            let more = match many.len().saturating_sub(MOST_NAMES) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            format!("the MCP servers {}{more} of {place} are not started: {reason}", some.join(", "))
        }
    };
    groups.into_iter().map(note).collect()
}
