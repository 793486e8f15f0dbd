use super::*;
use async_trait::async_trait;
use windlass_hook::{
    HookError, PermissionRequestAction, PermissionRequestEvent, PostToolUse, PostToolUseAction, PreToolUse,
    PreToolUseAction, SessionStartAction, StopAction, SubagentStart, SubagentStop,
};
use windlass_types::PermissionAnswer;

struct CallbackGuard(&'static str, Vec<Interest>);

#[async_trait]
impl Hook for CallbackGuard {
    fn name(&self) -> &str {
        self.0
    }

    fn interests(&self) -> Vec<Interest> {
        self.1.clone()
    }

    async fn pre_tool_use(&self, _: &HookContext, event: &PreToolUse) -> Result<PreToolUseAction, HookError> {
        match event.tool_input.as_str() {
            r#"{"x": 1e2}"# => {
                Ok(PreToolUseAction::Rewrite { input: JsonText::parse(r#"{"x": 123456789012345678901234567890}"#)? })
            }
            "{}" => Err("it is broken".into()),
            _ => Ok(PreToolUseAction::deny("no")),
        }
    }

    async fn permission_request(
        &self,
        _: &HookContext,
        event: &PermissionRequestEvent,
    ) -> Result<PermissionRequestAction, HookError> {
        assert_eq!(event.permission_suggestions.len(), 1);
        let answer = PermissionAnswer::Allow { updated_input: None, updates: event.permission_suggestions.clone() };
        Ok(PermissionRequestAction::Answer(answer))
    }

    async fn subagent_start(&self, _: &HookContext, event: &SubagentStart) -> Result<SessionStartAction, HookError> {
        Ok(SessionStartAction::AddContext(format!("{} {}", event.agent.id, event.agent.agent_type)))
    }

    async fn subagent_stop(&self, _: &HookContext, event: &SubagentStop) -> Result<StopAction, HookError> {
        Ok(StopAction::KeepGoing { feedback: format!("{} {}", event.agent.id, event.last_assistant_message) })
    }

    async fn post_tool_use(&self, _: &HookContext, _: &PostToolUse) -> Result<PostToolUseAction, HookError> {
        Ok(PostToolUseAction::AddContext("more".into()))
    }
}

fn hooks(interests: Vec<Vec<Interest>>) -> HookCallbacks {
    let hooks = interests.into_iter().map(|interests| Arc::new(CallbackGuard("guard", interests)) as Arc<dyn Hook>);
    HookCallbacks::new(hooks.collect(), Duration::from_secs(7))
}

#[test]
fn one_callback_stands_for_all_hooks_of_an_event() {
    use HookEventName::{PreToolUse, Stop};
    let text = |interests| {
        let registration = hooks(interests).registration();
        serde_json::to_string(&registration).unwrap()
    };
    for (interests, expected) in [
        (vec![], "null"),
        (
            vec![vec![Interest::tools(PreToolUse, ["Bash"])], vec![Interest::tools(PreToolUse, ["Write"])]],
            r#"{"PreToolUse":[{"matcher":"Bash|Write","hookCallbackIds":["PreToolUse"],"timeout":7.0,"onFailure":"block"}]}"#,
        ),
        (
            vec![vec![Interest::tools(PreToolUse, ["Bash"]), Interest::all(PreToolUse)]],
            r#"{"PreToolUse":[{"matcher":null,"hookCallbackIds":["PreToolUse"],"timeout":7.0,"onFailure":"block"}]}"#,
        ),
        (
            vec![vec![Interest::tools(PreToolUse, ["a.b"])]],
            r#"{"PreToolUse":[{"matcher":null,"hookCallbackIds":["PreToolUse"],"timeout":7.0,"onFailure":"block"}]}"#,
        ),
        (
            vec![vec![Interest::tools(PreToolUse, ["Write|Edit"])]],
            r#"{"PreToolUse":[{"matcher":"Write|Edit","hookCallbackIds":["PreToolUse"],"timeout":7.0,"onFailure":"block"}]}"#,
        ),
        (
            vec![vec![Interest::tools(PreToolUse, ["Write", "mcp__a"])]],
            r#"{"PreToolUse":[{"matcher":null,"hookCallbackIds":["PreToolUse"],"timeout":7.0,"onFailure":"block"}]}"#,
        ),
        (vec![vec![Interest::all(Stop)]], r#"{"Stop":[{"matcher":null,"hookCallbackIds":["Stop"],"timeout":7.0}]}"#),
    ] {
        assert_eq!(text(interests), expected);
    }
}

#[tokio::test]
async fn what_hooks_say_is_written_exactly() {
    let hooks = hooks(vec![vec![
        Interest::tools(HookEventName::PreToolUse, ["act"]),
        Interest::all(HookEventName::PermissionRequest),
        Interest::all(HookEventName::PostToolUse),
        Interest::all(HookEventName::SubagentStart),
        Interest::all(HookEventName::SubagentStop),
    ]]);
    for (input, expected) in [
        (
            r#""PreToolUse","tool_name":"act","tool_input":{"x": 1e2},"tool_use_id":"t""#,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"x": 123456789012345678901234567890}}}"#,
        ),
        (
            r#""PreToolUse","tool_name":"act","tool_input":{"y":1}"#,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#,
        ),
        (
            r#""PreToolUse","tool_name":"act","tool_input":{}"#,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"the hook \"guard\" failed"}}"#,
        ),
        (r#""PreToolUse","tool_name":"other","tool_input":{}"#, "{}"),
        (
            r#""PermissionRequest","tool_name":"act","tool_input":{},"permission_suggestions":[{"type":"fly"},{"type":"setMode","mode":"plan","destination":"session"}]"#,
            r#"{"hookSpecificOutput":{"hookEventName":"PermissionRequest","decision":{"behavior":"allow","updatedPermissions":[{"type":"setMode","mode":"plan","destination":"session"}]}}}"#,
        ),
        (
            r#""PostToolUse","tool_name":"act","tool_input":{}"#,
            r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"more"}}"#,
        ),
        (
            r#""SubagentStart","agent_id":"a1","agent_type":"Explore""#,
            r#"{"hookSpecificOutput":{"hookEventName":"SubagentStart","additionalContext":"a1 Explore"}}"#,
        ),
        (
            r#""SubagentStop","agent_id":"a1","last_assistant_message":"Done.""#,
            r#"{"decision":"block","reason":"a1 Done."}"#,
        ),
    ] {
        let body = format!(r#"{{"subtype":"hook_callback","input":{{"hook_event_name":{input}}}}}"#);
        let answer = hooks.answer(&JsonText::parse(body).unwrap()).await.unwrap();
        assert_eq!(answer.as_str(), expected);
    }
}

async fn answer_to(input: &str) -> Result<JsonText, RequestFailure> {
    let hooks = hooks(vec![vec![Interest::all(HookEventName::PreToolUse)]]);
    let body = format!(r#"{{"subtype":"hook_callback","input":{{"hook_event_name":{input}}}}}"#);
    hooks.answer(&JsonText::parse(body).unwrap()).await
}

#[tokio::test]
async fn a_callback_is_refused_when_a_field_of_its_event_is_missing_or_of_the_wrong_type() {
    for bad in [
        r#""Hologram""#,
        r#""PreToolUse""#,
        r#""PreToolUse","tool_name":7,"tool_input":{"y":1}"#,
        r#""PreToolUse","tool_name":"act","tool_input":null"#,
        r#""PreToolUse","tool_name":"act","tool_input":{"y":1},"tool_use_id":["t"]"#,
        r#""PreToolUse","tool_name":"act","tool_input":{"y":1},"session_id":7"#,
        r#""PreToolUse","tool_name":"act","tool_input":{"y":1},"agent_id":7"#,
    ] {
        assert!(answer_to(bad).await.is_err(), "{bad}");
    }
    let hooks = hooks(vec![]);
    assert!(hooks.answer(&JsonText::parse("{}").unwrap()).await.is_err(), "there is no input");
}

#[tokio::test]
async fn a_callback_is_answered_whatever_the_fields_of_other_events_hold() {
    // Another version may use the name of such a field for another value.
    for other in [r#""stop_hook_active":"yes""#, r#""agent_transcript_path":7"#, r#""duration_ms":"1 s","trigger":[]"#]
    {
        let input = format!(r#""PreToolUse","tool_name":"act","tool_input":{{"y":1}},{other}"#);
        let answer = answer_to(&input).await.unwrap();
        assert!(answer.as_str().contains(r#""permissionDecision":"deny""#), "{other}");
    }
}
