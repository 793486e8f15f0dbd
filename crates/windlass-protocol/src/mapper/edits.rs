//! Frames about file changes of calls.

use super::{FrameEnvelope, FrameMapper};
use serde::Serialize;
use std::path::PathBuf;
use windlass_types::{EditPreview, ToolFinished, ToolStarted};

/// A file change for hosts.
#[derive(Debug, Serialize)]
pub(crate) struct HostEdit<'a> {
    paths: Vec<String>,
    diff: &'a str,
    /// `true` if the end of the diff is left out.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    truncated: bool,
}

impl<'a> HostEdit<'a> {
    pub(crate) fn new(edits: &'a EditPreview) -> Self {
        Self { paths: names(&edits.paths), diff: &edits.diff, truncated: edits.is_cut }
    }
}

fn names(paths: &[PathBuf]) -> Vec<String> {
    paths.iter().map(|path| path.to_string_lossy().into_owned()).collect()
}

#[derive(Serialize)]
struct CallEdits<'a> {
    tool_use_id: &'a str,
    tool_name: &'a str,
    parent_tool_use_id: Option<&'a str>,
    #[serde(flatten)]
    edit: HostEdit<'a>,
}

impl FrameMapper {
    /// Appends the file changes that a call is about to make, if edit events are on.
    pub(super) fn edit_begins(&mut self, envelope: FrameEnvelope<'_>, started: &ToolStarted, out: &mut Vec<u8>) {
        if let Some(edits) = started.edits.as_ref().filter(|_| self.options.include_edit_events) {
            let (tool_use_id, tool_name) = (started.tool_use_id.as_str(), started.tool.as_str());
            let body =
                CallEdits { tool_use_id, tool_name, parent_tool_use_id: envelope.parent, edit: HostEdit::new(edits) };
            self.system(envelope, "windlass_edit_started", body, out);
        }
    }

    /// Appends the file changes that a call has made, if edit events are on.
    pub(super) fn edit_ended(&mut self, envelope: FrameEnvelope<'_>, finished: &ToolFinished, out: &mut Vec<u8>) {
        if !self.options.include_edit_events || finished.written.is_empty() || finished.result.is_error {
            return;
        }
        let edits = EditPreview::new(finished.written.clone(), finished.diff.clone().unwrap_or_default());
        let (tool_use_id, tool_name) = (finished.result.tool_use_id.as_str(), finished.tool.as_str());
        let body =
            CallEdits { tool_use_id, tool_name, parent_tool_use_id: envelope.parent, edit: HostEdit::new(&edits) };
        self.system(envelope, "windlass_edit_finished", body, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FrameOptions;
    use windlass_types::{Event, EventKind, JsonText, RunId, SessionId, ToolResult};

    fn frames(on: bool, kind: EventKind) -> String {
        let mut out = Vec::new();
        let event = Event::new(0, SessionId::from("s"), RunId::from("r"), 1, kind);
        FrameMapper::new(FrameOptions::default().with_edit_events(on), || 7).map(&event, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn edits_are_reported_before_and_behind_the_call_if_the_host_wants_it() {
        let paths = vec![PathBuf::from("/w/a")];
        let input = JsonText::empty_object();
        let mut started = ToolStarted::new("t1".into(), "Edit".to_owned(), input, "Edit /w/a".to_owned());
        started.edits = Some(EditPreview::new(paths.clone(), "+x\n".to_owned()));
        let started = EventKind::ToolStarted(started);
        assert!(frames(false, started.clone()).is_empty());
        let begun = frames(true, started);
        let expected = concat!(
            r#"{"type":"system","subtype":"windlass_edit_started","tool_use_id":"t1","tool_name":"Edit","#,
            r#""parent_tool_use_id":null,"paths":["/w/a"],"diff":"+x\n","#
        );
        assert!(begun.starts_with(expected), "{begun}");

        let mut finished = ToolFinished::new("Edit".to_owned(), ToolResult::ok("t1", "done"));
        finished.written = paths;
        finished.diff = Some("+é\n".repeat(100_000));
        let ended = frames(true, EventKind::ToolFinished(finished.clone()));
        assert!(ended.contains("windlass_edit_finished") && ended.contains(r#""truncated":true"#), "{ended}");
        assert!(!frames(false, EventKind::ToolFinished(finished.clone())).contains("windlass_edit"));
        finished.result.is_error = true;
        assert!(!frames(true, EventKind::ToolFinished(finished)).contains("windlass_edit"));
    }
}
