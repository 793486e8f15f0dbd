//! Opening the log of a session: its lease, its repair, and its writer.

use crate::OpenError;
use crate::config::Persistence;
use crate::log::directory::LoggedDirectory;
use crate::log::lease::LeaseDeadline;
use crate::log::writer::{Log, LogLease, LogStart, write_log};
use crate::ports::Ports;
use tokio::sync::mpsc;
use windlass_core::MachineConfig;
use windlass_session::{
    Durability, ForkError, ForkRequest, Lease, Loaded, ResumePoint, SessionKey, SessionStore, StoreErrorKind,
    fork_session, repair, repair_but_waiting,
};
use windlass_types::{Entry, EntryId};

/// The log of a session that is being opened.
pub(crate) struct OpenedLog {
    pub(crate) entries: Vec<Entry>,
    pub(crate) log: Log,
    pub(crate) writer: Option<tokio::task::JoinHandle<()>>,
    pub(crate) notices: Vec<String>,
    /// Ids in the log that are not among the entries.
    pub(crate) taken_ids: Vec<EntryId>,
}

impl OpenedLog {
    /// Creates the opening of a session that is not stored.
    pub(crate) fn unkept() -> Self {
        Self { entries: Vec::new(), log: Log::Nowhere, writer: None, notices: Vec::new(), taken_ids: Vec::new() }
    }
}

/// Takes the lease of a session, loads its log, repairs it, and starts its writer.
pub(crate) async fn open_log(
    mut persistence: Persistence,
    machine: &MachineConfig,
    ports: &Ports,
    results: mpsc::UnboundedSender<windlass_core::Input>,
) -> Result<OpenedLog, OpenError> {
    if let Some(source) = persistence.fork_of.take() {
        copy(&persistence, &source, ports).await?;
        (persistence.must_exist, persistence.point) = (true, None);
    }
    let Persistence { store, key, owner, header, must_exist, point, .. } = persistence;
    let cwd = header.cwd.clone();
    #[expect(
        clippy::disallowed_methods,
        reason = "a lease ends a term after it was asked for, on the clock of the timers"
    )]
    let requested_at = tokio::time::Instant::now();
    let lease = store.open(&key, &owner, header).await.map_err(|source| OpenError::Store { source })?;
    let mut deadline = LeaseDeadline::new(&lease, requested_at);
    // A long log may take longer to read than the lease holds.
    let restored = tokio::select! {
        biased;
        source = deadline.lost(&*store, &lease) => return Err(OpenError::Store { source }),
        restored = restore((&*store, &key), &lease, (must_exist, point, &cwd), (machine, ports)) => restored?,
    };
    let RestoredLog { begin, entries, notices, taken_ids } = restored;
    let (log, waiting) = mpsc::unbounded_channel();
    let writer = tokio::spawn(write_log(store, LogLease { lease, deadline }, begin, waiting, results));
    Ok(OpenedLog { entries, log: Log::Store(log), writer: Some(writer), notices, taken_ids })
}

/// Loads and repairs the log of an open session, and writes the repair.
async fn restore(
    (store, key): (&dyn SessionStore, &SessionKey),
    lease: &Lease,
    (must_exist, point, cwd): (bool, Option<ResumePoint>, &str),
    (machine, ports): (&MachineConfig, &Ports),
) -> Result<RestoredLog, OpenError> {
    let must_exist = must_exist || point.is_some();
    let loaded = match store.load(key).await {
        Ok(loaded) => Some(loaded),
        Err(error) if error.kind == StoreErrorKind::NotFound && !must_exist => None,
        Err(error) if error.kind == StoreErrorKind::NotFound => return Err(not_found(key)),
        Err(source) => return Err(OpenError::Store { source }),
    };
    let begin = LogStart { seq: lease.seq(), first: Vec::new() };
    let mut restored = RestoredLog { begin, entries: Vec::new(), notices: Vec::new(), taken_ids: Vec::new() };
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
struct RestoredLog {
    begin: LogStart,
    entries: Vec<Entry>,
    notices: Vec<String>,
    taken_ids: Vec<EntryId>,
}

impl RestoredLog {
    /// Applies the loaded and repaired log, up to the point to resume at. Returns the results that the repair added and
    /// the log does not contain yet.
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
        let directory = LoggedDirectory::of(&self.entries, directories, &*ports.workspace).await;
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
