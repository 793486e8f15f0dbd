//! Gives each call of a stream an id of its own.

use std::borrow::Cow;
use std::collections::BTreeMap;
use windlass_session::CallIds;
use windlass_types::{BlockStart, ContentBlock, JsonText, ModelEvent, ModelItem, ToolUse, ToolUseId};

/// An item of a stream in which each call has an id of its own, from the beginning of its block on: one that a call
/// of `before`, or an earlier one of the same stream, has is replaced. The others stay as the model gave them.
pub(crate) fn with_own_id<'a>(ids: &mut CallIds, before: &CallIds, item: &'a ModelItem) -> Cow<'a, ModelItem> {
    let Some(given) = call_id(&item.event) else { return Cow::Borrowed(item) };
    let own = ids.name_beside(given, before);
    if own == *given {
        return Cow::Borrowed(item);
    }
    let mut item = item.clone();
    item.raw = item.raw.map(|frame| frame_with_id(&frame, &own));
    if let ModelEvent::BlockStart { block, .. } = &mut item.event
        && let BlockStart::ToolUse { id, .. } | BlockStart::Whole(ContentBlock::ToolUse(ToolUse { id, .. })) = block
    {
        *id = own;
    }
    Cow::Owned(item)
}

/// The id of the call that begins.
fn call_id(event: &ModelEvent) -> Option<&ToolUseId> {
    match event {
        ModelEvent::BlockStart { block: BlockStart::ToolUse { id, .. }, .. } => Some(id),
        ModelEvent::BlockStart { block: BlockStart::Whole(ContentBlock::ToolUse(call)), .. } => Some(&call.id),
        _ => None,
    }
}

/// The provider's own frame of the beginning of a block, with another id. Any other frame is returned unchanged.
fn frame_with_id(frame: &JsonText, id: &ToolUseId) -> JsonText {
    let changed = || {
        let mut members: BTreeMap<String, JsonText> = frame.to().ok()?;
        let mut block: BTreeMap<String, JsonText> = members.get("content_block")?.to().ok()?;
        block.insert("id".to_owned(), JsonText::of(id).ok()?);
        members.insert("content_block".to_owned(), JsonText::of(&block).ok()?);
        JsonText::of(&members).ok()
    };
    changed().unwrap_or_else(|| frame.clone())
}
