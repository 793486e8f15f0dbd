//! Conformance of hooks: checks of the promises of [`Hook`].
//!
//! ```
//! use std::sync::Arc;
//! use windlass_hook::Hook;
//! use windlass_testkit::fake::RecordingHook;
//! use windlass_testkit::hook;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), windlass_testkit::Violation> {
//! let mine: Arc<dyn Hook> = Arc::new(RecordingHook::of_all("mine"));
//! hook::all(&mine).await
//! # }
//! ```

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::FutureExt;
use serde::Serialize;
use windlass_hook::{Hook, HookContext, Hooks, Interest};
use windlass_types::{HookCall, HookOutcome, JsonText, SessionId, ToolMatcher};

use crate::Violation;
use crate::violation::{calmly, ensure, within};

/// Checks every promise of this module, with ordinary occasions for all interests of the hook.
///
/// # Errors
/// The first broken promise.
pub async fn all(hook: &Arc<dyn Hook>) -> Result<(), Violation> {
    for interest in has_steady_interests(&**hook)? {
        for call in occasions(&interest) {
            answers(hook, &call).await?;
            survives_being_dropped(hook, &call).await?;
        }
    }
    Ok(())
}

/// Checks that a hook has a name and listens to at least one event, and that it answers the same each time.
///
/// # Errors
/// The hook breaks the promise.
pub fn has_steady_interests(hook: &dyn Hook) -> Result<Vec<Interest>, Violation> {
    let (name, interests) = calmly("ask a hook for its interests", || (hook.name().to_owned(), hook.interests()))?;
    ensure(!name.trim().is_empty(), || "the hook has no name".to_owned())?;
    ensure(!interests.is_empty(), || format!("{name} listens to no event"))?;
    for interest in &interests {
        interest.check().map_err(|error| Violation::new(format!("{name} would never be asked: {error}")))?;
    }
    for _ in 0..3 {
        let again = calmly("ask a hook again", || (hook.name().to_owned(), hook.interests()))?;
        ensure(again == (name.clone(), interests.clone()), || format!("{name} changes into {again:?}"))?;
    }
    Ok(interests)
}

/// Checks that an occasion that the hook listens to is answered in time, without failing, and with a usable answer: a
/// reason with a deny or a block, and a rewrite that is an object in strict JSON.
///
/// # Errors
/// The hook breaks the promise.
pub async fn answers(hook: &Arc<dyn Hook>, call: &HookCall) -> Result<HookOutcome, Violation> {
    let what = format!("{} at {}", hook.name(), call.event());
    let hooks = Hooks::new([Arc::clone(hook)]);
    let outcome = within(&what, hooks.run(&context(), call)).await?;
    ensure(!outcome.ran.is_empty(), || format!("{what}: the hook does not listen to that"))?;
    if let Some((_, failure)) = outcome.failures.first() {
        return Err(Violation::new(format!("{what}: {failure}")));
    }
    for verdict in outcome.verdict.iter().chain(&outcome.block) {
        let silent = verdict.behavior != windlass_types::Behavior::Allow && verdict.reason.trim().is_empty();
        ensure(!silent, || format!("{what}: {:?} without a reason", verdict.behavior))?;
    }
    if let Some(input) = &outcome.updated_input {
        let usable = input.is_object() && input.check_strict().is_ok();
        ensure(usable, || format!("{what}: the rewritten input is no usable object: {input:?}"))?;
    }
    Ok(outcome)
}

/// Checks that a hook that was dropped before its answer, because the run was stopped, answers the next time.
///
/// # Errors
/// The hook does not answer.
pub async fn survives_being_dropped(hook: &Arc<dyn Hook>, call: &HookCall) -> Result<(), Violation> {
    let hooks = Hooks::new([Arc::clone(hook)]);
    for _ in 0..3 {
        // Polled once, then dropped.
        drop(hooks.run(&context(), call).now_or_never());
    }
    answers(hook, call).await.map_err(|found| Violation::new(format!("after it was dropped: {found}")))?;
    Ok(())
}

/// The fields of all events; each event reads its own.
#[derive(Serialize)]
struct Payload<'a> {
    tool_name: &'a str,
    tool_input: JsonText,
    tool_use_id: &'static str,
    tool_response: &'static str,
    error: &'static str,
    duration_ms: u64,
    prompt: &'static str,
    agent_id: &'static str,
    agent_type: &'static str,
    trigger: &'static str,
    reason: &'static str,
    last_assistant_message: &'static str,
    /// The following fields differ between the occasions of one event.
    stop_hook_active: bool,
    source: &'static str,
    custom_instructions: Option<&'static str>,
}

impl<'a> Payload<'a> {
    fn new(tool: &'a str, again: bool) -> Self {
        Self {
            tool_name: tool,
            tool_input: usual_input(tool),
            tool_use_id: "toolu_1",
            tool_response: "done",
            error: "it did not work",
            duration_ms: 12,
            prompt: "Fix the failing test.",
            agent_id: "a1",
            agent_type: "general-purpose",
            trigger: "manual",
            reason: "closed",
            last_assistant_message: "Done.",
            stop_hook_active: again,
            source: if again { "resume" } else { "startup" },
            custom_instructions: again.then_some("the API"),
        }
    }
}

/// Returns ordinary occasions that an interest covers, for the tools it names or for a few well-known ones.
pub fn occasions(interest: &Interest) -> Vec<HookCall> {
    let tools = if interest.tools.iter().all(ToolMatcher::is_all) {
        vec!["Bash".to_owned(), "Read".to_owned()]
    } else {
        interest.tools.iter().map(example).collect()
    };
    let mut calls = Vec::new();
    for tool in &tools {
        for again in [false, true] {
            let payload = JsonText::of(&Payload::new(tool, again));
            let call = payload.and_then(|payload| HookCall::read(interest.event, &payload));
            calls.extend(call.ok().filter(|call| !calls.contains(call)));
        }
    }
    calls
}

/// Returns the name of a tool that matches.
fn example(matcher: &ToolMatcher) -> String {
    let text = matcher.to_string().replace('*', "example");
    // All tools of a server can also be named by the server alone.
    if matcher.matches(&text) { text } else { format!("{text}__example") }
}

fn usual_input(tool: &str) -> JsonText {
    let text = match tool {
        "Bash" => r#"{"command":"ls -l"}"#,
        "Edit" => r#"{"file_path":"/work/a","old_string":"a","new_string":"b"}"#,
        "Read" => r#"{"file_path":"/work/a"}"#,
        "Write" => r#"{"file_path":"/work/a","content":"a"}"#,
        _ => "{}",
    };
    JsonText::parse(text).unwrap_or_else(|_| JsonText::empty_object())
}

fn context() -> HookContext {
    HookContext::new(SessionId::new("kit"), PathBuf::from("/work"))
}
