//! Hooks that ask a model.

use crate::definition::ModelHandler;
use crate::exit::Said;
use crate::ports::{HookHost, ModelQuestion};
use serde::Deserialize;
use windlass_hook::HookError;
use windlass_types::hook::AnswerKind;
use windlass_types::{HookEventName, HookOutcome, JsonText};

/// Placeholder for the event in a question.
const EVENT: &str = "$ARGUMENTS";
/// Maximum number of characters of an event that a model reads.
const MOST_EVENT: usize = 100_000;

/// Answer of a model.
#[derive(Debug, Deserialize)]
struct Verdict {
    ok: bool,
    #[serde(default)]
    reason: Option<String>,
    /// `true` if the request cannot be met: the run may end.
    #[serde(default)]
    impossible: bool,
}

/// Asks a model about an event, and reads its answer.
pub(crate) async fn answer(
    handler: &ModelHandler,
    with_tools: bool,
    host: &dyn HookHost,
    said: &Said<'_>,
    input: &JsonText,
) -> Result<HookOutcome, HookError> {
    let prompt = prompt(&handler.prompt, input.as_str());
    let text = host.ask_model(ModelQuestion { prompt, model: handler.model.clone(), with_tools }).await?;
    let verdict = verdict(&text).ok_or("the model's answer is not the object that was asked for")?;
    Ok(outcome(said, &verdict, handler.continue_on_block))
}

fn prompt(question: &str, event: &str) -> String {
    let event = match event.char_indices().nth(MOST_EVENT) {
        Some((end, _)) => format!("{} […]", event.get(..end).unwrap_or_default()),
        None => event.to_owned(),
    };
    match question.contains(EVENT) {
        true => question.replace(EVENT, &event),
        false => format!("{question}\n\n{event}"),
    }
}

/// Returns the object in an answer, which may stand between other words or in a code block.
fn verdict(text: &str) -> Option<Verdict> {
    let (start, end) = (text.find('{')?, text.rfind('}')?);
    serde_json::from_str(text.get(start..=end)?).ok()
}

fn outcome(said: &Said<'_>, verdict: &Verdict, continues: bool) -> HookOutcome {
    let event = said.call.event();
    let reason = verdict.reason.clone().filter(|reason| !reason.trim().is_empty());
    let reason = said.texts.short(reason.unwrap_or_else(|| "A hook is against it.".to_owned()));
    let is_end = matches!(event, HookEventName::Stop | HookEventName::SubagentStop);
    if verdict.ok {
        return HookOutcome::default();
    }
    if is_end && verdict.impossible {
        let mut outcome = HookOutcome::default();
        outcome.system_messages.push(format!("{event} says: {reason}"));
        return outcome;
    }
    let mut outcome = HookOutcome::refused(event, said.hook, reason.clone());
    if event.answer() == AnswerKind::Output && !continues {
        outcome.stop = Some(reason);
    }
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::OnFailure;
    use crate::texts::HookTexts;
    use windlass_hook::{PostToolUse, PreToolUse, Stop};
    use windlass_types::HookCall;

    #[test]
    fn a_question_holds_the_event() {
        assert_eq!(prompt("Is $ARGUMENTS safe?", "{}"), "Is {} safe?");
        assert_eq!(prompt("Is it safe?", "{}"), "Is it safe?\n\n{}");
        assert!(prompt("$ARGUMENTS", &"x".repeat(MOST_EVENT + 10)).ends_with("[…]"));
    }

    #[test]
    fn an_answer_is_found_between_other_words() {
        for (text, expected) in [
            (r#"{"ok":true}"#, Some(true)),
            ("```json\n{\"ok\": false, \"reason\": \"r\"}\n```", Some(false)),
            ("no", None),
            ("{}", None),
            (r#"{"ok":"yes"}"#, None),
            ("} {", None),
        ] {
            assert_eq!(verdict(text).map(|verdict| verdict.ok), expected, "{text}");
        }
    }

    #[test]
    fn a_no_means_what_the_event_can() {
        let no = |impossible| Verdict { ok: false, reason: Some("r".into()), impossible };
        let of = |call: HookCall, verdict: &Verdict, continues| {
            let texts = HookTexts::cut();
            outcome(&Said { hook: "h", call: &call, on_failure: OnFailure::Block, texts: &texts }, verdict, continues)
        };
        let input = JsonText::empty_object;
        let pre = || PreToolUse { tool_name: "Bash".into(), tool_input: input(), tool_use_id: "t".into() }.into();
        assert_eq!(of(pre(), &no(false), false).verdict.unwrap().reason, "r");
        assert_eq!(of(pre(), &Verdict { ok: true, reason: None, impossible: false }, false), HookOutcome::default());
        let stop = || Stop { stop_hook_active: false, last_assistant_message: String::new() }.into();
        assert_eq!(of(stop(), &no(false), false).block.unwrap().reason, "r");
        let ended = of(stop(), &no(true), false);
        assert_eq!((ended.block, ended.system_messages), (None, vec!["Stop says: r".to_owned()]));
        let post = || {
            let (tool_name, tool_use_id, duration_ms) = ("Bash".into(), "t".into(), 1);
            PostToolUse { tool_name, tool_input: input(), tool_use_id, tool_response: input(), duration_ms }.into()
        };
        assert_eq!(of(post(), &no(false), true).stop, None);
        assert_eq!(of(post(), &no(false), false).stop.as_deref(), Some("r"));
    }
}
