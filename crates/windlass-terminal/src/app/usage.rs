//! Texts about the use of the session, and its last answer.

use crate::cell::Cell;
use crate::layout::{duration, tokens};
use crate::presenter::SessionStatus;
use crate::transcript::Transcript;

/// Use of the context window, cost, time, and the allowance of the provider's subscription, one a line.
pub(super) fn usage_text(status: &SessionStatus) -> String {
    let mut lines = Vec::new();
    lines.push(match status.context_tokens.saturating_mul(100).checked_div(status.context_window) {
        Some(share) => {
            let (used, window) = (tokens(status.context_tokens), tokens(status.context_window));
            format!("context: {used} of {window} tokens ({share}%)")
        }
        None => format!("context: {} tokens", tokens(status.context_tokens)),
    });
    lines.push(format!("cost: {}", status.cost));
    lines.push(format!("runs: {}, in the model {}", duration(status.duration_ms), duration(status.model_ms)));
    if let Some(limit) = &status.rate_limit {
        let kind = limit.kind.as_ref().map_or("requests", |kind| kind.as_str());
        let used = limit.utilization.map(|used| format!(", {:.0}% used", used.get() * 100.0)).unwrap_or_default();
        lines.push(format!("allowance ({kind}): {}{used}", limit.status.as_str()));
    }
    lines.join("\n")
}

/// Text of the last answer, in Markdown; `None` before the first one.
pub(super) fn last_answer(transcript: &Transcript) -> Option<String> {
    let cells: Vec<&Cell> = transcript.cells().collect();
    let last = cells.iter().rposition(|cell| matches!(cell, Cell::Answer(_)))?;
    let parts = cells.get(..=last)?.iter().rev().map_while(|cell| match cell {
        Cell::Answer(part) => Some(part),
        _ => None,
    });
    let mut sources: Vec<&str> = Vec::new();
    for part in parts {
        sources.push(part.chunk.source.as_str());
        if part.is_first {
            break;
        }
    }
    sources.reverse();
    Some(sources.join("\n").trim_end().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cell::{AnswerPart, Notice, NoticeLevel};
    use crate::markdown::MarkdownStream;

    #[test]
    fn the_last_answer_is_whole_and_alone() {
        let mut transcript = Transcript::default();
        assert_eq!(last_answer(&transcript), None);
        for text in ["An earlier one.\n", "# Title\n\nA text.\n\n- one\n- two\n"] {
            let mut stream = MarkdownStream::default();
            stream.push(text);
            for (at, chunk) in stream.finish().into_iter().enumerate() {
                transcript.push(Cell::Answer(AnswerPart { chunk, is_first: at == 0 }));
            }
            transcript.push(Cell::Notice(Notice::new(NoticeLevel::Info, "between")));
        }
        let answer = last_answer(&transcript).unwrap();
        assert!(answer.starts_with("# Title") && answer.ends_with("- two"), "{answer}");
        assert!(!answer.contains("earlier"));
    }
}
