//! Surveys of the workspace around one call or background task that may change any file.

use crate::files::changing::{OngoingChange, ended, shared_work};
use crate::files::keeper::Keeper;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use windlass_session::{ChangedBy, Survey};
use windlass_types::{EntryId, ToolUseId};

/// Surveys of the workspace around one call or background task that may change any file.
#[derive(Debug)]
pub(crate) struct CallSurvey {
    keeper: Keeper,
    survey: Survey,
    ongoing: Option<OngoingChange>,
    /// `true` once the survey before the work is done.
    is_surveyed: bool,
}

impl CallSurvey {
    /// Surveys around a call that may change any file of these directories.
    pub(crate) fn new(
        keeper: &Keeper,
        prompt: Option<&EntryId>,
        call: ToolUseId,
        directories: &[PathBuf],
    ) -> Option<Self> {
        let survey = Survey::new(keeper.prompt(prompt)?, directories.to_vec(), ChangedBy::Others).of_call(call);
        Some(Self { keeper: keeper.clone(), survey, ongoing: None, is_surveyed: false })
    }

    /// Surveys the workspace before the work begins. The error is the reason why the work must not begin.
    pub(crate) async fn before(&mut self) -> Result<(), String> {
        self.keeper.ready().await;
        ended(self.keeper.changing.baseline().map(|(baseline, _)| baseline)).await;
        self.survey.changed_by = self.keeper.changed_by();
        // Work that begins meanwhile sees that this work may change files.
        self.ongoing = Some(OngoingChange::begin(&self.keeper.changing));
        self.keeper.survey(&self.survey).await?;
        self.is_surveyed = true;
        Ok(())
    }

    /// Returns the same for a background task of the call, which has not begun yet.
    pub(crate) fn later(&self) -> Self {
        Self { keeper: self.keeper.clone(), survey: self.survey.clone(), ongoing: None, is_surveyed: true }
    }

    /// Returns the same for a background task of the call, from now on.
    pub(crate) fn of_background(&self) -> Self {
        Self { ongoing: Some(OngoingChange::begin(&self.keeper.changing)), ..self.later() }
    }

    /// Finds the changes of the work, when it has ended.
    pub(crate) async fn after(mut self) {
        let running = self.keeper.changing.running.load(Ordering::SeqCst);
        if !self.is_surveyed {
            // The work has not begun: only earlier changes are open.
            let was_open = self.survey.changed_by == ChangedBy::Session;
            self.keeper.changing.is_open.store(was_open || running > 1, Ordering::SeqCst);
            return;
        }
        self.survey.changed_by = ChangedBy::Session;
        ended(self.keeper.begun.clone()).await;
        match self.keeper.survey(&self.survey).await {
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
        let mut survey = changing.survey.lock().unwrap_or_else(PoisonError::into_inner);
        let previous_work = survey.take();
        *survey = Some(shared_work(async move {
            ended(previous_work).await;
            self.after().await;
        }));
    }
}
