//! The port: where sessions are kept.

mod error;

pub use error::{StoreError, StoreErrorKind};

use crate::{AgentHeader, AgentSummary, Annotation, Origin, PendingAnswers, ProjectKey, SessionKey};
use async_trait::async_trait;
use std::any::Any;
use std::fmt;
use std::sync::Arc;
use windlass_types::{Entry, EntryId, SessionId, Timestamp};

/// Where sessions are kept.
///
/// One session has one writer at a time: the holder of its [`Lease`]. Reading
/// needs none. To continue a session, open it first and load it then, so that
/// no other writer comes in between.
///
/// An agent below the main one has a log of its own beside that of its session
/// ([`SessionKey::of_agent`]), with a lease of its own. All methods but those
/// that name a difference treat it as they treat a session. It needs no session to be there.
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
    /// Takes the single-writer lease of a session, which need not exist yet:
    /// it comes into being with its first append.
    ///
    /// # Errors
    /// [`StoreErrorKind::InUse`], naming the owner, when another writer holds the
    /// lease, also of a session that is not stored yet; other kinds when the session cannot be reached.
    async fn open(&self, key: &SessionKey, owner: &Owner, header: LogHeader) -> Result<Lease, StoreError>;

    /// Appends entries, all or none, after everything appended before, and
    /// returns the new position. An empty list adds no entry; with
    /// [`Durability::Durable`] it waits until all before it is durable.
    ///
    /// The entries are taken in order of the calls' first poll; dropping the
    /// future after that loses only the news that they are written.
    ///
    /// # Errors
    /// [`StoreErrorKind::Conflict`] when `expected_seq` is not the current
    /// position. After a failed write every later append fails with the same
    /// error: what comes after a gap must not look whole.
    async fn append(
        &self,
        lease: &Lease,
        expected_seq: u64,
        entries: Vec<Entry>,
        durability: Durability,
    ) -> Result<u64, StoreError>;

    /// Reads a session: the entries of its current conversation in order, and
    /// what stands beside it. Any damage is skipped and reported; what is
    /// stored is not changed.
    ///
    /// # Errors
    /// [`StoreErrorKind::NotFound`] when there is no such session.
    async fn load(&self, key: &SessionKey) -> Result<Loaded, StoreError>;

    /// The sessions of a project, the last changed first. Agents are no sessions.
    ///
    /// # Errors
    /// The project's sessions cannot be reached. A project without any is an
    /// empty list.
    async fn list(&self, project: &ProjectKey) -> Result<Vec<SessionSummary>, StoreError>;

    /// Removes a session and what belongs to it, the logs of its agents too;
    /// of an agent, its log alone. Removing what is not there is no error.
    ///
    /// # Errors
    /// [`StoreErrorKind::InUse`] while its lease, or that of an agent of it,
    /// is held.
    async fn delete(&self, key: &SessionKey) -> Result<(), StoreError>;

    /// Makes a session of these entries, durable, whole or not at all.
    ///
    /// The default opens the session, appends, and removes it again where that
    /// fails; a store that can do better should.
    ///
    /// # Errors
    /// [`StoreErrorKind::Exists`] when the session is there already;
    /// [`StoreErrorKind::InUse`] while its lease is held.
    async fn create(
        &self,
        key: &SessionKey,
        owner: &Owner,
        header: LogHeader,
        entries: Vec<Entry>,
    ) -> Result<(), StoreError> {
        create_by_append(self, key, owner, header, entries).await
    }

    /// Notes something on a session, for lists: its title or tag.
    ///
    /// The default opens the session for it, so a session in use is refused; a
    /// store may do without the lease.
    ///
    /// # Errors
    /// [`StoreErrorKind::NotFound`] when there is no such session;
    /// [`StoreErrorKind::InvalidKey`] for an agent, which no list shows.
    async fn annotate(&self, key: &SessionKey, owner: &Owner, annotation: &Annotation) -> Result<(), StoreError> {
        annotate_by_append(self, key, owner, annotation).await
    }

    /// The agents whose logs stand beside that of a session, the first to begin
    /// first. At most [`AgentSummary::MOST`]. What a damaged description no
    /// longer holds is left empty.
    ///
    /// There is no default: in a store that wraps another one it would hide the
    /// agents of that store without an error.
    ///
    /// # Errors
    /// The session's agents cannot be reached. A session without any, and one
    /// that is not there, is an empty list.
    async fn agents(&self, key: &SessionKey) -> Result<Vec<AgentSummary>, StoreError>;

    /// Where answers are kept that other processes give to the questions of a session. `None`, the default: nowhere, so
    /// such a question is answered by who opens the session again.
    fn answers(&self) -> Option<&dyn PendingAnswers> {
        None
    }

    /// Waits until everything appended is durable, and gives the lease back.
    ///
    /// Dropping the lease gives it back too; what was appended is still
    /// written, but a failure is not reported.
    ///
    /// # Errors
    /// The first error that the lease met, if any. The lease is given back all
    /// the same.
    async fn close(&self, lease: Lease) -> Result<(), StoreError>;
}

/// What [`SessionStore::create`] does by default: opens, appends, closes, and
/// deletes what it wrote where that fails.
///
/// # Errors
/// As those of the method.
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
        // What is there is not whole, and the first error is the more telling one.
        let _ = store.delete(key).await;
    }
    result
}

/// What [`SessionStore::annotate`] does by default: opens, appends, closes.
///
/// # Errors
/// As those of the method.
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

/// When an append returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a store must offer exactly these two grades")]
pub enum Durability {
    /// When the entries survive the end of this process: the system has them, though perhaps no disk.
    Buffered,
    /// When they would survive the loss of the machine. One sync serves all that wait.
    Durable,
}

/// Who writes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Owner {
    /// The process.
    pub pid: u32,
    /// The program, for people.
    pub program: String,
}

impl Owner {
    /// An owner.
    pub fn new(pid: u32, program: impl Into<String>) -> Self {
        Self { pid, program: program.into() }
    }
}

impl fmt::Display for Owner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (process {})", self.program, self.pid)
    }
}

/// What every line of a session holds beside its entry. Constant for one lease.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LogHeader {
    /// The project directory.
    pub cwd: String,
    /// The branch that is checked out there, if any.
    pub git_branch: Option<String>,
    /// The version of the program.
    pub version: String,
    /// How the program was started (`cli`, `sdk-rust` …).
    pub entrypoint: String,
    /// Where the lines come from, if they are copies.
    pub origin: Option<Arc<Origin>>,
    /// Whose log it is, if it is that of an agent below the main one. Kept when the log comes into being.
    pub agent: Option<Arc<AgentHeader>>,
}

impl LogHeader {
    /// A header without a branch.
    pub fn new(cwd: impl Into<String>, version: impl Into<String>, entrypoint: impl Into<String>) -> Self {
        let (cwd, version, entrypoint) = (cwd.into(), version.into(), entrypoint.into());
        Self { cwd, git_branch: None, version, entrypoint, origin: None, agent: None }
    }

    /// Names the branch that is checked out.
    #[must_use]
    pub fn with_git_branch(mut self, branch: Option<String>) -> Self {
        self.git_branch = branch;
        self
    }

    /// Sets where the lines come from.
    #[must_use]
    pub fn with_origin(mut self, origin: Origin) -> Self {
        self.origin = Some(Arc::new(origin));
        self
    }

    /// Sets whose log it is.
    #[must_use]
    pub fn with_agent(mut self, agent: AgentHeader) -> Self {
        self.agent = Some(Arc::new(agent));
        self
    }
}

/// The right to write one session. Dropping it gives it back.
pub struct Lease {
    key: SessionKey,
    epoch: u64,
    seq: u64,
    guard: Option<Box<dyn Any + Send + Sync>>,
}

impl Lease {
    /// For implementers of stores: a lease that holds `guard` until it is
    /// closed or dropped.
    pub fn new(key: SessionKey, epoch: u64, seq: u64, guard: impl Any + Send + Sync) -> Self {
        Self { key, epoch, seq, guard: Some(Box::new(guard)) }
    }

    /// The session.
    pub fn key(&self) -> &SessionKey {
        &self.key
    }

    /// A number that no other lease of this store has.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The position at which the session was opened: what the first append expects.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// For implementers of stores: the guard, if it is of this type.
    pub fn guard<T: Any>(&self) -> Option<&T> {
        self.guard.as_ref()?.downcast_ref()
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease").field("key", &self.key).field("epoch", &self.epoch).field("seq", &self.seq).finish()
    }
}

/// A session as it was read.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Loaded {
    /// The entries of the current conversation in order, and what stands beside it.
    pub entries: Vec<Entry>,
    /// The position after the last entry: what the next append expects. It only
    /// grows; the size of a step has no meaning.
    pub seq: u64,
    /// What was found on the way.
    pub report: LoadReport,
}

impl Loaded {
    /// A loaded session.
    pub fn new(entries: Vec<Entry>, seq: u64, report: LoadReport) -> Self {
        Self { entries, seq, report }
    }
}

/// What was found while a session was read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct LoadReport {
    /// Entries returned.
    pub entries: usize,
    /// Of those, messages of the user or the model.
    pub messages: usize,
    /// Lines that stand on a branch which the conversation left.
    pub off_branch: usize,
    /// Lines of the conversation for which a summary stands.
    pub compacted: usize,
    /// Lines of the conversation that follow on one which is lost: the nearest line before them took its place.
    pub lost_parents: usize,
    /// The ids of the lines on other branches and of those for which a summary stands: no new line may repeat one.
    pub off_branch_ids: Vec<EntryId>,
    /// Lines that a kill cut off while they were written. They were never
    /// acknowledged.
    pub torn: usize,
    /// Lines, or parts of lines, that could not be used. At most
    /// [`LoadReport::LISTED`] are listed.
    pub skipped: Vec<SkippedLine>,
    /// How many could not be used in all.
    pub skipped_total: usize,
    /// What is unusual but was used. At most [`LoadReport::LISTED`] are listed.
    pub warnings: Vec<String>,
}

impl LoadReport {
    /// Most skipped lines, and most warnings, that a report lists.
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

/// A line that could not be used.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct SkippedLine {
    /// Its number, from one.
    pub line: u64,
    /// Why.
    pub reason: String,
}

/// A session as lists show it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct SessionSummary {
    /// The session.
    pub session_id: SessionId,
    /// Its title, else the last prompt, else a stored summary, else the first prompt.
    pub summary: String,
    /// When it changed last, in milliseconds since the Unix epoch.
    pub last_modified: u64,
    /// Its size in bytes.
    pub file_size: u64,
    /// The title that was given to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub custom_title: Option<String>,
    /// The first prompt, cut to 200 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_prompt: Option<String>,
    /// The branch of the last line that names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub git_branch: Option<String>,
    /// The directory of the first line that names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// Its tag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The time of its first line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_at: Option<Timestamp>,
}

impl SessionSummary {
    /// The title of a copy of this session.
    pub fn fork_title(&self) -> String {
        let title = self.custom_title.as_ref().or(self.first_prompt.as_ref());
        format!("{} (fork)", title.map_or("Forked session", String::as_str))
    }
}
