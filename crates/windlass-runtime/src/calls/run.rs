//! Running one call, without its layers.

use crate::calls::layer::{CallEnd, TextSource};
use crate::tasks::AbortOnDrop;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use windlass_context::runtime_text;
use windlass_tool::{Cancel, DynTool, InterruptBehavior, PreparedCall, ToolCx, ToolError, ToolErrorKind, ToolOutput};
use windlass_types::{ToolFailure, ToolFailureKind, ToolOutcome};

/// Grace period for a call to end after it was asked to. Then it is dropped.
const STOP_TIMEOUT: Duration = Duration::from_millis(800);

/// A call that is about to run.
pub(crate) struct RunningCall {
    pub(crate) tool: Arc<dyn DynTool>,
    pub(crate) call: Box<dyn PreparedCall>,
    pub(crate) cx: ToolCx,
}

/// Runs a call to its end, also when it panics or is asked to stop.
#[expect(clippy::disallowed_methods, reason = "measures how long the call takes")]
pub(crate) async fn run(running: RunningCall, cancel: &Cancel) -> CallEnd {
    let RunningCall { tool, call, cx } = running;
    if cancel.is_cancelled() {
        return CallEnd::of_runtime(runtime_text::CALL_STOPPED);
    }
    let Ok(annotations) = catch_unwind(AssertUnwindSafe(|| tool.annotations())) else {
        return CallEnd::of_runtime("The tool panicked before it ran.");
    };
    let began = Instant::now();
    let mut work = AbortOnDrop(tokio::spawn(async move { call.call(cx).await }));
    let ended = tokio::select! {
        ended = &mut work.0 => Some(ended),
        () = cancel.cancelled() => match annotations.interrupt {
            InterruptBehavior::Block => Some((&mut work.0).await),
            _ => tokio::time::timeout(STOP_TIMEOUT, &mut work.0).await.ok(),
        },
    };
    let (mut outcome, source) = match ended {
        Some(Ok(Ok(output))) => (succeeded(output), TextSource::Result),
        Some(Ok(Err(error))) if error.kind() == ToolErrorKind::Cancelled => (failed(&error), TextSource::Runtime),
        Some(Ok(Err(error))) => (failed(&error), TextSource::Error),
        Some(Err(join)) if join.is_panic() => {
            tracing::error!(tool_panicked = true, "a tool panicked");
            let failure = ToolFailure::new(ToolFailureKind::Panicked).with_source(panic_text(join.into_panic()));
            let text = "The tool panicked. It may have taken effect in part.";
            (ToolOutcome::error(text).with_failure(failure), TextSource::Runtime)
        }
        Some(Err(_)) | None => (ToolOutcome::error(runtime_text::STOPPED), TextSource::Runtime),
    };
    outcome.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    CallEnd { outcome, source, annotations }
}

fn succeeded(output: ToolOutput) -> ToolOutcome {
    let mut outcome = ToolOutcome::ok(output.content);
    outcome.is_error = output.is_error;
    outcome.structured = output.structured;
    outcome.diff = output.diff;
    outcome.changes = output.changes;
    outcome.note = output.note;
    outcome
}

fn failed(error: &ToolError) -> ToolOutcome {
    if let Some(waiting) = error.waiting() {
        let mut outcome = ToolOutcome::error(error.model_text());
        outcome.waits = Some(Box::new(waiting.clone()));
        return outcome;
    }
    let source = error.source().map(|source| causes(source));
    if let Some(source) = &source {
        tracing::warn!(%source, "a tool failed");
    }
    let (text, kind) = match error.kind() {
        ToolErrorKind::Cancelled => (runtime_text::STOPPED, ToolFailureKind::Cancelled),
        ToolErrorKind::InvalidInput => (error.model_text(), ToolFailureKind::InvalidInput),
        ToolErrorKind::Internal => (error.model_text(), ToolFailureKind::Internal),
        _ => (error.model_text(), ToolFailureKind::Rejected),
    };
    ToolOutcome::error(text).with_failure(ToolFailure::new(kind).with_source(source))
}

/// Returns an error and its causes as one text.
fn causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

/// Returns the message of a panic, if that is a text.
fn panic_text(panic: Box<dyn Any + Send>) -> Option<String> {
    match panic.downcast::<String>() {
        Ok(text) => Some(*text),
        Err(panic) => panic.downcast_ref::<&str>().map(|text| (*text).to_owned()),
    }
}
