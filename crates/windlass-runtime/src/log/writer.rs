//! The log writer: entries in the order in which the machine gave them.

use crate::log::lease::LeaseDeadline;
use futures_util::FutureExt;
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use windlass_core::{EffectId, Input, Reservation, StoreFailure};
use windlass_session::{
    Durability, ForkError, Lease, RewindPoint, RewoundMark, SessionKey, SessionStore, StoreError, StoreErrorKind,
    repair_but_pending, rewind_conversation, rewind_point,
};
use windlass_types::{Entry, EntryId};

/// Entries to append.
#[derive(Debug)]
pub(crate) struct AppendRequest {
    pub(crate) waiting: AppendReceiver,
    pub(crate) entries: Vec<Entry>,
    pub(crate) durable: bool,
}

/// The receiver of an append's end.
#[derive(Debug)]
pub(crate) enum AppendReceiver {
    /// A machine, for an effect.
    Effect(EffectId, mpsc::UnboundedSender<Input>),
    /// Agents with calls that are reserved, and their answers.
    Reserved(Vec<(mpsc::UnboundedSender<Input>, EffectId, Reservation)>),
    /// A call beside the conversation.
    Claim(oneshot::Sender<Result<(), StoreFailure>>),
    Nobody,
}

impl AppendReceiver {
    /// Reports the end of the append. A receiver that has ended gets no report.
    pub(crate) fn report(self, result: &Result<(), StoreFailure>) {
        match self {
            Self::Effect(effect, inputs) => drop(inputs.send(Input::Appended(effect, result.clone()))),
            Self::Reserved(answers) => {
                for (inputs, effect, answer) in answers {
                    drop(inputs.send(Input::Reserved(effect, result.clone().map(|()| answer))));
                }
            }
            Self::Claim(sender) => drop(sender.send(result.clone())),
            Self::Nobody => {}
        }
    }
}

/// Command to the writer of a log.
#[derive(Debug)]
pub(crate) enum LogCommand {
    Append(AppendRequest),
    /// Find a point to rewind the conversation to.
    FindPoint(EntryId, oneshot::Sender<Result<RewindPoint, ForkError>>),
    /// Rewind the conversation.
    Rewind(Box<RewindRequest>),
}

/// A conversation that is to be rewound.
#[derive(Debug)]
pub(crate) struct RewindRequest {
    pub(crate) effect: EffectId,
    pub(crate) to: EntryId,
    pub(crate) mark: RewoundMark,
    /// Receiver of the point.
    pub(crate) waiting: oneshot::Sender<Result<RewindPoint, ForkError>>,
}

/// Log of a session.
#[derive(Debug)]
pub(crate) enum Log {
    /// Stored, and written by a separate task.
    Store(mpsc::UnboundedSender<LogCommand>),
    /// The session is not kept.
    Nowhere,
}

impl Log {
    /// Returns a sender of commands to the writer, which does not keep the writer at work.
    pub(crate) fn commands(&self) -> Option<mpsc::WeakUnboundedSender<LogCommand>> {
        match self {
            Self::Store(commands) => Some(commands.downgrade()),
            Self::Nowhere => None,
        }
    }
}

/// Lease of a log, and its deadline.
#[derive(Debug)]
pub(crate) struct LogLease {
    pub(crate) lease: Lease,
    pub(crate) deadline: LeaseDeadline,
}

/// Beginning of the new part of a log.
#[derive(Debug, Default)]
pub(crate) struct LogStart {
    /// Position of the first new entry.
    pub(crate) seq: u64,
    /// Entries to write before the first new ones. Not written if no new ones follow.
    pub(crate) first: Vec<Entry>,
}

/// Interval at which the machine is told that the store is silent.
const PATIENCE: Duration = Duration::from_secs(5);

/// Waits for an answer of the store, and reports how long it has been silent.
async fn with_patience<T>(answer: impl Future<Output = T>, inputs: &mpsc::UnboundedSender<Input>) -> T {
    let mut answer = pin!(answer);
    let mut silence = Duration::ZERO;
    loop {
        if let Ok(answer) = tokio::time::timeout(PATIENCE, &mut answer).await {
            return answer;
        }
        silence = silence.saturating_add(PATIENCE);
        // A send fails only when the session has ended.
        let _ = inputs.send(Input::LogSilent(silence));
    }
}

/// Appends entries until the sender is dropped, the store refuses or the lease is lost, then gives the lease back.
/// Renews the lease meanwhile.
pub(crate) async fn write_log(
    store: Arc<dyn SessionStore>,
    LogLease { lease, mut deadline }: LogLease,
    begin: LogStart,
    waiting: mpsc::UnboundedReceiver<LogCommand>,
    inputs: mpsc::UnboundedSender<Input>,
) {
    let lost = {
        let renewing = AssertUnwindSafe(deadline.lost(&*store, &lease)).catch_unwind();
        let writing = write_commands(&*store, &lease, begin, waiting, &inputs);
        tokio::select! {
            biased;
            lost = renewing => Some(lost.unwrap_or_else(|_| store_panicked())),
            () = writing => None,
        }
    };
    match lost {
        // Another owner may have the session from now on, and the store may be out of reach: nothing is waited for.
        Some(error) => {
            drop(lease);
            // A send fails only when the session has ended.
            let _ = inputs.send(Input::LogLost(StoreFailure::new(error.to_string())));
        }
        // Acknowledged entries are durable already, and a failure here could not be reported any more.
        None => drop(AssertUnwindSafe(store.close(lease)).catch_unwind().await),
    }
}

/// Carries out commands until the sender is dropped or the store refuses. Waiting entries are written together, with
/// one sync.
async fn write_commands(
    store: &dyn SessionStore,
    lease: &Lease,
    LogStart { mut seq, mut first }: LogStart,
    mut waiting: mpsc::UnboundedReceiver<LogCommand>,
    inputs: &mpsc::UnboundedSender<Input>,
) {
    let mut postponed = None;
    while let Some(command) = next(&mut postponed, &mut waiting).await {
        let next = match command {
            LogCommand::Append(next) => next,
            LogCommand::FindPoint(to, answer) => {
                // The requester may have dropped its receiver.
                let _ = answer.send(with_patience(find_point(store, lease.key(), &to), inputs).await);
                continue;
            }
            LogCommand::Rewind(rewinding) => {
                rewind(store, lease, &mut seq, *rewinding, inputs).await;
                continue;
            }
        };
        let mut waiters = vec![next.waiting];
        let mut entries = std::mem::take(&mut first);
        entries.extend(next.entries);
        let mut durable = next.durable;
        while postponed.is_none() {
            match waiting.try_recv() {
                Ok(LogCommand::Append(next)) => {
                    waiters.push(next.waiting);
                    entries.extend(next.entries);
                    durable |= next.durable;
                }
                Ok(other) => postponed = Some(other),
                Err(_) => break,
            }
        }
        let durability = if durable { Durability::Durable } else { Durability::Buffered };
        let appending = AssertUnwindSafe(store.append(lease, seq, entries, durability)).catch_unwind();
        let result = with_patience(appending, inputs).await;
        let answer = match result {
            Ok(Ok(now)) => {
                seq = now;
                Ok(())
            }
            Ok(Err(error)) => Err(StoreFailure::new(error.to_string())),
            Err(_) => Err(StoreFailure::new(store_panicked().to_string())),
        };
        let failed = answer.is_err();
        waiters.into_iter().for_each(|waiting| waiting.report(&answer));
        if failed {
            break;
        }
    }
}

async fn next(
    postponed: &mut Option<LogCommand>,
    waiting: &mut mpsc::UnboundedReceiver<LogCommand>,
) -> Option<LogCommand> {
    match postponed.take() {
        Some(command) => Some(command),
        None => waiting.recv().await,
    }
}

async fn find_point(store: &dyn SessionStore, key: &SessionKey, to: &EntryId) -> Result<RewindPoint, ForkError> {
    let point = async { Ok(rewind_point(&store.load(key).await?.entries, to)?) };
    AssertUnwindSafe(point).catch_unwind().await.unwrap_or_else(|_| Err(panicked()))
}

/// Rewinds the conversation in the log, and gives the machine the remaining entries.
async fn rewind(
    store: &dyn SessionStore,
    lease: &Lease,
    seq: &mut u64,
    rewinding: RewindRequest,
    inputs: &mpsc::UnboundedSender<Input>,
) {
    let RewindRequest { effect, to, mark, waiting } = rewinding;
    let rewind = async {
        let (point, next_seq) = rewind_conversation(store, lease.key(), lease, &to, mark).await?;
        *seq = next_seq;
        let loaded = store.load(lease.key()).await?;
        let (entries, report) = repair_but_pending(loaded.entries);
        if !report.synthetic.is_empty() {
            *seq = store.append(lease, *seq, report.synthetic, Durability::Durable).await?;
        }
        Ok((point, entries))
    };
    let rewound = with_patience(AssertUnwindSafe(rewind).catch_unwind(), inputs).await;
    let rewound = rewound.unwrap_or_else(|_| Err(panicked()));
    let (answer, entries) = match rewound {
        Ok((point, entries)) => (Ok(point), Some(entries)),
        Err(error) => (Err(error), None),
    };
    // The session may have ended, and the requester may have dropped its receiver.
    let _ = inputs.send(Input::Rewound(effect, entries));
    let _ = waiting.send(answer);
}

fn panicked() -> ForkError {
    store_panicked().into()
}

fn store_panicked() -> StoreError {
    StoreError::new(StoreErrorKind::Io, "the session store panicked; this is a bug in the store")
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_core::{Effect, Machine, MachineConfig, ModelProfile, Output, Prompt};
    use windlass_permission::{Policy, PolicyConfig};
    use windlass_session::{LogHeader, MemoryStore, Owner, ProjectKey, SessionKey};
    use windlass_types::{ModelInfo, SessionId, Timestamp};

    /// The first append of a run.
    fn first_append() -> (EffectId, Vec<Entry>) {
        let model = ModelProfile::new("m", ModelInfo::new(1_000, 1_000));
        let policy = Policy::new(PolicyConfig::new("/w"));
        let config = MachineConfig::new(SessionId::from("s"), 1, model, policy, "/w".into());
        let mut machine = Machine::new(config, &[]);
        machine.handle(Timestamp::default(), Input::Prompt(Prompt::text("hello"))).unwrap();
        loop {
            if let Output::Effect(effect, Effect::Append { entries, .. }) = machine.poll().unwrap() {
                return (effect, entries);
            }
        }
    }

    /// Writes waiting entries together, and returns the log.
    async fn written(grades: &[bool]) -> String {
        let store = MemoryStore::new();
        let key = SessionKey::new(ProjectKey::from_slug("p"), SessionId::from("s"));
        let lease = store.open(&key, &Owner::new(1, "test"), LogHeader::new("/w", "0", "test")).await.unwrap();
        let deadline = LeaseDeadline::new(&lease, tokio::time::Instant::now());
        let (log, waiting) = mpsc::unbounded_channel();
        let (effect, entries) = first_append();
        let (inputs, mut answers) = mpsc::unbounded_channel();
        for durable in grades {
            let appending = AppendRequest {
                waiting: AppendReceiver::Effect(effect, inputs.clone()),
                entries: entries.clone(),
                durable: *durable,
            };
            log.send(LogCommand::Append(appending)).unwrap();
        }
        drop(log);
        write_log(Arc::new(store.clone()), LogLease { lease, deadline }, LogStart::default(), waiting, inputs).await;
        for _ in grades {
            assert!(matches!(answers.recv().await, Some(Input::Appended(_, Ok(())))));
        }
        String::from_utf8(store.log(&key).unwrap()).unwrap()
    }

    #[tokio::test]
    async fn one_durable_append_makes_all_that_waits_durable() {
        let buffered = written(&[false, false]).await;
        for grades in [[false, true], [true, false]] {
            // The checksum of a synced batch is a line of its own.
            assert_eq!(written(&grades).await.lines().count(), buffered.lines().count() + 1);
        }
    }
}
