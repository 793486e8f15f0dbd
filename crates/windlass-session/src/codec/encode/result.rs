//! The lines of results of tools. Most of a log is results, so theirs are written without the serialiser.

use super::super::line::{Content, ResultBlock, ResultFields, UserMessage};
use super::{LogEncoder, push_chain_line};
use windlass_types::{Entry, JsonText, ToolResultEntry};

impl LogEncoder {
    pub(super) fn result(&self, entry: &Entry, result: &ToolResultEntry, out: &mut Vec<u8>) {
        let from = out.len();
        if self.plain_result(entry, result, out).is_some()
            && memchr::memchr(b'\n', out.get(from..).unwrap_or_default()).is_none()
        {
            out.push(b'\n');
            return;
        }
        out.truncate(from);
        self.exact_result(entry, result, out);
    }

    fn parent_of<'a>(&'a self, entry: &'a Entry, result: &'a ToolResultEntry) -> &'a str {
        self.last.as_ref().or(entry.parent.as_ref()).unwrap_or(&result.assistant).as_str()
    }

    /// Writes the line without the serialiser, and without its end. `None` if it cannot be written.
    fn plain_result(&self, entry: &Entry, result: &ToolResultEntry, out: &mut Vec<u8>) -> Option<()> {
        let session = serde_json::to_string(&self.session_fields(&entry.id)).ok()?;
        let mut line = String::with_capacity(entry.text_len() / 16 * 17 + session.len() + 512);
        let mut field = |name: &str, text: &str| {
            line.push_str(name);
            JsonText::push_string(text, &mut line);
        };
        field("{\"parentUuid\":", self.parent_of(entry, result));
        line.push_str(if self.agent.is_some() { ",\"isSidechain\":true" } else { ",\"isSidechain\":false" });
        if let Some(agent) = &self.agent {
            line.push_str(",\"agentId\":");
            JsonText::push_string(agent.as_str(), &mut line);
        }
        line.push_str(",\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":[");
        result.result.push_block(&mut line).ok()?;
        line.push_str("]},\"uuid\":");
        JsonText::push_string(entry.id.as_str(), &mut line);
        line.push_str(",\"timestamp\":");
        JsonText::push_string(&entry.timestamp.to_string(), &mut line);
        if let Some(structured) = &result.structured {
            line.push_str(",\"toolUseResult\":");
            line.push_str(structured.as_str());
        }
        line.push_str(",\"sourceToolAssistantUUID\":");
        JsonText::push_string(result.assistant.as_str(), &mut line);
        line.push_str(if result.synthetic { ",\"windlassSynthetic\":true," } else { "," });
        line.push_str(session.strip_prefix('{')?);
        out.extend_from_slice(line.as_bytes());
        Some(())
    }

    /// The line of a result whose data hold line breaks.
    fn exact_result(&self, entry: &Entry, result: &ToolResultEntry, out: &mut Vec<u8>) {
        let content = Content::Result([ResultBlock { kind: "tool_result", result: &result.result }]);
        let mut line = self.line(entry, "user", &entry.id, UserMessage { role: "user", content });
        line.place.parent_uuid = Some(self.parent_of(entry, result));
        line.result = ResultFields {
            tool_use_result: result.structured.as_ref(),
            source_tool_assistant_uuid: Some(result.assistant.as_str()),
            windlass_synthetic: result.synthetic,
        };
        push_chain_line(out, line, |line| &line.message.content);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LogHeader, ProjectKey, SessionKey};
    use proptest::prelude::*;
    use windlass_types::{ContentBlock, EntryKind, Timestamp, ToolResult, ToolResultContent};

    fn content() -> impl Strategy<Value = ToolResultContent> {
        let blocks = prop::collection::vec(any::<String>().prop_map(ContentBlock::text), 0..3);
        prop_oneof![any::<String>().prop_map(ToolResultContent::Text), blocks.prop_map(ToolResultContent::Blocks)]
    }

    fn key(of_agent: bool) -> SessionKey {
        let key = SessionKey::new(ProjectKey::from_slug("-p"), "s".into());
        if of_agent { key.of_agent("a1".into()) } else { key }
    }

    proptest! {
        #[test]
        fn they_are_what_the_serialiser_writes(
            content in content(),
            structured in prop::option::of(any::<String>()),
            parent in prop::option::of("[a-z\"]{1,3}"),
            (is_error, synthetic, of_agent, has_branch) in any::<(bool, bool, bool, bool)>(),
        ) {
            let mut header = LogHeader::new("/w \"x\"", "1", "test");
            header.git_branch = has_branch.then(|| "main".to_owned());
            let mut encoder = LogEncoder::of(&key(of_agent), header);
            encoder.last = parent.as_deref().map(Into::into);
            let mut result = ToolResult::ok("t\n", content);
            result.is_error = is_error;
            let mut result = ToolResultEntry::new(result, "a".into());
            result.synthetic = synthetic;
            result.structured = structured.map(|text| JsonText::of(&[text]).unwrap());
            let entry = Entry::new("e".into(), None, Timestamp::from_millis(5), EntryKind::ToolResult(result.clone()));
            let (mut plain, mut exact) = (Vec::new(), Vec::new());
            encoder.plain_result(&entry, &result, &mut plain).unwrap();
            plain.push(b'\n');
            encoder.exact_result(&entry, &result, &mut exact);
            prop_assert_eq!(String::from_utf8(plain).unwrap(), String::from_utf8(exact).unwrap());
        }
    }

    #[test]
    fn data_with_line_breaks_stay_on_one_line_and_exact() {
        let mut encoder = LogEncoder::of(&key(false), LogHeader::new("/w", "1", "test"));
        let mut result = ToolResultEntry::new(ToolResult::ok("t", "x"), "a".into());
        result.structured = Some(JsonText::parse("{\n\"n\": 1.0}").unwrap());
        let mut log = Vec::new();
        encoder.entry(&Entry::new("e".into(), None, Timestamp::default(), EntryKind::ToolResult(result)), &mut log);
        let line = String::from_utf8(log).unwrap();
        assert_eq!(line.lines().count(), 1);
        let line: serde_json::Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["windlassExact"]["toolUseResult"], "{\n\"n\": 1.0}");
    }
}
