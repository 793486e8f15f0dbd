//! The session store.

use crate::config::PgConfig;
use crate::database::{Database, is_unavailable};
use crate::error::{ConnectError, odd, of_statement};
use crate::renewal::Renewals;
use crate::session::{Grant, OpenSession, no_row, position};
use async_trait::async_trait;
use futures_util::TryStreamExt as _;
use std::borrow::Cow;
use std::collections::HashMap;
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio_postgres::Row;
use tokio_postgres::types::{Json, ToSql};
use windlass_session::{
    AgentSummary, Durability, Lease, Loaded, LogEncoder, LogHeader, LogReader, Owner, PendingAnswers, ProjectKey,
    SUMMARY_BYTES, SessionKey, SessionStore, SessionSummary, StoreError, StoreErrorKind, read_agent_log, read_log,
    summarize,
};
use windlass_types::{AgentId, Entry, SessionId};

const OPEN: &str = "select r_id, r_epoch, r_seq, r_owner \
                    from wl_open($1, $2, $3, $4, $5, $6, $7::float8 * interval '1 second')";

const LOAD: &str = "select l.seq, l.body from wl_session s join wl_log l on l.tenant = s.tenant and l.id = s.id \
                    where s.tenant = $1 and s.project = $2 and s.session = $3 and s.agent = $4 order by l.seq";

const DELETE: &str = "select r_owner from wl_delete($1, $2, $3, $4)";

/// Sessions with the beginnings and ends of their logs: at most 64 batches of each.
const LIST: &str = "select s.session, s.agent, s.agent_meta, s.seq, \
    (extract(epoch from s.changed) * 1000)::bigint, \
    (select string_agg(h.body, ''::bytea order by h.seq) from (select l.seq, l.body from wl_log l \
        where l.tenant = s.tenant and l.id = s.id and l.seq <= greatest($4::bigint, (select min(m.seq) from wl_log m \
        where m.tenant = s.tenant and m.id = s.id)) order by l.seq limit 64) h), \
    (select string_agg(t.body, ''::bytea order by t.seq) from (select l.seq, l.body from wl_log l \
        where l.tenant = s.tenant and l.id = s.id and l.seq > s.seq - $4::bigint order by l.seq desc limit 64) t) \
    from wl_session s where s.tenant = $1 and s.project = $2 and s.seq > 0 ";

/// Number of times that a log is read whose connection breaks.
const TRIES: u32 = 4;

/// Store of the sessions of one tenant in PostgreSQL, for many processes and machines. Cheap to clone.
///
/// A lease expires after its term unless it is renewed, by the clock of the database. A batch of entries that is appended
/// together is one row and one commit. While the database is out of reach an append is repeated, with the same entries, until the
/// lease expires; it is written once. See `docs/scale.md` for roles, tables and the worker.
///
/// Must be used inside a tokio runtime with time and I/O enabled.
#[derive(Debug, Clone)]
pub struct PgStore {
    pub(crate) inner: Arc<Inner>,
    /// The project of all sessions, if it is not that of their keys.
    project: Option<ProjectKey>,
}

#[derive(Debug)]
pub(crate) struct Inner {
    pub(crate) database: Arc<Database>,
    pub(crate) term: Duration,
    renewals: Arc<Renewals>,
    sessions: Mutex<Sessions>,
}

#[derive(Debug, Default)]
struct Sessions {
    open: HashMap<SessionKey, Weak<OpenSession>>,
    /// Leases that were claimed, until they are opened.
    claimed: HashMap<SessionKey, Grant>,
    /// Tasks that give leases back which were dropped.
    releasing: HashMap<SessionKey, JoinHandle<()>>,
}

/// Guard that gives the lease back when it is dropped.
struct Guard {
    session: Arc<OpenSession>,
    store: Arc<Inner>,
}

impl Drop for Guard {
    fn drop(&mut self) {
        // Without a runtime the lease expires.
        if let (true, Ok(runtime)) = (self.session.refuse_appends(), tokio::runtime::Handle::try_current()) {
            let session = Arc::clone(&self.session);
            let releasing = runtime.spawn(async move { session.release().await });
            self.store.sessions().releasing.insert(self.session.key.clone(), releasing);
        }
    }
}

impl Inner {
    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_session(&self, key: &SessionKey) -> Option<Arc<OpenSession>> {
        self.sessions().open.get(key)?.upgrade()
    }

    /// Waits until leases of this session that were dropped are given back.
    async fn wait_for_release(&self, key: &SessionKey) {
        let covered: Vec<SessionKey> =
            self.sessions().releasing.keys().filter(|other| key.covers(other)).cloned().collect();
        for key in covered {
            let releasing = self.sessions().releasing.remove(&key);
            if let Some(releasing) = releasing {
                // A task that was aborted gave nothing back: the lease expires.
                let _ = releasing.await;
            }
        }
    }

    /// Remembers a claimed lease for the next opening.
    pub(crate) fn claim(&self, key: SessionKey, grant: Grant) {
        self.sessions().claimed.insert(key, grant);
    }

    /// Returns the claimed lease of a session, if there is one that still holds. An older one is renewed.
    async fn claimed(&self, key: &SessionKey) -> Result<Option<Grant>, StoreError> {
        let claimed = self.sessions().claimed.remove(key);
        let Some(grant) = claimed.filter(|grant| grant.asked.elapsed() > self.term / 3) else { return Ok(claimed) };
        let asked = crate::now();
        Ok(self.renewals.renew(grant.id, grant.epoch).await?.then_some(Grant { asked, ..grant }))
    }

    async fn grant(&self, key: &SessionKey, owner: &Owner, header: &LogHeader) -> Result<Grant, StoreError> {
        let meta = header.agent.as_ref().map(|agent| agent.to_json()).unwrap_or_default();
        let asked = crate::now();
        let (place, term) = (Place::of(key), self.term.as_secs_f64());
        let Place { project, session, agent } = &place;
        let tenant = self.database.tenant();
        let rows = self.database.query(OPEN, &[&tenant, project, session, agent, &meta, &Json(owner), &term]).await?;
        let row = rows.first().ok_or_else(|| no_row(key))?;
        let id: Option<i64> = row.try_get(0).map_err(odd)?;
        let Some(id) = id else {
            let Json(holder): Json<Owner> = row.try_get(3).map_err(odd)?;
            return Err(StoreError::in_use(key, holder));
        };
        Ok(Grant { id, epoch: row.try_get(1).map_err(odd)?, seq: row.try_get(2).map_err(odd)?, asked })
    }

    /// Reads the whole log; empty for a session without entries.
    async fn read_log(&self, key: &SessionKey) -> Result<(i64, Vec<u8>), StoreError> {
        let place = Place::of(key);
        let (tenant, mut tries) = (self.database.tenant(), 1);
        loop {
            let read = async {
                let client = self.database.client().await?;
                let statement = client.prepare_cached(LOAD).await.map_err(|error| of_statement(&error))?;
                let arguments: [&(dyn ToSql + Sync); 4] = [&tenant, &place.project, &place.session, &place.agent];
                let rows = client.query_raw(&statement, arguments).await.map_err(|error| of_statement(&error))?;
                let (mut rows, mut seq, mut log) = (pin!(rows), 0, Vec::new());
                while let Some(row) = rows.try_next().await.map_err(|error| of_statement(&error))? {
                    seq = row.try_get(0).map_err(odd)?;
                    log.extend_from_slice(row.try_get(1).map_err(odd)?);
                }
                Ok((seq, log))
            };
            match read.await {
                Err(error) if is_unavailable(&error) && tries < TRIES => tries += 1,
                read => return read,
            }
        }
    }
}

/// Columns of a key.
pub(crate) struct Place<'a> {
    pub(crate) project: &'a str,
    pub(crate) session: &'a str,
    pub(crate) agent: &'a str,
}

impl<'a> Place<'a> {
    pub(crate) fn of(key: &'a SessionKey) -> Self {
        let agent = key.agent.as_ref().map(AgentId::as_str).unwrap_or_default();
        Self { project: key.project.as_str(), session: key.session.as_str(), agent }
    }
}

impl PgStore {
    /// Connects to the database, whose tables must have been made by [`migrate`](crate::migrate()).
    ///
    /// # Errors
    /// The database cannot be reached, needs TLS that this program lacks, has older tables, or the role of the address does
    /// not belong to the tenant.
    pub async fn connect(config: &PgConfig) -> Result<Self, ConnectError> {
        let database = Arc::new(Database::connect(config).await?);
        let term = config.lease_term();
        let renewals = Renewals::new(Arc::clone(&database), term);
        let inner = Inner { database, term, renewals, sessions: Mutex::default() };
        Ok(Self { inner: Arc::new(inner), project: None })
    }

    /// Returns the time for which a lease holds without a renewal.
    pub fn lease_term(&self) -> Duration {
        self.inner.term
    }

    /// Returns this store with all sessions under one project, whatever directory they are opened in: machines may have a
    /// workspace at different paths.
    #[must_use]
    pub fn in_project(&self, project: ProjectKey) -> Self {
        Self { inner: Arc::clone(&self.inner), project: Some(project) }
    }

    /// Returns the key under which a session is stored.
    pub(crate) fn stored_key<'a>(&self, key: &'a SessionKey) -> Cow<'a, SessionKey> {
        match &self.project {
            Some(project) if *project != key.project => {
                Cow::Owned(SessionKey { project: project.clone(), ..key.clone() })
            }
            _ => Cow::Borrowed(key),
        }
    }

    pub(crate) fn open_session(&self, key: &SessionKey) -> Option<Arc<OpenSession>> {
        self.inner.open_session(&self.stored_key(key))
    }

    fn guarded<'a>(&self, lease: &'a Lease) -> Result<&'a Arc<OpenSession>, StoreError> {
        let guard = lease.guard::<Guard>().filter(|guard| Arc::ptr_eq(&guard.store, &self.inner));
        guard.map(|guard| &guard.session).ok_or_else(|| StoreError::lease_lost(lease.key()))
    }

    /// Reads sessions or agents with the ends of their logs.
    async fn listed(&self, condition: &str, project: &str, session: &str) -> Result<Vec<ListedLog>, StoreError> {
        let sql = format!("{LIST}{condition}");
        let most = i64::try_from(SUMMARY_BYTES).unwrap_or(i64::MAX);
        let tenant = self.inner.database.tenant();
        let rows = self.inner.database.repeat(&sql, &[&tenant, &project, &session, &most]).await?;
        rows.iter().map(ListedLog::of).collect()
    }
}

/// A log with its ends.
struct ListedLog {
    session: String,
    agent: String,
    meta: String,
    seq: i64,
    changed: i64,
    head: Vec<u8>,
    tail: Vec<u8>,
}

impl ListedLog {
    fn of(row: &Row) -> Result<Self, StoreError> {
        let bytes = |at: usize| -> Result<Vec<u8>, StoreError> {
            Ok(row.try_get::<_, Option<Vec<u8>>>(at).map_err(odd)?.unwrap_or_default())
        };
        Ok(Self {
            session: row.try_get(0).map_err(odd)?,
            agent: row.try_get(1).map_err(odd)?,
            meta: row.try_get(2).map_err(odd)?,
            seq: row.try_get(3).map_err(odd)?,
            changed: row.try_get(4).map_err(odd)?,
            head: bytes(5)?,
            tail: bytes(6)?,
        })
    }
}

#[async_trait]
impl SessionStore for PgStore {
    async fn open(&self, key: &SessionKey, owner: &Owner, header: LogHeader) -> Result<Lease, StoreError> {
        key.check_agent()?;
        let key = &*self.stored_key(key);
        self.inner.wait_for_release(key).await;
        let grant = match self.inner.claimed(key).await? {
            Some(grant) => grant,
            None => self.inner.grant(key, owner, &header).await?,
        };
        let place = (Arc::clone(&self.inner.database), self.inner.term);
        let session = Arc::new(OpenSession::new(key.clone(), grant, place, LogEncoder::of(key, header)));
        {
            let mut sessions = self.inner.sessions();
            sessions.open.retain(|_, session| session.strong_count() > 0);
            sessions.open.insert(key.clone(), Arc::downgrade(&session));
        }
        let guard = Guard { session, store: Arc::clone(&self.inner) };
        let lease = Lease::new(key.clone(), position(grant.epoch), position(grant.seq), guard);
        Ok(lease.with_term(self.inner.term))
    }

    async fn append(
        &self,
        lease: &Lease,
        expected_seq: u64,
        entries: Vec<Entry>,
        durability: Durability,
    ) -> Result<u64, StoreError> {
        self.guarded(lease)?.append(expected_seq, entries, durability).await
    }

    async fn renew(&self, lease: &Lease) -> Result<Option<Duration>, StoreError> {
        let session = self.guarded(lease)?;
        let asked = crate::now();
        if !self.inner.renewals.renew(session.id, session.epoch).await? {
            return Err(StoreError::lease_lost(lease.key()));
        }
        session.renewed(asked + self.inner.term);
        Ok(Some(self.inner.term))
    }

    async fn load(&self, key: &SessionKey) -> Result<Loaded, StoreError> {
        key.check_agent()?;
        let key = &*self.stored_key(key);
        if let Some(session) = self.open_session(key).filter(|session| !session.is_released()) {
            // Entries written before an error are worth reading.
            let _ = session.flush(false).await;
        }
        let (seq, bytes) = self.inner.read_log(key).await?;
        if bytes.is_empty() {
            return Err(StoreError::not_found(key));
        }
        let is_agent = key.agent.is_some();
        let read = move || if is_agent { read_agent_log(bytes.as_slice()) } else { read_log(bytes.as_slice()) };
        let log = windlass_blocking::run_blocking(read).await;
        let log = log.map_err(|error| StoreError::new(StoreErrorKind::Io, format!("reading {key}: {error}")))?;
        let log = log.map_err(|error| StoreError::new(StoreErrorKind::Io, format!("reading {key}: {error}")))?;
        Ok(Loaded::new(log.entries, position(seq), log.report))
    }

    async fn list(&self, project: &ProjectKey) -> Result<Vec<SessionSummary>, StoreError> {
        let condition = "and s.agent = '' and $3::text = '' order by s.changed desc, s.id desc";
        let project = self.project.as_ref().unwrap_or(project);
        let listed = self.listed(condition, project.as_str(), "").await?;
        let summary = |log: ListedLog| {
            let session = SessionId::from(log.session);
            summarize(&session, &log.head, &log.tail, position(log.changed), position(log.seq))
        };
        Ok(listed.into_iter().filter_map(summary).collect())
    }

    async fn delete(&self, key: &SessionKey) -> Result<(), StoreError> {
        key.check_agent()?;
        let key = &*self.stored_key(key);
        self.inner.wait_for_release(key).await;
        let Place { project, session, agent } = Place::of(key);
        let tenant = self.inner.database.tenant();
        let rows = self.inner.database.repeat(DELETE, &[&tenant, &project, &session, &agent]).await?;
        let row = rows.first().ok_or_else(|| no_row(key))?;
        match row.try_get::<_, Option<Json<Owner>>>(0).map_err(odd)? {
            Some(Json(owner)) => Err(StoreError::in_use(key, owner)),
            None => Ok(()),
        }
    }

    async fn agents(&self, key: &SessionKey) -> Result<Vec<AgentSummary>, StoreError> {
        let key = &*self.stored_key(key);
        let Place { project, session, .. } = Place::of(key);
        let listed = self.listed("and s.session = $3 and s.agent <> ''", project, session).await?;
        let read = |log: ListedLog| AgentSummary::read(AgentId::from(log.agent), log.meta.as_bytes(), &log.head);
        let mut agents: Vec<AgentSummary> = listed.into_iter().map(read).collect();
        AgentSummary::sort(&mut agents);
        agents.truncate(AgentSummary::MOST);
        Ok(agents)
    }

    fn answers(&self) -> Option<&dyn PendingAnswers> {
        Some(self)
    }

    fn reader(&self) -> Option<&dyn LogReader> {
        Some(self)
    }

    async fn close(&self, lease: Lease) -> Result<(), StoreError> {
        let session = Arc::clone(self.guarded(&lease)?);
        let result = session.flush(true).await;
        session.release().await;
        self.inner.sessions().open.retain(|_, open| open.as_ptr() != Arc::as_ptr(&session));
        result
    }
}
