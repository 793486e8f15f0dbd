//! Leases: the exclusive right to write a session, and its owner.

use crate::SessionKey;
use serde::{Deserialize, Serialize};
use std::any::Any;
use std::fmt;
use std::time::Duration;

/// Writer of a session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Owner {
    /// Id of the process on its host.
    pub pid: u32,
    /// Name of the program, for people.
    pub program: String,
    /// Name of the machine, for people; empty where all writers are on one machine.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub host: String,
}

impl Owner {
    /// Returns an owner on this machine, which has no name.
    pub fn new(pid: u32, program: impl Into<String>) -> Self {
        Self { pid, program: program.into(), host: String::new() }
    }

    /// Sets the name of the machine.
    #[must_use]
    pub fn on_host(mut self, host: impl Into<String>) -> Self {
        self.host = host.into();
        self
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { pid, program, host } = self;
        match host.as_str() {
            "" => write!(f, "{program} (process {pid})"),
            host => write!(f, "{program} (process {pid} on {host})"),
        }
    }
}

/// Exclusive right to write one session. Dropping it releases it.
///
/// A lease with a [term](Self::term) expires unless it is [renewed](crate::SessionStore::renew). The store's clock alone
/// decides, so a writer whose clock is wrong harms nobody. The [epoch](Self::epoch) fences appends: those of an earlier
/// owner are refused.
pub struct Lease {
    key: SessionKey,
    epoch: u64,
    seq: u64,
    term: Option<Duration>,
    guard: Option<Box<dyn Any + Send + Sync>>,
}

impl Lease {
    /// For implementers of stores: returns a lease that never expires and keeps `guard` until it is closed or dropped.
    pub fn new(key: SessionKey, epoch: u64, seq: u64, guard: impl Any + Send + Sync) -> Self {
        Self { key, epoch, seq, term: None, guard: Some(Box::new(guard)) }
    }

    /// For implementers of stores: lets the lease expire. `term` begins when the lease is taken or renewed.
    #[must_use]
    pub fn with_term(mut self, term: Duration) -> Self {
        self.term = Some(term);
        self
    }

    /// Returns the key of the session.
    pub fn key(&self) -> &SessionKey {
        &self.key
    }

    /// Returns a number that no other lease of this store has.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Returns the position at which the session was opened, which the first append expects.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Returns the time for which the lease holds without a renewal, counted from the call that opened the session.
    /// `None`: it never expires.
    pub fn term(&self) -> Option<Duration> {
        self.term
    }

    /// For implementers of stores: returns the guard, if it is of this type.
    pub fn guard<T: Any>(&self) -> Option<&T> {
        self.guard.as_ref()?.downcast_ref()
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, epoch, seq, term, guard: _ } = self;
        let mut fields = f.debug_struct("Lease");
        fields.field("key", key).field("epoch", epoch).field("seq", seq).field("term", term).finish()
    }
}
