//! JSON object that is written member by member.

use serde::Serialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use windlass_http::Bytes;
use windlass_model::ModelError;
use windlass_types::{ContentBlock, ModelErrorKind, ModelRequest, ToolResultContent};

/// Body of a request. The extra members of the request replace members of the same name.
#[derive(Debug)]
pub(in crate::chat) struct ChatBody<'a> {
    text: Vec<u8>,
    extra: BTreeMap<String, &'a RawValue>,
}

impl<'a> ChatBody<'a> {
    pub(in crate::chat) fn for_request(request: &'a ModelRequest) -> Result<Self, ModelError> {
        let extra = match &request.extra {
            Some(extra) => serde_json::from_str(extra.as_str()).map_err(|_| {
                ModelError::new(ModelErrorKind::Configuration, "the extra members of a request must be a JSON object")
            })?,
            None => BTreeMap::new(),
        };
        let system: usize = request.system.iter().map(|section| section.text.len() + 64).sum();
        let tools: usize =
            request.tools.iter().map(|tool| tool.description.len() + tool.input_schema.as_str().len() + 128).sum();
        let messages: usize = request.messages.iter().flat_map(|message| &message.content).map(size).sum();
        let mut text = Vec::with_capacity((system + tools + messages) / 8 * 9 + 4096);
        text.push(b'{');
        Ok(Self { text, extra })
    }

    /// Begins a member. `false` if an extra member replaces it.
    pub(in crate::chat) fn begins(&mut self, name: &str) -> bool {
        if self.extra.contains_key(name) {
            return false;
        }
        self.separate();
        self.json(name);
        self.raw(":");
        true
    }

    pub(in crate::chat) fn member(&mut self, name: &str, value: &(impl Serialize + ?Sized)) {
        if self.begins(name) {
            self.json(value);
        }
    }

    /// Writes a member whose value is JSON already.
    pub(in crate::chat) fn raw_member(&mut self, name: &str, value: &str) {
        if self.begins(name) {
            self.raw(value);
        }
    }

    /// Writes a text member inside another object than the body.
    pub(in crate::chat) fn member_here(&mut self, name: &str, text: &str) {
        self.separate();
        self.json(name);
        self.raw(":");
        self.json(text);
    }

    pub(in crate::chat) fn raw(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
    }

    pub(in crate::chat) fn json(&mut self, value: &(impl Serialize + ?Sized)) {
        // Strings, numbers and exact JSON, written to memory: this cannot fail.
        let _ = serde_json::to_writer(&mut self.text, value);
    }

    /// Writes a comma, unless an object or a list has just begun.
    pub(in crate::chat) fn separate(&mut self) {
        if !matches!(self.text.last(), Some(b'{' | b'[' | b':') | None) {
            self.raw(",");
        }
    }

    pub(in crate::chat) fn finish(mut self) -> Bytes {
        for (name, value) in std::mem::take(&mut self.extra) {
            self.separate();
            self.json(&name);
            self.raw(":");
            self.raw(value.get());
        }
        self.raw("}");
        self.text.into()
    }
}

/// Estimates the bytes that a block of a message takes.
fn size(block: &ContentBlock) -> usize {
    const AROUND: usize = 160;
    AROUND
        + match block {
            ContentBlock::Text { text, .. } => text.len(),
            ContentBlock::ToolUse(call) => call.input.as_str().len(),
            ContentBlock::ToolResult(result) => match &result.content {
                ToolResultContent::Text(text) => text.len(),
                ToolResultContent::Blocks(blocks) => blocks.iter().map(size).sum(),
            },
            _ => 0,
        }
}
