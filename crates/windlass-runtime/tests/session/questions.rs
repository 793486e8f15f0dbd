//! Questions that hooks answer beside the host.

use crate::world::{calls, interest, soon, world};
use async_trait::async_trait;
use std::sync::{Arc, Mutex};
use windlass_hook::{Hook, HookContext, HookError, Interest, PermissionRequestAction, PermissionRequestEvent};
use windlass_permission::{CanUseTool, can_use_tool_fn};
use windlass_tool::{DynTool, tool_fn};
use windlass_types::{EventKind, HookEventName, JsonText, PermissionAnswer};

/// Answers every question in its own way.
struct Guard(fn() -> Result<PermissionRequestAction, HookError>);

#[async_trait]
impl Hook for Guard {
    fn name(&self) -> &str {
        "guard"
    }

    fn interests(&self) -> Vec<Interest> {
        interest(HookEventName::PermissionRequest)
    }

    async fn permission_request(
        &self,
        _: &HookContext,
        _: &PermissionRequestEvent,
    ) -> Result<PermissionRequestAction, HookError> {
        (self.0)()
    }
}

/// Never answers.
struct Silent;

#[async_trait]
impl Hook for Silent {
    fn name(&self) -> &str {
        "silent"
    }

    fn interests(&self) -> Vec<Interest> {
        interest(HookEventName::PermissionRequest)
    }

    async fn permission_request(
        &self,
        _: &HookContext,
        _: &PermissionRequestEvent,
    ) -> Result<PermissionRequestAction, HookError> {
        std::future::pending().await
    }
}

/// A tool that no rule allows; it remembers its inputs.
fn risky(ran: &Arc<Mutex<Vec<String>>>) -> Arc<dyn DynTool> {
    let ran = Arc::clone(ran);
    Arc::new(tool_fn("risky", "Needs an answer.", move |input: crate::world::In, _| {
        ran.lock().unwrap().push(serde_json::to_string(&input).unwrap());
        async { Ok("done") }
    }))
}

/// Returns the calls that ran, and the hooks and verdicts that were reported.
async fn play(hooks: Vec<Box<dyn Hook>>, host: Option<Arc<dyn CanUseTool>>) -> (Vec<String>, Vec<String>) {
    let ran = Arc::default();
    let mut world = world(calls("risky", 1), [risky(&ran)]);
    world.hooks = hooks.into_iter().map(Arc::from).collect();
    world.host = host;
    let mut open = world.open().await;
    open.say("go");
    let events = soon(open.until(|kind| matches!(kind, EventKind::RunFinished(_)))).await;
    let mut texts = Vec::new();
    for event in events {
        match event.kind {
            EventKind::HookRan { event, outcome, .. } => texts.push(format!("{event} {}", outcome.ran.join(","))),
            EventKind::PermissionResolved { decision, .. } => texts.push(decision.message),
            _ => {}
        }
    }
    let ran = ran.lock().unwrap().clone();
    (ran, texts)
}

fn host(answer: fn() -> PermissionAnswer) -> Option<Arc<dyn CanUseTool>> {
    Some(Arc::new(can_use_tool_fn(move |_| async move { answer() })))
}

#[tokio::test]
async fn a_hook_allows_what_would_be_denied_without_it() {
    let allow = || Ok(PermissionRequestAction::Answer(PermissionAnswer::allow()));
    let (ran, texts) = play(vec![Box::new(Guard(allow))], None).await;
    assert_eq!(ran, ["{}"]);
    assert!(texts.contains(&"PermissionRequest guard".to_owned()), "{texts:?}");
    let change = || {
        let input = JsonText::parse(r#"{"a":1}"#).unwrap();
        let answer = PermissionAnswer::Allow { updated_input: Some(input), updates: Vec::new() };
        Ok(PermissionRequestAction::Answer(answer))
    };
    assert_eq!(play(vec![Box::new(Guard(change))], None).await.0, [r#"{"a":1}"#]);
}

#[tokio::test]
async fn a_hook_without_opinion_leaves_it_to_the_host() {
    let no_answer = || Ok(PermissionRequestAction::Continue);
    assert_eq!(play(vec![Box::new(Guard(no_answer))], host(PermissionAnswer::allow)).await.0, ["{}"]);
    let (ran, texts) = play(vec![Box::new(Guard(no_answer))], None).await;
    assert!(ran.is_empty() && texts.iter().any(|text| text.contains("Nobody is there")), "{texts:?}");
}

#[tokio::test]
async fn a_deny_of_either_side_wins() {
    let deny = || Ok(PermissionRequestAction::Answer(PermissionAnswer::deny("not today")));
    let (ran, texts) = play(vec![Box::new(Guard(deny))], host(PermissionAnswer::allow)).await;
    assert!(ran.is_empty() && texts.contains(&"not today".to_owned()), "{texts:?}");
    // The host's deny does not wait for a hook that is silent.
    let (ran, texts) = play(vec![Box::new(Silent)], host(|| PermissionAnswer::deny("no"))).await;
    assert!(ran.is_empty() && texts.contains(&"no".to_owned()), "{texts:?}");
}

#[tokio::test]
async fn a_hook_that_fails_denies_and_is_named() {
    for bad in [|| Err("broken".into()), || panic!("broken")] as [fn() -> _; 2] {
        let (ran, texts) = play(vec![Box::new(Guard(bad))], host(PermissionAnswer::allow)).await;
        assert!(ran.is_empty() && texts.iter().any(|text| text.contains("guard")), "{texts:?}");
    }
}

#[tokio::test]
async fn an_allow_of_the_host_waits_for_the_hooks() {
    let mut world = world(calls("risky", 1), [risky(&Arc::default())]);
    world.hooks = vec![Arc::new(Silent)];
    world.host = host(PermissionAnswer::allow);
    let mut open = world.open().await;
    open.say("go");
    soon(open.until(|kind| matches!(kind, EventKind::PermissionRequested(_)))).await;
    open.handle.interrupt().unwrap();
    let rest = soon(open.until(|kind| matches!(kind, EventKind::RunFinished(_)))).await;
    assert!(!rest.iter().any(|event| matches!(event.kind, EventKind::ToolStarted(_))));
}
