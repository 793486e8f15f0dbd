//! Events as lines of text.

use windlass_types::{ContentBlock, Delta, Event, EventKind, Outcome, StateChange, Status, SteeredFate};

/// Returns one line for each event.
pub(crate) fn render(events: &[Event]) -> String {
    events.iter().map(|event| line(&event.kind) + "\n").collect()
}

fn line(kind: &EventKind) -> String {
    match kind {
        EventKind::RunStarted(started) => format!("run started in {}", started.cwd.display()),
        EventKind::BlockDelta { delta, .. } => match delta {
            Delta::Text(text) => format!("text {text:?}"),
            Delta::Thinking(text) => format!("thinking {text:?}"),
            Delta::ToolInput(text) => format!("input {text}"),
            _ => "?".to_owned(),
        },
        EventKind::BlockFinished { block, .. } => match block {
            ContentBlock::ToolUse(call) => format!("call {} of {}", call.id, call.name),
            ContentBlock::Thinking { .. } => "block thinking".to_owned(),
            _ => "block text".to_owned(),
        },
        EventKind::MessageFinished { message_id, stop_reason, .. } => {
            format!("message {message_id} ({})", stop_reason.as_ref().map_or("?", |reason| reason.as_str()))
        }
        EventKind::MessageWithdrawn { reason, .. } => format!("withdrawn ({reason:?})"),
        EventKind::ToolStarted(started) => format!("started {}: {}", started.tool_use_id, started.title),
        EventKind::ToolProgress(progress) => format!("progress {}: {}", progress.tool_use_id, progress.message),
        EventKind::ToolFinished(finished) => {
            let how = match (&finished.denied, finished.result.is_error) {
                (Some(decision), _) => format!("denied ({:?})", decision.reason),
                (None, true) => "error".to_owned(),
                (None, false) => "ok".to_owned(),
            };
            format!("finished {} {how}: {}", finished.result.tool_use_id, finished.result.content.text())
        }
        EventKind::PermissionRequested(request) => format!("asked about {}: {}", request.tool_use_id, request.title),
        EventKind::PermissionResolved { tool_use_id, decision, .. } => {
            format!("resolved {tool_use_id}: {:?} ({:?})", decision.behavior, decision.reason)
        }
        EventKind::HookRan { event, .. } => format!("hook {event}"),
        EventKind::UsageUpdated { model, usage, .. } => {
            format!("usage of {model}: {} in, {} out", usage.input_tokens, usage.output_tokens)
        }
        EventKind::StateChanged(change) => match change {
            StateChange::PermissionMode { mode } => format!("mode {}", mode.as_str()),
            StateChange::Model { model } => format!("model {model}"),
            StateChange::Cwd { cwd } => format!("cwd {}", cwd.display()),
            _ => "todos".to_owned(),
        },
        EventKind::Status(status) => match status {
            Status::Requesting { continuation, model, .. } => format!("requesting {model} ({continuation:?})"),
            Status::Retrying(retry) => {
                format!("retrying {} of {}: {:?}", retry.attempt, retry.max_retries, retry.error)
            }
            Status::FallingBack { from, to } => format!("falling back from {from} to {to}"),
            Status::CacheBroken { cause } => format!("cache broken: {cause}"),
            Status::PriceUnknown { model } => format!("price of {model} unknown"),
            Status::Notice { message } => format!("notice: {message}"),
            _ => "?".to_owned(),
        },
        EventKind::Steered(steered) => match &steered.fate {
            SteeredFate::Joined { .. } => "joined".to_owned(),
            SteeredFate::Blocked { reason } => format!("kept out: {reason}"),
            fate => format!("{fate:?}").to_lowercase(),
        },
        EventKind::RateLimit(limit) => {
            let used = limit.utilization.map_or(0.0, |used| used.get() * 100.0);
            format!("limit {} at {used:.0}%", limit.status)
        }
        EventKind::TaskStarted(task) => format!("task {} started", task.id),
        EventKind::TaskEnded(ended) => format!("task {} {}", ended.info.id, ended.status.as_str()),
        EventKind::RunFinished(result) => match &result.outcome {
            Outcome::Failed(failure) => format!("run failed ({:?})", failure.kind),
            outcome => format!("run ended ({outcome:?}), {} turns", result.turns),
        },
        _ => "?".to_owned(),
    }
}
