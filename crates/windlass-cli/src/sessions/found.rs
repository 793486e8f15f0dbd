//! Sessions and logs that a command names.

use crate::failure::of_start;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use windlass::store::export_file;
use windlass::{Error, Home, SessionId, event::AgentId, session::StoredSession};

/// Returns the age of a time, in the largest unit that fits; `then` is in milliseconds since 1970.
pub(crate) fn age(then: u64) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let seconds = now.saturating_sub(then / 1000);
    match seconds {
        0..60 => "just now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

/// A log that a command names: a file, a session, or an agent of a session.
pub(super) enum Source<'a> {
    File(&'a Path),
    Session { home: Home, stored: Box<StoredSession>, agent: Option<AgentId> },
}

impl<'a> Source<'a> {
    /// Finds the log by its path or by its session's id; that of an agent by its session's id.
    pub(super) async fn named(given: &'a str, agent: Option<&str>) -> anyhow::Result<Self> {
        let path = Path::new(given);
        let is_id = SessionId::from(given.to_ascii_lowercase()).is_uuid();
        if agent.is_none() && (path.exists() || (!is_id && path.components().count() > 1)) {
            return Ok(Self::File(path));
        }
        anyhow::ensure!(agent.is_none() || is_id, "--agent needs the id of a session, and {given:?} is none");
        anyhow::ensure!(is_id, "{given:?} is neither a file nor the id of a session");
        let home = Home::from_env().map_err(of_start)?;
        let stored = Box::new(find(&home, given).await?);
        Ok(Self::Session { home, stored, agent: agent.map(AgentId::new) })
    }

    /// The file.
    pub(super) fn path(&self) -> &Path {
        match self {
            Self::File(path) => path,
            Self::Session { stored, .. } => &stored.log,
        }
    }

    /// The messages that a request would carry.
    pub(super) async fn export(&self) -> anyhow::Result<String> {
        match self {
            Self::File(path) => Ok(export_file(path)?),
            Self::Session { home, stored, agent: None } => Ok(home.export_session(&stored.id).await?),
            Self::Session { home, stored, agent: Some(agent) } => {
                home.export_agent(&stored.id, agent).await.map_err(|error| match error {
                    Error::NoAgent { id, agent } => anyhow::anyhow!(
                        "the session has no agent {:?}; `windlass sessions agents {id}` lists those that it has",
                        agent.as_str()
                    ),
                    error => error.into(),
                })
            }
        }
    }
}

/// Finds the session with this id.
pub(crate) async fn find(home: &Home, given: &str) -> anyhow::Result<StoredSession> {
    let none = || anyhow::anyhow!("No conversation found with session ID: {given}");
    match home.find_session(given).await {
        Err(Error::BadSessionId { .. }) => Err(none()),
        found => found?.ok_or_else(none),
    }
}
