//! Audit of the log files of a session.

use crate::blocking::blocking;
use crate::{FoundSession, agents, disk, open};
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use windlass_session::{HeadCheck, LogAudit, LogHead, NamedHead, SessionAudit, StoreError, audit_log};
use windlass_types::AgentId;

/// Reads a log file and returns the audit of its calls. The file is not changed.
///
/// # Errors
/// The file cannot be read.
pub fn audit_file(path: &Path) -> Result<LogAudit, StoreError> {
    let file = open::read_named(path).map_err(|error| disk::error(path, "read", &error))?;
    audit_one(path, BufReader::new(file))
}

impl FoundSession {
    /// Returns the audit of the session's log and those of its agents.
    ///
    /// # Errors
    /// A log cannot be read.
    pub async fn audit(&self) -> Result<SessionAudit, StoreError> {
        let log = self.path.clone();
        let audits = blocking(move || {
            let named = logs(&log)?.into_iter().map(|(agent, path)| Ok((agent, audit_one(&path, read(&path)?)?)));
            named.collect::<Result<Vec<_>, StoreError>>()
        });
        Ok(SessionAudit::new(self.key.session.clone(), audits.await?))
    }

    /// Returns the heads of the session's log and of those of its agents.
    ///
    /// # Errors
    /// A log cannot be read.
    pub async fn heads(&self) -> Result<Vec<NamedHead>, StoreError> {
        let (log, session) = (self.path.clone(), self.key.session.clone());
        let head = move |(agent, path): (Option<AgentId>, PathBuf)| {
            let head = LogHead::of(read(&path)?).map_err(|error| disk::error(&path, "read", &error))?;
            Ok(NamedHead::new(session.clone(), agent, head))
        };
        blocking(move || logs(&log)?.into_iter().map(head).collect()).await
    }

    /// Checks that a log of the session still begins with the part covered by a head.
    ///
    /// # Errors
    /// The log cannot be read.
    pub async fn check_head(&self, head: &NamedHead) -> Result<HeadCheck, StoreError> {
        let (log, head) = (self.path.clone(), head.clone());
        blocking(move || {
            let logs = logs(&log)?;
            let Some((_, path)) = logs.iter().find(|(agent, _)| *agent == head.agent) else {
                return Ok(HeadCheck::Missing);
            };
            head.head.check(read(path)?).map_err(|error| disk::error(path, "read", &error))
        })
        .await
    }
}

/// Returns the logs of the session with this log, its own first.
fn logs(log: &Path) -> Result<Vec<(Option<AgentId>, PathBuf)>, StoreError> {
    let mut agents = agents::every(log).map_err(|error| disk::error(log, "find the agents of", &error))?;
    agents.sort_unstable();
    Ok([(None, log.to_path_buf())].into_iter().chain(agents.into_iter().map(|(id, path)| (Some(id), path))).collect())
}

fn read(path: &Path) -> Result<BufReader<File>, StoreError> {
    let file = open::read(path).map_err(|error| disk::error(path, "read", &error))?;
    Ok(BufReader::with_capacity(64 * 1024, file))
}

fn audit_one(path: &Path, log: impl BufRead) -> Result<LogAudit, StoreError> {
    audit_log(log).map_err(|error| disk::error(path, "read", &error))
}
