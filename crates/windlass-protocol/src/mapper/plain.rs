//! Stream events, written without a serializer, because there is one for every few characters.

use super::{FrameEnvelope, FrameMapper};
use crate::line;
use windlass_types::JsonText;

/// End of a frame after its id: the session, and the end of the object. Cached, because each frame has it.
#[derive(Debug, Default)]
pub(super) struct SessionMember {
    session_id: String,
    json: Vec<u8>,
}

impl SessionMember {
    /// End of the frames of this session.
    fn of(&mut self, session_id: &str) -> &[u8] {
        if self.session_id != session_id || self.json.is_empty() {
            session_id.clone_into(&mut self.session_id);
            self.json = br#"","session_id":"#.to_vec();
            line::push_json(&mut self.json, &serde_json::Value::from(session_id).to_string());
            self.json.push(b'}');
        }
        &self.json
    }
}

impl FrameMapper {
    /// Appends the same as [`stream_event`](Self::stream_event), for an event of the main agent that names no message
    /// of the host.
    pub(super) fn plain_stream_event(&mut self, envelope: FrameEnvelope<'_>, frame: &JsonText, out: &mut Vec<u8>) {
        let uuid = self.uuid().text();
        let session = self.session_member.of(envelope.session_id);
        let start = out.len();
        out.extend_from_slice(br#"{"type":"stream_event","event":"#);
        line::push_json(out, frame.as_str());
        out.extend_from_slice(br#","parent_tool_use_id":null,"uuid":""#);
        out.extend_from_slice(&uuid);
        out.extend_from_slice(session);
        if !line::end(out, start) {
            self.left_out(envelope, "stream_event", out);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{FrameOptions, MAX_LINE};

    fn mapper() -> FrameMapper {
        let mut next = 0;
        FrameMapper::new(FrameOptions::default(), move || {
            next += 1;
            next
        })
    }

    #[test]
    fn it_is_what_the_serialiser_writes() {
        let long = |bytes: usize| format!("\"{}\"", "x".repeat(bytes));
        let frames = [
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"a\n\"b"}}"#.to_owned(),
            "{\"a\":\n1,\r\n\"b\":\"x\u{2028}y\u{2029}é€\"}".to_owned(),
            long(MAX_LINE - 500),
            long(MAX_LINE - 140),
            long(MAX_LINE - 130),
            long(MAX_LINE - 120),
            long(MAX_LINE),
        ];
        let (mut plain, mut serialised) = (mapper(), mapper());
        for session in ["s", "s", "a \"b\" \\ \n", "x\u{2028}\u{e9}", "", "s"] {
            let envelope = FrameEnvelope::of_main(session);
            for frame in &frames {
                let frame = JsonText::parse(frame.as_str()).unwrap();
                let (mut one, mut other) = (b"before\n".to_vec(), b"before\n".to_vec());
                plain.plain_stream_event(envelope, &frame, &mut one);
                serialised.stream_event(envelope, &frame, &mut other);
                assert!(one == other, "{session:?}: {}", String::from_utf8_lossy(&one));
            }
        }
    }
}
