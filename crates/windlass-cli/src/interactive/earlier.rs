//! The conversation of a session that is resumed, as the terminal shows it.

use std::collections::BTreeMap;
use windlass::session::{SessionTranscript, TranscriptItem};
use windlass::{ContentBlock, JsonText};
use windlass_terminal::cell::{AnswerPart, CallOutcome, Cell, Notice, NoticeLevel, ToolCall, UserMessage};
use windlass_terminal::markdown::MarkdownStream;

/// Maximum number of shown entries: the last ones.
const MOST: usize = 200;

/// Returns the cells of a conversation.
pub(super) fn cells(transcript: &SessionTranscript) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut calls: BTreeMap<&str, (String, &JsonText)> = BTreeMap::new();
    let left_out = transcript.entries.len().saturating_sub(MOST);
    if left_out > 0 {
        let text = format!("{left_out} earlier entries are not shown; `windlass sessions export` has them.");
        cells.push(Cell::Notice(Notice::new(NoticeLevel::Info, text)));
    }
    for entry in transcript.entries.iter().skip(left_out) {
        match &entry.item {
            TranscriptItem::Prompt { content, .. } => {
                let text = texts(content).join("\n");
                cells.push(Cell::User(UserMessage { text, joined: false }));
            }
            TranscriptItem::Message { content, .. } => {
                for text in texts(content) {
                    cells.extend(answer(text));
                }
                for block in content {
                    if let ContentBlock::ToolUse(call) = block {
                        calls.insert(call.id.as_str(), (call.name.clone(), &call.input));
                    }
                }
            }
            TranscriptItem::ToolResult { tool, result, .. } => {
                let call = calls.remove(result.tool_use_id.as_str());
                let name = call.as_ref().map(|(name, _)| name.clone()).or_else(|| tool.clone()).unwrap_or_default();
                let title = format!("{name} {}", call.map(|(_, input)| subject(input)).unwrap_or_default());
                let outcome = if result.is_error { CallOutcome::Failed } else { CallOutcome::Done };
                cells.push(Cell::Tool(Box::new(ToolCall::new(
                    name,
                    title.trim_end(),
                    outcome,
                    &result.content.text(),
                ))));
            }
            TranscriptItem::Compacted { .. } => {
                let text = "The conversation before this was summarized.";
                cells.push(Cell::Notice(Notice::new(NoticeLevel::Info, text)));
            }
            _ => {}
        }
    }
    cells
}

fn texts(content: &[ContentBlock]) -> Vec<&str> {
    content.iter().filter_map(ContentBlock::as_text).filter(|text| !text.trim().is_empty()).collect()
}

fn answer(text: &str) -> Vec<Cell> {
    let mut stream = MarkdownStream::default();
    stream.push(text);
    let parts = stream.finish().into_iter().enumerate();
    parts.map(|(index, chunk)| Cell::Answer(AnswerPart { chunk, is_first: index == 0 })).collect()
}

/// Returns the subject of a call: its command, path or pattern.
fn subject(input: &JsonText) -> String {
    let members: BTreeMap<String, JsonText> = input.to().unwrap_or_default();
    let named = ["command", "file_path", "pattern", "path", "url", "description"];
    let text = named.iter().find_map(|name| members.get(*name)?.to::<String>().ok()).unwrap_or_default();
    text.lines().next().unwrap_or_default().to_owned()
}
