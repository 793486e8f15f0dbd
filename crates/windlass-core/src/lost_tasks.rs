//! Background work of which a log has the start and no end: it is gone, since the process that kept it is.

use crate::news::News;
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use windlass_context::task_notification;
use windlass_types::{
    ContentBlock, Entry, EntryKind, JsonText, TaskEnded, TaskId, TaskInfo, TaskKind, TaskStatus, ToolUseId,
};

/// How the names of tools begin whose data is written by programs elsewhere.
const FOREIGN: &str = "mcp__";

/// What the model should read of the work that a log leaves open, with the next prompt.
pub(crate) fn left_by(log: &[Entry]) -> News {
    let mut lost: Vec<TaskEnded> = Vec::new();
    let mut foreign: HashSet<&ToolUseId> = HashSet::new();
    for entry in log {
        match &entry.kind {
            EntryKind::Assistant(message) => {
                let calls = message.content.iter().filter_map(|block| match block {
                    ContentBlock::ToolUse(call) if call.name.starts_with(FOREIGN) => Some(&call.id),
                    _ => None,
                });
                foreign.extend(calls);
            }
            // A server that says it started something would have its words read as the runtime's.
            EntryKind::ToolResult(entry) if foreign.contains(&entry.result.tool_use_id) => {}
            EntryKind::ToolResult(entry) => {
                let Some(fields) = entry.structured.as_ref().and_then(named_task) else { continue };
                match fields {
                    Named::Started(kind, id, file) => {
                        lost.push(gone(kind, id, file, &entry.result.tool_use_id));
                    }
                    Named::Stopped(id) => lost.retain(|ended| ended.info.id != id),
                }
            }
            EntryKind::User(user) if user.is_meta && !lost.is_empty() => {
                let texts: Vec<&str> = user.content.iter().filter_map(ContentBlock::as_text).collect();
                lost.retain(|ended| {
                    let name = format!("<task-id>{}</task-id>", ended.info.id);
                    !texts.iter().any(|text| text.contains(&name))
                });
            }
            _ => {}
        }
    }
    let mut news = News::default();
    for ended in &lost {
        news.add(task_notification(ended), false);
    }
    news
}

/// What the data of a result says of background work.
enum Named {
    Started(TaskKind, TaskId, Option<PathBuf>),
    Stopped(TaskId),
}

fn named_task(structured: &JsonText) -> Option<Named> {
    // Nearly all results say nothing of the kind, and are not read.
    let names = ["\"backgroundTaskId\"", "\"task_id\"", "\"async_launched\""];
    if !names.iter().any(|name| structured.as_str().contains(name)) {
        return None;
    }
    let fields: BTreeMap<String, JsonText> = structured.to().ok()?;
    let text = |name: &str| fields.get(name)?.to::<String>().ok();
    if text("status").as_deref() == Some("async_launched") {
        let file = text("outputFile").map(PathBuf::from);
        return Some(Named::Started(TaskKind::LocalAgent, text("agentId")?.into(), file));
    }
    match (text("backgroundTaskId"), text("task_id"), text("task_type")) {
        (Some(id), ..) => {
            Some(Named::Started(TaskKind::LocalBash, id.into(), text("rawOutputPath").map(PathBuf::from)))
        }
        (None, Some(id), Some(_)) => Some(Named::Stopped(id.into())),
        _ => None,
    }
}

fn gone(kind: TaskKind, id: TaskId, file: Option<PathBuf>, tool_use_id: &ToolUseId) -> TaskEnded {
    let mut info = TaskInfo::new(id, kind, "", tool_use_id.clone());
    info.output_file = file;
    TaskEnded::new(info, TaskStatus::Stopped, "It was stopped: the process that kept it going has ended.")
}
