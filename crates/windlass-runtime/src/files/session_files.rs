//! The files of a session: their keeper, and the rewind in progress.

use crate::commands::FileCommand;
use crate::error::RewindError;
use crate::files::keeper::Keeper;
use futures_util::future::{BoxFuture, Shared};
use std::path::PathBuf;
use tokio::task::JoinHandle;
use windlass_types::{Entry, EntryId};

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
    pub(crate) fn note_prompts(&mut self, entries: &[Entry], directories: &[PathBuf]) {
        if let Some(keeper) = &mut self.keeper {
            keeper.note_prompts(entries, directories);
        }
    }

    /// Lists or rewinds the kept files. Nothing is rewound while the session or an agent of it is `busy`.
    pub(crate) fn obey(&mut self, command: FileCommand, busy: bool, directories: Vec<PathBuf>) {
        let Some(keeper) = self.keeper.clone() else { return command.refuse(RewindError::Off) };
        let is_rewind = command.is_rewind();
        if is_rewind && busy {
            return command.refuse(RewindError::Running);
        }
        let work = tokio::spawn(keeper.obey(command, directories));
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
    pub(crate) fn begin_baseline(&self, prompt: Option<&EntryId>, directories: &[PathBuf]) {
        if let Some(keeper) = &self.keeper {
            keeper.begin_baseline(prompt, directories);
        }
    }

    /// Surveys of earlier calls that must end before an answer of the model is accepted.
    pub(crate) fn surveyed(&self) -> Option<Shared<BoxFuture<'static, ()>>> {
        self.keeper.as_ref()?.surveyed()
    }

    /// Ends the work on files when the session ends.
    pub(crate) async fn end(&self) {
        if let Some(keeper) = &self.keeper {
            keeper.end().await;
        }
    }
}
