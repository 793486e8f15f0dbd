//! File checkpoints: files are kept before calls change them, and restored when the host asks for it.

use crate::error::RewindError;
use crate::handle::SessionHandle;
use crate::order::{FileOrder, How, Order};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::oneshot;
use tokio::task::{AbortHandle, JoinHandle};
use windlass_session::{
    ChangedBy, Checkpoint, CheckpointError, CheckpointErrorKind, Checkpoints, Rewind, RewindOptions, Survey,
};
use windlass_types::{Entry, EntryId, EntryKind, ToolUseId};

impl SessionHandle {
    /// The points to which files can be rewound, the oldest first: one for each
    /// prompt since checkpoints are kept, and one for each rewind.
    ///
    /// # Errors
    /// No checkpoints are kept, they cannot be read, or the session is closed.
    pub fn checkpoints(&self) -> impl Future<Output = Result<Vec<Checkpoint>, RewindError>> + Send + 'static {
        let (answer, waiting) = oneshot::channel();
        self.wait(FileOrder::List(answer), waiting)
    }

    /// Returns the changes that [`rewind_files`](Self::rewind_files) would make. May be called while a run is in
    /// progress.
    ///
    /// # Errors
    /// No checkpoints are kept, there is no such checkpoint, or the session is closed.
    pub fn file_changes(&self, to: &EntryId) -> impl Future<Output = Result<Rewind, RewindError>> + Send + 'static {
        let (answer, waiting) = oneshot::channel();
        let order = FileOrder::Rewind { to: to.clone(), how: How::Say, leave_conflicts: false, answer };
        self.wait(order, waiting)
    }

    /// Restores the files of the workspace that the session has changed since a prompt to their state before it: those
    /// that tools like Write and Edit changed, and those that programs did (Bash, MCP servers) as far as
    /// [`Checkpoints::survey`] found it. Other effects of programs (the network, other processes, files outside of the
    /// workspace) cannot be undone.
    ///
    /// The current contents are kept first: [`Rewind::undo`] is the checkpoint that undoes the rewind. The conversation
    /// stays as it is. Files that others changed meanwhile are rewound too and named; see
    /// [`rewind_own_files`](Self::rewind_own_files).
    ///
    /// The order is given at once, before the future is polled; dropping the
    /// future loses only the outcome. Prompts that are given meanwhile wait.
    ///
    /// # Errors
    /// A run is in progress, no checkpoints are kept, there is no such checkpoint, or the session is closed. No file
    /// was changed then. Failures with single files are named in the outcome.
    pub fn rewind_files(&self, to: &EntryId) -> impl Future<Output = Result<Rewind, RewindError>> + Send + 'static {
        let (answer, waiting) = oneshot::channel();
        let order = FileOrder::Rewind { to: to.clone(), how: How::Do, leave_conflicts: false, answer };
        self.wait(order, waiting)
    }

    /// Like [`rewind_files`](Self::rewind_files), but leaves files alone that others have changed since the tools did.
    ///
    /// # Errors
    /// The same as for [`rewind_files`](Self::rewind_files).
    pub fn rewind_own_files(&self, to: &EntryId) -> impl Future<Output = Result<Rewind, RewindError>> + Send + 'static {
        let (answer, waiting) = oneshot::channel();
        let order = FileOrder::Rewind { to: to.clone(), how: How::Do, leave_conflicts: true, answer };
        self.wait(order, waiting)
    }

    fn wait<T: Send + 'static>(
        &self,
        order: FileOrder,
        waiting: oneshot::Receiver<Result<T, RewindError>>,
    ) -> impl Future<Output = Result<T, RewindError>> + Send + 'static {
        let given = self.order(Order::Files(order));
        async move {
            given.map_err(|_| RewindError::Closed)?;
            waiting.await.unwrap_or(Err(RewindError::Closed))
        }
    }
}

/// Concurrent work that several callers can wait for.
type Beside = Shared<BoxFuture<'static, ()>>;

fn beside(work: impl Future<Output = ()> + Send + 'static) -> Beside {
    let work = work.boxed().shared();
    tokio::spawn(work.clone());
    work
}

/// Keeps the files of one session.
#[derive(Debug, Clone)]
pub(crate) struct Keeper {
    checkpoints: Arc<dyn Checkpoints>,
    /// Ends when the checkpoint of every prompt until now has begun.
    begun: Option<Beside>,
    /// Prompt of the main agent to which everything belongs, if this keeps the files of another agent.
    of: Option<EntryId>,
    /// Running work of all agents that may change any file.
    changing: Arc<Changing>,
}

/// Running work that may change any file.
#[derive(Debug, Default)]
struct Changing {
    /// Number of calls and background tasks.
    running: AtomicUsize,
    /// `true` if files may have changed since the last survey that was made while no work ran.
    is_open: AtomicBool,
    /// The last survey after a call, made while the model is called. It ends after earlier ones.
    look: Mutex<Option<Beside>>,
    /// The baseline that is made concurrently before the first command, if it was begun.
    ahead: Mutex<Option<(Beside, AbortHandle)>>,
}

impl Changing {
    /// Ends when the changes of all calls until now are known. `None` if they are.
    fn looked(&self) -> Option<Beside> {
        self.look.lock().unwrap_or_else(PoisonError::into_inner).clone().filter(|look| look.peek().is_none())
    }

    fn ahead(&self) -> Option<(Beside, AbortHandle)> {
        self.ahead.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

async fn ended(work: Option<Beside>) {
    if let Some(work) = work {
        work.await;
    }
}

/// One call or background task that may change any file while this lives.
#[derive(Debug)]
struct Ongoing(Arc<Changing>);

impl Ongoing {
    fn begin(changing: &Arc<Changing>) -> Self {
        changing.running.fetch_add(1, Ordering::SeqCst);
        changing.is_open.store(true, Ordering::SeqCst);
        Self(Arc::clone(changing))
    }
}

impl Drop for Ongoing {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Surveys of the workspace around one call or background task that may change any file.
#[derive(Debug)]
pub(crate) struct AroundCall {
    keeper: Keeper,
    survey: Survey,
    ongoing: Option<Ongoing>,
    /// `true` once the survey before the work is done.
    has_looked: bool,
}

impl AroundCall {
    /// Surveys the workspace before the work begins. The error is the reason why the work must not begin.
    pub(crate) async fn before(&mut self) -> Result<(), String> {
        self.keeper.ready().await;
        ended(self.keeper.changing.ahead().map(|(ahead, _)| ahead)).await;
        self.survey.changed_by = self.keeper.changed_by();
        // Work that begins meanwhile sees that this work may change files.
        self.ongoing = Some(Ongoing::begin(&self.keeper.changing));
        self.keeper.look(&self.survey).await?;
        self.has_looked = true;
        Ok(())
    }

    /// Returns the same for a background task of the call, which has not begun yet.
    pub(crate) fn later(&self) -> Self {
        Self { keeper: self.keeper.clone(), survey: self.survey.clone(), ongoing: None, has_looked: true }
    }

    /// Returns the same for a background task of the call, from now on.
    pub(crate) fn of_background(&self) -> Self {
        Self { ongoing: Some(Ongoing::begin(&self.keeper.changing)), ..self.later() }
    }

    /// Finds the changes of the work, when it has ended.
    pub(crate) async fn after(mut self) {
        let running = self.keeper.changing.running.load(Ordering::SeqCst);
        if !self.has_looked {
            // The work has not begun: only earlier changes are open.
            let was_open = self.survey.changed_by == ChangedBy::Session;
            self.keeper.changing.is_open.store(was_open || running > 1, Ordering::SeqCst);
            return;
        }
        self.survey.changed_by = ChangedBy::Session;
        ended(self.keeper.begun.clone()).await;
        match self.keeper.look(&self.survey).await {
            Ok(()) if running <= 1 => self.keeper.changing.is_open.store(false, Ordering::SeqCst),
            Ok(()) => {}
            Err(error) => tracing::warn!(error, "what a call has changed could not be found"),
        }
        self.ongoing = None;
    }

    /// Like `after`, but concurrently with the model's next answer, which is accepted only when this is done; calls
    /// that change files wait, too.
    pub(crate) fn follow(self) {
        let changing = Arc::clone(&self.keeper.changing);
        let mut look = changing.look.lock().unwrap_or_else(PoisonError::into_inner);
        let before = look.take();
        *look = Some(beside(async move {
            ended(before).await;
            self.after().await;
        }));
    }
}

impl Keeper {
    pub(crate) fn new(checkpoints: Arc<dyn Checkpoints>) -> Self {
        Self { checkpoints, begun: None, of: None, changing: Arc::default() }
    }

    /// Returns a keeper for the files that an agent changes, whose work belongs to this prompt.
    pub(crate) fn of_agent(&self, prompt: EntryId) -> Self {
        let mut keeper = self.clone();
        keeper.of.get_or_insert(prompt);
        keeper
    }

    /// Begins the checkpoints of the prompts among these entries, one after the other. Only calls and orders that need
    /// them wait for that.
    pub(crate) fn heard(&mut self, entries: &[Entry], directories: &[PathBuf]) {
        if self.of.is_some() {
            return;
        }
        for entry in entries {
            let EntryKind::User(user) = &entry.kind else { continue };
            if user.is_meta || user.is_summary {
                continue;
            }
            let (before, checkpoints, id) = (self.begun.take(), Arc::clone(&self.checkpoints), entry.id.clone());
            let (keeper, directories, looked) = (self.clone(), directories.to_vec(), self.changing.looked());
            self.begun = Some(beside(async move {
                ended(before).await;
                ended(looked).await;
                // Changes of background work until now belong to the prompts before.
                keeper.catch_up(directories).await;
                match AssertUnwindSafe(checkpoints.begin(&id)).catch_unwind().await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => tracing::warn!(%error, "the file checkpoint of a prompt could not begin"),
                    Err(_) => tracing::warn!("the file checkpoint of a prompt panicked"),
                }
            }));
        }
    }

    /// Keeps the files that a call is about to change.
    pub(crate) async fn keep(self, prompt: EntryId, call: ToolUseId, paths: Vec<PathBuf>) -> Result<(), String> {
        self.ready().await;
        let prompt = self.of.unwrap_or(prompt);
        let kept = AssertUnwindSafe(self.checkpoints.keep(&prompt, &call, &paths)).catch_unwind().await;
        kept.map_err(|_| "keeping them panicked".to_owned())?.map_err(|error| error.to_string())
    }

    /// Records the state in which a call has left its files.
    pub(crate) async fn changed(self, call: ToolUseId, paths: Vec<PathBuf>) {
        if paths.is_empty() {
            return;
        }
        match AssertUnwindSafe(self.checkpoints.changed(&call, &paths)).catch_unwind().await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "what a call has changed could not be noted"),
            Err(_) => tracing::warn!("noting what a call has changed panicked"),
        }
    }

    /// Watches a call that may change any file of these directories.
    pub(crate) fn watch(
        &self,
        prompt: Option<&EntryId>,
        call: ToolUseId,
        directories: &[PathBuf],
    ) -> Option<AroundCall> {
        let prompt = self.of.as_ref().or(prompt)?.clone();
        let survey = Survey::new(prompt, directories.to_vec(), ChangedBy::Others).of_call(call);
        Some(AroundCall { keeper: self.clone(), survey, ongoing: None, has_looked: false })
    }

    /// Returns the author of the changes that the next survey will find.
    fn changed_by(&self) -> ChangedBy {
        // While work runs that may change any file, its changes cannot be told apart from those of others.
        if self.changing.is_open.load(Ordering::SeqCst) { ChangedBy::Session } else { ChangedBy::Others }
    }

    /// Finds the changes of background work until now, if any has run since the last survey.
    async fn catch_up(&self, directories: Vec<PathBuf>) {
        if self.changed_by() == ChangedBy::Others {
            return;
        }
        let last = AssertUnwindSafe(self.checkpoints.list()).catch_unwind().await;
        let Ok(Ok(Some(last))) = last.map(|listed| listed.map(|listed| listed.into_iter().next_back())) else { return };
        if let Err(error) = self.look(&Survey::new(last.id, directories, ChangedBy::Session)).await {
            tracing::warn!(error, "what background work has changed could not be found");
        }
    }

    /// Begins the baseline of the session, once, so that it exists before the first command.
    fn begin_ahead(&self, prompt: Option<&EntryId>, directories: &[PathBuf]) {
        let Some(prompt) = self.of.as_ref().or(prompt).cloned() else { return };
        let mut ahead = self.changing.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        if ahead.is_some() {
            return;
        }
        let survey = Survey::new(prompt, directories.to_vec(), ChangedBy::Others);
        let keeper = self.clone();
        let work = tokio::spawn(async move {
            keeper.ready().await;
            if let Err(error) = keeper.look(&survey).await {
                tracing::warn!(error, "the baseline of the workspace could not be made beside the work");
            }
        });
        let stop = work.abort_handle();
        *ahead = Some((beside(work.map(drop)), stop));
    }

    async fn look(&self, survey: &Survey) -> Result<(), String> {
        let done = AssertUnwindSafe(self.checkpoints.survey(survey)).catch_unwind().await;
        done.map_err(|_| "looking over the workspace panicked".to_owned())?.map_err(|error| error.to_string())
    }

    /// Carries out an order of a host.
    pub(crate) async fn obey(self, order: FileOrder, directories: Vec<PathBuf>) {
        self.ready().await;
        self.catch_up(directories.clone()).await;
        let panicked = |_| {
            RewindError::Checkpoint(CheckpointError::new(
                CheckpointErrorKind::Io,
                "the store of file checkpoints panicked: this is a bug in it",
            ))
        };
        match order {
            FileOrder::List(answer) => {
                let listed = AssertUnwindSafe(self.checkpoints.list()).catch_unwind().await;
                // The host may have dropped its receiver.
                let _ = answer.send(listed.map_err(panicked).and_then(|listed| Ok(listed?)));
            }
            FileOrder::Rewind { to, how, leave_conflicts, answer } => {
                let mut options = RewindOptions::within(directories);
                options.leave_conflicts = leave_conflicts;
                let work = match how {
                    How::Say => self.checkpoints.changes(&to, &options),
                    How::Do => self.checkpoints.rewind(&to, &options),
                };
                let done = AssertUnwindSafe(work).catch_unwind().await;
                let _ = answer.send(done.map_err(panicked).and_then(|done| Ok(done?)));
            }
        }
    }

    /// Waits until the checkpoint of every prompt until now has begun, and until the changes of calls are known.
    async fn ready(&self) {
        ended(self.begun.clone()).await;
        ended(self.changing.looked()).await;
    }

    /// Ends the baseline that is made ahead, and waits until no work on the files is left.
    async fn end(&self) {
        self.ready().await;
        if self.of.is_some() {
            return;
        }
        if let Some((ahead, stop)) = self.changing.ahead() {
            stop.abort();
            ahead.await;
        }
        // Aborted work may still run on a thread.
        if AssertUnwindSafe(self.checkpoints.settle()).catch_unwind().await.is_err() {
            tracing::warn!("the store of file checkpoints panicked");
        }
    }
}

/// The files of a session: their keeper, and the rewind in progress.
#[derive(Debug, Default)]
pub(crate) struct SessionFiles {
    keeper: Option<Keeper>,
    /// The rewind in progress. Orders wait for it.
    rewinding: Option<JoinHandle<()>>,
}

impl SessionFiles {
    pub(crate) fn new(keeper: Option<Keeper>) -> Self {
        Self { keeper, rewinding: None }
    }

    /// The keeper of files, if they are kept.
    pub(crate) fn keeper(&self) -> Option<&Keeper> {
        self.keeper.as_ref()
    }

    /// Begins the checkpoints of the prompts that the machine appends to the log.
    pub(crate) fn heard(&mut self, entries: &[Entry], directories: &[PathBuf]) {
        if let Some(keeper) = &mut self.keeper {
            keeper.heard(entries, directories);
        }
    }

    /// Lists or rewinds the kept files. Nothing is rewound while the session or an agent of it is `busy`.
    pub(crate) fn obey(&mut self, order: FileOrder, busy: bool, directories: Vec<PathBuf>) {
        let Some(keeper) = self.keeper.clone() else { return order.refuse(RewindError::Off) };
        let is_rewind = order.is_rewind();
        if is_rewind && busy {
            return order.refuse(RewindError::Running);
        }
        let work = tokio::spawn(keeper.obey(order, directories));
        if is_rewind {
            self.rewinding = Some(work);
        }
    }

    pub(crate) fn are_rewound(&self) -> bool {
        self.rewinding.is_some()
    }

    /// Waits for the rewind in progress; for ever if there is none.
    pub(crate) async fn rewound(&mut self) {
        match &mut self.rewinding {
            Some(work) => {
                // The host that waits for its outcome has it by now.
                let _ = work.await;
                self.rewinding = None;
            }
            None => std::future::pending().await,
        }
    }

    /// Begins the baseline of the session concurrently, if that was not done.
    pub(crate) fn begin_ahead(&self, prompt: Option<&EntryId>, directories: &[PathBuf]) {
        if let Some(keeper) = &self.keeper {
            keeper.begin_ahead(prompt, directories);
        }
    }

    /// Surveys of earlier calls that must end before an answer of the model is accepted.
    pub(crate) fn looked(&self) -> Option<Shared<BoxFuture<'static, ()>>> {
        self.keeper.as_ref()?.changing.looked()
    }

    /// Ends the work on files when the session ends.
    pub(crate) async fn end(&self) {
        if let Some(keeper) = &self.keeper {
            keeper.end().await;
        }
    }
}
