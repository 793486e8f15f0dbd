//! Replacement of old tool results by short notes, before a conversation has to be summarised.

use crate::imitation::foreign_text;
use crate::{estimate_blocks, estimate_text};
use std::collections::HashMap;
use windlass_types::text::clean_line;
use windlass_types::{ContentBlock, SharedMessage, ToolResult, ToolUse, ToolUseId, TrimRecord, TrimmedResult};

/// Beginning of each note.
const NOTE: &str = "[The result of this ";
/// Texts of large results around the path of the file with the complete result.
const KEPT_WHOLE: [(&str, &str); 2] = [(" The whole is in ", ": "), (" bytes are in ", " ...]")];
/// Minimum tokens of a result that is worth a note.
const MIN_RESULT_TOKENS: u64 = 300;
/// Maximum characters in a note for the name of a tool and for a path.
const MAX_NAME_CHARS: usize = 64;
const MAX_PATH_CHARS: usize = 500;
/// Tools whose results stay: changes, answers of the user, findings of others, instructions for the model.
const KEPT: [&str; 16] = [
    "Agent",
    "AskUserQuestion",
    "Edit",
    "EnterPlanMode",
    "ExitPlanMode",
    "MultiEdit",
    "NotebookEdit",
    "Skill",
    "StructuredOutput",
    "Task",
    "TaskCreate",
    "TaskUpdate",
    "TodoWrite",
    "ToolSearch",
    "Write",
    "apply_patch",
];

/// Rules for the replacement of old results by short notes, before the conversation has to be summarised.
///
/// The replacement happens at the point where a summary would be written, and only if it makes one unnecessary: the
/// replaced results free at least [`least_freed`](Self::least_freed) tokens, and the rest is below that point by half
/// of this. Estimates are too high, so three quarters of them are assumed. In a small window less is kept and required:
/// at most a quarter and an eighth of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct TrimRules {
    /// `true` to replace results. Default: `true`.
    pub enabled: bool,
    /// Tokens of the latest results that stay unchanged. Default: 40,000.
    pub keep: u64,
    /// Minimum number of freed tokens, since the provider reads the conversation anew after the first note. Default:
    /// 20,000.
    pub least_freed: u64,
}

impl Default for TrimRules {
    fn default() -> Self {
        Self { enabled: true, keep: 40_000, least_freed: 20_000 }
    }
}

/// Returns the results to replace by notes in a conversation of `context` tokens, which is to stay below `limit`.
/// `None` if that would not suffice, or frees too little.
///
/// Results of the last message stay, since the model has not read them, and so do errors, results of edits, answers of
/// the user and reports of agents.
#[must_use]
pub fn results_to_trim(messages: &[SharedMessage], rules: &TrimRules, context: u64, limit: u64) -> Option<TrimRecord> {
    if !rules.enabled || limit == 0 {
        return None;
    }
    let (mut keep, min_freed) = (rules.keep.min(limit / 4), rules.least_freed.min(limit / 8));
    let calls: HashMap<&ToolUseId, &ToolUse> = messages
        .iter()
        .flat_map(|message| &message.content)
        .filter_map(|block| block.as_tool_use().map(|call| (&call.id, call)))
        .collect();
    let (_, read_messages) = messages.split_last()?;
    let results =
        read_messages.iter().rev().flat_map(|message| message.content.iter().rev()).filter_map(|block| match block {
            ContentBlock::ToolResult(result) => Some((result, estimate_blocks(std::slice::from_ref(block)))),
            _ => None,
        });
    let (mut trimmed, mut freed) = (Vec::new(), 0_u64);
    for (result, tokens) in results {
        if keep > 0 {
            keep = keep.saturating_sub(tokens);
            continue;
        }
        let Some(call) = calls.get(&result.tool_use_id).filter(|call| may_go(result, call, tokens)) else { continue };
        let note = note(result, call);
        freed = freed.saturating_add(tokens.saturating_sub(estimate_text(&note)));
        trimmed.push(TrimmedResult::new(result.tool_use_id.clone(), note));
    }
    let freed = freed / 4 * 3;
    let is_enough = context.saturating_sub(freed).saturating_add(min_freed / 2) <= limit;
    trimmed.reverse();
    (!trimmed.is_empty() && freed >= min_freed && is_enough).then(|| TrimRecord::new(trimmed, context, freed))
}

fn may_go(result: &ToolResult, call: &ToolUse, tokens: u64) -> bool {
    !result.is_error && tokens >= MIN_RESULT_TOKENS && !KEPT.contains(&call.name.as_str())
}

/// Returns the note that replaces a result: tool, size, and place of the whole.
fn note(result: &ToolResult, call: &ToolUse) -> String {
    let text = result.content.text();
    let name: String = clean_line(&call.name).chars().take(MAX_NAME_CHARS).collect();
    let size = match text.chars().count() {
        0 => "which held no text".to_owned(),
        characters => format!("of {characters} characters"),
    };
    let again = match (kept_whole(&text), call.name.as_str()) {
        (Some(path), _) => format!("The whole is in {path}."),
        (None, "Read") => "Read the file again if you need it.".to_owned(),
        (None, _) => "If you need it, make the call again, unless that would change something twice.".to_owned(),
    };
    foreign_text(&format!("{NOTE}{name} call, {size}, was taken out to save space. {again}]"))
}

/// Returns the file that a large result names as having the whole of it.
pub(crate) fn kept_whole(text: &str) -> Option<String> {
    let path =
        KEPT_WHOLE.iter().find_map(|(before, behind)| Some(text.rsplit_once(before)?.1.split_once(behind)?.0))?;
    let is_path = std::path::Path::new(path).is_absolute() && path.chars().count() <= MAX_PATH_CHARS;
    is_path.then(|| clean_line(path))
}

#[cfg(test)]
mod tests;
