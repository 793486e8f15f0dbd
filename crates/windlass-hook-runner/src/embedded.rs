//! An answer object embedded in other output of a program.
//!
//! A gate whose shell greets first (`Shell ready`) prints its answer behind other text. The text may repeat what the
//! call itself says, so an object in it can only narrow: refuse, ask or stop.

use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use windlass_types::{Behavior, HookOutcome, JsonText, PermissionAnswer};

/// Maximum number of braces tried as the beginning of an object.
const MAX_STARTS: usize = 256;

/// Keys of an answer object that carry a decision.
const ANSWER_KEYS: [&str; 3] = ["continue", "decision", "hookSpecificOutput"];

/// Returns the one answer object in a text that does not begin with it; `None` for a plain text.
///
/// # Errors
/// The text holds several answers, or one that cannot be read.
pub(crate) fn answer(text: &str) -> Result<Option<JsonText>, String> {
    let (mut found, mut rest, mut outside) = (None, text, String::new());
    for _ in 0..MAX_STARTS {
        let Some(start) = rest.find('{') else { break };
        let (before, from) = rest.split_at_checked(start).unwrap_or((rest, ""));
        outside.push_str(before);
        rest = from;
        let mut objects = serde_json::Deserializer::from_str(rest).into_iter::<&RawValue>();
        let object = objects.next().and_then(Result::ok);
        let length = object.map_or(1, |_| objects.byte_offset());
        if let Some(object) = object.filter(|object| is_answer(object))
            && found.replace(JsonText::from(object.to_owned())).is_some()
        {
            return Err("its output has more than one answer: print one object and nothing else".to_owned());
        }
        rest = rest.get(length..).unwrap_or_default();
    }
    outside.push_str(rest);
    if found.is_none() && is_attempt(&outside) {
        return Err("its output has an answer that cannot be read: print one object and nothing else".to_owned());
    }
    Ok(found)
}

fn is_answer(object: &RawValue) -> bool {
    let keys = serde_json::from_str::<BTreeMap<String, IgnoredAny>>(object.get()).unwrap_or_default();
    ANSWER_KEYS.iter().any(|key| keys.contains_key(*key))
}

/// Returns `true` for a text that names the keys of an answer.
fn is_attempt(text: &str) -> bool {
    let after = |key: &'static str| text.split(key).skip(1);
    let blocks = |rest: &str| {
        let value = rest.trim_start().strip_prefix(':').unwrap_or_default().trim_start();
        value.starts_with("\"block\"") || value.starts_with("\"deny\"")
    };
    after("\"hookSpecificOutput\"").chain(after("\"permissionDecision\"")).next().is_some()
        || after("\"decision\"").any(blocks)
}

/// Returns the part of an outcome that narrows. Texts for the model and changes are dropped.
///
/// # Errors
/// The outcome changes the input of the call, which must not run unchanged.
pub(crate) fn narrowing(hook: &str, outcome: &HookOutcome) -> Result<HookOutcome, String> {
    if outcome.updated_input.is_some() {
        return Err(
            "its output has other text beside an answer that changes the input: print one object and nothing else"
                .to_owned(),
        );
    }
    let mut narrowed = HookOutcome::default();
    narrowed.verdict = outcome.verdict.clone().filter(|verdict| verdict.behavior != Behavior::Allow);
    narrowed.block.clone_from(&outcome.block);
    narrowed.stop.clone_from(&outcome.stop);
    narrowed.answer = outcome.answer.clone().filter(|answer| matches!(answer, PermissionAnswer::Deny { .. }));
    if narrowed != *outcome {
        let problem = "its output has other text beside its answer, of which only what refuses, asks or stops counts";
        narrowed.failures.push((hook.to_owned(), problem.to_owned()));
    }
    Ok(narrowed)
}
