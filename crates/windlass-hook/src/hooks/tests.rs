use super::*;
use crate::{HookError, PreToolUse, PreToolUseAction, PromptAction, UserPromptSubmit};
use async_trait::async_trait;
use futures_util::FutureExt;
use windlass_types::{Behavior, HookEventName, HookVerdict, JsonText};

struct Fixed(&'static str, fn() -> Result<PreToolUseAction, HookError>);

#[async_trait]
impl Hook for Fixed {
    fn name(&self) -> &str {
        self.0
    }

    fn interests(&self) -> Vec<Interest> {
        vec![Interest::tools(HookEventName::PreToolUse, ["Bash"]), Interest::all(HookEventName::UserPromptSubmit)]
    }

    async fn pre_tool_use(&self, _: &HookContext, _: &PreToolUse) -> Result<PreToolUseAction, HookError> {
        (self.1)()
    }

    async fn user_prompt_submit(&self, _: &HookContext, _: &UserPromptSubmit) -> Result<PromptAction, HookError> {
        Err("no".into())
    }
}

fn run(hooks: Vec<Fixed>, tool: &str) -> HookOutcome {
    let hooks = Hooks::new(hooks.into_iter().map(|hook| Arc::new(hook) as Arc<dyn Hook>));
    let call =
        PreToolUse { tool_name: tool.into(), tool_input: JsonText::empty_object(), tool_use_id: "t".into() }.into();
    let cx = HookContext::new("s".into(), "/w".into());
    hooks.run(&cx, &call).now_or_never().unwrap()
}

#[test]
fn the_lowest_opinion_wins_and_the_first_of_equals_is_named() {
    let outcome = run(
        vec![
            Fixed("a", || Ok(PreToolUseAction::Allow)),
            Fixed("b", || Ok(PreToolUseAction::deny("first"))),
            Fixed("c", || Ok(PreToolUseAction::deny("second"))),
            Fixed("d", || Ok(PreToolUseAction::ask("hm"))),
        ],
        "Bash",
    );
    let verdict = outcome.verdict.unwrap();
    assert_eq!((verdict.behavior, verdict.hook.as_str(), verdict.reason.as_str()), (Behavior::Deny, "b", "first"));
    assert_eq!(outcome.ran, ["a", "b", "c", "d"]);
}

#[test]
fn a_failing_or_panicking_gate_denies_and_is_named() {
    for bad in [Fixed("x", || Err("boom".into())), Fixed("x", || panic!("boom"))] {
        let outcome = run(vec![Fixed("a", || Ok(PreToolUseAction::Allow)), bad], "Bash");
        let verdict = outcome.verdict.unwrap();
        assert_eq!(verdict.behavior, Behavior::Deny);
        assert!(verdict.reason.contains("\"x\""), "{}", verdict.reason);
        assert_eq!(outcome.failures.len(), 1);
    }
}

#[test]
fn hooks_of_other_tools_are_not_asked() {
    let outcome = run(vec![Fixed("a", || panic!("not for this tool"))], "Read");
    assert_eq!(outcome, HookOutcome::default());
}

#[test]
fn the_first_rewrite_wins() {
    let outcome = run(
        vec![
            Fixed("a", || Ok(PreToolUseAction::Rewrite { input: JsonText::parse("{\"a\":1}").unwrap() })),
            Fixed("b", || Ok(PreToolUseAction::Rewrite { input: JsonText::parse("{\"b\":1}").unwrap() })),
        ],
        "Bash",
    );
    assert_eq!(outcome.updated_input.unwrap().as_str(), "{\"a\":1}");
}

struct Relay;

#[async_trait]
impl Hook for Relay {
    fn name(&self) -> &str {
        "relay"
    }

    fn interests(&self) -> Vec<Interest> {
        vec![Interest::all(HookEventName::PreToolUse)]
    }

    async fn answer(&self, _: &HookContext, call: &HookCall) -> Result<Option<HookOutcome>, HookError> {
        assert_eq!(call.tool_name(), Some("Bash"));
        let mut outcome = HookOutcome::default();
        outcome.verdict = Some(HookVerdict::new(Behavior::Allow, "far", "fine"));
        outcome.updated_input = JsonText::parse(r#"{"a":1}"#).ok();
        outcome.additional_context.push("context".into());
        outcome.stop = Some("enough".into());
        Ok(Some(outcome))
    }

    async fn pre_tool_use(&self, _: &HookContext, _: &PreToolUse) -> Result<PreToolUseAction, HookError> {
        panic!("the whole answer counts")
    }
}

#[test]
fn a_whole_answer_is_merged_like_the_others() {
    let fixed = Fixed("a", || Ok(PreToolUseAction::ask("hm")));
    let hooks = Hooks::new([Arc::new(Relay) as Arc<dyn Hook>, Arc::new(fixed)]);
    let (tool_input, tool_use_id) = (JsonText::empty_object(), "t".into());
    let call = HookCall::from(PreToolUse { tool_name: "Bash".into(), tool_input, tool_use_id });
    let outcome = hooks.run(&HookContext::new("s".into(), "/w".into()), &call).now_or_never().unwrap();
    assert_eq!(outcome.verdict.unwrap().hook, "a");
    assert_eq!(outcome.updated_input.unwrap().as_str(), r#"{"a":1}"#);
    assert_eq!((outcome.additional_context, outcome.stop), (vec!["context".to_owned()], Some("enough".to_owned())));
    assert_eq!(outcome.ran, ["relay", "a"]);
}

/// A hook that fails on each call, listens only to calls in one directory, and leaves gates open.
struct Lenient;

#[async_trait]
impl Hook for Lenient {
    fn name(&self) -> &str {
        "lenient"
    }

    fn interests(&self) -> Vec<Interest> {
        vec![Interest::all(HookEventName::PreToolUse)]
    }

    fn listens(&self, cx: &HookContext, _: &HookCall) -> bool {
        cx.cwd.ends_with("w")
    }

    fn closes_gates(&self) -> bool {
        false
    }

    async fn pre_tool_use(&self, _: &HookContext, _: &PreToolUse) -> Result<PreToolUseAction, HookError> {
        Err("boom".into())
    }
}

#[test]
fn a_hook_says_what_it_is_about_and_whether_its_failure_closes_a_gate() {
    let hooks = Hooks::new([Arc::new(Lenient) as Arc<dyn Hook>]);
    let call = HookCall::from(PreToolUse {
        tool_name: "Bash".into(),
        tool_input: JsonText::empty_object(),
        tool_use_id: "t".into(),
    });
    let run = |cwd: &str| hooks.run(&HookContext::new("s".into(), cwd.into()), &call).now_or_never().unwrap();
    let outcome = run("/w");
    assert_eq!((outcome.verdict, outcome.ran.len(), outcome.failures.len()), (None, 1, 1));
    assert_eq!(run("/elsewhere"), HookOutcome::default());
}

/// A hook that never answers. Its interest and status message can be chosen.
struct Slow {
    name: &'static str,
    event: HookEventName,
    limit: Option<Duration>,
    status: Option<&'static str>,
}

impl Slow {
    fn new(name: &'static str) -> Self {
        Self { name, event: HookEventName::PreToolUse, limit: None, status: None }
    }
}

#[async_trait]
impl Hook for Slow {
    fn name(&self) -> &str {
        self.name
    }

    fn interests(&self) -> Vec<Interest> {
        vec![Interest::all(self.event)]
    }

    fn time_limit(&self) -> Option<Duration> {
        self.limit
    }

    fn status_message(&self) -> Option<&str> {
        self.status
    }

    async fn pre_tool_use(&self, _: &HookContext, _: &PreToolUse) -> Result<PreToolUseAction, HookError> {
        std::future::pending().await
    }
}

fn hooks(all: impl IntoIterator<Item = Slow>) -> Hooks {
    Hooks::new(all.into_iter().map(|hook| Arc::new(hook) as Arc<dyn Hook>))
}

fn call_of_bash() -> HookCall {
    let (tool_input, tool_use_id) = (JsonText::empty_object(), "t".into());
    PreToolUse { tool_name: "Bash".into(), tool_input, tool_use_id }.into()
}

fn context() -> HookContext {
    HookContext::new("s".into(), "/w".into())
}

/// A gate that does not answer in time is closed. The hook's own limit counts before that of the session.
#[test]
fn a_gate_that_is_late_denies_and_names_its_limit() {
    let own = Slow { limit: Some(Duration::from_secs(2)), ..Slow::new("own") };
    let session = hooks([own, Slow::new("other")]).with_time_limit(Duration::from_secs(7));
    // Hooks that are asked again for their interests keep the limit.
    for hooks in [session.clone(), session.renewed()] {
        let outcome = hooks.run_timed(&context(), &call_of_bash(), |_| async {}).now_or_never().unwrap();
        assert_eq!(outcome.verdict.unwrap().behavior, Behavior::Deny);
        let reasons: Vec<_> = outcome.failures.into_iter().map(|(_, reason)| reason).collect();
        assert!(reasons[0].ends_with("within 2 s") && reasons[1].ends_with("within 7 s"), "{reasons:?}");
    }
    assert!(session.run(&context(), &call_of_bash()).now_or_never().is_none(), "without a clock nobody is late");
}

#[test]
fn hooks_tell_who_they_are_and_what_people_read_meanwhile() {
    let (cx, call) = (context(), call_of_bash());
    let says = |name, status| Slow { status: Some(status), ..Slow::new(name) };
    let elsewhere = Slow { event: HookEventName::Stop, ..says("d", "stopping") };
    let all = hooks([says("a", "checking"), Slow::new("b"), says("c", "looking"), elsewhere]);
    assert_eq!(all.listening(&cx, &call).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(all.status_messages(&cx, &call), ["checking", "looking"]);
    assert_eq!(hooks([Slow::new("b")]).status_messages(&cx, &call), [""; 0]);
    let [pre, stop] = [HookEventName::PreToolUse, HookEventName::Stop].map(Interest::all);
    assert_eq!(all.interests(), [pre.clone(), pre.clone(), pre, stop]);
    assert_eq!(format!("{all:?}"), r#"["a", "b", "c", "d"]"#);
    assert!(!all.is_empty() && Hooks::default().is_empty());
}

struct Unusable;

#[async_trait]
impl Hook for Unusable {
    fn name(&self) -> &str {
        "unusable"
    }

    fn interests(&self) -> Vec<Interest> {
        vec![Interest::tools(HookEventName::PreToolUse, ["^Write$"])]
    }
}

#[test]
fn a_hook_that_can_never_be_asked_is_named_with_its_reason() {
    let error = Hooks::new([Arc::new(Unusable) as Arc<dyn Hook>]).check().unwrap_err();
    assert!(error.to_string().starts_with("the hook \"unusable\" cannot be used: "), "{error}");
    assert_eq!(error.source().unwrap().to_string(), error.source.to_string());
    assert_eq!(hooks([Slow::new("a")]).check(), Ok(()));
}
