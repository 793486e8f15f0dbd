//! Opening a session.

use crate::agents::CallAbove;
use crate::append::{Begin, Log, LogLease, write_log};
use crate::budget::Budget;
use crate::checkpoints::Keeper;
use crate::driver::{Driver, DriverParts};
use crate::events::{EventQueue, EventStream};
use crate::handle::{Ended, SessionHandle};
use crate::lease::LeaseDeadline;
use crate::open_questions::{OpenQuestions, unanswered};
use crate::prices::PriceCheck;
use crate::resumed::Directory;
use crate::tasks::AbortOnDrop;
use crate::{OpenError, Ports, SessionError};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use windlass_core::{Machine, MachineConfig};
use windlass_hook::Hooks;
use windlass_session::{
    Durability, ForkError, ForkRequest, Lease, Loaded, LogHeader, Owner, ResumePoint, SessionKey, SessionStore,
    StoreErrorKind, StoredQuestion, TokenSecret, fork_session, questions_below, repair, repair_but_waiting,
};
use windlass_types::{Entry, EntryId, HookEventName, ToolMatcher};

/// Time limit for the store to give back the log of a session that has ended.
const GIVING_BACK: Duration = Duration::from_secs(30);

/// Persistence of a session.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Persistence {
    /// Store of the session.
    pub store: Arc<dyn SessionStore>,
    /// Key of the session in the store.
    pub key: SessionKey,
    /// Owner of the lease.
    pub owner: Owner,
    /// Header fields of every line.
    pub header: LogHeader,
    /// `true` if the session must exist already.
    pub must_exist: bool,
    /// Session to copy. It must exist, and this one must not.
    pub fork_of: Option<SessionKey>,
    /// Point where the conversation continues, if not at its end.
    pub point: Option<ResumePoint>,
}

impl Persistence {
    /// Keeps a session in a store, which may be new or existing.
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

    /// Continues the conversation behind an earlier entry. Entries after that one stay in the log and are no longer
    /// part of the conversation, from the first new entry on; a copy does not get them.
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
    /// Connections to the world.
    pub ports: Ports,
    /// Persistence. `None`: the session is not kept.
    pub persistence: Option<Persistence>,
}

impl SessionConfig {
    /// A session that is not kept.
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

/// An open session: orders in, events out.
#[derive(Debug)]
#[non_exhaustive]
pub struct Session {
    /// Orders to the session.
    pub handle: SessionHandle,
    /// Events of the session. Dropping them closes the session.
    pub events: EventStream,
    /// Notices from opening the session, for the host to show.
    pub notices: Vec<String>,
    /// Questions that an earlier opening left open, those of the main agent and of agents that it waits for.
    /// [Continuing](SessionHandle::continue_run) the run answers them; the next prompt withdraws them.
    pub pending_questions: Vec<StoredQuestion>,
}

impl Session {
    /// Opens a session from its parts and starts its task on the current tokio runtime. Programs that use the crate
    /// `windlass` call `SessionBuilder::open` instead, which puts the parts together.
    ///
    /// A log with open calls (the program was killed) is repaired first: each gets a result that states what is known
    /// of it, and the repair is written.
    ///
    /// # Errors
    /// The store refused, the session is in use, it does not exist, or it cannot
    /// continue at the point that was given. Then nothing was written.
    pub async fn open(config: SessionConfig) -> Result<Self, OpenError> {
        let keeper = config.ports.storage.checkpoints.clone().map(Keeper::new);
        let questions = OpenQuestions::default();
        let (main, waiting, budget, call_above) = (None, None, None, None);
        Self::open_nested(config, Nested { keeper, depth: 0, main, waiting, budget, questions, call_above }).await
    }

    /// Opens the session of an agent, the main one or one below it.
    pub(crate) async fn open_nested(config: SessionConfig, nested: Nested) -> Result<Self, OpenError> {
        let SessionConfig { mut machine, ports, persistence } = config;
        machine.listeners.can_ask |= ports.host.are_possible();
        machine.listeners.classifies |= ports.classifier.is_some();
        if ports.host.wait {
            machine.listeners.waits = Some(TokenSecret::new(ports.system.ids.bits(), ports.system.ids.bits()));
        }
        machine.listeners.hooks.extend(listened(&ports.hooks));
        machine.context.attachments |= ports.context.mentions.is_some() || ports.reports.file_changes;
        let (orders_in, orders) = mpsc::unbounded_channel();
        let (results, inputs) = mpsc::unbounded_channel();
        let (ended_in, ended) = watch::channel(None);
        let queue = Arc::new(EventQueue::default());
        let kept = persistence.clone();
        let opened = match persistence {
            None => Opened::unkept(),
            Some(persistence) => open_log(persistence, &machine, &ports, results.clone()).await?,
        };
        machine.ids.taken.extend(opened.taken_ids);
        let opening = format!("{:032x}", ports.system.ids.bits()).into();
        let shared = (nested.questions.clone(), Arc::clone(&queue), opening);
        let prices = PriceCheck::new(&machine.limits, &ports);
        let handle = SessionHandle::new(machine.ids.session_id.clone(), orders_in.clone(), ended, shared, prices);
        // Agents below the main one read the same instructions.
        let listens = |event| machine.listeners.hooks.iter().any(|(on, _)| *on == event);
        let first = match listens(HookEventName::InstructionsLoaded) && machine.agent.is_none() {
            true => machine.context.instructions.to_vec(),
            false => Vec::new(),
        };
        let pending_questions = match &kept {
            Some(kept) if nested.depth == 0 => {
                let pending = questions_below(&*kept.store, &kept.key, &opened.entries).await;
                nested.questions.leave_pending(unanswered(&*kept.store, &pending).await);
                pending
            }
            _ => Vec::new(),
        };
        let machine = Machine::new(machine, &opened.entries);
        let driver = Driver::new(DriverParts {
            machine,
            ports,
            orders,
            inputs,
            results,
            queue: Arc::clone(&queue),
            log: opened.log,
            nested,
            kept,
            first,
        });
        let (writer, ending) = (opened.writer, Arc::clone(&queue));
        tokio::spawn(async move {
            let mut last = LastWord { queue: ending, ended: ended_in };
            let mut outcome = driver.drive().await;
            if let Some(writer) = writer {
                outcome = let_go(writer, outcome).await;
            }
            last.say(outcome);
        });
        let events = EventStream::new(queue, handle.guard(orders_in));
        Ok(Self { handle, events, notices: opened.notices, pending_questions })
    }
}

/// Parts of an agent's session in addition to those of every session.
#[derive(Debug)]
pub(crate) struct Nested {
    /// Keeps files before calls change them.
    pub(crate) keeper: Option<Keeper>,
    /// Depth of the agent: zero for the main one.
    pub(crate) depth: u32,
    /// The inputs of the main agent, if this is another one.
    pub(crate) main: Option<mpsc::UnboundedSender<windlass_core::Input>>,
    /// Inputs of the highest agent that waits for this one: no agent waits for one in the background.
    pub(crate) waiting: Option<mpsc::UnboundedSender<windlass_core::Input>>,
    /// Budget that all agents of the session share. `None` for the main one, whose driver makes it.
    pub(crate) budget: Option<Budget>,
    /// The questions of the session, as this agent asks them.
    pub(crate) questions: OpenQuestions,
    /// The call that runs the agent, if its questions wait for answers.
    pub(crate) call_above: Option<Arc<CallAbove>>,
}

/// Returns the events that hooks listen to, with their tools (`None` for all occasions).
pub(crate) fn listened(hooks: &Hooks) -> BTreeSet<(HookEventName, Option<ToolMatcher>)> {
    let mut occasions = BTreeSet::new();
    for interest in hooks.interests() {
        if interest.tools.is_empty() {
            occasions.insert((interest.event, None));
        } else {
            occasions.extend(interest.tools.into_iter().map(|tool| (interest.event, Some(tool))));
        }
    }
    occasions
}

/// Reports to the host that the session has ended, also when its task panicked.
struct LastWord {
    queue: Arc<EventQueue>,
    ended: watch::Sender<Ended>,
}

impl LastWord {
    /// Ends the events last, when the log is given back: a program may end its runtime once it has read them.
    fn say(&mut self, outcome: Result<(), SessionError>) {
        let error = outcome.clone().err();
        self.ended.send_replace(Some(outcome));
        self.queue.end(error);
    }
}

/// Waits until the writer of a log, which the driver has let go of, has given the lease back. A writer that hangs is
/// dropped with its lease: its pending entries may still be written.
async fn let_go(writer: tokio::task::JoinHandle<()>, outcome: Result<(), SessionError>) -> Result<(), SessionError> {
    let mut writer = AbortOnDrop(writer);
    let patience = if matches!(outcome, Err(SessionError::LogSilent { .. })) { Duration::ZERO } else { GIVING_BACK };
    if tokio::time::timeout(patience, &mut writer.0).await.is_ok() || outcome.is_err() {
        return outcome;
    }
    let message = format!(
        "the session log did not close within {} seconds; everything is stored, but the session may be in use for a \
         while: look at the disk",
        patience.as_secs()
    );
    Err(SessionError::LogSilent { message })
}

impl Drop for LastWord {
    fn drop(&mut self) {
        // Only a panic or the end of its runtime drops a driver before it has reported the end of the session.
        let error = if std::thread::panicking() { SessionError::Internal } else { SessionError::RuntimeEnded };
        self.ended.send_if_modified(|ended| {
            let is_first = ended.is_none();
            ended.get_or_insert_with(|| Err(error.clone()));
            is_first
        });
        self.queue.end(Some(error));
    }
}

struct Opened {
    entries: Vec<Entry>,
    log: Log,
    writer: Option<tokio::task::JoinHandle<()>>,
    notices: Vec<String>,
    /// Ids in the log that are not among the entries.
    taken_ids: Vec<EntryId>,
}

impl Opened {
    /// A session that is not kept.
    fn unkept() -> Self {
        Self { entries: Vec::new(), log: Log::Nowhere, writer: None, notices: Vec::new(), taken_ids: Vec::new() }
    }
}

/// Takes the lease of a session, loads its log, repairs it, and starts its writer.
async fn open_log(
    mut persistence: Persistence,
    machine: &MachineConfig,
    ports: &Ports,
    results: mpsc::UnboundedSender<windlass_core::Input>,
) -> Result<Opened, OpenError> {
    if let Some(source) = persistence.fork_of.take() {
        copy(&persistence, &source, ports).await?;
        (persistence.must_exist, persistence.point) = (true, None);
    }
    let Persistence { store, key, owner, header, must_exist, point, .. } = persistence;
    let cwd = header.cwd.clone();
    let asked = tokio::time::Instant::now();
    let lease = store.open(&key, &owner, header).await.map_err(|source| OpenError::Store { source })?;
    let mut deadline = LeaseDeadline::new(&lease, asked);
    // A long log may take longer to read than the lease holds.
    let restored = tokio::select! {
        biased;
        source = deadline.lost(&*store, &lease) => return Err(OpenError::Store { source }),
        restored = restore((&*store, &key), &lease, (must_exist, point, &cwd), (machine, ports)) => restored?,
    };
    let Restored { begin, entries, notices, taken_ids } = restored;
    let (log, waiting) = mpsc::unbounded_channel();
    let writer = tokio::spawn(write_log(store, LogLease { lease, deadline }, begin, waiting, results));
    Ok(Opened { entries, log: Log::Store(log), writer: Some(writer), notices, taken_ids })
}

/// Loads and repairs the log of an open session, and writes the repair.
async fn restore(
    (store, key): (&dyn SessionStore, &SessionKey),
    lease: &Lease,
    (must_exist, point, cwd): (bool, Option<ResumePoint>, &str),
    (machine, ports): (&MachineConfig, &Ports),
) -> Result<Restored, OpenError> {
    let must_exist = must_exist || point.is_some();
    let loaded = match store.load(key).await {
        Ok(loaded) => Some(loaded),
        Err(error) if error.kind == StoreErrorKind::NotFound && !must_exist => None,
        Err(error) if error.kind == StoreErrorKind::NotFound => return Err(not_found(key)),
        Err(source) => return Err(OpenError::Store { source }),
    };
    let begin = Begin { seq: lease.seq(), first: Vec::new() };
    let mut restored = Restored { begin, entries: Vec::new(), notices: Vec::new(), taken_ids: Vec::new() };
    if let Some(loaded) = loaded {
        let synthetic = restored.take((store, key), loaded, (point, cwd), ports).await?;
        restored.settle_directory(machine, ports).await;
        if !synthetic.is_empty() {
            let appended = store.append(lease, restored.begin.seq, synthetic, Durability::Durable).await;
            restored.begin.seq = appended.map_err(|source| OpenError::Store { source })?;
        }
    }
    Ok(restored)
}

/// Restored state of a kept session.
struct Restored {
    begin: Begin,
    entries: Vec<Entry>,
    notices: Vec<String>,
    taken_ids: Vec<EntryId>,
}

impl Restored {
    /// Takes over the loaded and repaired log, up to the point to resume at. Returns the results that the repair made
    /// up, which the log does not have yet.
    async fn take(
        &mut self,
        (store, key): (&dyn SessionStore, &SessionKey),
        loaded: Loaded,
        (point, cwd): (Option<ResumePoint>, &str),
        ports: &Ports,
    ) -> Result<Vec<Entry>, OpenError> {
        self.notices = notices_of(&loaded.report);
        self.taken_ids = loaded.report.off_branch_ids;
        self.begin.seq = loaded.seq;
        let entries = loaded.entries;
        // Resuming at an earlier point leaves the questions behind.
        let (entries, report) = match point {
            Some(_) => repair(entries),
            None => repair_but_waiting(store, key, entries).await,
        };
        self.entries = entries;
        if let Some(point) = point {
            self.taken_ids.extend(self.entries.iter().map(|entry| entry.id.clone()));
            let truncated = point.truncate(std::mem::take(&mut self.entries))?;
            self.begin.first =
                truncated.restated(cwd, ports.system.clock.now(), || EntryId::from_bits(ports.system.ids.bits()));
            self.entries = truncated.into_entries();
            self.entries.extend(self.begin.first.iter().cloned());
        }
        if !report.renamed.is_empty() {
            self.notices.push(format!(
                "{} tool calls of this session have the id of an earlier one; they go by other ids.",
                report.renamed.len()
            ));
        }
        if !report.synthetic.is_empty() {
            self.notices.push(format!(
                "{} tool calls of this session never ended; their outcome is unknown, and they were not run again.",
                report.synthetic.len()
            ));
        }
        Ok(report.synthetic)
    }

    /// Replaces a directory that is gone, or now outside of the workspace, by the one in which the session opens.
    async fn settle_directory(&mut self, machine: &MachineConfig, ports: &Ports) {
        let directories = machine.policy.directories();
        let directory = Directory::of(&self.entries, directories, &*ports.workspace).await;
        if let Some((entry, notice)) = directory.restated(&machine.cwd, &*ports.system.clock, &*ports.system.ids) {
            self.notices.extend(notice);
            self.entries.push(entry.clone());
            self.begin.first.push(entry);
        }
    }
}

/// Makes the session a copy of another one.
async fn copy(persistence: &Persistence, source: &SessionKey, ports: &Ports) -> Result<(), OpenError> {
    let request = ForkRequest::new(persistence.owner.clone(), persistence.header.clone(), ports.system.clock.now())
        .at(persistence.point.clone());
    let new_id = || EntryId::from_bits(ports.system.ids.bits());
    match fork_session(&*persistence.store, source, &persistence.key, request, new_id).await {
        Err(ForkError::Store(error)) if error.kind == StoreErrorKind::NotFound => Err(not_found(source)),
        copied => Ok(copied?),
    }
}

fn not_found(key: &SessionKey) -> OpenError {
    OpenError::NotFound { session_id: key.session.to_string() }
}

fn notices_of(report: &windlass_session::LoadReport) -> Vec<String> {
    let mut notices = Vec::new();
    if report.skipped_total > 0 {
        let first = report.skipped.first().map(|skipped| format!(", first line {}: {}", skipped.line, skipped.reason));
        notices.push(format!(
            "{} damaged lines of the session log were skipped{}.",
            report.skipped_total,
            first.unwrap_or_default()
        ));
    }
    notices.extend(report.warnings.iter().take(3).cloned());
    notices
}
