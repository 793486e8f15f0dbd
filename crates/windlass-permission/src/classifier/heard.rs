//! Parts of a session's history that a classifier may read.

use std::collections::VecDeque;
use windlass_types::{ContentBlock, Entry, EntryKind, JsonText};

/// Maximum number of texts of the user, and maximum number of calls, that are kept.
const MOST_SAID: usize = 4;
const MOST_CALLS: usize = 64;

/// The last words of the user, and the last calls of the model with their inputs. No result of a tool is among them,
/// and no other words of the model: these could speak for a call.
#[derive(Debug, Clone, Default)]
pub struct Heard {
    pub(super) said: VecDeque<String>,
    pub(super) calls: VecDeque<(String, JsonText)>,
}

impl Heard {
    /// Takes note of entries of the log, in order.
    pub fn note(&mut self, entries: &[Entry]) {
        for entry in entries {
            match &entry.kind {
                EntryKind::User(user) if !user.is_meta && !user.is_summary && user.tasks.is_empty() => {
                    let texts: Vec<&str> = user.content.iter().filter_map(ContentBlock::as_text).collect();
                    // Paragraphs of one block and blocks of their own are the same words.
                    keep(&mut self.said, texts.join("\n\n"), MOST_SAID);
                }
                EntryKind::Assistant(assistant) => {
                    for block in &assistant.content {
                        if let ContentBlock::ToolUse(call) = block {
                            keep(&mut self.calls, (call.name.clone(), call.input.clone()), MOST_CALLS);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

fn keep<T>(kept: &mut VecDeque<T>, new: T, most: usize) {
    if kept.len() >= most {
        kept.pop_front();
    }
    kept.push_back(new);
}
