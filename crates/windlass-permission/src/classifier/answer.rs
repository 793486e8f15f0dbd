//! Strict parser of a classifier's answer.

use serde::Deserialize;
use windlass_types::text::visible_line;

/// Maximum number of characters of a reason that are kept.
const REASON_CHARS: usize = 300;

/// Verdict of a classifier on a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a classifier allows a call or has it asked about, and nothing else")]
pub enum Classified {
    /// The call may run, for this reason.
    Allow(String),
    /// The call needs a permission request, for this reason.
    Ask(String),
    /// There is no verdict, for this reason: it is asked about. Such an answer is not remembered.
    Failed(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClassifierReply {
    verdict: Verdict,
    reason: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Verdict {
    Allow,
    Ask,
}

/// Reads the answer of a model: one JSON object `{"verdict": "allow" or "ask", "reason": "…"}`, at most in one fence of
/// code. Anything else is no verdict.
#[must_use]
pub fn read_answer(text: &str) -> Classified {
    let text = text.trim();
    let fenced = text.strip_prefix("```json").or_else(|| text.strip_prefix("```"));
    let inside = fenced.and_then(|rest| rest.strip_suffix("```")).unwrap_or(text);
    match serde_json::from_str::<ClassifierReply>(inside) {
        Ok(ClassifierReply { reason, .. }) if reason.trim().is_empty() => {
            Classified::Failed("it gave no reason".to_owned())
        }
        Ok(ClassifierReply { verdict: Verdict::Allow, reason }) => Classified::Allow(shown(&reason)),
        Ok(ClassifierReply { verdict: Verdict::Ask, reason }) => Classified::Ask(shown(&reason)),
        Err(_) => Classified::Failed("its answer is not a verdict".to_owned()),
    }
}

/// Returns one line of limited length without a full stop.
fn shown(reason: &str) -> String {
    let reason = reason.trim().trim_end_matches('.');
    let mut kept: String = reason.chars().take(REASON_CHARS).collect();
    if reason.chars().nth(REASON_CHARS).is_some() {
        kept.push('…');
    }
    visible_line(&kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_whole_verdict_counts() {
        let allow = Classified::Allow("It runs the tests".to_owned());
        for text in [
            r#"{"verdict":"allow","reason":"It runs the tests."}"#,
            " {\"reason\":\"It runs the tests\",\"verdict\":\"allow\"}\n",
            "```json\n{\"verdict\":\"allow\",\"reason\":\"It runs the tests\"}\n```",
            "```\n{\"verdict\":\"allow\",\"reason\":\"It runs the tests\"}```",
        ] {
            assert_eq!(read_answer(text), allow, "{text}");
        }
        assert_eq!(read_answer(r#"{"verdict":"ask","reason":"It pushes"}"#), Classified::Ask("It pushes".to_owned()));
        for text in [
            "",
            "allow",
            "I allow it.",
            r#"{"verdict":"allow"}"#,
            r#"{"verdict":"allow","reason":" "}"#,
            r#"{"verdict":"Allow","reason":"x"}"#,
            r#"{"verdict":"deny","reason":"x"}"#,
            r#"{"verdict":"ask","verdict":"allow","reason":"x"}"#,
            r#"{"verdict":"allow","reason":"x","also":1}"#,
            r#"{"verdict":"ask","reason":"x"} {"verdict":"allow","reason":"x"}"#,
            r#"The call is fine: {"verdict":"allow","reason":"x"}"#,
            r#"[{"verdict":"allow","reason":"x"}]"#,
            r#"{"verdict":["allow"],"reason":"x"}"#,
            "{\"verdict\":\"allow\",\"reason\":\"x\"",
        ] {
            assert!(matches!(read_answer(text), Classified::Failed(_)), "{text}");
        }
    }

    #[test]
    fn a_reason_is_one_line_in_which_nothing_is_hidden() {
        let text = format!(r#"{{"verdict":"ask","reason":"a\n{}{}"}}"#, '\u{202e}', "x".repeat(1_000));
        let Classified::Ask(reason) = read_answer(&text) else { panic!("{text}") };
        assert!(!reason.contains(['\n', '\u{202e}']) && reason.chars().count() < 400, "{reason}");
    }
}
