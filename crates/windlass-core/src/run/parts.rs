//! Prompts that are assembled when their run begins: tool calls supply parts of them.

use super::{Flow, Phase, Run, fails};
use crate::Prompt;
use crate::batch::Batch;
use crate::session::Session;
use windlass_types::text::clause;
use windlass_types::{ContentBlock, Interrupted, Outcome, PromptCall, PromptPart, RunFailureKind, ToolUse, ToolUseId};

/// Maximum number of bytes of an assembled prompt.
const MAX_PROMPT_BYTES: usize = 4 * 1024 * 1024;
/// Maximum number of characters of a quoted reason.
const MAX_REASON_CHARS: usize = 2_000;

/// A prompt whose calls are in progress.
#[derive(Debug)]
pub(super) struct Parts {
    pub(super) batch: Batch,
    prompt: Prompt,
}

impl Run {
    /// Runs the calls that supply parts of the prompt. They pass the gate of every call.
    pub(super) fn put_together(&mut self, session: &mut Session, prompt: Prompt) -> Flow {
        let calls = prompt.parts.iter().filter_map(|part| match part {
            PromptPart::Call(call) => Some(call),
            _ => None,
        });
        let calls = calls.map(|call| {
            let tool_use = ToolUse::new(new_id(session), call.tool.clone(), call.input.clone());
            (tool_use, call.command.clone())
        });
        let calls: Vec<_> = calls.collect();
        self.phase = Phase::Joining(Box::new(Parts { batch: Batch::of_prompt(calls), prompt }));
        Flow::Continue(())
    }

    /// Sends the prompt after all its calls are answered, unless a required result is missing.
    pub(super) fn parts_given(&mut self, session: &mut Session) -> Flow {
        let Phase::Joining(parts) = std::mem::take(&mut self.phase) else { return Flow::Continue(()) };
        let Parts { mut batch, prompt } = *parts;
        let (interrupted, notes) = (batch.is_interrupted(), std::mem::take(&mut batch.notes));
        self.feedback.add(notes.feedback);
        if interrupted {
            return Flow::Break(Outcome::Interrupted { during: Interrupted::Starting });
        }
        if let Some(reason) = self.feedback.stop.take() {
            return Flow::Break(Outcome::StoppedByHook { reason });
        }
        match assemble_prompt(prompt, batch.given()) {
            Ok(prompt) => self.open_or_submit(session, prompt),
            Err(problem) => fails(RunFailureKind::PromptCall, problem),
        }
    }
}

/// Returns a new id for a call that no model has made.
fn new_id(session: &mut Session) -> ToolUseId {
    ToolUseId::from(format!("{}{}", PromptCall::ID_PREFIX, session.ids.entry()))
}

/// Returns the prompt with the text of its parts.
fn assemble_prompt(mut prompt: Prompt, results: impl Iterator<Item = (bool, String)>) -> Result<Prompt, String> {
    let (mut text, mut results) = (String::new(), results);
    for part in std::mem::take(&mut prompt.parts) {
        match part {
            PromptPart::Text(words) => text.push_str(&words),
            PromptPart::Call(call) => match (results.next().unwrap_or_default(), call.otherwise) {
                ((false, result), _) => {
                    text.push_str(&call.lead);
                    text.push_str(result.trim_end());
                }
                ((true, _), Some(otherwise)) => text.push_str(&otherwise),
                ((true, problem), None) => {
                    let problem: String = problem.chars().take(MAX_REASON_CHARS).collect();
                    return Err(format!(
                        "The prompt was not sent, because {} failed: {}",
                        call.source,
                        clause(&problem)
                    ));
                }
            },
            _ => {}
        }
        if text.len() > MAX_PROMPT_BYTES {
            return Err(format!("The prompt was not sent, because it would be longer than {MAX_PROMPT_BYTES} bytes."));
        }
    }
    prompt.content.insert(0, ContentBlock::text(text));
    Ok(prompt)
}
