//! Hooks that the host runs.

mod listing;
pub(crate) mod table;

use super::asking::{HostRequests, RequestSender};
use super::scene::Scene;
use crate::channel::requests::AskError;
use async_trait::async_trait;
use futures_util::future::join_all;
use serde::Serialize;
use std::fmt;
use std::time::Duration;
use table::{HookTable, RegisteredMatcher};
use tokio::sync::watch;
use windlass_conversation::{Asker, CallReference};
use windlass_hook::{Hook, HookContext, HookError, Interest, PreToolUse};
use windlass_hook_runner::{HookTexts, hook_input, read_output};
use windlass_types::text::clause;
use windlass_types::{HookCall, HookEventName, HookOutcome, JsonText, ToolUseId};

/// Hooks that the host registered, as one [`Hook`]: it calls the host over the control channel and returns the host's
/// answer. Cheap to clone.
///
/// A failing hook of the host has no opinion, with two exceptions that deny the call or block the prompt: `onFailure:
/// "block"`, and a `PreToolUse` hook that did not answer in time or whose host is gone.
///
/// A `PreToolUse` hook is called after the frame of the call, so only for calls of the session that the server opened.
#[derive(Clone)]
pub struct HostHooks {
    requests: HostRequests,
    scene: watch::Receiver<Scene>,
}

impl fmt::Debug for HostHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostHooks").field("hooks", &self.table().0.len()).finish()
    }
}

impl HostHooks {
    pub(crate) fn new(asking: HostRequests, scene: watch::Receiver<Scene>) -> Self {
        Self { requests: asking, scene }
    }

    fn table(&self) -> HookTable {
        self.scene.borrow().hooks.clone()
    }
}

#[async_trait]
impl Hook for HostHooks {
    fn name(&self) -> &str {
        "host"
    }

    fn interests(&self) -> Vec<Interest> {
        let interest = |registered: &RegisteredMatcher| registered.matcher.interest(registered.event);
        self.table().0.iter().filter(|registered| !registered.callback_ids.is_empty()).map(interest).collect()
    }

    /// Unlimited, because each callback has a limit of its own, which the host sets.
    fn time_limit(&self) -> Option<Duration> {
        Some(Duration::MAX)
    }

    async fn answer(&self, cx: &HookContext, call: &HookCall) -> Result<Option<HookOutcome>, HookError> {
        let table = self.table();
        let calls = table
            .0
            .iter()
            .filter(|registered| registered.event == call.event() && registered.matcher.matches(call.subject()))
            .flat_map(|registered| registered.callback_ids.iter().map(move |callback| (registered, callback)));
        let answers = join_all(calls.map(|(registered, callback)| self.ask(cx, call, registered, callback))).await;
        let mut outcome = HookOutcome::default();
        for answer in answers {
            outcome.merge(answer);
        }
        Ok(Some(outcome))
    }
}

/// The request of one callback.
#[derive(Serialize)]
struct CallbackRequest<'a> {
    subtype: &'static str,
    callback_id: &'a str,
    input: JsonText,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_use_id: Option<&'a str>,
}

impl HostHooks {
    /// Calls a callback of the host for an event; once more without the output if that is too long.
    async fn ask(
        &self,
        cx: &HookContext,
        call: &HookCall,
        registered: &RegisteredMatcher,
        callback: &str,
    ) -> HookOutcome {
        let answer = match self.send(cx, call, registered, callback).await {
            Err(AskError::TooLong) => match call.shortened() {
                Some(short) => self.send(cx, &short, registered, callback).await,
                None => Err(AskError::TooLong),
            },
            answer => answer,
        };
        let result = match answer {
            Ok(None) => Ok(HookOutcome::default()),
            Ok(Some(output)) => {
                read_output(callback, call, &output, &HookTexts::cut()).map_err(|error| AskError::Refused(error.into()))
            }
            Err(error) => Err(error),
        };
        match result {
            Ok(outcome) => outcome,
            Err(error) => failure_outcome(call.event(), registered, callback, &error),
        }
    }

    async fn send(
        &self,
        cx: &HookContext,
        call: &HookCall,
        registered: &RegisteredMatcher,
        callback: &str,
    ) -> Result<Option<JsonText>, AskError> {
        // For the session's own calls, the mode known to the host applies.
        let own_mode = cx.permission_mode.filter(|_| cx.agent.is_some());
        let scene = self.scene.borrow().clone();
        let hook_cx = cx.clone().with_permission_mode(own_mode.unwrap_or(scene.permission_mode));
        let input = hook_input(&hook_cx, call, scene.transcript.as_deref());
        let request = CallbackRequest {
            subtype: "hook_callback",
            callback_id: callback,
            input: input.map_err(|error| AskError::Refused(error.to_string().into()))?,
            tool_use_id: call.tool_use_id().map(ToolUseId::as_str),
        };
        let asker = match call.agent().or(cx.agent.as_ref()) {
            // The run may have ended when the host reads the request.
            _ if call.event().is_observed() => Asker::None,
            Some(agent) => Asker::Agent(agent.id.clone()),
            None => Asker::Run,
        };
        let about = match call {
            HookCall::PreToolUse(PreToolUse { tool_use_id, .. }) => {
                Some(CallReference::of(cx.agent.as_ref(), tool_use_id))
            }
            _ => None,
        };
        let ask = RequestSender { asker, about, is_permission: false, limit: Some(registered.timeout) };
        self.requests.ask(ask, &request).await
    }
}

/// Outcome of a hook that failed.
fn failure_outcome(
    event: HookEventName,
    registered: &RegisteredMatcher,
    callback: &str,
    error: &AskError,
) -> HookOutcome {
    if *error == AskError::Withdrawn {
        // The run is being stopped, and the call with it. If it is not, the call still has no permission.
        return match event {
            HookEventName::PreToolUse => {
                HookOutcome::refused(event, callback, format!("The hook {callback}: {}.", clause(&error.to_string())))
            }
            _ => HookOutcome::default(),
        };
    }
    // A call does not run when its hooks could not be called.
    let is_unguarded = matches!(error, AskError::TimedOut(_) | AskError::Gone | AskError::TooLong);
    let is_refused = event.is_gating() && (registered.blocks_on_failure || (is_unguarded && event.is_about_tools()));
    let mut outcome = match is_refused {
        // The host's text about its own failure may hold secrets, and the model reads this.
        true if matches!(error, AskError::Refused(_)) => {
            HookOutcome::refused(event, callback, format!("The hook {callback} failed."))
        }
        true => HookOutcome::refused(
            event,
            callback,
            format!("The hook {callback} failed: {}.", clause(&error.to_string())),
        ),
        false => HookOutcome::default(),
    };
    outcome.failures.push((callback.to_owned(), error.to_string()));
    outcome
}
