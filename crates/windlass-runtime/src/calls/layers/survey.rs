//! The layer that surveys the workspace around a call that may change any file of it.

use crate::calls::layer::{CallEnd, CallLayer, LayeredCall};
use crate::files::survey::CallSurvey;
use async_trait::async_trait;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use windlass_context::runtime_text;

/// Time after which a call reports that it waits for the workspace to be kept.
const SLOW: Duration = Duration::from_secs(1);

/// Text of that progress report.
const KEEPING: &str = "Keeping the workspace as it is, so that what programs change can be taken back.";

/// Runs a call between two surveys. The second one continues during the model's next answer; after a stopped call there
/// may be none.
pub(crate) struct SurveyLayer {
    survey: Option<CallSurvey>,
    progress: Arc<dyn Fn(String) + Send + Sync>,
    is_surveyed: bool,
}

impl SurveyLayer {
    /// A layer with the survey of its call, and the way to report progress.
    pub(crate) fn new(survey: CallSurvey, progress: Arc<dyn Fn(String) + Send + Sync>) -> Self {
        Self { survey: Some(survey), progress, is_surveyed: false }
    }
}

#[async_trait]
impl CallLayer for SurveyLayer {
    async fn before(&mut self, call: &LayeredCall) -> Result<(), String> {
        let Some(survey) = &mut self.survey else { return Ok(()) };
        let slow = async {
            tokio::time::sleep(SLOW).await;
            (self.progress)(KEEPING.to_owned());
            std::future::pending::<Infallible>().await
        };
        let surveyed = tokio::select! {
            surveyed = survey.before() => surveyed,
            () = call.cancel.cancelled() => return Err(runtime_text::CALL_STOPPED.to_owned()),
            never = slow => match never {},
        };
        self.is_surveyed = surveyed.is_ok();
        surveyed
            .map_err(|error| format!("The call did not run: the workspace could not be kept as it is first: {error}"))
    }

    async fn after(&mut self, call: &LayeredCall, _: &mut CallEnd) {
        let Some(survey) = self.survey.take() else { return };
        if self.is_surveyed && !call.cancel.is_cancelled() {
            survey.follow();
        } else {
            survey.after().await;
        }
    }
}
