//! Lines of tool results. Most of a log is results, so their texts are written without the serialiser.

use super::super::line::{ChainLine, Content, ResultBlock, ResultFields, UserMessage};
use super::{LogEncoder, push_chain_line_by};
use serde::ser::Error as _;
use windlass_types::{Entry, ToolResultEntry};

impl LogEncoder {
    pub(super) fn result(&self, entry: &Entry, result: &ToolResultEntry, out: &mut Vec<u8>) {
        let line = self.result_line(entry, result);
        push_chain_line_by(
            out,
            line,
            |line| &line.message.content,
            |line, out| {
                let mut message = String::with_capacity(entry.text_len() / 16 * 17 + 128);
                message.push_str(r#"{"role":"user","content":["#);
                result.result.push_block(&mut message).map_err(serde_json::Error::custom)?;
                message.push_str("]}");
                line.write_around(out, |out| {
                    out.extend_from_slice(message.as_bytes());
                    Ok(())
                })
            },
        );
    }

    fn result_line<'a>(&'a self, entry: &'a Entry, result: &'a ToolResultEntry) -> ChainLine<'a, UserMessage<'a>> {
        let content = Content::Result([ResultBlock { kind: "tool_result", result: &result.result }]);
        let mut line = self.line(entry, "user", &entry.id, UserMessage { role: "user", content });
        let parent = self.last.as_ref().or(entry.parent.as_ref()).unwrap_or(&result.assistant);
        line.place.parent_uuid = Some(parent.as_str());
        line.result = ResultFields {
            tool_use_result: result.structured.as_ref(),
            source_tool_assistant_uuid: Some(result.assistant.as_str()),
            windlass_synthetic: result.synthetic,
        };
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LogHeader, ProjectKey, SessionKey};
    use proptest::prelude::*;
    use windlass_types::{ContentBlock, EntryKind, JsonText, Timestamp, ToolResult, ToolResultContent};

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
            let mut written = Vec::new();
            encoder.result(&entry, &result, &mut written);
            let expected = serde_json::to_string(&encoder.result_line(&entry, &result)).unwrap() + "\n";
            prop_assert_eq!(String::from_utf8(written).unwrap(), expected);
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
