//! A question about a call, put to hooks and the host at the same time.

use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use windlass_hook::{HookContext, Hooks, PermissionRequestEvent};
use windlass_permission::{CanUseTool, Question};
use windlass_types::{HookCall, HookOutcome, PermissionAnswer, PermissionRequest};

/// Asks both, and answers as soon as it is certain what the answer is.
///
/// What hooks did is reported when all of them have answered, and any of them ran.
pub(crate) async fn ask(
    host: Option<Arc<dyn CanUseTool>>,
    hooks: Hooks,
    cx: HookContext,
    request: PermissionRequest,
    report: impl FnOnce(HookOutcome),
) -> PermissionAnswer {
    let call = HookCall::from(PermissionRequestEvent {
        tool_name: request.tool.clone(),
        tool_input: request.input.clone(),
        tool_use_id: request.tool_use_id.clone(),
        permission_suggestions: request.decision.suggestions.clone(),
    });
    let mut hooks = pin!(hooks.run(&cx, &call));
    let mut host = pin!(ask_host(host, request));
    let mut question = Question::new();
    let mut report = Some(report);
    loop {
        tokio::select! {
            biased;
            outcome = &mut hooks, if question.waits_for_hooks() => {
                question.hooks_answered(outcome.answer.clone());
                if let (false, Some(report)) = (outcome.ran.is_empty(), report.take()) {
                    report(outcome);
                }
            }
            answer = &mut host, if question.waits_for_host() => question.host_answered(answer),
        }
        if let Some(answer) = question.settled() {
            return answer;
        }
    }
}

async fn ask_host(host: Option<Arc<dyn CanUseTool>>, request: PermissionRequest) -> Option<PermissionAnswer> {
    let host = host?;
    let asked = AssertUnwindSafe(async move { host.can_use_tool(request).await }).catch_unwind().await;
    Some(asked.unwrap_or_else(|_| {
        PermissionAnswer::deny("The host failed while it was asked about the call, so it was denied.")
    }))
}
