//! A question about a call, put to hooks and the host at the same time.

use futures_util::FutureExt;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use windlass_hook::{HookContext, Hooks};
use windlass_permission::CanUseTool;
use windlass_types::{HookCall, HookOutcome, PermissionAnswer, PermissionRequest};

/// Asks both, and answers as soon as it is certain what the answer is.
///
/// What hooks did is told when all of them have answered, and any of them ran.
pub(crate) async fn ask(
    host: Option<Arc<dyn CanUseTool>>,
    hooks: Hooks,
    cx: HookContext,
    request: PermissionRequest,
    tell: impl FnOnce(HookOutcome),
) -> PermissionAnswer {
    let call = HookCall::PermissionRequest {
        tool_name: request.tool.clone(),
        tool_input: request.input.clone(),
        tool_use_id: request.tool_use_id.clone(),
        permission_suggestions: request.decision.suggestions.clone(),
    };
    let mut hooks = pin!(hooks.run(&cx, &call));
    let mut host = pin!(ask_host(host, request));
    let (mut said_hooks, mut said_host) = (Said::NotYet, Said::NotYet);
    let mut tell = Some(tell);
    loop {
        tokio::select! {
            biased;
            outcome = &mut hooks, if said_hooks == Said::NotYet => {
                said_hooks = Said::of(outcome.answer.clone());
                if let (false, Some(tell)) = (outcome.ran.is_empty(), tell.take()) {
                    tell(outcome);
                }
            }
            answer = &mut host, if said_host == Said::NotYet => said_host = Said::of(answer),
        }
        if let Some(answer) = settled(&said_hooks, &said_host) {
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

/// What one side said.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Said {
    NotYet,
    Nothing,
    Answer(PermissionAnswer),
}

impl Said {
    fn of(answer: Option<PermissionAnswer>) -> Self {
        answer.map_or(Self::Nothing, Self::Answer)
    }

    fn deny(&self) -> Option<&PermissionAnswer> {
        match self {
            Self::Answer(answer @ PermissionAnswer::Deny { .. }) => Some(answer),
            _ => None,
        }
    }
}

/// The answer, once it is certain: a deny of either side at once, an allow when
/// all hooks have answered. A hook's allow needs no host.
fn settled(hooks: &Said, host: &Said) -> Option<PermissionAnswer> {
    if let Some(deny) = hooks.deny().or(host.deny()) {
        return Some(deny.clone());
    }
    match (hooks, host) {
        (Said::NotYet, _) | (Said::Nothing, Said::NotYet) => None,
        (Said::Answer(answer), _) | (Said::Nothing, Said::Answer(answer)) => Some(answer.clone()),
        (Said::Nothing, Said::Nothing) => {
            Some(PermissionAnswer::deny("Nobody is there to approve the call, so it was denied."))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deny_wins_at_once_and_an_allow_waits_for_hooks() {
        let allow = || Said::Answer(PermissionAnswer::allow());
        let deny = |text: &str| Said::Answer(PermissionAnswer::deny(text));
        let nobody = "Nobody is there to approve the call, so it was denied.";
        for (hooks, host, expected) in [
            (Said::NotYet, Said::NotYet, Said::NotYet),
            (Said::NotYet, allow(), Said::NotYet),
            (Said::NotYet, deny("host"), deny("host")),
            (Said::NotYet, Said::Nothing, Said::NotYet),
            (Said::Nothing, Said::NotYet, Said::NotYet),
            (Said::Nothing, allow(), allow()),
            (Said::Nothing, deny("host"), deny("host")),
            (Said::Nothing, Said::Nothing, deny(nobody)),
            (allow(), Said::NotYet, allow()),
            (allow(), deny("host"), deny("host")),
            (allow(), Said::Nothing, allow()),
            (deny("hook"), Said::NotYet, deny("hook")),
            (deny("hook"), allow(), deny("hook")),
            (deny("hook"), deny("host"), deny("hook")),
        ] {
            let got = settled(&hooks, &host).map_or(Said::NotYet, Said::Answer);
            assert_eq!(got, expected, "hooks {hooks:?}, host {host:?}");
        }
    }
}
