//! Frames of a compaction.

use super::{FrameEnvelope, FrameMapper};
use crate::frame::{StatusFrame, System, UserText, Uuid};
use crate::line;
use serde::Serialize;
use windlass_types::{CompactTrigger, Compacted};

#[derive(Serialize)]
struct BoundaryFrame {
    compact_metadata: CompactMetadata,
}

#[derive(Serialize)]
struct CompactMetadata {
    trigger: &'static str,
    pre_tokens: u64,
    post_tokens: u64,
    duration_ms: u64,
}

/// The summary, as the model reads it from now on.
#[derive(Serialize)]
struct Summary<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    message: UserText<'a>,
    parent_tool_use_id: Option<&'a str>,
    session_id: &'a str,
    uuid: Uuid,
    #[serde(rename = "isSynthetic")]
    is_synthetic: bool,
}

impl FrameMapper {
    pub(super) fn compacting(&mut self, envelope: FrameEnvelope<'_>, out: &mut Vec<u8>) {
        self.system(envelope, "status", StatusFrame { status: Some("compacting"), ..StatusFrame::default() }, out);
    }

    pub(super) fn not_compacted(&mut self, envelope: FrameEnvelope<'_>, error: &str, out: &mut Vec<u8>) {
        let (result, error) = (Some("failed"), Some(error));
        let body = StatusFrame { compact_result: result, compact_error: error, ..StatusFrame::default() };
        self.system(envelope, "status", body, out);
    }

    /// Appends the replacement of the conversation, with its summary. A summary that is too long for a frame is left
    /// out: the model has it.
    pub(super) fn compacted(&mut self, envelope: FrameEnvelope<'_>, compacted: &Compacted, out: &mut Vec<u8>) {
        let body = StatusFrame { compact_result: Some("success"), ..StatusFrame::default() };
        self.system(envelope, "status", body, out);
        let compact_metadata = CompactMetadata {
            trigger: match compacted.trigger {
                CompactTrigger::Manual => "manual",
                _ => "auto",
            },
            pre_tokens: compacted.pre_tokens,
            post_tokens: compacted.post_tokens,
            duration_ms: compacted.duration_ms,
        };
        let boundary = System {
            kind: "system",
            subtype: "compact_boundary",
            body: BoundaryFrame { compact_metadata },
            uuid: Uuid::of(&compacted.boundary).unwrap_or_else(|| self.uuid()),
            session_id: envelope.session_id,
        };
        line::push(out, &boundary);
        let mut summary = Summary {
            kind: "user",
            message: UserText { role: "user", content: &compacted.summary },
            parent_tool_use_id: envelope.parent,
            session_id: envelope.session_id,
            uuid: Uuid::of(&compacted.entry).unwrap_or_else(|| self.uuid()),
            is_synthetic: true,
        };
        if !line::push(out, &summary) {
            summary.message.content = "[The summary is too long for one frame. The model continues from it.]";
            line::push(out, &summary);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{FrameMapper, FrameOptions};
    use windlass_types::{CompactTrigger, Compacted, EntryId, Event, EventKind, RunId, SessionId, Status};

    fn frames(kind: EventKind) -> Vec<String> {
        let mut out = Vec::new();
        let event = Event::new(0, SessionId::from("s"), RunId::from("r"), 1, kind);
        FrameMapper::new(FrameOptions::default(), || 7).map(&event, &mut out);
        String::from_utf8(out).unwrap().lines().map(str::to_owned).collect()
    }

    #[test]
    fn a_compaction_is_announced_marked_and_shown() {
        let id = "00000000-0000-4000-8000-000000000007";
        assert_eq!(
            frames(EventKind::Status(Status::Compacting { trigger: CompactTrigger::Auto })),
            [format!(r#"{{"type":"system","subtype":"status","status":"compacting","uuid":"{id}","session_id":"s"}}"#)]
        );
        assert_eq!(
            frames(EventKind::Status(Status::CompactionFailed { message: "no".into() })),
            [format!(
                r#"{{"type":"system","subtype":"status","status":null,"compact_result":"failed","compact_error":"no","uuid":"{id}","session_id":"s"}}"#
            )]
        );
        let (boundary, entry) = (EntryId::from_bits(1), EntryId::from_bits(2));
        for (trigger, wire) in
            [(CompactTrigger::Manual, "manual"), (CompactTrigger::Auto, "auto"), (CompactTrigger::Overflow, "auto")]
        {
            let mut compacted = Compacted::new(trigger, "It was long.".into(), boundary.clone(), entry.clone());
            (compacted.pre_tokens, compacted.post_tokens, compacted.duration_ms) = (900, 30, 1_200);
            assert_eq!(
                frames(EventKind::Compacted(compacted)),
                [
                    format!(
                        r#"{{"type":"system","subtype":"status","status":null,"compact_result":"success","uuid":"{id}","session_id":"s"}}"#
                    ),
                    format!(
                        r#"{{"type":"system","subtype":"compact_boundary","compact_metadata":{{"trigger":"{wire}","pre_tokens":900,"post_tokens":30,"duration_ms":1200}},"uuid":"{boundary}","session_id":"s"}}"#
                    ),
                    format!(
                        r#"{{"type":"user","message":{{"role":"user","content":"It was long."}},"parent_tool_use_id":null,"session_id":"s","uuid":"{entry}","isSynthetic":true}}"#
                    )
                ]
            );
        }
    }
}
