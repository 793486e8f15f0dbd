//! The keeper of a session's files: checkpoints of prompts, snapshots before calls, and surveys of the workspace.

use crate::commands::{FileCommand, RewindMode};
use crate::error::RewindError;
use crate::files::changing::{Changing, SharedWork, ended, shared_work};
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use windlass_session::{ChangedBy, CheckpointError, CheckpointErrorKind, Checkpoints, RewindOptions, Survey};
use windlass_types::{Entry, EntryId, EntryKind, ToolUseId};

/// Keeps the files of one session.
#[derive(Debug, Clone)]
pub(crate) struct Keeper {
    checkpoints: Arc<dyn Checkpoints>,
    /// Ends when the checkpoint of every prompt until now has begun.
    pub(super) begun: Option<SharedWork>,
    /// Prompt of the main agent to which everything belongs, if this keeps the files of another agent.
    of: Option<EntryId>,
    /// Running work of all agents that may change any file.
    pub(super) changing: Arc<Changing>,
}

impl Keeper {
    /// Ends when the changes of all calls until now are known. `None` if they are.
    pub(super) fn surveyed(&self) -> Option<SharedWork> {
        self.changing.surveyed()
    }

    /// Prompt to which the changes of a call belong: that of the main agent.
    pub(super) fn prompt(&self, own: Option<&EntryId>) -> Option<EntryId> {
        self.of.as_ref().or(own).cloned()
    }

    pub(crate) fn new(checkpoints: Arc<dyn Checkpoints>) -> Self {
        Self { checkpoints, begun: None, of: None, changing: Arc::default() }
    }

    /// Returns a keeper for the files that an agent changes, whose work belongs to this prompt.
    pub(crate) fn of_agent(&self, prompt: EntryId) -> Self {
        let mut keeper = self.clone();
        keeper.of.get_or_insert(prompt);
        keeper
    }

    /// Begins the checkpoints of the prompts among these entries, one after the other. Only calls and commands that
    /// need them wait for that.
    pub(crate) fn note_prompts(&mut self, entries: &[Entry], directories: &[PathBuf]) {
        if self.of.is_some() {
            return;
        }
        for entry in entries {
            let EntryKind::User(user) = &entry.kind else { continue };
            if user.is_meta || user.is_summary {
                continue;
            }
            let (before, checkpoints, id) = (self.begun.take(), Arc::clone(&self.checkpoints), entry.id.clone());
            let (keeper, directories, surveyed) = (self.clone(), directories.to_vec(), self.changing.surveyed());
            self.begun = Some(shared_work(async move {
                ended(before).await;
                ended(surveyed).await;
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
        let result = AssertUnwindSafe(self.checkpoints.keep(&prompt, &call, &paths)).catch_unwind().await;
        result.map_err(|_| "keeping them panicked".to_owned())?.map_err(|error| error.to_string())
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

    /// Returns the author of the changes that the next survey will find.
    pub(super) fn changed_by(&self) -> ChangedBy {
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
        if let Err(error) = self.survey(&Survey::new(last.id, directories, ChangedBy::Session)).await {
            tracing::warn!(error, "what background work has changed could not be found");
        }
    }

    /// Begins the baseline of the session, once, so that it exists before the first command.
    pub(super) fn begin_baseline(&self, prompt: Option<&EntryId>, directories: &[PathBuf]) {
        let Some(prompt) = self.prompt(prompt) else { return };
        let mut baseline = self.changing.baseline.lock().unwrap_or_else(PoisonError::into_inner);
        if baseline.is_some() {
            return;
        }
        let survey = Survey::new(prompt, directories.to_vec(), ChangedBy::Others);
        let keeper = self.clone();
        let work = tokio::spawn(async move {
            keeper.ready().await;
            if let Err(error) = keeper.survey(&survey).await {
                tracing::warn!(error, "the baseline of the workspace could not be made beside the work");
            }
        });
        let stop = work.abort_handle();
        *baseline = Some((shared_work(work.map(drop)), stop));
    }

    pub(super) async fn survey(&self, survey: &Survey) -> Result<(), String> {
        let done = AssertUnwindSafe(self.checkpoints.survey(survey)).catch_unwind().await;
        done.map_err(|_| "looking over the workspace panicked".to_owned())?.map_err(|error| error.to_string())
    }

    /// Carries out a command of a host.
    pub(crate) async fn obey(self, command: FileCommand, directories: Vec<PathBuf>) {
        self.ready().await;
        self.catch_up(directories.clone()).await;
        let panicked = |_| {
            RewindError::Checkpoint(CheckpointError::new(
                CheckpointErrorKind::Io,
                "the store of file checkpoints panicked: this is a bug in it",
            ))
        };
        match command {
            FileCommand::List(answer) => {
                let listed = AssertUnwindSafe(self.checkpoints.list()).catch_unwind().await;
                // The host may have dropped its receiver.
                let _ = answer.send(listed.map_err(panicked).and_then(|listed| Ok(listed?)));
            }
            FileCommand::Rewind { to, how, leave_conflicts, answer } => {
                let mut options = RewindOptions::within(directories);
                options.leave_conflicts = leave_conflicts;
                let work = match how {
                    RewindMode::Preview => self.checkpoints.changes(&to, &options),
                    RewindMode::Apply => self.checkpoints.rewind(&to, &options),
                };
                let done = AssertUnwindSafe(work).catch_unwind().await;
                let _ = answer.send(done.map_err(panicked).and_then(|done| Ok(done?)));
            }
        }
    }

    /// Waits until the checkpoint of every prompt until now has begun, and until the changes of calls are known.
    pub(super) async fn ready(&self) {
        ended(self.begun.clone()).await;
        ended(self.changing.surveyed()).await;
    }

    /// Ends the baseline that is made ahead, and waits until no work on the files is left.
    pub(super) async fn end(&self) {
        self.ready().await;
        if self.of.is_some() {
            return;
        }
        if let Some((baseline, stop)) = self.changing.baseline() {
            stop.abort();
            baseline.await;
        }
        // Aborted work may still run on a thread.
        if AssertUnwindSafe(self.checkpoints.settle()).catch_unwind().await.is_err() {
            tracing::warn!("the store of file checkpoints panicked");
        }
    }
}
