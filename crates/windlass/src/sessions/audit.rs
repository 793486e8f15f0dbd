//! Audit of the calls of stored sessions.

use crate::error::Error;
use crate::home::Home;
use windlass_session::{HeadCheck, NamedHead, SessionAudit};

impl Home {
    /// Audit of a session's calls: why each ran or did not, who was asked about it, and which files it changed. Read
    /// from the session's log and those of its agents alone, including the lines before a summary. The session may be
    /// open.
    ///
    /// ```no_run
    /// # async fn audit() -> Result<(), windlass::Error> {
    /// let home = windlass::Home::from_env()?;
    /// let audit = home.audit("12345678-1234-4234-8234-123456789abc").await?;
    /// for (_, call) in audit.calls() {
    ///     let why = call.verdicts.last().map(|judged| judged.verdict.decision.message.as_str());
    ///     println!("{} {}", call.tool_use_id, why.unwrap_or("not recorded"));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The session does not exist, or one of its logs cannot be read.
    pub async fn audit(&self, id: impl AsRef<str>) -> Result<SessionAudit, Error> {
        Ok(self.found(id.as_ref()).await?.audit().await?)
    }

    /// Heads of the logs of a session and of its agents, up to the last sync. Store them out of reach of whoever may
    /// write the logs: [`check_head`](Self::check_head) shows later if that part of a log has been changed.
    ///
    /// # Errors
    /// The session does not exist, or one of its logs cannot be read.
    pub async fn audit_heads(&self, id: impl AsRef<str>) -> Result<Vec<NamedHead>, Error> {
        Ok(self.found(id.as_ref()).await?.heads().await?)
    }

    /// Checks that the log of a head still begins the same. Later additions are not judged.
    ///
    /// # Errors
    /// The log cannot be read. A missing log is no error, but [`HeadCheck::Missing`].
    pub async fn check_head(&self, head: &NamedHead) -> Result<HeadCheck, Error> {
        match self.store().find(&head.session).await? {
            Some(found) => Ok(found.check_head(head).await?),
            None => Ok(HeadCheck::Missing),
        }
    }
}
