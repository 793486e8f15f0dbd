//! Work around a call: surveys of the workspace before and after it, and findings after it.

use super::answer;
use crate::checkpoints::AroundCall;
use crate::edits::Before;
use crate::nested::{self, NestedInstructions, UsedPath};
use crate::tool::{Running, run};
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use windlass_context::runtime_text;
use windlass_core::Input;
use windlass_types::ToolOutcome;

/// Runs a call that may change any file of the workspace, between two surveys. The second one continues during the
/// model's next answer; after a stopped call there may be none.
pub(super) async fn surrounded(mut around: AroundCall, running: Running) -> ToolOutcome {
    let cancel = running.cancel.clone();
    let (has_looked, outcome) = match before_call(&mut around, &running).await {
        Ok(()) => (true, run(running).await),
        Err(outcome) => (false, *outcome),
    };
    if has_looked && !cancel.is_cancelled() {
        around.follow();
    } else {
        around.after().await;
    }
    outcome
}

/// Time after which a call reports that it waits for the workspace to be kept.
const SLOW: Duration = Duration::from_secs(1);

/// Text of that progress report.
const KEEPING: &str = "Keeping the workspace as it is, so that what programs change can be taken back.";

/// Surveys the workspace before a call that may change any file of it. The error is the answer of a call that must not
/// run.
async fn before_call(around: &mut AroundCall, running: &Running) -> Result<(), Box<ToolOutcome>> {
    let slow = async {
        tokio::time::sleep(SLOW).await;
        running.cx.progress(KEEPING);
        std::future::pending::<Infallible>().await
    };
    let looked = tokio::select! {
        looked = around.before() => looked,
        () = running.cancel.cancelled() => return Err(Box::new(ToolOutcome::error(runtime_text::CALL_STOPPED))),
        never = slow => match never {},
    };
    looked.map_err(|error| {
        let text = format!("The call did not run: the workspace could not be kept as it is first: {error}");
        Box::new(ToolOutcome::error(text))
    })
}

/// Findings after a call that succeeded.
pub(super) struct Found {
    pub(super) instructions: Option<(Arc<dyn NestedInstructions>, Vec<UsedPath>)>,
    pub(super) before: Option<Before>,
}

impl Found {
    /// Hands the findings to the machine, for the model.
    pub(super) async fn report(self, results: &mpsc::UnboundedSender<Input>) {
        if let Some((source, paths)) = self.instructions {
            let found = nested::find(&*source, &paths).await;
            if !found.is_empty() {
                answer(results, Input::AddInstructions(found));
            }
        }
        if let Some(before) = self.before
            && let Some(text) = before.introduced().await
        {
            answer(results, Input::AddContext(vec![text]));
        }
    }
}
