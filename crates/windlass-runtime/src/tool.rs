//! Running one call.

use crate::artifact;
use crate::room::Room;
use crate::tasks::AbortOnDrop;
use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use windlass_context::{foreign_content, runtime_text};
use windlass_permission::{CallFacts, Policy};
use windlass_tool::{
    Cancel, DynTool, Ids, InterruptBehavior, JudgedPath, Permit, PreparedCall, ToolCx, ToolError, ToolErrorKind,
    ToolOutput,
};
use windlass_types::{ToolFailure, ToolFailureKind, ToolOutcome};

/// Grace period for a call to end after it was asked to. Then it is dropped.
const GRACE: Duration = Duration::from_millis(800);

/// Returns the permit of a call: access to the judged paths, and nothing else.
pub(crate) fn permit(facts: &CallFacts, policy: Arc<Policy>) -> Permit {
    let judged = |write: bool| -> Vec<JudgedPath> {
        let paths = facts.paths.iter().filter(|path| path.write == write);
        paths.map(|path| JudgedPath::new(&path.requested, &path.resolved)).collect()
    };
    // Allows a tool to suggest the intended name when a file is missing.
    let listable = policy.listable(facts).map(|(requested, resolved)| JudgedPath::new(requested, resolved)).collect();
    let only_reads = policy.is_proven_read_only(facts);
    let contents = (facts.tool == "Grep").then(|| facts.clone());
    let filter = move |path: &Path| match &contents {
        Some(facts) => policy.may_search(facts, path, path),
        None => policy.may_read(path, path),
    };
    Permit::new(facts.digest.clone())
        .with_reads(judged(false))
        .with_writes(judged(true))
        .with_listable(listable)
        .with_only_reads(only_reads)
        .with_filter(Arc::new(filter))
}

/// A call that is about to run.
pub(crate) struct Running {
    pub(crate) tool: Arc<dyn DynTool>,
    pub(crate) call: Box<dyn PreparedCall>,
    pub(crate) cx: ToolCx,
    pub(crate) cancel: Cancel,
    pub(crate) ids: Arc<dyn Ids>,
    /// Remaining space, shared with the other calls of its message.
    pub(crate) room: Room,
}

/// Runs a call to its end, also when it panics or is asked to stop.
#[expect(clippy::disallowed_methods, reason = "measures how long the call takes")]
pub(crate) async fn run(running: Running) -> ToolOutcome {
    let Running { tool, call, cx, cancel, ids, room } = running;
    if cancel.is_cancelled() {
        return ToolOutcome::error(runtime_text::CALL_STOPPED);
    }
    let Ok(annotations) = catch_unwind(AssertUnwindSafe(|| tool.annotations())) else {
        return ToolOutcome::error("The tool panicked before it ran.");
    };
    let began = Instant::now();
    let artifacts = cx.artifacts().map(Path::to_path_buf);
    let mut work = AbortOnDrop(tokio::spawn(async move { call.call(cx).await }));
    let ended = tokio::select! {
        ended = &mut work.0 => Some(ended),
        () = cancel.cancelled() => match annotations.interrupt {
            InterruptBehavior::Block => Some((&mut work.0).await),
            _ => tokio::time::timeout(GRACE, &mut work.0).await.ok(),
        },
    };
    // Texts of the runtime itself about a call are not foreign.
    let is_foreign = annotations.foreign_output
        && match &ended {
            Some(Ok(Ok(_))) => true,
            Some(Ok(Err(error))) => error.kind() != ToolErrorKind::Cancelled,
            Some(Err(_)) | None => false,
        };
    // An error text of the tool is not bounded.
    let is_bounded = annotations.bounded_output && matches!(&ended, Some(Ok(Ok(_))));
    let mut outcome = match ended {
        Some(Ok(Ok(output))) => succeeded(output),
        Some(Ok(Err(error))) => failed(&error),
        Some(Err(join)) if join.is_panic() => {
            tracing::error!(tool_panicked = true, "a tool panicked");
            let failure = ToolFailure::new(ToolFailureKind::Panicked).with_source(panic_text(join.into_panic()));
            ToolOutcome::error("The tool panicked. It may have taken effect in part.").with_failure(failure)
        }
        Some(Err(_)) | None => ToolOutcome::error(runtime_text::STOPPED),
    };
    let most = room.take(&outcome.content, annotations.max_result_bytes);
    outcome.content = artifact::fit(outcome.content, most, artifacts.as_deref(), &*ids).await;
    // Foreign content could imitate the tool's own words beside it.
    if is_foreign || outcome.note.is_some() {
        outcome.content = foreign_content(outcome.content);
    }
    outcome.boundary = is_bounded.then(|| ids.bits());
    outcome.duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    outcome
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
