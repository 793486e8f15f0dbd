//! Inboxes of sessions: prompts, steered messages and interrupts of services, until the session's owner takes them.

use crate::PgStore;
use crate::database::Arguments;
use crate::error::odd;
use crate::session::{no_row, position};
use crate::store::Place;
use tokio_postgres::types::Json;
use windlass_session::{ProjectKey, SessionKey, StoreError, StoreErrorKind};
use windlass_types::{EntryId, SessionId};

const BEGIN: &str = "insert into wl_session (tenant, project, session, profile, workspace, needs, state) \
                     values ($1, $2, $3, $4, $5, $6, 0) on conflict do nothing returning 1";

const SEND: &str = "select r_status, r_n from wl_send($1, $2, $3, $4, $5, $6)";

const PENDING: &str = "select i.n, i.kind, i.body, i.entry from wl_inbox i \
                       join wl_session s on s.tenant = i.tenant and s.id = i.id \
                       where s.tenant = $1 and s.project = $2 and s.session = $3 and s.agent = '' \
                       and i.taken is null and i.n > $4 order by i.n limit 256";

const UNREAD: &str = "select k.at from unnest($2::text[], $3::text[]) with ordinality k(project, session, at) \
                      join wl_session s on s.tenant = $1 and s.project = k.project and s.session = k.session \
                      and s.agent = '' where exists (select from wl_inbox i \
                      where i.tenant = s.tenant and i.id = s.id and i.taken is null)";

const TAKE: &str = "update wl_inbox i set taken = clock_timestamp() from wl_session s \
                    where s.tenant = i.tenant and s.id = i.id and s.tenant = $1 and s.project = $2 and s.session = $3 \
                    and s.agent = '' and i.n = $4 and i.taken is null returning 1";

/// A session that workers are to run, named by the configuration of the workers: a row holds no program, directory,
/// environment, hook or permission mode.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewSession {
    /// Name of a profile of the workers: model, tools, rules and limits.
    pub profile: String,
    /// Name of a workspace of the workers.
    pub workspace: String,
    /// Limits that narrow the profile.
    pub limits: SessionLimits,
}

impl NewSession {
    /// Returns a session with all that its profile allows.
    pub fn new(profile: impl Into<String>, workspace: impl Into<String>) -> Self {
        Self { profile: profile.into(), workspace: workspace.into(), limits: SessionLimits::default() }
    }

    /// Limits the turns of a run, where the profile allows more.
    #[must_use]
    pub fn with_max_turns(mut self, turns: u32) -> Self {
        self.limits.max_turns = Some(turns);
        self
    }

    /// Returns the key of such a session. Its project is the name of the workspace, which is at other paths on other
    /// machines.
    pub fn key(&self, session: SessionId) -> SessionKey {
        SessionKey::new(ProjectKey::from_slug(format!("workspace-{}", self.workspace)), session)
    }
}

/// Limits that narrow a profile.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct SessionLimits {
    /// Maximum number of turns of a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
}

/// Kind of a message to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InboxKind {
    /// A prompt with a run of its own.
    Prompt,
    /// A message that joins the run in progress, or becomes a prompt.
    Steer,
    /// A stop of the run in progress.
    Interrupt,
}

impl InboxKind {
    fn code(self) -> i16 {
        match self {
            Self::Prompt => 0,
            Self::Steer => 1,
            Self::Interrupt => 2,
        }
    }

    fn of(code: i16) -> Option<Self> {
        [Self::Prompt, Self::Steer, Self::Interrupt].into_iter().find(|kind| kind.code() == code)
    }
}

/// A message to a session.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InboxMessage {
    /// Kind of the message.
    pub kind: InboxKind,
    /// Text of the user; empty for an interrupt.
    pub text: String,
}

impl InboxMessage {
    /// Returns a prompt.
    pub fn prompt(text: impl Into<String>) -> Self {
        Self { kind: InboxKind::Prompt, text: text.into() }
    }

    /// Returns a message for the run in progress.
    pub fn steer(text: impl Into<String>) -> Self {
        Self { kind: InboxKind::Steer, text: text.into() }
    }

    /// Returns a stop of the run in progress.
    pub fn interrupt() -> Self {
        Self { kind: InboxKind::Interrupt, text: String::new() }
    }
}

/// A message that no owner of the session has taken yet.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct InboxRow {
    /// Number of the message: later ones have higher numbers.
    pub number: u64,
    /// Message of the row.
    pub message: InboxMessage,
    /// Id that the entry of the message has in the log. The append that writes this entry takes the row, in one
    /// transaction: no message is lost or joins twice, whoever dies when.
    pub entry: EntryId,
}

/// Result of sending a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Sent {
    /// Number of the message.
    pub number: u64,
    /// `true` if this call stored it, and no earlier one with the same key.
    pub is_new: bool,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
struct InboxText {
    #[serde(default)]
    text: String,
}

impl PgStore {
    /// Registers a session that workers are to run. Returns `false` if it was registered before. It is run from its first
    /// message on.
    ///
    /// # Errors
    /// The database refused, or cannot be reached.
    pub async fn begin(&self, key: &SessionKey, session: &NewSession) -> Result<bool, StoreError> {
        let key = &*self.stored_key(key);
        let Place { project, session: id, .. } = Place::of(key);
        let NewSession { profile, workspace, limits } = session;
        let tenant = self.inner.database.tenant();
        let arguments: Arguments<'_> = &[&tenant, &project, &id, profile, workspace, &Json(limits)];
        Ok(!self.inner.database.repeat(BEGIN, arguments).await?.is_empty())
    }

    /// Puts a message into the inbox of a session. `idempotency_key`: a text of the sender's choice; a message with the same
    /// key is stored once, so that a sender without an answer can repeat the call.
    ///
    /// # Errors
    /// [`StoreErrorKind::Exists`] when another message has the key; [`StoreErrorKind::NotFound`] when the session is not
    /// registered; others when it cannot be stored.
    pub async fn send(
        &self,
        key: &SessionKey,
        idempotency_key: &str,
        message: &InboxMessage,
    ) -> Result<Sent, StoreError> {
        let key = &*self.stored_key(key);
        let Place { project, session, .. } = Place::of(key);
        let (kind, body) = (message.kind.code(), InboxText { text: message.text.clone() });
        let tenant = self.inner.database.tenant();
        let arguments: Arguments<'_> = &[&tenant, &project, &session, &idempotency_key, &kind, &Json(body)];
        let rows = self.inner.database.repeat(SEND, arguments).await?;
        let row = rows.first().ok_or_else(|| no_row(key))?;
        let (status, number): (i32, Option<i64>) = (row.try_get(0).map_err(odd)?, row.try_get(1).map_err(odd)?);
        let number = position(number.unwrap_or_default());
        match status {
            0 | 1 => Ok(Sent { number, is_new: status == 0 }),
            2 => Err(StoreError::new(
                StoreErrorKind::Exists,
                format!("another message of this session has the key {idempotency_key:?}: choose a new key"),
            )),
            _ => Err(StoreError::not_found(key)),
        }
    }

    /// Returns messages behind a number that nobody has taken, in order. Messages of unknown kinds are left to newer
    /// programs.
    ///
    /// # Errors
    /// The database refused, or cannot be reached.
    pub async fn pending(&self, key: &SessionKey, behind: u64) -> Result<Vec<InboxRow>, StoreError> {
        let key = &*self.stored_key(key);
        let Place { project, session, .. } = Place::of(key);
        let (tenant, behind) = (self.inner.database.tenant(), i64::try_from(behind).unwrap_or(i64::MAX));
        let rows = self.inner.database.repeat(PENDING, &[&tenant, &project, &session, &behind]).await?;
        let mut pending = Vec::new();
        for row in rows {
            let Some(kind) = InboxKind::of(row.try_get(1).map_err(odd)?) else { continue };
            let Json(InboxText { text }) = row.try_get(2).map_err(odd)?;
            let (number, entry): (i64, String) = (row.try_get(0).map_err(odd)?, row.try_get(3).map_err(odd)?);
            let (number, entry) = (position(number), EntryId::from(entry));
            pending.push(InboxRow { number, message: InboxMessage { kind, text }, entry });
        }
        Ok(pending)
    }

    /// Returns those of these sessions that have messages which nobody has taken, in one statement.
    ///
    /// # Errors
    /// The database refused, or cannot be reached.
    pub async fn unread(&self, keys: &[SessionKey]) -> Result<Vec<SessionKey>, StoreError> {
        let stored: Vec<_> = keys.iter().map(|key| self.stored_key(key)).collect();
        let (projects, sessions): (Vec<&str>, Vec<&str>) =
            stored.iter().map(|key| (key.project.as_str(), key.session.as_str())).unzip();
        let rows = self.inner.database.repeat(UNREAD, &[&self.inner.database.tenant(), &projects, &sessions]).await?;
        let mut unread = Vec::new();
        for row in rows {
            let number: i64 = row.try_get(0).map_err(odd)?;
            let at = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
            unread.extend(at.and_then(|at| keys.get(at)).cloned());
        }
        Ok(unread)
    }

    /// Takes a message that makes no entry, such as an interrupt. Returns `true` the first time.
    ///
    /// # Errors
    /// The database refused, or cannot be reached.
    pub async fn take_message(&self, key: &SessionKey, number: u64) -> Result<bool, StoreError> {
        let key = &*self.stored_key(key);
        let Place { project, session, .. } = Place::of(key);
        let (tenant, number) = (self.inner.database.tenant(), i64::try_from(number).unwrap_or(i64::MAX));
        Ok(!self.inner.database.query(TAKE, &[&tenant, &project, &session, &number]).await?.is_empty())
    }
}
