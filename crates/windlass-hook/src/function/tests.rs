use super::*;
use crate::Hooks;
use futures_util::FutureExt;
use windlass_types::{Behavior, JsonText, SessionId};

fn ask(hook: HookFn, call: impl Into<HookCall>) -> HookOutcome {
    let cx = HookContext::new(SessionId::new("s"), "/work".into());
    Hooks::new([Arc::new(hook) as Arc<dyn Hook>]).run(&cx, &call.into()).now_or_never().unwrap()
}

fn before(tool: &str) -> PreToolUse {
    let tool_input = JsonText::parse(r#"{"command":"git push --force"}"#).unwrap();
    PreToolUse { tool_name: tool.into(), tool_input, tool_use_id: "t".into() }
}

fn after(tool: &str) -> PostToolUse {
    let (tool_input, tool_response) = (JsonText::empty_object(), JsonText::of("done").unwrap());
    PostToolUse { tool_name: tool.into(), tool_input, tool_use_id: "t".into(), tool_response, duration_ms: 1 }
}

#[test]
fn a_closure_answers_the_tools_that_it_is_for() {
    let hook = || {
        hook_fn("h")
            .before_tool(["Write|Edit", "mcp__a__*"], |e| async move { Ok(PreToolUseAction::deny(e.tool_name)) })
    };
    for (tool, denied) in [("Write", true), ("Edit", true), ("mcp__a__x", true), ("mcp__ab__x", false), ("Read", false)]
    {
        let outcome = ask(hook(), before(tool));
        assert_eq!(
            outcome.verdict.map(|verdict| (verdict.behavior, verdict.hook, verdict.reason)),
            denied.then(|| (Behavior::Deny, "h".to_owned(), tool.to_owned())),
            "{tool}"
        );
        assert_eq!(outcome.ran, if denied { vec!["h"] } else { vec![] });
    }
}

#[test]
fn each_event_has_its_own_closure() {
    let hook = || {
        hook_fn("h")
            .before_tool(["*"], |_| async { Ok(PreToolUseAction::Allow) })
            .after_tool(["Bash"], |e| async move { Ok(PostToolUseAction::AddContext(e.tool_name)) })
            .on_prompt(|e| async move { Ok(PromptAction::AddContext(e.prompt)) })
            .on_session_end(|_| async { Ok(()) })
    };
    assert_eq!(ask(hook(), before("Read")).verdict.unwrap().behavior, Behavior::Allow);
    assert_eq!(ask(hook(), after("Bash")).additional_context, ["Bash"]);
    assert_eq!(ask(hook(), after("Read")).ran, Vec::<String>::new());
    assert_eq!(ask(hook(), UserPromptSubmit { prompt: "p".into() }).additional_context, ["p"]);
    assert_eq!(ask(hook(), SessionEnd { reason: "r".into() }).ran, ["h"]);
    assert_eq!(ask(hook(), SessionStart { source: "startup".into() }).ran, Vec::<String>::new());
}

#[test]
fn a_failing_or_panicking_closure_closes_a_gate() {
    let failing = hook_fn("h").before_tool(["Bash"], |e| async move {
        let number: u32 = e.tool_input.to()?;
        Ok(PreToolUseAction::deny(number.to_string()))
    });
    let panicking = hook_fn("h").before_tool(["Bash"], |_| async { panic!("boom") });
    let panicking_at_once = hook_fn("h").before_tool(["Bash"], |e| {
        assert!(e.tool_name.is_empty(), "boom");
        async { Ok(PreToolUseAction::Continue) }
    });
    // The model reads the verdict, the host reads the failure: an error text of a library may contain a secret.
    for (hook, what) in [(failing, "invalid type: map"), (panicking, "panicked"), (panicking_at_once, "panicked")] {
        let outcome = ask(hook, before("Bash"));
        let verdict = outcome.verdict.unwrap();
        assert_eq!((verdict.behavior, verdict.hook.as_str()), (Behavior::Deny, "h"));
        assert_eq!(verdict.reason, "the hook \"h\" failed");
        let [(name, failure)] = &outcome.failures[..] else { panic!("{:?}", outcome.failures) };
        assert!(name == "h" && failure.contains(what), "{failure}");
    }
}

#[test]
fn closures_of_one_event_count_in_order_and_fail_alone() {
    let hook = hook_fn("h")
        .after_tool(["Bash"], |_| async { Ok(PostToolUseAction::AddContext("a".into())) })
        .after_tool(["*"], |_| async { Err("no".into()) })
        .after_tool(["Bash"], |_| async { Ok(PostToolUseAction::AddContext("b".into())) });
    let outcome = ask(hook, after("Bash"));
    assert_eq!((outcome.additional_context, outcome.block), (vec!["a".to_owned(), "b".to_owned()], None));
    assert_eq!(outcome.failures, [("h".to_owned(), "the hook \"h\" failed: no".to_owned())]);
    assert_eq!(outcome.ran, ["h"]);
}

#[test]
fn closures_learn_where_it_happens() {
    let hook = hook_fn("h")
        .on_tools(["Bash"], |e: PreToolUse, cx| async move {
            Ok(PreToolUseAction::deny(format!("{} in {}", e.tool_name, cx.cwd.display())))
        })
        .on(|_: Stop, cx| async move { Ok(StopAction::KeepGoing { feedback: cx.session_id.to_string() }) });
    assert_eq!(ask(hook.clone(), before("Bash")).verdict.unwrap().reason, "Bash in /work");
    let stop = Stop { stop_hook_active: false, last_assistant_message: String::new() };
    assert_eq!(ask(hook, stop).block.unwrap().reason, "s");
}

#[test]
fn input_is_rewritten_with_a_value() {
    let hook = hook_fn("h").before_tool(["Bash"], |_| async {
        Ok(PreToolUseAction::rewrite(std::collections::BTreeMap::from([("a", 1)]))?)
    });
    assert_eq!(ask(hook, before("Bash")).updated_input.unwrap().as_str(), r#"{"a":1}"#);
    let broken = hook_fn("h").before_tool(["Bash"], |_| async { Ok(PreToolUseAction::rewrite([1])?) });
    let outcome = ask(broken, before("Bash"));
    assert!(outcome.failures[0].1.contains("must be a JSON object"), "{outcome:?}");
    assert_eq!(outcome.verdict.unwrap().behavior, Behavior::Deny);
}

#[test]
fn what_would_never_be_asked_is_found() {
    let check = |hook: HookFn| Hooks::new([Arc::new(hook) as Arc<dyn Hook>]).check().map_err(|error| error.to_string());
    let of_tools =
        |tools: &[&str]| hook_fn("h").before_tool(tools.iter().copied(), |_| async { Ok(PreToolUseAction::Continue) });
    for good in [&["Bash"][..], &["*"], &["Write|Edit", "mcp__a__*"]] {
        assert_eq!(check(of_tools(good)), Ok(()));
    }
    for (bad, problem) in
        [(&[][..], "of no tool"), (&[""], "names no tool"), (&["Bash", "^Re.*$"], "\"^Re.*$\" never matches")]
    {
        let error = check(of_tools(bad)).unwrap_err();
        assert!(error.starts_with("the hook \"h\" cannot be used: ") && error.contains(problem), "{error}");
        // Without that check, the hook is asked too often rather than never.
        assert_eq!(ask(of_tools(bad), before("Grep")).ran, ["h"]);
    }
}

#[test]
fn a_hook_without_closures_is_an_error() {
    let error = Hooks::new([Arc::new(hook_fn("h")) as Arc<dyn Hook>]).check().unwrap_err();
    assert_eq!(error.source, crate::InterestError::NoEvents);
    assert!(error.to_string().contains("\"h\"") && error.to_string().contains("give it a closure"), "{error}");
}

#[test]
fn a_hook_that_takes_too_long_has_failed() {
    let hanging = || {
        hook_fn("h").before_tool(["Bash"], |_| std::future::pending()).after_tool(["Bash"], |_| std::future::pending())
    };
    for (hook, limit) in
        [(hanging(), Hooks::TIME_LIMIT), (hanging().with_time_limit(Duration::from_secs(2)), Duration::from_secs(2))]
    {
        let hooks = Hooks::new([Arc::new(hook) as Arc<dyn Hook>]);
        let cx = HookContext::new(SessionId::new("s"), "/work".into());
        let sleep = |asked| {
            assert_eq!(asked, limit);
            std::future::ready(())
        };
        let outcome = hooks.run_timed(&cx, &before("Bash").into(), sleep).now_or_never().unwrap();
        assert_eq!(outcome.verdict.unwrap().behavior, Behavior::Deny);
        assert!(outcome.failures[0].1.contains("did not answer within"), "{:?}", outcome.failures);
        let outcome = hooks.run_timed(&cx, &after("Bash").into(), sleep).now_or_never().unwrap();
        assert_eq!((outcome.block.is_none(), outcome.failures.len()), (true, 1));
    }
}
