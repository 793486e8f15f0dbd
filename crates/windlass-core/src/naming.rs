//! Assignment of a unique id to each call of a stream.

use std::borrow::Cow;
use std::collections::BTreeMap;
use windlass_session::CallIds;
use windlass_types::{BlockStart, ContentBlock, JsonText, ModelEvent, ModelItem, ToolUse, ToolUseId};

/// Returns an item of a stream with unique call ids, from the beginning of its block on: an id used by a call of
/// `before`, or by an earlier one of the same stream, is replaced. All others stay as the model gave them.
pub(crate) fn with_own_id<'a>(ids: &mut CallIds, before: &CallIds, item: &'a ModelItem) -> Cow<'a, ModelItem> {
    let Some(given) = call_id(&item.event) else { return Cow::Borrowed(item) };
    let unique_id = ids.name_beside(given, before);
    if unique_id == *given {
        return Cow::Borrowed(item);
    }
    let mut item = item.clone();
    item.raw = item.raw.map(|frame| frame_with_id(&frame, &unique_id));
    if let ModelEvent::BlockStart { block, .. } = &mut item.event
        && let BlockStart::ToolUse { id, .. } | BlockStart::Whole(ContentBlock::ToolUse(ToolUse { id, .. })) = block
    {
        *id = unique_id;
    }
    Cow::Owned(item)
}

/// Returns the id of the call that begins.
fn call_id(event: &ModelEvent) -> Option<&ToolUseId> {
    match event {
        ModelEvent::BlockStart { block: BlockStart::ToolUse { id, .. }, .. } => Some(id),
        ModelEvent::BlockStart { block: BlockStart::Whole(ContentBlock::ToolUse(call)), .. } => Some(&call.id),
        _ => None,
    }
}

/// Returns the provider's own frame of the beginning of a block, with another id. Any other frame is returned
/// unchanged.
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
