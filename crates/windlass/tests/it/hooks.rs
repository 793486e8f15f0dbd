//! Hooks made from closures, and what they may listen to.

use serde_json::json;
use windlass::options::LimitOptions;
use windlass::testing::ScriptedTurn;
use windlass::{
    Access, Error, Event, EventKind, Outcome, PreToolUseAction, Script, ScriptedModel, ToolCx,
    event::Status,
    hook::{PromptAction, StopAction},
    hook_fn, query, schemars, tool_fn,
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// A tool that says what it was asked to do.
fn tool(name: &str) -> impl windlass::tool::DynTool {
    tool_fn(name, "A test.", |_: Nothing, _: ToolCx| async { Ok("it ran") }).with_access(Access::NOTHING)
}

/// Calls three tools with a hook, and returns the events and what the model read of each.
async fn results(hook: windlass_hook::HookFn) -> Result<(Vec<Event>, Vec<String>), Error> {
    let calls = Script::new().turn(|turn| {
        turn.tool_use("look", json!({})).tool_use("mcp__a__x", json!({})).tool_use("mcp__b__x", json!({}))
    });
    let model = ScriptedModel::new(calls.turn(|turn| turn.text("Done.")));
    let requests = model.clone();
    let tools = query("go").provider(model).tools(tool("look")).tools(tool("mcp__a__x")).tools(tool("mcp__b__x"));
    let mut run = tools.hook(hook).stream();
    let mut events = Vec::new();
    while let Some(event) = run.try_next().await? {
        events.push(*event);
    }
    let read = requests.requests().last().unwrap().messages.last().unwrap().content.clone();
    let texts = read.iter().filter_map(|block| block.as_tool_result()).map(|result| result.content.text());
    Ok((events, texts.collect()))
}

#[tokio::test]
async fn a_gate_of_patterns_closes() {
    for (tools, closed) in [
        (vec!["look"], [true, false, false]),
        (vec!["mcp__a__*"], [false, true, false]),
        (vec!["mcp__a", "look"], [true, true, false]),
        (vec!["look|mcp__b__x"], [true, false, true]),
        (vec!["mcp__*"], [false, true, true]),
        (vec!["*"], [true, true, true]),
    ] {
        let gate = hook_fn("gate").before_tool(&tools, |_| async { Ok(PreToolUseAction::deny("closed")) });
        let (_, read) = results(gate).await.unwrap();
        assert_eq!(read.iter().map(|text| text.contains("closed")).collect::<Vec<_>>(), closed, "{tools:?} {read:?}");
        assert_eq!(read.iter().map(|text| text == "it ran").collect::<Vec<_>>(), closed.map(|closed| !closed));
    }
}

#[tokio::test]
async fn a_gate_that_would_never_close_keeps_the_session_from_opening() {
    for bad in ["^look$", "lo*", "", "mcp__"] {
        let gate = hook_fn("gate").before_tool([bad], |_| async { Ok(PreToolUseAction::deny("closed")) });
        let error = results(gate).await.unwrap_err();
        assert!(matches!(&error, Error::Hooks(hooks) if hooks.hook == "gate"), "{error}");
        assert!(error.to_string().contains(&format!("{bad:?}")), "{error}");
    }
}

#[tokio::test]
async fn a_gate_for_a_misspelt_tool_keeps_the_session_from_opening() {
    let gate = hook_fn("gate").before_tool(["Look"], |_| async { Ok(PreToolUseAction::deny("closed")) });
    let error = results(gate).await.unwrap_err().to_string();
    assert!(error.contains("the hook \"gate\"") && error.contains("\"look\""), "{error}");
    // A hook that is no gate may wait for a tool that never comes.
    let seen = hook_fn("seen").after_tool(["Look"], |_| async { Err("it was asked".into()) });
    assert_eq!(results(seen).await.unwrap().1, ["it ran", "it ran", "it ran"]);
}

#[tokio::test]
async fn a_closure_that_fails_closes_the_gate() {
    let gate = hook_fn("gate").before_tool(["look"], |event| async move {
        let unfit: Vec<String> = event.tool_input.to()?;
        Ok(PreToolUseAction::deny(unfit.concat()))
    });
    let (_, read) = results(gate).await.unwrap();
    assert!(read[0].contains("\"gate\" failed") && read[1] == "it ran", "{read:?}");
    let gate = hook_fn("gate").on_prompt(|event| async move {
        let reason = event.prompt.parse::<u32>()?.to_string();
        Ok(PromptAction::Block { reason })
    });
    let model = ScriptedModel::new(Script::new().turn(|turn| turn.text("Hello.")));
    let result = query("go").provider(model.clone()).hook(gate).await.unwrap();
    assert_eq!((result.turns, model.requests().len()), (0, 0), "{result:?}");
}

#[tokio::test]
async fn the_model_does_not_read_why_a_gate_failed_and_the_host_does() {
    let secret = "cannot reach http://user:hunter2@policy.local";
    let gate = hook_fn("policy").before_tool(["*"], move |_| async move { Err(secret.into()) });
    let (events, read) = results(gate).await.unwrap();
    assert!(read.iter().all(|text| text.contains("\"policy\" failed")), "{read:?}");
    assert!(!read.concat().contains("hunter2"), "{read:?}");
    assert!(format!("{events:?}").contains("hunter2"), "the host learns it: {events:?}");
}

#[tokio::test(start_paused = true)]
async fn a_gate_that_hangs_denies_and_another_hook_is_skipped() {
    let hanging =
        hook_fn("slow").before_tool(["look"], |_| std::future::pending()).after_tool(["*"], |_| std::future::pending());
    let (events, read) = results(hanging).await.unwrap();
    assert!(read[0].contains("\"slow\" failed") && read[1] == "it ran", "{read:?}");
    assert!(format!("{events:?}").contains("did not answer within 600 s"), "{events:?}");
}

#[tokio::test]
async fn a_run_that_stop_hooks_keep_going_ends_with_a_notice() {
    for limit in [None, Some(2)] {
        let again = hook_fn("again").on_stop(|_| async { Ok(StopAction::KeepGoing { feedback: "More.".to_owned() }) });
        let model = ScriptedModel::from_fn(|_, _| ScriptedTurn::new().text("done"));
        let asked = query("go").provider(model.clone()).hook(again);
        let mut run = match limit {
            Some(times) => asked.limits(LimitOptions::new().max_stop_continuations(times)),
            None => asked,
        }
        .stream();
        let (mut notices, mut outcome) = (Vec::new(), None);
        while let Some(event) = run.try_next().await.unwrap() {
            match event.kind {
                EventKind::Status(Status::Notice { message }) => notices.push(message),
                EventKind::RunFinished(result) => outcome = Some(result.outcome),
                _ => {}
            }
        }
        assert_eq!(outcome, Some(Outcome::Success));
        let times = limit.unwrap_or(8);
        assert_eq!(model.requests().len(), times as usize + 1);
        assert!(notices.len() == 1 && notices[0].contains(&format!("continue {times} times")), "{notices:?}");
    }
}
