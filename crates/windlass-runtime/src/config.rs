//! Configuration of a session, and its persistence.

use crate::ports::Ports;
use std::sync::Arc;
use windlass_core::MachineConfig;
use windlass_session::{LogHeader, Owner, ResumePoint, SessionKey, SessionStore};

/// Persistence of a session.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Persistence {
    /// Store of the session.
    pub store: Arc<dyn SessionStore>,
    /// Key of the session in the store.
    pub key: SessionKey,
    /// Process that owns the lease of the log.
    pub owner: Owner,
    /// Fields that every line of the log carries.
    pub header: LogHeader,
    /// `true` if the session must exist already.
    pub must_exist: bool,
    /// Session whose log is copied before this one opens. The source must exist, and this session must not.
    pub fork_of: Option<SessionKey>,
    /// Point where the conversation continues, if not at its end.
    pub point: Option<ResumePoint>,
}

impl Persistence {
    /// Stores a session, which may be new or existing.
    pub fn new(store: Arc<dyn SessionStore>, key: SessionKey, owner: Owner, header: LogHeader) -> Self {
        Self { store, key, owner, header, must_exist: false, fork_of: None, point: None }
    }

    /// Requires that the session exists already.
    #[must_use]
    pub fn existing(mut self) -> Self {
        self.must_exist = true;
        self
    }

    /// Makes the session a copy of another one, which is not changed. The copy is written before the session opens.
    #[must_use]
    pub fn fork_of(mut self, source: SessionKey) -> Self {
        self.fork_of = Some(source);
        self
    }

    /// Continues after an earlier entry. Later entries stay in the log, but leave the conversation with the first new
    /// entry. A copy does not contain them.
    #[must_use]
    pub fn at(mut self, point: ResumePoint) -> Self {
        self.point = Some(point);
        self
    }
}

/// Configuration of a session.
#[derive(Debug)]
#[non_exhaustive]
pub struct SessionConfig {
    /// Configuration of the loop.
    pub machine: MachineConfig,
    /// Provider, tools, hooks and host callbacks of the session.
    pub ports: Ports,
    /// Persistence. `None`: the session is not stored.
    pub persistence: Option<Persistence>,
}

impl SessionConfig {
    /// Creates a session that is not stored.
    pub fn new(machine: MachineConfig, ports: Ports) -> Self {
        Self { machine, ports, persistence: None }
    }

    /// Keeps the session.
    #[must_use]
    pub fn with_persistence(mut self, persistence: Persistence) -> Self {
        self.persistence = Some(persistence);
        self
    }
}
