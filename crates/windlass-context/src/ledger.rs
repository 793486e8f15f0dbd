//! Ledger of a session: structured data of its work, folded from its log, so that no summary can lose it.

use crate::imitation::foreign_text;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write;
use windlass_types::text::clean_line;
use windlass_types::{
    Behavior, ContentBlock, Decision, DecisionReason, Entry, EntryKind, JsonText, ToolResultEntry, ToolUse, ToolUseId,
};

mod files;

use files::Files;
pub use files::LedgerFile;

/// Maximum numbers of prompts, results, failures, refusals and skills that are kept, the latest ones; the first prompt
/// is always kept.
const MAX_PROMPTS: usize = 8;
const MAX_RESULTS: usize = 10;
const MAX_FAILURES: usize = 10;
const MAX_VERDICTS: usize = 12;
const MAX_SKILLS: usize = 16;
/// Maximum number of calls that wait for their results.
const MAX_PENDING_CALLS: usize = 1_000;
/// Maximum characters of a prompt, and of any other line.
const MAX_PROMPT_CHARS: usize = 600;
const MAX_LINE_CHARS: usize = 200;
/// Tools that run commands, whose last line is more informative than their first.
const COMMANDS: [&str; 1] = ["Bash"];
/// Tool that loads a skill.
const SKILL: &str = "Skill";

/// Structured data of the work of a session: a fold over its log, which a compaction does not empty. Bounded, however
/// long the session is.
#[derive(Debug, Clone, Default)]
pub struct Ledger {
    first_prompt: Option<String>,
    prompts: VecDeque<String>,
    files: Files,
    results: VecDeque<String>,
    failures: VecDeque<String>,
    verdicts: VecDeque<String>,
    skills: VecDeque<String>,
    open: BTreeMap<ToolUseId, ToolUse>,
}

impl Ledger {
    /// Applies an entry of the log.
    pub fn apply(&mut self, entry: &Entry) {
        match &entry.kind {
            EntryKind::User(user) if !user.is_meta && !user.is_summary => {
                let texts: Vec<&str> = user.content.iter().filter_map(ContentBlock::as_text).collect();
                self.prompted(&texts.join("\n"));
            }
            EntryKind::Assistant(message) => {
                for call in message.content.iter().filter_map(ContentBlock::as_tool_use) {
                    self.open.insert(call.id.clone(), call.clone());
                }
                while self.open.len() > MAX_PENDING_CALLS {
                    self.open.pop_first();
                }
            }
            EntryKind::Decision(audited) => self.judged(&audited.tool_use_id, &audited.decision),
            EntryKind::ToolResult(result) if !result.synthetic => self.answered(result),
            EntryKind::ToolResult(result) => drop(self.open.remove(&result.result.tool_use_id)),
            _ => {}
        }
    }

    fn prompted(&mut self, text: &str) {
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let text = cut(text, MAX_PROMPT_CHARS);
        match self.first_prompt {
            None => self.first_prompt = Some(text),
            Some(_) => push(&mut self.prompts, text, MAX_PROMPTS),
        }
    }

    /// Records decisions of users and rules; calls that needed no approval are ignored.
    fn judged(&mut self, id: &ToolUseId, decision: &Decision) {
        let Some(call) = self.open.get(id) else { return };
        let verdict = match (decision.behavior, decision.reason) {
            (_, DecisionReason::InvalidInput | DecisionReason::UnknownTool) => return,
            (Behavior::Deny, _) => format!("refused: {}: {}", subject(call), line(&decision.message)),
            (Behavior::Allow, DecisionReason::Host) => format!("approved by the user: {}", subject(call)),
            _ => return,
        };
        if !self.verdicts.contains(&verdict) {
            push(&mut self.verdicts, verdict, MAX_VERDICTS);
        }
    }

    fn answered(&mut self, entry: &ToolResultEntry) {
        let Some(call) = self.open.remove(&entry.result.tool_use_id) else { return };
        // Most results are not used here, and their texts are long.
        let text = || entry.result.content.text();
        if entry.result.is_error {
            let text = text();
            let about = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
            return push(&mut self.failures, format!("{}: {}", subject(&call), line(about)), MAX_FAILURES);
        }
        self.files.apply(&call, entry.structured.as_ref());
        if COMMANDS.contains(&call.name.as_str()) {
            let text = text();
            let last = text.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
            push(&mut self.results, format!("{}: {}", subject(&call), line(last)), MAX_RESULTS);
        } else if call.name == SKILL
            && let Some(skill) = field(&call, &["skill", "name"])
        {
            self.skills.retain(|known| *known != skill);
            push(&mut self.skills, skill, MAX_SKILLS);
        }
    }

    /// Returns the files that calls have read or changed, latest first.
    pub fn files(&self) -> impl Iterator<Item = &LedgerFile> {
        self.files.iter()
    }

    /// Returns the ledger for the model, in at most about `max_chars` characters. The prompts come first, then the
    /// changed files.
    #[must_use]
    pub fn text(&self, max_chars: usize) -> String {
        let prompts = self.first_prompt.iter().chain(&self.prompts).map(|prompt| clean_line(prompt));
        let (changed, read): (Vec<_>, Vec<_>) = self.files().partition(|file| file.is_changed());
        let all: [(&str, Vec<String>); 7] = [
            ("What the user has asked for, oldest first", prompts.collect()),
            ("Files that were changed, latest first", changed.into_iter().map(LedgerFile::described).collect()),
            (
                "Files that were read, latest first; read them again before you rely on them",
                read.into_iter().map(LedgerFile::described).collect(),
            ),
            ("Failed attempts", self.failures.iter().cloned().collect()),
            ("Permission decisions", self.verdicts.iter().cloned().collect()),
            ("Skills in use", self.skills.iter().cloned().collect()),
            ("What commands showed last", self.results.iter().cloned().collect()),
        ];
        let mut text = String::new();
        let mut remaining = max_chars;
        for (heading, lines) in all.iter().filter(|(_, lines)| !lines.is_empty()) {
            remaining = remaining.saturating_sub(heading.len() + 2);
            let mut section = String::new();
            for line in lines {
                let line = format!("\n- {}", foreign_text(line));
                if line.chars().count() > remaining {
                    break;
                }
                remaining -= line.chars().count();
                section.push_str(&line);
            }
            if !section.is_empty() {
                // Writing to a string cannot fail.
                let _ = write!(text, "\n{heading}:{section}");
            }
        }
        text
    }

    /// Returns the texts of the files that were read or changed last, as the conversation had them last, latest first:
    /// in at most `most` characters together, of those files that fit as a whole.
    pub fn restored(&self, most: usize) -> Vec<String> {
        self.files.restored(most)
    }
}

/// Returns a call in one line: its tool, and its subject.
fn subject(call: &ToolUse) -> String {
    let about =
        field(call, &["command", "file_path", "notebook_path", "path", "pattern", "url", "query", "description"]);
    let name = line(&call.name);
    match about {
        Some(about) => format!("{name} {}", line(&about)),
        None => name,
    }
}

/// Returns the first of these fields of a call's input that is a text.
fn field(call: &ToolUse, names: &[&str]) -> Option<String> {
    let fields: BTreeMap<String, JsonText> = call.input.to().ok()?;
    names.iter().find_map(|name| fields.get(*name)?.to::<String>().ok())
}

fn line(text: &str) -> String {
    cut(clean_line(text).trim(), MAX_LINE_CHARS)
}

fn cut(text: &str, max_chars: usize) -> String {
    match text.char_indices().nth(max_chars) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

fn push(kept: &mut VecDeque<String>, one: String, max_entries: usize) {
    kept.push_back(one);
    while kept.len() > max_entries {
        kept.pop_front();
    }
}

#[cfg(test)]
mod tests;
