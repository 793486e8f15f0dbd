//! A question about a call, put to hooks and the host at the same time.

use crate::HostAnswers;
use crate::hooks::HookReports;
use crate::questions::open_questions::OpenQuestion;
use crate::questions::remote_answers::RemoteAnswers;
use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use windlass_core::Unanswered;
use windlass_hook::{HookContext, Hooks, PermissionRequestEvent};
use windlass_permission::{CanUseTool, Question};
use windlass_types::{EventKind, HookCall, HookOutcome, PermissionAnswer, PermissionRequest, QuestionId, Status};

/// Host of one question. The first of its answers is used, from any source.
#[derive(Default)]
pub(crate) struct QuestionHost {
    pub(crate) answers: HostAnswers,
    /// The question as handles answer it. `None`: no host can answer.
    pub(crate) open: Option<OpenQuestion>,
    /// Place of an answer of another process, if the run waits for answers.
    pub(crate) remote: Option<RemoteAnswers>,
    /// `true` if a hook defers the call: no one is asked now.
    pub(crate) deferred: bool,
}

/// Context in which the hooks are asked.
pub(crate) struct QuestionHooks {
    pub(crate) hooks: Hooks,
    pub(crate) cx: HookContext,
    pub(crate) reports: HookReports,
}

/// Asks hooks and host, and returns as soon as the answer is certain.
///
/// The hooks' outcome is reported when all of them have answered, if any of them ran.
///
/// # Errors
/// The run waits for answers, and there is no valid one now.
pub(crate) async fn ask(
    host: QuestionHost,
    hooks: QuestionHooks,
    request: PermissionRequest,
    report: impl FnOnce(HookOutcome),
) -> Result<PermissionAnswer, Unanswered> {
    if host.deferred {
        return host.look().await;
    }
    let waits = host.remote.is_some();
    let call = HookCall::from(PermissionRequestEvent {
        tool_name: request.tool.clone(),
        tool_input: request.input.clone(),
        tool_use_id: request.tool_use_id.clone(),
        permission_suggestions: request.decision.suggestions.clone(),
    });
    let QuestionHooks { hooks, cx, reports } = hooks;
    let mut hooks = pin!(crate::hooks::ask(&hooks, &cx, &call, &reports));
    let overruled = |id: &QuestionId| {
        reports.report(EventKind::Status(Status::Notice {
            message: format!(
                "The question {id} was answered here after another process had denied it: the call is denied."
            ),
        }));
    };
    let mut host = pin!(host.local_or_remote_answer(request, overruled));
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
            answer = &mut host, if question.waits_for_host() => question.host_answered(answer?),
        }
        if waits && question.is_undecided() {
            return Err(Unanswered::Yet);
        }
        if let Some(answer) = question.settled() {
            return Ok(answer);
        }
    }
}

impl QuestionHost {
    /// Returns the answer that another process has left.
    async fn look(self) -> Result<PermissionAnswer, Unanswered> {
        let Some(remote) = &self.remote else { return Err(Unanswered::Yet) };
        match remote.find().await? {
            Some(found) => remote.take(&found).await,
            None => Err(Unanswered::Yet),
        }
    }

    /// Returns the answer of the host, or of another process; `None` if there is none. A deny of another process that
    /// was stored before the host allowed the call takes precedence, and is passed to `overruled`.
    async fn local_or_remote_answer(
        mut self,
        request: PermissionRequest,
        overruled: impl FnOnce(&QuestionId),
    ) -> Result<Option<PermissionAnswer>, Unanswered> {
        let Some(remote) = self.remote.take() else { return Ok(self.answer(request).await) };
        let (id, closer) = (request.id.clone(), self.open.as_ref().map(OpenQuestion::closer));
        let mut host = pin!(self.answer(request));
        let found = match remote.find().await? {
            Some(found) => found,
            None => tokio::select! {
                biased;
                answer = &mut host => {
                    let allows = matches!(answer, Some(PermissionAnswer::Allow { .. }));
                    let denied = if allows { remote.find().await?.filter(|found| !found.allow) } else { None };
                    let Some(denied) = denied else { return Ok(answer) };
                    overruled(&id);
                    return remote.take(&denied).await.map(Some);
                }
                found = remote.watch() => found?,
            },
        };
        // From here on no handle can answer, so that its answer is an error. A handle that was quicker is used.
        if closer.is_some_and(|closer| !closer.close()) {
            return Ok(host.await);
        }
        remote.take(&found).await.map(Some)
    }

    /// Returns the host's answer; `None` if there is no host.
    async fn answer(self, request: PermissionRequest) -> Option<PermissionAnswer> {
        let HostAnswers { callback, remember, .. } = self.answers;
        let answer = match (callback, self.open) {
            (None, None) => return None,
            (Some(callback), None) => call(callback, request.clone()).await,
            (None, Some(mut open)) => open.answered().await,
            (Some(callback), Some(mut open)) => tokio::select! {
                biased;
                answer = open.answered() => answer,
                answer = call(callback, request.clone()) => answer,
            },
        };
        if let Some(remember) = remember {
            // A panic loses the answer to keep, and changes no answer.
            let _ = AssertUnwindSafe(remember.remember(&request, &answer)).catch_unwind().await;
        }
        Some(answer)
    }
}

async fn call(callback: Arc<dyn CanUseTool>, request: PermissionRequest) -> PermissionAnswer {
    let answer = AssertUnwindSafe(async move { callback.can_use_tool(request).await }).catch_unwind().await;
    answer.unwrap_or_else(|_| {
        PermissionAnswer::deny("The host failed while it was asked about the call, so it was denied.")
    })
}
