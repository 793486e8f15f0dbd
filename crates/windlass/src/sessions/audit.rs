//! Why calls of stored sessions ran or did not.

use crate::{Error, Home};
use windlass_session::{HeadCheck, NamedHead, SessionAudit};

impl Home {
    /// Why each call of a session ran or did not, who was asked about it, and which files it changed: from its log and those of
    /// its agents alone, and from every line of them, also from what was said before a summary. The session may be open.
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
    /// There is no such session, or a log of it cannot be read.
    pub async fn audit(&self, id: impl AsRef<str>) -> Result<SessionAudit, Error> {
        Ok(self.found(id.as_ref()).await?.audit().await?)
    }

    /// The heads of the log of a session and of those of its agents, up to what was synced last. Keep them where who may
    /// write the logs may not: [`check_head`](Self::check_head) shows later whether what was there has been changed.
    ///
    /// # Errors
    /// There is no such session, or a log of it cannot be read.
    pub async fn audit_heads(&self, id: impl AsRef<str>) -> Result<Vec<NamedHead>, Error> {
        Ok(self.found(id.as_ref()).await?.heads().await?)
    }

    /// Whether the log that a head is of still begins as it did. What was added since is not judged.
    ///
    /// # Errors
    /// The log cannot be read. That it is gone is no error, but [`HeadCheck::Missing`].
    pub async fn check_head(&self, head: &NamedHead) -> Result<HeadCheck, Error> {
        match self.store().find(&head.session).await? {
            Some(found) => Ok(found.check_head(head).await?),
            None => Ok(HeadCheck::Missing),
        }
    }
}
