//! Queue of sessions that workers run.

use crate::PgStore;
use crate::database::Arguments;
use crate::error::odd;
use crate::inbox::SessionLimits;
use crate::session::{Grant, position};
use crate::store::Place;
use tokio_postgres::Row;
use tokio_postgres::types::Json;
use windlass_session::{Owner, ProjectKey, SessionKey, StoreError};
use windlass_types::{SessionId, Timestamp};

const CLAIM: &str = "select r_id, r_epoch, r_seq, r_project, r_session, r_profile, r_workspace, r_needs, r_attempts \
                     from wl_claim($1, $2, $3, $4, $5, $6::float8 * interval '1 second')";

const STATE: &str = "select state, reason, profile, workspace, owner is not null and lease_until > clock_timestamp() \
                     from wl_session where tenant = $1 and project = $2 and session = $3 and agent = ''";

const LIST: &str = "select s.project, s.session, s.profile, s.workspace, s.state, s.reason, \
                    case when s.lease_until > clock_timestamp() then s.owner end, \
                    (select count(*) from wl_inbox i where i.tenant = s.tenant and i.id = s.id and i.taken is null), \
                    (extract(epoch from s.changed) * 1000)::bigint \
                    from wl_session s where s.tenant = $1 and s.agent = '' and s.profile <> '' \
                    and ($3::text is null or s.session = $3) order by s.changed desc, s.id desc limit $2";

/// State of a session in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SessionState {
    /// Nothing is to be done.
    Idle,
    /// A worker may claim it.
    Ready,
    /// A worker runs it, or died while it did.
    Running,
    /// Waiting for an answer to a permission request.
    Waits,
    /// Set aside by a person.
    Paused,
    /// Set aside because workers ended while they ran the session.
    Poisoned,
    /// Ended: no worker claims the session again.
    Closed,
}

impl SessionState {
    const ALL: [Self; 7] =
        [Self::Idle, Self::Ready, Self::Running, Self::Waits, Self::Paused, Self::Poisoned, Self::Closed];

    fn code(self) -> i16 {
        (0..).zip(Self::ALL).find(|(_, state)| *state == self).map_or(0, |(code, _)| code)
    }

    fn of(code: i16) -> Option<Self> {
        (0..).zip(Self::ALL).find(|(known, _)| *known == code).map(|(_, state)| state)
    }
}

/// Sessions that a worker can run: names of its own configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct WorkerOffer {
    /// Names of its profiles.
    pub profiles: Vec<String>,
    /// Names of its workspaces.
    pub workspaces: Vec<String>,
}

impl WorkerOffer {
    /// Returns an offer.
    pub fn new(profiles: Vec<String>, workspaces: Vec<String>) -> Self {
        Self { profiles, workspaces }
    }
}

/// A session whose lease this store has taken. Open it soon, with the same store: the lease is not renewed before.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClaimedSession {
    /// Key of the session.
    pub key: SessionKey,
    /// Name of its profile.
    pub profile: String,
    /// Name of its workspace.
    pub workspace: String,
    /// Limits that narrow the profile.
    pub limits: SessionLimits,
    /// `true` if its log has entries.
    pub exists: bool,
    /// Number of claims without an entry in between, this one included.
    pub attempts: u32,
}

/// A session of the queue, as [`PgStore::queue`] lists it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueuedSession {
    /// Key of the session.
    pub key: SessionKey,
    /// Name of its profile.
    pub profile: String,
    /// Name of its workspace.
    pub workspace: String,
    /// State; `None` for one of a newer program.
    pub state: Option<SessionState>,
    /// Reason for which it was set aside; empty without one.
    pub reason: String,
    /// Owner of a lease that holds now.
    pub owner: Option<Owner>,
    /// Number of messages that no owner has taken.
    pub messages: u64,
    /// Time of its last change, by the clock of the database.
    pub changed: Timestamp,
}

impl PgStore {
    /// Lists at most `most` sessions that were registered for workers, the last changed first.
    ///
    /// # Errors
    /// The database refused, or cannot be reached.
    pub async fn queue(&self, most: usize) -> Result<Vec<QueuedSession>, StoreError> {
        self.list(most, None).await
    }

    /// Returns a session that was registered for workers. `None` if there is none with this id.
    ///
    /// # Errors
    /// The database refused, or cannot be reached.
    pub async fn queued(&self, session: &SessionId) -> Result<Option<QueuedSession>, StoreError> {
        Ok(self.list(1, Some(session)).await?.pop())
    }

    async fn list(&self, most: usize, session: Option<&SessionId>) -> Result<Vec<QueuedSession>, StoreError> {
        let (most, session) = (i64::try_from(most).unwrap_or(i64::MAX), session.map(SessionId::as_str));
        let rows = self.inner.database.repeat(LIST, &[&self.inner.database.tenant(), &most, &session]).await?;
        let read = |row: &Row| {
            let (project, session): (String, String) = (row.try_get(0)?, row.try_get(1)?);
            let owner: Option<Json<Owner>> = row.try_get(6)?;
            Ok(QueuedSession {
                key: SessionKey::new(ProjectKey::from_slug(project), SessionId::from(session)),
                profile: row.try_get(2)?,
                workspace: row.try_get(3)?,
                state: SessionState::of(row.try_get(4)?),
                reason: row.try_get(5)?,
                owner: owner.map(|Json(owner)| owner),
                messages: position(row.try_get(7)?),
                changed: Timestamp::from_millis(position(row.try_get(8)?)),
            })
        };
        rows.iter().map(read).collect::<Result<_, tokio_postgres::Error>>().map_err(odd)
    }

    /// Claims sessions that are ready, and those whose owner is gone: at most `most`, the longest ready first. A session
    /// that three workers claimed without an entry in between is [poisoned](SessionState::Poisoned) instead.
    ///
    /// # Errors
    /// The database refused, or cannot be reached.
    pub async fn claim(
        &self,
        owner: &Owner,
        offer: &WorkerOffer,
        most: usize,
    ) -> Result<Vec<ClaimedSession>, StoreError> {
        let (asked, most) = (crate::now(), i32::try_from(most).unwrap_or(i32::MAX));
        let (tenant, term) = (self.inner.database.tenant(), self.inner.term.as_secs_f64());
        let arguments: Arguments<'_> = &[&tenant, &offer.profiles, &offer.workspaces, &most, &Json(owner), &term];
        let rows = self.inner.database.query(CLAIM, arguments).await?;
        let mut claimed = Vec::new();
        for row in rows {
            let project: String = row.try_get(3).map_err(odd)?;
            let session: String = row.try_get(4).map_err(odd)?;
            let key = SessionKey::new(ProjectKey::from_slug(project), SessionId::from(session));
            let (id, epoch) = (row.try_get(0).map_err(odd)?, row.try_get(1).map_err(odd)?);
            let grant = Grant { id, epoch, seq: row.try_get(2).map_err(odd)?, asked };
            self.inner.claim(key.clone(), grant);
            let Json(limits) = row.try_get(7).map_err(odd)?;
            let attempts: i32 = row.try_get(8).map_err(odd)?;
            claimed.push(ClaimedSession {
                key,
                profile: row.try_get(5).map_err(odd)?,
                workspace: row.try_get(6).map_err(odd)?,
                limits,
                exists: grant.seq > 0,
                attempts: u32::try_from(attempts).unwrap_or_default(),
            });
        }
        Ok(claimed)
    }

    /// Sets the state that an open session has from its release on. Without it the state stays, so that another worker claims
    /// the session. A session with messages in its inbox stays ready where it would be idle or wait. `false`: this store has
    /// it not open.
    pub fn leave_as(&self, key: &SessionKey, state: SessionState) -> bool {
        self.open_session(key).map(|session| session.leave_as(state.code())).is_some()
    }

    /// Returns the state of a session in the queue, with the reason for which it was set aside. `None`: it is not stored, or
    /// of a newer program.
    ///
    /// # Errors
    /// The database refused, or cannot be reached.
    pub async fn state(&self, key: &SessionKey) -> Result<Option<(SessionState, String)>, StoreError> {
        let key = &*self.stored_key(key);
        let Place { project, session, .. } = Place::of(key);
        let rows = self.inner.database.repeat(STATE, &[&self.inner.database.tenant(), &project, &session]).await?;
        let Some(row) = rows.first() else { return Ok(None) };
        let reason = row.try_get(1).map_err(odd)?;
        Ok(SessionState::of(row.try_get(0).map_err(odd)?).map(|state| (state, reason)))
    }
}
