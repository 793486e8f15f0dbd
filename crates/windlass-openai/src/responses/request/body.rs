//! Request body: an object whose members are written one after the other.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;
use windlass_http::Bytes;
use windlass_model::ModelError;
use windlass_types::{ContentBlock, ModelErrorKind, ModelRequest, ToolResultContent};

/// Request body. Members of the request's own `extra` take precedence over those of the same name.
pub(super) struct ResponsesBody<'a> {
    out: Out,
    extra: BTreeMap<String, &'a RawValue>,
    members: usize,
}

/// Buffer for JSON.
pub(super) struct Out(Vec<u8>);

impl<'a> ResponsesBody<'a> {
    pub(super) fn new(request: &'a ModelRequest) -> Result<Self, ModelError> {
        let extra = match &request.extra {
            Some(extra) => serde_json::from_str(extra.as_str()).map_err(|_| extra_is_no_object())?,
            None => BTreeMap::new(),
        };
        Ok(Self { out: Out(Vec::with_capacity(size(request))), extra, members: 0 })
    }

    /// Writes a member, unless the request has its own.
    pub(super) fn member(&mut self, name: &str, write: impl FnOnce(&mut Out)) {
        if !self.extra.contains_key(name) {
            self.name(name);
            write(&mut self.out);
        }
    }

    /// Writes the wanted ones of the request's own members.
    pub(super) fn extra(&mut self, is_wanted: impl Fn(&str) -> bool) {
        for (name, value) in std::mem::take(&mut self.extra) {
            if is_wanted(&name) {
                self.name(&name);
                self.out.raw(value.get());
            }
        }
    }

    pub(super) fn finish(mut self) -> Bytes {
        self.out.raw(if self.members == 0 { "{}" } else { "}" });
        self.out.0.into()
    }

    fn name(&mut self, name: &str) {
        self.out.raw(if self.members == 0 { "{" } else { "," });
        self.members += 1;
        self.out.json(name);
        self.out.raw(":");
    }
}

impl Out {
    /// Writes text that is JSON already.
    pub(super) fn raw(&mut self, json: &str) {
        self.0.extend_from_slice(json.as_bytes());
    }

    pub(super) fn json(&mut self, value: &(impl Serialize + ?Sized)) {
        // Strings, numbers and exact JSON, written to memory: this cannot fail.
        let _ = serde_json::to_writer(&mut self.0, value);
    }

    /// Writes texts as one string.
    pub(super) fn joined<'t>(&mut self, texts: impl Iterator<Item = &'t str>, between: &str) {
        self.raw("\"");
        for (at, text) in texts.enumerate() {
            if at > 0 {
                self.inside(between);
            }
            self.inside(text);
        }
        self.raw("\"");
    }

    /// Writes the inside of a string. Most long strings need no escapes: the bytes of images.
    pub(super) fn inside(&mut self, text: &str) {
        if text.bytes().fold(true, |plain, byte| plain & (byte >= b' ') & (byte != b'"') & (byte != b'\\')) {
            return self.raw(text);
        }
        let at = self.0.len();
        self.json(text);
        // Remove the quotes.
        self.0.pop();
        self.0.remove(at);
    }
}

/// Estimates the length of the body in bytes.
fn size(request: &ModelRequest) -> usize {
    let messages: usize = request.messages.iter().flat_map(|message| &message.content).map(block_size).sum();
    let system: usize = request.system.iter().map(|section| section.text.len() + 2).sum();
    let tools: usize =
        request.tools.iter().map(|tool| tool.description.len() + tool.input_schema.as_str().len() + 128).sum();
    // Escapes lengthen the text; an eighth more is enough for prose and code.
    (messages + system + tools) / 8 * 9 + 1_024
}

fn block_size(block: &ContentBlock) -> usize {
    use windlass_types::{DocumentSource, ImageSource};
    const AROUND: usize = 160;
    AROUND
        + match block {
            ContentBlock::Text { text, .. } => text.len(),
            ContentBlock::Thinking { signature, .. } => signature.len(),
            ContentBlock::ToolUse(call) => call.input.as_str().len(),
            ContentBlock::Image { source: ImageSource::Base64 { data, .. } } => data.len(),
            ContentBlock::Document {
                source: DocumentSource::Base64 { data, .. } | DocumentSource::Text { data, .. },
                ..
            } => data.len(),
            ContentBlock::ToolResult(result) => match &result.content {
                ToolResultContent::Text(text) => text.len(),
                ToolResultContent::Blocks(blocks) => blocks.iter().map(block_size).sum(),
            },
            ContentBlock::Unknown(json) => json.as_str().len(),
            _ => 0,
        }
}

fn extra_is_no_object() -> ModelError {
    ModelError::new(ModelErrorKind::Configuration, "the extra members of the request are not a JSON object").unbilled()
}
