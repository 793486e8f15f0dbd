//! Function call.

use std::collections::VecDeque;

use serde_json::Value;
use windlass_model::ModelError;
use windlass_types::{BlockStart, ModelEvent, StreamDelta, ToolUseId};

use crate::error::protocol;
use crate::responses::assembly::block::OutputBlocks;
use crate::responses::frame::OutputItem;
use crate::responses::replay::ItemReplay;

#[derive(Debug, Default)]
pub(super) struct CallItem {
    id: String,
    name: String,
    arguments: String,
    /// Number of bytes of the arguments that were shown.
    shown: usize,
    is_open: bool,
}

impl CallItem {
    pub(super) fn new(item: &OutputItem<'_>) -> Self {
        let text = |text: &Option<std::borrow::Cow<'_, str>>| text.as_deref().unwrap_or_default().to_owned();
        Self { id: text(&item.call_id), name: text(&item.name), ..Self::default() }
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn is_shown(&self) -> bool {
        self.is_open
    }

    pub(super) fn grow(&mut self, text: &str) {
        self.arguments.push_str(text);
    }

    /// Takes the complete arguments. Pieces of two calls that a server mixed would make another text.
    pub(super) fn complete(&mut self, all: &str) -> Result<(), ModelError> {
        if let Some(rest) = all.strip_prefix(self.arguments.as_str()) {
            self.arguments.push_str(rest);
            return Ok(());
        }
        let value = |text: &str| serde_json::from_str::<Value>(text).ok();
        let is_same = value(all).is_some_and(|all| value(&self.arguments) == Some(all));
        if is_same || all.is_empty() { Ok(()) } else { Err(protocol("the arguments of a call are not those streamed")) }
    }

    /// Takes the name and the id of the complete call.
    pub(super) fn name(&mut self, item: &OutputItem<'_>) -> Result<(), ModelError> {
        for (current, given) in [(&mut self.id, &item.call_id), (&mut self.name, &item.name)] {
            match given.as_deref().filter(|given| !given.is_empty()) {
                Some(given) if current != given && self.is_open => {
                    return Err(protocol("a call ends with another id or name"));
                }
                Some(given) => given.clone_into(current),
                None => {}
            }
        }
        Ok(())
    }

    pub(super) fn show(&mut self, blocks: &mut OutputBlocks, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        if !self.is_open && !self.id.is_empty() && !self.name.is_empty() {
            self.open(blocks, out)?;
        }
        let rest = self.arguments.get(self.shown..).filter(|rest| self.is_open && !rest.is_empty());
        if let Some(rest) = rest {
            blocks.grow(StreamDelta::ToolInput(rest.to_owned()), out);
            self.shown = self.arguments.len();
        }
        Ok(())
    }

    fn open(&mut self, blocks: &mut OutputBlocks, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let (id, name) = (ToolUseId::from(self.id.as_str()), self.name.clone());
        self.is_open = true;
        blocks.open(BlockStart::ToolUse { id, name }, out)
    }

    pub(super) fn finish(
        mut self,
        item: &OutputItem<'_>,
        place: usize,
        replay: &ItemReplay<'_>,
        blocks: &mut OutputBlocks,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        if let Some(arguments) = item.arguments() {
            self.complete(&arguments)?;
        }
        if self.name.is_empty() {
            return Err(protocol("a call without a name"));
        }
        if self.id.is_empty() {
            self.id = if replay.id.is_empty() { format!("call_{place}") } else { replay.id.clone().into_owned() };
        }
        self.show(blocks, out)?;
        if let Some(json) = replay.json() {
            blocks.grow(StreamDelta::Replay(json), out);
        }
        blocks.close(out);
        Ok(())
    }
}
