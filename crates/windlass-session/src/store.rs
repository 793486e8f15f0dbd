//! Session store port.

mod error;

pub use error::{StoreError, StoreErrorKind};

use crate::{
    AgentHeader, AgentSummary, Annotation, Lease, LogReader, Origin, Owner, PendingAnswers, ProjectKey, SessionKey,
};
use async_trait::async_trait;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;
use windlass_types::{Entry, EntryId, SessionId, Timestamp};

/// Store of sessions.
///
/// One session has one writer at a time: the holder of its [`Lease`]. Reading needs none. To continue a session, open
/// it first and load it then, so that no other writer comes in between.
///
/// An agent below the main one has a log of its own beside that of its session ([`SessionKey::of_agent`]), with a lease
/// of its own. All methods treat it like a session unless they document a difference. Its session need not exist.
///
/// ```
/// use std::path::Path;
/// use windlass_session::{Durability, LogHeader, MemoryStore, Owner, ProjectKey, SessionKey, SessionStore};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), windlass_session::StoreError> {
/// let store = MemoryStore::new();
/// let key = SessionKey::new(ProjectKey::of(Path::new("/work")), "12345678-1234-4234-8234-123456789abc".into());
/// let owner = Owner::new(std::process::id(), "example");
/// let lease = store.open(&key, &owner, LogHeader::new("/work", "1.0.0", "example")).await?;
/// // A second writer is refused as long as the first one holds the lease.
/// assert!(store.open(&key, &owner, LogHeader::new("/work", "1.0.0", "example")).await.is_err());
/// let end = store.append(&lease, lease.seq(), Vec::new(), Durability::Durable).await?;
/// assert_eq!(end, lease.seq());
/// store.close(lease).await?;
/// # Ok(())
/// # }
/// ```
#[async_trait]
pub trait SessionStore: fmt::Debug + Send + Sync + 'static {
    /// Takes the single-writer lease of a session, which need not exist yet: the first append creates it.
    ///
    /// # Errors
    /// [`StoreErrorKind::InUse`], naming the owner, when another writer holds the lease, even of a session that is not
    /// stored yet; other kinds when the session cannot be accessed.
    async fn open(&self, key: &SessionKey, owner: &Owner, header: LogHeader) -> Result<Lease, StoreError>;

    /// Appends entries, all or none, after everything appended before, and returns the new position. An empty list adds
    /// no entry; with [`Durability::Durable`] it waits until all earlier entries are durable.
    ///
    /// The entries are accepted in the order of the calls' first polls. Cancel safety: dropping the future after its
    /// first poll loses only the confirmation.
    ///
    /// # Errors
    /// [`StoreErrorKind::Conflict`] when `expected_seq` is not the current position; [`StoreErrorKind::LeaseLost`] when the
    /// lease has expired or another owner has the session. After a failed write every later append fails with the same
    /// error: entries after a gap must not look complete. A store that can be out of reach for a while repeats the write
    /// itself, with the same entries, until the lease expires, and writes them once.
    async fn append(
        &self,
        lease: &Lease,
        expected_seq: u64,
        entries: Vec<Entry>,
        durability: Durability,
    ) -> Result<u64, StoreError>;

    /// Renews a lease that expires, and returns the time for which it holds from the call on. `None`: it never expires.
    ///
    /// The holder renews it several times within its [term](Lease::term), and stops all effects before the time is over:
    /// from then on another owner may open the session. An expired lease stays lost.
    ///
    /// The default serves stores whose leases never expire.
    ///
    /// # Errors
    /// [`StoreErrorKind::LeaseLost`] when the lease has expired or was released; [`StoreErrorKind::Unavailable`] when the
    /// store cannot be reached: the lease holds for the rest of its time, and the call can be repeated.
    async fn renew(&self, lease: &Lease) -> Result<Option<Duration>, StoreError> {
        lease.term().map_or(Ok(None), |_| Err(StoreError::lease_lost(lease.key())))
    }

    /// Reads a session: the entries of its current conversation in order, and those beside it. Damage is skipped and
    /// reported; the stored data is not changed.
    ///
    /// # Errors
    /// [`StoreErrorKind::NotFound`] when no such session exists.
    async fn load(&self, key: &SessionKey) -> Result<Loaded, StoreError>;

    /// Returns the sessions of a project, the last changed first. Agents are not included.
    ///
    /// # Errors
    /// The project's sessions cannot be accessed. A project without any is an empty list.
    async fn list(&self, project: &ProjectKey) -> Result<Vec<SessionSummary>, StoreError>;

    /// Removes a session and its data, including the logs of its agents; for an agent, its log alone. Removing a
    /// missing session is not an error.
    ///
    /// # Errors
    /// [`StoreErrorKind::InUse`] while its lease, or that of one of its agents, is held.
    async fn delete(&self, key: &SessionKey) -> Result<(), StoreError>;

    /// Creates a session with these entries, durable, whole or not at all.
    ///
    /// The default opens the session, appends, and removes it again if that fails; a store should override it if it can
    /// do better.
    ///
    /// # Errors
    /// [`StoreErrorKind::Exists`] when the session exists already; [`StoreErrorKind::InUse`] while its lease is held.
    async fn create(
        &self,
        key: &SessionKey,
        owner: &Owner,
        header: LogHeader,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError> {
        create_by_append(self, key, owner, header, entries).await
    }

    /// Adds an annotation to a session, for lists: its title or tag.
    ///
    /// The default opens the session, so a session in use is refused; a store may do without the lease.
    ///
    /// # Errors
    /// [`StoreErrorKind::NotFound`] when no such session exists; [`StoreErrorKind::InvalidKey`] for an agent, which no
    /// list shows.
    async fn annotate(&self, key: &SessionKey, owner: &Owner, annotation: &Annotation) -> Result<(), StoreError> {
        annotate_by_append(self, key, owner, annotation).await
    }

    /// Returns the agents with logs beside that of a session, sorted by start time. At most [`AgentSummary::MOST`].
    /// Fields lost by damage are empty.
    ///
    /// There is no default: in a store that wraps another one it would hide the agents of that store without an error.
    ///
    /// # Errors
    /// The session's agents cannot be accessed. A session without any, and a missing one, is an empty list.
    async fn agents(&self, key: &SessionKey) -> Result<Vec<AgentSummary>, StoreError>;

    /// Returns the storage of answers that other processes give to permission requests of a session. `None`, the
    /// default: there is none, so such a request is answered by the next program that opens the session.
    fn answers(&self) -> Option<&dyn PendingAnswers> {
        None
    }

    /// Returns the reader of logs from any position. `None`, the default: there is none, so a session can be followed only
    /// in the process that has it open.
    fn reader(&self) -> Option<&dyn LogReader> {
        None
    }

    /// Waits until everything appended is durable, and releases the lease.
    ///
    /// Dropping the lease releases it too; appended entries are still written, but a failure is not reported.
    ///
    /// # Errors
    /// The first error of the lease, if any. The lease is released in any case.
    async fn close(&self, lease: Lease) -> Result<(), StoreError>;
}

/// Default implementation of [`SessionStore::create`]: opens, appends, closes, and deletes the written data if that
/// fails.
///
/// # Errors
/// Same as those of the method.
pub async fn create_by_append<S: SessionStore + ?Sized>(
    store: &S,
    key: &SessionKey,
    owner: &Owner,
    header: LogHeader,
    entries: Vec<Entry>,
) -> Result<(), StoreError> {
    let lease = store.open(key, owner, header).await?;
    if lease.seq() > 0 {
        return Err(StoreError::exists(key));
    }
    let appended = store.append(&lease, 0, entries, Durability::Durable).await;
    let result = appended.and(store.close(lease).await);
    if result.is_err() {
        // The stored data is incomplete, and the first error is the more informative one.
        let _ = store.delete(key).await;
    }
    result
}

/// Default implementation of [`SessionStore::annotate`]: opens, appends, closes.
///
/// # Errors
/// Same as those of the method.
pub async fn annotate_by_append<S: SessionStore + ?Sized>(
    store: &S,
    key: &SessionKey,
    owner: &Owner,
    annotation: &Annotation,
) -> Result<(), StoreError> {
    if key.agent.is_some() {
        return Err(StoreError::not_listed(key));
    }
    let lease = store.open(key, owner, LogHeader::default()).await?;
    let loaded = store.load(key).await?;
    let entry = annotation.to_entry(&key.session);
    let appended = store.append(&lease, loaded.seq, vec![entry], Durability::Durable).await;
    store.close(lease).await.and(appended.map(drop))
}

/// Condition for the return of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a store must offer exactly these two grades")]
pub enum Durability {
    /// The entries survive the end of this process: the system has them, though perhaps no disk.
    Buffered,
    /// The entries would survive the loss of the machine. One sync serves all waiting appends.
    Durable,
}

/// Fields of every line of a session beside its entry. Constant for one lease.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LogHeader {
    /// Project directory.
    pub cwd: String,
    /// Branch that is checked out there, if any.
    pub git_branch: Option<String>,
    /// Version of the program.
    pub version: String,
    /// Entry point of the program (`cli`, `sdk-rust` …).
    pub entrypoint: String,
    /// Origin of the lines, if they are copies.
    pub origin: Option<Arc<Origin>>,
    /// Metadata of the agent, for the log of an agent below the main one. Stored when the log is created.
    pub agent: Option<Arc<AgentHeader>>,
}

impl LogHeader {
    /// Returns a header without a branch.
    pub fn new(cwd: impl Into<String>, version: impl Into<String>, entrypoint: impl Into<String>) -> Self {
        let (cwd, version, entrypoint) = (cwd.into(), version.into(), entrypoint.into());
        Self { cwd, git_branch: None, version, entrypoint, origin: None, agent: None }
    }

    /// Sets the branch that is checked out.
    #[must_use]
    pub fn with_git_branch(mut self, branch: Option<String>) -> Self {
        self.git_branch = branch;
        self
    }

    /// Sets the origin of the lines.
    #[must_use]
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = Some(Arc::new(origin));
        self
    }

    /// Sets the metadata of the agent.
    #[must_use]
    pub fn with_agent(mut self, agent: AgentHeader) -> Self {
        self.agent = Some(Arc::new(agent));
        self
    }
}

/// A session that was read.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Loaded {
    /// Entries of the current conversation in order, and entries beside it.
    pub entries: Vec<Entry>,
    /// Position after the last entry, which the next append expects. It only grows; the size of a step has no meaning.
    pub seq: u64,
    /// Report of the findings.
    pub report: LoadReport,
}

impl Loaded {
    /// Returns a loaded session.
    pub fn new(entries: Vec<Entry>, seq: u64, report: LoadReport) -> Self {
        Self { entries, seq, report }
    }
}

/// Findings while a session was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LoadReport {
    /// Number of returned entries.
    pub entries: usize,
    /// Number of messages of the user or the model among them.
    pub messages: usize,
    /// Number of lines on a branch that the conversation left.
    pub off_branch: usize,
    /// Number of lines of the conversation that a summary replaces.
    pub compacted: usize,
    /// Number of lines of the conversation whose parent is lost: the nearest line before them took its place.
    pub lost_parents: usize,
    /// Ids of the lines on other branches and of those replaced by a summary: no new line may repeat one.
    pub off_branch_ids: Vec<EntryId>,
    /// Number of lines that a kill cut off while they were written. They were never acknowledged.
    pub torn: usize,
    /// Unusable lines, or parts of lines. At most [`LoadReport::LISTED`] are listed.
    pub skipped: Vec<SkippedLine>,
    /// Total number of unusable lines.
    pub skipped_total: usize,
    /// Unusual but usable content. At most [`LoadReport::LISTED`] findings are listed.
    pub warnings: Vec<String>,
}

impl LoadReport {
    /// Maximum number of skipped lines, and of warnings, in a report.
    pub const LISTED: usize = 1_000;

    pub(crate) fn skip(&mut self, line: u64, reason: impl Into<String>) {
        self.skipped_total += 1;
        if self.skipped.len() < Self::LISTED {
            self.skipped.push(SkippedLine { line, reason: reason.into() });
        }
    }

    pub(crate) fn warn(&mut self, warning: impl Into<String>) {
        if self.warnings.len() < Self::LISTED {
            self.warnings.push(warning.into());
        }
    }
}

/// An unusable line.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct SkippedLine {
    /// Number of the line, from one.
    pub line: u64,
    /// Reason.
    pub reason: String,
}

/// A session as shown in lists.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct SessionSummary {
    /// Id of the session.
    pub session_id: SessionId,
    /// Title of the session, else the last prompt, else a stored summary, else the first prompt.
    pub summary: String,
    /// Time of the last change, in milliseconds since the Unix epoch.
    pub last_modified: u64,
    /// Size of the log in bytes.
    pub file_size: u64,
    /// Title that was given to the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_title: Option<String>,
    /// First prompt, cut to 200 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_prompt: Option<String>,
    /// Branch of the last line that names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<String>,
    /// Directory of the first line that names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Tag of the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// Time of the first line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
}

impl SessionSummary {
    /// Returns the title of a copy of this session.
    pub fn fork_title(&self) -> String {
        let title = self.custom_title.as_ref().or(self.first_prompt.as_ref());
        format!("{} (fork)", title.map_or("Forked session", String::as_str))
    }
}
