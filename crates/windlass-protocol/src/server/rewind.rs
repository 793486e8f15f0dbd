//! `rewind_files`: the host wants files back as they were before a message.

use super::control::{Refusal, field};
use super::core::Core;
use super::frames::{self, Said};
use super::outbox::Outbox;
use crate::line::MAX_LINE;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore};
use windlass_runtime::{RewindError, SessionHandle};
use windlass_session::{NotRestoredKind, Rewind};
use windlass_types::{EntryId, JsonText};

/// How long a rewind waits for the run that goes on. The SDKs wait for a minute.
const PATIENCE: Duration = Duration::from_secs(30);

/// Most rewinds that wait at the same time.
const MOST: usize = 16;

/// Carries out rewinds beside everything else: they wait for the disk, and for runs.
pub(crate) struct Rewinds {
    outbox: Outbox,
    /// Told when a run has ended.
    ended: Arc<Notify>,
    /// Those that came before there was a session.
    early: Mutex<Vec<Wanted>>,
    places: Arc<Semaphore>,
}

/// A request for a rewind.
#[derive(Debug)]
struct Wanted {
    id: String,
    to: EntryId,
    dry_run: bool,
    _place: OwnedSemaphorePermit,
}

impl Rewinds {
    pub(crate) fn new(outbox: Outbox) -> Self {
        let (ended, early, places) = (Arc::default(), Mutex::default(), Arc::new(Semaphore::new(MOST)));
        Self { outbox, ended, early, places }
    }

    /// A run has ended.
    pub(crate) fn run_ended(&self) {
        self.ended.notify_waiters();
    }

    fn read(&self, id: &str, body: &JsonText) -> Result<Wanted, Refusal> {
        let to = field::<String>(body, "user_message_id")?;
        let to = to.ok_or_else(|| Refusal::new("`user_message_id` is missing"))?;
        let dry_run = field::<bool>(body, "dry_run")?.unwrap_or_default();
        let place = Arc::clone(&self.places).try_acquire_owned();
        let place = place.map_err(|_| Refusal::new("too many rewinds wait already"))?;
        Ok(Wanted { id: id.to_owned(), to: EntryId::from(to), dry_run, _place: place })
    }

    /// Begins a rewind in an open session. Its order is given before this returns.
    fn begin(&self, handle: SessionHandle, wanted: Wanted) {
        let first = wanted.order(&handle);
        let (outbox, ended) = (self.outbox.clone(), Arc::clone(&self.ended));
        tokio::spawn(async move {
            // A host that is gone misses nothing.
            let _ = outbox.send(wanted.answer(first, &handle, &ended).await).await;
        });
    }

    fn take_early(&self) -> Vec<Wanted> {
        std::mem::take(&mut *self.early.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

type Outcome = Result<Rewind, RewindError>;

impl Wanted {
    fn order(&self, handle: &SessionHandle) -> impl Future<Output = Outcome> + Send + 'static {
        let (say, rewind) = match self.dry_run {
            true => (Some(handle.file_changes(&self.to)), None),
            false => (None, Some(handle.rewind_files(&self.to))),
        };
        async move {
            match (say, rewind) {
                (Some(say), _) => say.await,
                (None, Some(rewind)) => rewind.await,
                (None, None) => Err(RewindError::Closed),
            }
        }
    }

    /// Waits for the outcome, and tries again when a run that was in the way has ended.
    async fn answer(self, first: impl Future<Output = Outcome>, handle: &SessionHandle, ended: &Notify) -> Vec<u8> {
        let mut outcome = first.await;
        let again = async {
            while outcome == Err(RewindError::Running) {
                let mut quiet = std::pin::pin!(ended.notified());
                // From here on no end of a run is missed.
                quiet.as_mut().enable();
                outcome = self.order(handle).await;
                if outcome == Err(RewindError::Running) {
                    quiet.await;
                }
            }
        };
        // The last outcome says it well when time is up.
        let _ = tokio::time::timeout(PATIENCE, again).await;
        self.written(outcome)
    }

    fn written(&self, outcome: Outcome) -> Vec<u8> {
        let answer = match outcome {
            Ok(rewind) => answer(&rewind, self.dry_run),
            Err(error) => Err(error.to_string()),
        };
        let value = match answer {
            Ok(value) => value,
            // A preview says it; the SDKs learn of what failed from errors alone.
            Err(error) if self.dry_run => json!({ "canRewind": false, "error": error }),
            Err(error) => return self.refused(&error),
        };
        match JsonText::of(&value) {
            Ok(value) => frames::answer(&self.id, &Said::Done(Some(&value)), MAX_LINE),
            Err(error) => self.refused(&error.to_string()),
        }
    }

    fn refused(&self, error: &str) -> Vec<u8> {
        frames::answer(&self.id, &Said::Refused { error, code: None }, MAX_LINE)
    }
}

/// What the host hears of a rewind. An error when files should have changed and none did.
fn answer(rewind: &Rewind, dry_run: bool) -> Result<Value, String> {
    let left: Vec<String> = rewind
        .left()
        .map(|file| {
            let reason = file.problem.as_ref().map_or("", |problem| problem.reason.as_str());
            format!("{}: {reason}", file.path.display())
        })
        .collect();
    if !left.is_empty() && rewind.changed().next().is_none() {
        return Err(format!("No file could be rewound. {}", left.join("; ")));
    }
    let paths: Vec<String> = rewind.changed().map(|file| file.path.display().to_string()).collect();
    let mut answer = json!({
        "canRewind": true,
        "filesChanged": paths,
        "insertions": rewind.insertions(),
        "deletions": rewind.deletions(),
    });
    let Some(fields) = answer.as_object_mut() else { return Ok(answer) };
    let links = rewind.left().filter_map(|file| file.problem.as_ref());
    let links = links.filter(|problem| problem.kind == NotRestoredKind::Link).count();
    if links > 0 && !dry_run {
        fields.insert("skippedLinks".to_owned(), json!(links));
    }
    // What no version of the protocol knows, but honest hosts want to tell.
    if !left.is_empty() {
        fields.insert("filesLeft".to_owned(), json!(left));
    }
    let conflicts: Vec<String> =
        rewind.changed().filter(|file| file.conflict).map(|file| file.path.display().to_string()).collect();
    if !conflicts.is_empty() {
        fields.insert("conflicts".to_owned(), json!(conflicts));
    }
    if let Some(undo) = &rewind.undo {
        fields.insert("undoMessageId".to_owned(), json!(undo));
    }
    Ok(answer)
}

impl Core {
    /// Begins a rewind, which is answered when it is done. A session that is not open is opened for it.
    pub(crate) fn rewind(&self, id: &str, body: &JsonText) -> Result<(), Refusal> {
        let wanted = self.rewinds.read(id, body)?;
        let handle = {
            let state = self.lock();
            let handle = state.session.as_ref().map(|live| live.handle.clone());
            if handle.is_none() {
                self.rewinds.early.lock().unwrap_or_else(PoisonError::into_inner).push(wanted);
                self.work.notify_one();
                return Ok(());
            }
            handle
        };
        if let Some(handle) = handle {
            self.rewinds.begin(handle, wanted);
        }
        Ok(())
    }

    /// Whether rewinds wait for a session.
    pub(crate) fn has_early_rewinds(&self) -> bool {
        !self.rewinds.early.lock().unwrap_or_else(PoisonError::into_inner).is_empty()
    }

    /// Begins the rewinds that came before there was a session, or says why there is none.
    pub(crate) fn begin_early_rewinds(&self, failure: Option<&str>) {
        for wanted in self.rewinds.take_early() {
            match (self.handle(), failure) {
                (Some(handle), _) => self.rewinds.begin(handle, wanted),
                (None, failure) => {
                    // As many as requests were taken.
                    self.outbox.send_now(wanted.refused(failure.unwrap_or("the session is closed")));
                }
            }
        }
    }
}
