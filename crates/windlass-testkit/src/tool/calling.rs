//! Behavior of calls.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use futures_util::FutureExt;
use serde_json::Value;
use windlass_tool::{Cancel, InterruptBehavior, PreparedCall, ToolCx, ToolOutput};
use windlass_types::Access;

use super::reading::DeclaredAccess;
use super::watch::{AccessNotes, WatchedWorkspace};
use crate::violation::{ensure, within};
use crate::{ToolBench, Violation};

/// Time to wait for a cancelled call before it is dropped.
const GRACE: Duration = Duration::from_secs(2);
/// Time to wait for the thread of a stopped call: the grace and time to spare.
const HELD: Duration = Duration::from_secs(5);

/// Checks that a call uses only what its access names: it opens no other file, and runs no program unless its access is
/// [`Exec`](windlass_types::Access::Exec) or [`Unknown`](windlass_types::Access::Unknown).
///
/// # Errors
/// The call opens another file, or runs a program.
pub async fn keeps_to_its_access(bench: &ToolBench, sample: &Value) -> Result<(), Violation> {
    let notes = AccessNotes::default();
    let access = call(bench, sample, Some(&notes)).await?.0;
    let refused = notes.refused();
    ensure(refused.is_empty(), || format!("call {sample}: it opens {refused:?}, but declares {access:?}"))?;
    let programs = notes.programs();
    let may_run = matches!(access, Access::Exec | Access::Unknown);
    ensure(programs.is_empty() || may_run, || format!("call {sample}: it runs {programs:?}, but declares {access:?}"))
}

/// Checks that the text of a result is no longer than the tool's own annotations allow, so that no part of it is left
/// out before the model reads it. A call that fails passes.
///
/// # Errors
/// The text is longer.
pub async fn fits_its_bound(bench: &ToolBench, sample: &Value) -> Result<(), Violation> {
    let most = bench.tool().annotations().max_result_bytes;
    let length = match call(bench, sample, None).await?.1 {
        Some(output) => output.content.text().len(),
        None => return Ok(()),
    };
    ensure(length <= most, || format!("call {sample}: {length} bytes for the model, but it reads {most} at most"))
}

/// Runs a sample to its end, and returns its access and output.
async fn call(
    bench: &ToolBench,
    sample: &Value,
    notes: Option<&AccessNotes>,
) -> Result<(Access, Option<ToolOutput>), Violation> {
    let (prepared, cx, access) = begin(bench, sample, notes, None).await?;
    let output = within(&format!("call {sample}"), prepared.call(cx)).await?;
    Ok((access, output.ok()))
}

async fn begin(
    bench: &ToolBench,
    sample: &Value,
    notes: Option<&AccessNotes>,
    cancel: Option<&Cancel>,
) -> Result<(Box<dyn PreparedCall>, ToolCx, Access), Violation> {
    let prepared =
        bench.prepare(sample).map_err(|error| Violation::new(format!("prepare {sample}: {}", error.model_text())))?;
    let access = DeclaredAccess::of(&*prepared).access;
    let mut parts = bench.parts();
    parts.permit = bench.cx(&access).await.permit().clone();
    if let Some(notes) = notes {
        let notes = notes.clone();
        parts.workspace = Arc::new(WatchedWorkspace { inner: parts.workspace, notes: notes.clone() });
        parts.process = Arc::new(WatchedWorkspace { inner: parts.process, notes });
    }
    if let Some(cancel) = cancel {
        parts.cancel = cancel.clone();
    }
    Ok((prepared, ToolCx::new(parts), access))
}

/// Checks that a call that is cancelled, before it begins or as soon as it waits, releases its thread, so that it can
/// be dropped; if its annotations ask to be waited for, it ends by itself.
///
/// The call runs on a thread of its own: a tool that blocks is found, and that thread is lost.
///
/// # Errors
/// The call blocks its thread, or does not end although it asks to be waited for.
pub async fn answers_a_cancel(bench: &ToolBench, sample: &Value) -> Result<(), Violation> {
    let must_end = bench.tool().annotations().interrupt == InterruptBehavior::Block;
    for early in [true, false] {
        let when = if early { "before it began" } else { "when it waited" };
        let cancel = Cancel::new();
        let (prepared, cx, _) = begin(bench, sample, None, Some(&cancel)).await?;
        let (sender, receiver) = mpsc::channel();
        std::thread::spawn(move || {
            let Ok(runtime) = tokio::runtime::Builder::new_current_thread().enable_all().build() else {
                return;
            };
            let ended = runtime.block_on(stopped(prepared, cx, &cancel, early));
            runtime.shutdown_background();
            // The receiver is gone if the call took too long.
            let _ = sender.send(ended);
        });
        let waited = tokio::task::spawn_blocking(move || receiver.recv_timeout(HELD)).await;
        match waited {
            Ok(Ok(ended)) => ensure(ended || !must_end, || {
                format!("call {sample}: stopped {when}, it asks to be waited for and does not end")
            })?,
            Ok(Err(RecvTimeoutError::Disconnected)) => {
                return Err(Violation::new(format!("call {sample}: stopped {when}, it panicked")));
            }
            _ => return Err(Violation::new(format!("call {sample}: stopped {when}, it holds its thread"))),
        }
    }
    Ok(())
}

/// `true` if a call that is cancelled ends by itself.
async fn stopped(prepared: Box<dyn PreparedCall>, cx: ToolCx, cancel: &Cancel, early: bool) -> bool {
    if early {
        cancel.cancel();
    }
    let mut work = prepared.call(cx);
    if (&mut work).now_or_never().is_some() {
        return true;
    }
    cancel.cancel();
    tokio::time::timeout(GRACE, work).await.is_ok()
}
