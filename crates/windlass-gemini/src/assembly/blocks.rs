//! Blocks of a message, one after the other.

use crate::replay::{Blank, GeminiReplay};
use serde::Serialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::VecDeque;
use windlass_types::{BlockStart, ContentBlock, JsonError, JsonText, ModelEvent, StreamDelta, ToolUseId};

/// Maximum number of blocks of one message.
const MAX_BLOCKS: usize = 10_000;

/// Type of a block that holds a part which is neither text nor call.
pub(crate) const PART: &str = "gemini_part";

/// Part that is neither text nor call, as a block.
#[derive(Serialize)]
struct Other<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    part: std::collections::BTreeMap<&'static str, PartMember<'a>>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum PartMember<'a> {
    Json(&'a RawValue),
    Text(&'a str),
}

type ReadyEvents = VecDeque<ModelEvent>;

/// Blocks so far.
#[derive(Debug, Default)]
pub(crate) struct GeminiBlocks {
    /// Number of closed blocks; also the index of the block that is open or comes next.
    closed: usize,
    open: Option<OpenGeminiBlock>,
    /// Blank parts that wait for the next text or call.
    held: Vec<Blank<'static>>,
    has_content: bool,
}

#[derive(Debug)]
enum OpenGeminiBlock {
    Text { bytes: usize, replay: GeminiReplay<'static> },
    Thinking { is_signed: bool },
    Call { replay: GeminiReplay<'static> },
}

impl GeminiBlocks {
    /// `true` if there is more than reasoning and blank text.
    pub(crate) fn have_content(&self) -> bool {
        self.has_content
    }

    pub(crate) fn are_too_many(&self) -> bool {
        self.closed > MAX_BLOCKS || self.held.len() > MAX_BLOCKS
    }

    /// Takes a part with text.
    pub(crate) fn text(&mut self, text: String, signature: Option<String>, ready: &mut ReadyEvents) {
        if text.is_empty() && signature.is_none() {
            return;
        }
        let is_blank = text.trim().is_empty();
        match &mut self.open {
            Some(OpenGeminiBlock::Text { bytes, replay })
                if replay.thought_signature.is_none() && replay.after.is_empty() =>
            {
                if is_blank && signature.is_some() {
                    replay.after.push(blank(text, signature));
                    return;
                }
                if signature.is_some() {
                    replay.unsigned = *bytes;
                    replay.thought_signature = signature.map(Cow::Owned);
                }
                *bytes = bytes.saturating_add(text.len());
                ready.push_back(delta(self.closed, StreamDelta::Text(text)));
            }
            Some(OpenGeminiBlock::Text { replay, .. }) if is_blank => replay.after.push(blank(text, signature)),
            Some(OpenGeminiBlock::Call { replay }) if is_blank && signature.is_some() => {
                replay.after.push(blank(text, signature))
            }
            _ if is_blank => self.held.push(blank(text, signature)),
            _ => self.begin_text(text, signature, ready),
        }
    }

    fn begin_text(&mut self, text: String, signature: Option<String>, ready: &mut ReadyEvents) {
        self.close(ready);
        let (mut replay, mut whole) = (GeminiReplay::default(), String::new());
        if self.held.iter().all(|held| held.thought_signature.is_none()) {
            self.held.drain(..).for_each(|held| whole.push_str(&held.text));
        } else {
            replay.before = std::mem::take(&mut self.held);
        }
        if signature.is_some() {
            replay.unsigned = whole.len();
            replay.thought_signature = signature.map(Cow::Owned);
        }
        whole = if whole.is_empty() { text } else { whole + &text };
        self.has_content = true;
        ready.push_back(ModelEvent::BlockStart { index: self.closed, block: BlockStart::Text(String::new()) });
        let bytes = whole.len();
        ready.push_back(delta(self.closed, StreamDelta::Text(whole)));
        self.open = Some(OpenGeminiBlock::Text { bytes, replay });
    }

    /// Takes a part with reasoning.
    pub(crate) fn thought(&mut self, text: String, signature: Option<String>, ready: &mut ReadyEvents) {
        if text.is_empty() && signature.is_none() {
            return;
        }
        if !matches!(self.open, Some(OpenGeminiBlock::Thinking { is_signed: false })) {
            self.close(ready);
            let block = BlockStart::Thinking { thinking: String::new(), signature: String::new() };
            ready.push_back(ModelEvent::BlockStart { index: self.closed, block });
        }
        self.open = Some(OpenGeminiBlock::Thinking { is_signed: signature.is_some() });
        if !text.is_empty() {
            ready.push_back(delta(self.closed, StreamDelta::Thinking(text)));
        }
        if let Some(signature) = signature {
            ready.push_back(delta(self.closed, StreamDelta::Signature(signature)));
        }
    }

    /// Takes a part with a call. `kept` holds the API's id and the signature.
    pub(crate) fn call(
        &mut self,
        id: ToolUseId,
        name: String,
        input: String,
        kept: (Option<String>, Option<String>),
        ready: &mut ReadyEvents,
    ) {
        self.close(ready);
        let held = std::mem::take(&mut self.held);
        // Blank text without a signature is meaningless between calls.
        let before = if held.iter().any(|held| held.thought_signature.is_some()) { held } else { Vec::new() };
        let (given, signature) = kept;
        let replay = GeminiReplay {
            id: given.map(Cow::Owned),
            thought_signature: signature.map(Cow::Owned),
            before,
            ..GeminiReplay::default()
        };
        self.has_content = true;
        ready.push_back(ModelEvent::BlockStart { index: self.closed, block: BlockStart::ToolUse { id, name } });
        if !input.is_empty() {
            ready.push_back(delta(self.closed, StreamDelta::ToolInput(input)));
        }
        self.open = Some(OpenGeminiBlock::Call { replay });
    }

    /// Takes a part of another kind, which is kept whole and sent back unchanged.
    pub(crate) fn other(
        &mut self,
        name: &'static str,
        value: &RawValue,
        signature: Option<&str>,
        ready: &mut ReadyEvents,
    ) -> Result<(), JsonError> {
        self.close(ready);
        let mut part = std::collections::BTreeMap::from([(name, PartMember::Json(value))]);
        if let Some(signature) = signature {
            part.insert("thoughtSignature", PartMember::Text(signature));
        }
        let block = ContentBlock::Unknown(JsonText::of(&Other { kind: PART, part })?);
        self.has_content = true;
        ready.push_back(ModelEvent::BlockStart { index: self.closed, block: BlockStart::Whole(block) });
        ready.push_back(ModelEvent::BlockStop { index: self.closed });
        self.closed += 1;
        Ok(())
    }

    /// Closes the open block, if there is one.
    pub(crate) fn close(&mut self, ready: &mut ReadyEvents) {
        let Some(open) = self.open.take() else { return };
        if let OpenGeminiBlock::Text { replay, .. } | OpenGeminiBlock::Call { replay } = open
            && let Some(json) = replay.to_json()
        {
            ready.push_back(delta(self.closed, StreamDelta::Replay(json)));
        }
        ready.push_back(ModelEvent::BlockStop { index: self.closed });
        self.closed += 1;
    }
}

fn blank(text: String, signature: Option<String>) -> Blank<'static> {
    Blank { text: Cow::Owned(text), thought_signature: signature.map(Cow::Owned) }
}

fn delta(index: usize, delta: StreamDelta) -> ModelEvent {
    ModelEvent::BlockDelta { index, delta }
}
