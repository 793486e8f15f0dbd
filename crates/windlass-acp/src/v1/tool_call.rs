//! Tool calls as updates.

use super::diff;
use serde_json::{Map, Value, json};
use std::path::Path;
use windlass_types::text::visible_line;
use windlass_types::{
    ContentBlock, DocumentSource, EditPreview, ImageSource, JsonText, ToolFinished, ToolResult, ToolResultContent,
    ToolUse,
};

/// Maximum length of the text of a result that a client is shown, in bytes.
const MOST_TEXT: usize = 64 * 1024;
/// Maximum length of a title, in characters.
const MOST_TITLE: usize = 160;

/// Kind of a call, by the name of its tool.
pub(crate) fn kind(tool: &str) -> &'static str {
    match tool {
        "Read" | "NotebookRead" | "ListMcpResources" | "ReadMcpResource" | "TaskOutput" => "read",
        "Edit" | "MultiEdit" | "Write" | "NotebookEdit" | "apply_patch" => "edit",
        "Glob" | "Grep" | "LS" | "LSP" | "ToolSearch" | "ProjectSearch" => "search",
        "Bash" | "BashOutput" | "KillShell" | "KillBash" | "Program" => "execute",
        "WebFetch" | "WebSearch" => "fetch",
        "Agent" | "Task" | "TodoWrite" | "Memory" => "think",
        "EnterPlanMode" | "ExitPlanMode" => "switch_mode",
        _ => "other",
    }
}

/// Update that shows a call for the first time.
pub(crate) fn announced(id: &str, call: &ToolUse, cwd: &Path) -> Map<String, Value> {
    let input = input(&call.input);
    let mut fields = fields("tool_call", id);
    fields.insert("title".to_owned(), title(&call.name, &input).into());
    fields.insert("name".to_owned(), call.name.as_str().into());
    fields.insert("kind".to_owned(), kind(&call.name).into());
    fields.insert("status".to_owned(), "pending".into());
    let locations = locations(&input, cwd);
    if !locations.is_empty() {
        fields.insert("locations".to_owned(), locations.into());
    }
    fields.insert("rawInput".to_owned(), input);
    fields
}

/// Fields that each update of a call begins with.
pub(crate) fn fields(kind: &str, id: &str) -> Map<String, Value> {
    let mut fields = Map::new();
    fields.insert("sessionUpdate".to_owned(), kind.into());
    fields.insert("toolCallId".to_owned(), id.into());
    fields
}

/// Adds the diffs of files that a call is about to change.
pub(crate) fn add_preview(fields: &mut Map<String, Value>, edits: Option<&EditPreview>, cwd: &Path) {
    let Some(edits) = edits else { return };
    let diffs = diff::read(&edits.diff, cwd);
    if !diffs.content.is_empty() {
        fields.insert("content".to_owned(), diffs.content.into());
        fields.insert("locations".to_owned(), diffs.locations.into());
    }
}

/// Update that shows the result of a call.
pub(crate) fn finished(id: &str, finished: &ToolFinished, cwd: &Path) -> Map<String, Value> {
    let mut fields = fields("tool_call_update", id);
    let failed = finished.result.is_error;
    fields.insert("status".to_owned(), if failed { "failed" } else { "completed" }.into());
    let diffs = finished.diff.as_deref().map(|diff| diff::read(diff, cwd)).unwrap_or_default();
    if diffs.content.is_empty() {
        fields.insert("content".to_owned(), content(&finished.tool, &finished.result).into());
    } else {
        fields.insert("content".to_owned(), diffs.content.into());
        fields.insert("locations".to_owned(), diffs.locations.into());
    }
    let raw = finished.structured.as_ref().and_then(|structured| structured.to::<Value>().ok());
    let raw = raw.unwrap_or_else(|| shortened(&finished.result.content.text()).into());
    fields.insert("rawOutput".to_owned(), raw);
    fields
}

/// The result of a stored call.
pub(crate) fn stored(call: Option<&ToolUse>, result: &ToolResult, cwd: &Path) -> Map<String, Value> {
    let mut fields = fields("tool_call_update", result.tool_use_id.as_str());
    fields.insert("status".to_owned(), if result.is_error { "failed" } else { "completed" }.into());
    let diff = call.filter(|_| !result.is_error).and_then(|call| stored_diff(call, cwd));
    let tool = call.map(|call| call.name.as_str()).unwrap_or_default();
    fields.insert("content".to_owned(), diff.map_or_else(|| content(tool, result), |diff| vec![diff]).into());
    fields.insert("rawOutput".to_owned(), shortened(&result.content.text()).into());
    fields
}

/// The change that a stored call made, as far as its input has it.
fn stored_diff(call: &ToolUse, cwd: &Path) -> Option<Value> {
    let input = input(&call.input);
    let text = |name: &str| input.get(name).and_then(Value::as_str);
    let (old, new) = match call.name.as_str() {
        "Edit" => (Some(text("old_string")?), text("new_string")?),
        "Write" => (None, text("content")?),
        _ => return None,
    };
    let path = cwd.join(text("file_path")?);
    Some(json!({ "type": "diff", "path": path.to_string_lossy(), "oldText": old, "newText": new }))
}

/// Content of a result.
fn content(tool: &str, result: &ToolResult) -> Vec<Value> {
    let wrap = |block: Value| json!({ "type": "content", "content": block });
    let text = |text: &str| wrap(json!({ "type": "text", "text": shown(tool, text) }));
    match &result.content {
        ToolResultContent::Text(words) if words.is_empty() => Vec::new(),
        ToolResultContent::Text(words) => vec![text(words)],
        ToolResultContent::Blocks(blocks) => blocks
            .iter()
            .filter_map(|block| match block {
                ContentBlock::Text { text: words, .. } => Some(text(words)),
                block => plain_block(block).map(wrap),
            })
            .collect(),
    }
}

/// A block of text, an image, or the name of a document. Other blocks are not shown.
pub(crate) fn plain_block(block: &ContentBlock) -> Option<Value> {
    Some(match block {
        ContentBlock::Text { text, .. } => json!({ "type": "text", "text": text }),
        ContentBlock::Image { source: ImageSource::Base64 { media_type, data } } => {
            json!({ "type": "image", "mimeType": media_type, "data": data })
        }
        ContentBlock::Document { source: DocumentSource::Text { data, .. }, title } => {
            let uri = title.clone().unwrap_or_else(|| "document:".to_owned());
            json!({ "type": "resource", "resource": { "uri": uri, "text": data } })
        }
        ContentBlock::Document { title, .. } => {
            let title = title.as_deref().unwrap_or("document");
            json!({ "type": "text", "text": format!("[Document: {}]", visible_line(title)) })
        }
        _ => return None,
    })
}

/// Text of a result: output of programs, files and searches stands in a block of code, which nothing in it can end.
fn shown(tool: &str, text: &str) -> String {
    let text = shortened(text);
    if !matches!(kind(tool), "execute" | "read" | "search") {
        return text;
    }
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or_default();
    let fence = "`".repeat(longest.max(2) + 1);
    let end = if text.ends_with('\n') { "" } else { "\n" };
    format!("{fence}\n{text}{end}{fence}")
}

fn shortened(text: &str) -> String {
    if text.len() <= MOST_TEXT {
        return text.to_owned();
    }
    let end = (0..=MOST_TEXT).rev().find(|at| text.is_char_boundary(*at)).unwrap_or_default();
    let kept = text.get(..end).unwrap_or_default();
    format!("{kept}\n[{} more bytes are not shown]", text.len() - kept.len())
}

/// An input as a value.
pub(crate) fn input(input: &JsonText) -> Value {
    input.to().unwrap_or_else(|_| json!({}))
}

/// One line that names a call: its tool, and the field of the input that says most.
fn title(tool: &str, input: &Value) -> String {
    let fields =
        ["command", "file_path", "notebook_path", "path", "pattern", "url", "query", "description", "skill", "prompt"];
    let said = fields.iter().find_map(|name| input.get(name).and_then(Value::as_str)).unwrap_or_default();
    let line = if said.is_empty() { visible_line(tool) } else { format!("{tool}: {}", visible_line(said)) };
    if line.chars().count() <= MOST_TITLE {
        return line;
    }
    line.chars().take(MOST_TITLE).chain(['…']).collect()
}

/// Files that an input names.
fn locations(input: &Value, cwd: &Path) -> Vec<Value> {
    let path = ["file_path", "notebook_path", "path"].iter().find_map(|name| input.get(name).and_then(Value::as_str));
    let Some(path) = path else { return Vec::new() };
    let path = cwd.join(path);
    let line = input.get("offset").and_then(Value::as_u64);
    vec![json!({ "path": path.to_string_lossy(), "line": line })]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_shown_with_its_kind_and_place() {
        let input = JsonText::parse(r#"{"file_path":"src/a.rs","offset":7}"#).unwrap();
        let fields = announced("t", &ToolUse::new("t", "Read", input), Path::new("/w"));
        assert_eq!(fields["title"], "Read: src/a.rs");
        assert_eq!(fields["kind"], "read");
        assert_eq!(fields["locations"], json!([{ "path": "/w/src/a.rs", "line": 7 }]));
        assert_eq!(fields["rawInput"]["offset"], 7);
    }

    #[test]
    fn output_cannot_leave_its_block_of_code() {
        let result = ToolResult::ok("t", "a\n```\n# not a heading\n````x");
        let call = |tool: &str| ToolUse::new("t", tool, JsonText::empty_object());
        let shown = stored(Some(&call("Bash")), &result, Path::new("/w"));
        let text = shown["content"][0]["content"]["text"].as_str().unwrap();
        assert!(text.starts_with("`````\n") && text.ends_with("\n`````"), "{text}");
        let plain = stored(Some(&call("mcp__x__y")), &result, Path::new("/w"));
        assert!(plain["content"][0]["content"]["text"].as_str().unwrap().starts_with("a\n"));
    }

    #[test]
    fn a_stored_edit_shows_its_change() {
        let input = JsonText::parse(r#"{"file_path":"a","old_string":"x","new_string":"y"}"#).unwrap();
        let call = ToolUse::new("t", "Edit", input);
        let shown = stored(Some(&call), &ToolResult::ok("t", "Edited"), Path::new("/w"));
        let diff = json!([{ "type": "diff", "path": "/w/a", "oldText": "x", "newText": "y" }]);
        assert_eq!(shown["content"], diff);
        let failed = stored(Some(&call), &ToolResult::error("t", "no"), Path::new("/w"));
        assert_eq!(failed["content"][0]["type"], "content", "it has changed nothing");
    }

    #[test]
    fn long_output_is_cut_at_a_character() {
        let result = ToolResult::ok("t", "é".repeat(100_000));
        let shown = stored(None, &result, Path::new("/w"));
        let text = shown["rawOutput"].as_str().unwrap();
        assert!(text.len() < 70_000 && text.ends_with("bytes are not shown]"));
    }

    #[test]
    fn a_title_is_one_short_line() {
        let input = json!({ "command": format!("echo a\n{}", "b".repeat(500)) });
        let title = title("Bash", &input);
        assert!(!title.contains('\n') && title.chars().count() == MOST_TITLE + 1, "{title}");
    }
}
