//! Files as they were: kept before calls change them, and put back when the host asks for it.

use crate::handle::{Order, SessionHandle};
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, Shared};
use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use windlass_session::{Checkpoint, CheckpointError, CheckpointErrorKind, Checkpoints, Rewind, RewindOptions};
use windlass_types::{Entry, EntryId, EntryKind, ToolUseId};

/// Why files were not rewound. Nothing was changed then.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RewindError {
    /// The session keeps no checkpoints.
    #[error("File checkpointing is not enabled, so no files can be rewound.")]
    Off,
    /// A run is in progress, whose tools may be changing files, or an agent in the background.
    #[error(
        "files cannot be rewound while a run is in progress, also that of an agent: wait for its result, or stop it"
    )]
    Running,
    /// The session is closed.
    #[error("the session is closed")]
    Closed,
    /// The checkpoints refused.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
}

/// What a host wants of checkpoints, and where it waits.
#[derive(Debug)]
pub(crate) enum FileOrder {
    List(oneshot::Sender<Result<Vec<Checkpoint>, RewindError>>),
    Rewind { to: EntryId, how: How, leave_conflicts: bool, answer: oneshot::Sender<Result<Rewind, RewindError>> },
}

/// Whether to rewind, or only to say what that would do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum How {
    Say,
    Do,
}

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

    /// What [`rewind_files`](Self::rewind_files) would do. May be asked while a run is in progress.
    ///
    /// # Errors
    /// No checkpoints are kept, there is no such checkpoint, or the session is closed.
    pub fn file_changes(&self, to: &EntryId) -> impl Future<Output = Result<Rewind, RewindError>> + Send + 'static {
        let (answer, waiting) = oneshot::channel();
        let order = FileOrder::Rewind { to: to.clone(), how: How::Say, leave_conflicts: false, answer };
        self.wait(order, waiting)
    }

    /// Gives the files of the workspace that tools have changed since a prompt the
    /// state that they had before it. Only what tools like Write and Edit changed
    /// can be put back, not what programs did (Bash, MCP servers).
    ///
    /// What the files hold now is kept first: [`Rewind::undo`] is the checkpoint
    /// that takes the rewind back. The conversation stays as it is. Files that
    /// others changed meanwhile are rewound too and named; see
    /// [`rewind_own_files`](Self::rewind_own_files).
    ///
    /// The order is given at once, before the future is polled; dropping the
    /// future loses only the outcome. Prompts that are given meanwhile wait.
    ///
    /// # Errors
    /// A run is in progress, no checkpoints are kept, there is no such checkpoint,
    /// or the session is closed. No file was changed then. What goes wrong with one file is
    /// named in the outcome.
    pub fn rewind_files(&self, to: &EntryId) -> impl Future<Output = Result<Rewind, RewindError>> + Send + 'static {
        let (answer, waiting) = oneshot::channel();
        let order = FileOrder::Rewind { to: to.clone(), how: How::Do, leave_conflicts: false, answer };
        self.wait(order, waiting)
    }

    /// As [`rewind_files`](Self::rewind_files), and leaves files alone that
    /// others have changed since the tools did.
    ///
    /// # Errors
    /// As there.
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

/// Keeps the files of one session.
#[derive(Debug, Clone)]
pub(crate) struct Keeper {
    checkpoints: Arc<dyn Checkpoints>,
    /// Ends when the checkpoint of every prompt until now has begun.
    begun: Option<Shared<BoxFuture<'static, ()>>>,
    /// The prompt of the main agent, for which everything is done, if this keeps the files of another one.
    of: Option<EntryId>,
}

impl Keeper {
    pub(crate) fn new(checkpoints: Arc<dyn Checkpoints>) -> Self {
        Self { checkpoints, begun: None, of: None }
    }

    /// Keeps the files that an agent changes, whose work is part of what this prompt has led to.
    pub(crate) fn of_agent(&self, prompt: EntryId) -> Self {
        let mut keeper = self.clone();
        keeper.of.get_or_insert(prompt);
        keeper
    }

    /// Begins the checkpoints of the prompts among these entries, one after the
    /// other. Only calls and orders that need them wait for that.
    pub(crate) fn heard(&mut self, entries: &[Entry]) {
        if self.of.is_some() {
            return;
        }
        for entry in entries {
            let EntryKind::User(user) = &entry.kind else { continue };
            if user.is_meta || user.is_summary {
                continue;
            }
            let (before, checkpoints, id) = (self.begun.take(), Arc::clone(&self.checkpoints), entry.id.clone());
            let begun = async move {
                if let Some(before) = before {
                    before.await;
                }
                match AssertUnwindSafe(checkpoints.begin(&id)).catch_unwind().await {
                    Ok(Ok(())) => {}
                    Ok(Err(error)) => tracing::warn!(%error, "the file checkpoint of a prompt could not begin"),
                    Err(_) => tracing::warn!("the file checkpoint of a prompt panicked"),
                }
            };
            let begun = begun.boxed().shared();
            tokio::spawn(begun.clone());
            self.begun = Some(begun);
        }
    }

    /// Keeps the files that a call is about to change.
    pub(crate) async fn keep(self, prompt: EntryId, call: ToolUseId, paths: Vec<PathBuf>) -> Result<(), String> {
        self.ready().await;
        let prompt = self.of.unwrap_or(prompt);
        let kept = AssertUnwindSafe(self.checkpoints.keep(&prompt, &call, &paths)).catch_unwind().await;
        kept.map_err(|_| "keeping them panicked".to_owned())?.map_err(|error| error.to_string())
    }

    /// Notes what a call has left of the files that it was to change.
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

    /// Carries out what a host wants.
    pub(crate) async fn obey(self, order: FileOrder, directories: Vec<PathBuf>) {
        self.ready().await;
        let panicked = |_| {
            RewindError::Checkpoint(CheckpointError::new(
                CheckpointErrorKind::Io,
                "the store of file checkpoints panicked: this is a bug in it",
            ))
        };
        match order {
            FileOrder::List(answer) => {
                let listed = AssertUnwindSafe(self.checkpoints.list()).catch_unwind().await;
                // A host that no longer waits needs no answer.
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

    /// Waits until the checkpoint of every prompt until now has begun.
    pub(crate) async fn ready(&self) {
        if let Some(begun) = self.begun.clone() {
            begun.await;
        }
    }
}

impl FileOrder {
    pub(crate) fn refuse(self, error: RewindError) {
        match self {
            Self::List(answer) => drop(answer.send(Err(error))),
            Self::Rewind { answer, .. } => drop(answer.send(Err(error))),
        }
    }

    pub(crate) fn is_rewind(&self) -> bool {
        matches!(self, Self::Rewind { how: How::Do, .. })
    }
}

/// The files of a session: what keeps them, and the rewind that is at work.
#[derive(Debug, Default)]
pub(crate) struct SessionFiles {
    keeper: Option<Keeper>,
    /// Orders wait for it.
    rewinding: Option<JoinHandle<()>>,
}

impl SessionFiles {
    pub(crate) fn new(keeper: Option<Keeper>) -> Self {
        Self { keeper, rewinding: None }
    }

    /// What keeps files, if they are kept.
    pub(crate) fn keeper(&self) -> Option<&Keeper> {
        self.keeper.as_ref()
    }

    /// Sees what the machine appends to the log.
    pub(crate) fn heard(&mut self, entries: &[Entry]) {
        if let Some(keeper) = &mut self.keeper {
            keeper.heard(entries);
        }
    }

    /// Lists or rewinds what was kept. Nothing is rewound while the session or an agent of it is `busy`.
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

    /// Waits for the rewind that is at work; for ever if there is none.
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

    /// Waits until the checkpoint of every prompt until now has begun.
    pub(crate) async fn ready(&self) {
        if let Some(keeper) = &self.keeper {
            keeper.ready().await;
        }
    }
}
