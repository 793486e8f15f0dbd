//! Conversion of a message of the model to its original items.

use std::borrow::Cow;

use serde::Deserialize;
use windlass_types::{ContentBlock, SharedMessage, ToolUse};

use super::InputItems;
use crate::responses::replay::{ItemReplay, ReplayedReasoning, is_replayable};
use windlass_http::provider::call_id;

/// Maximum length of an item id, in bytes.
const MAX_ITEM_ID: usize = 64;

/// Writes the items of a message.
///
/// The API refuses reasoning without the item that follows it, and an item with an id whose reasoning is missing.
/// Reasoning is therefore written just before the item that names it, and left out if no item names it. An item with
/// missing reasoning is sent without its id, as is one of another model.
pub(super) fn write(list: &mut InputItems<'_>, message: &SharedMessage) {
    let mut reasoning = Reasonings::of(message);
    let mut rest = message.content.as_slice();
    while let Some((first, others)) = rest.split_first() {
        rest = others;
        match first {
            ContentBlock::Text { text, .. } if text.is_empty() => {}
            ContentBlock::Text { .. } => {
                let replay = replay_of(first);
                let id = reasoning.write_before(list, &replay);
                let is_same_item = |block: &ContentBlock| !id.is_empty() && is_text(block) && replay_of(block).id == id;
                let part_count = others.iter().take_while(|block| is_same_item(block)).count();
                let (parts, after) = others.split_at_checked(part_count).unwrap_or((&[], others));
                write_text(list, first, parts, &id, replay.phase.as_deref());
                rest = after;
            }
            ContentBlock::ToolUse(call) => {
                let id = reasoning.write_before(list, &replay_of(first));
                write_call(list, call, &id);
            }
            ContentBlock::Unknown(json) if kind_of(json.as_str()).is_some_and(|kind| is_replayable(&kind)) => {
                reasoning.write_waiting(list);
                list.item().raw(json.as_str());
            }
            ContentBlock::Thinking { signature, .. } => reasoning.meet(signature),
            _ => {}
        }
    }
}

fn is_text(block: &ContentBlock) -> bool {
    block.as_text().is_some_and(|text| !text.is_empty())
}

fn replay_of(block: &ContentBlock) -> ItemReplay<'_> {
    block.replay().and_then(ItemReplay::read).unwrap_or_default()
}

fn kind_of(json: &str) -> Option<Cow<'_, str>> {
    #[derive(Deserialize)]
    struct ItemTag<'a> {
        #[serde(borrow, rename = "type")]
        kind: Cow<'a, str>,
    }
    serde_json::from_str::<ItemTag<'_>>(json).ok().map(|tag| tag.kind)
}

/// Reasoning items of a message.
struct Reasonings<'m> {
    items: Vec<StoredItem<'m>>,
}

struct StoredItem<'m> {
    key: Cow<'m, str>,
    json: &'m str,
    written: bool,
    /// `true` after the item's own block, until an item of another kind follows.
    waits: bool,
}

impl<'m> Reasonings<'m> {
    fn of(message: &'m SharedMessage) -> Self {
        let items = message.content.iter().filter_map(|block| match block {
            ContentBlock::Thinking { signature, .. } => {
                let item = ReplayedReasoning::read(signature).filter(ReplayedReasoning::is_readable)?;
                Some(StoredItem { key: item.key(signature), json: signature, written: false, waits: false })
            }
            _ => None,
        });
        Self { items: items.collect() }
    }

    /// Marks the item of the current block as waiting.
    fn meet(&mut self, json: &str) {
        if let Some(item) = self.items.iter_mut().find(|item| std::ptr::eq(item.json, json)) {
            item.waits = true;
        }
    }

    /// Writes the reasoning that an item names. Returns the id under which that item may be sent, or an empty one.
    fn write_before<'r>(&mut self, list: &mut InputItems<'_>, follower: &ItemReplay<'r>) -> Cow<'r, str> {
        self.items.iter_mut().for_each(|item| item.waits = false);
        let is_here = |key: &Cow<'_, str>| self.items.iter().any(|item| item.key == *key);
        if !follower.reasoning.iter().all(is_here) {
            return Cow::Borrowed("");
        }
        for key in &follower.reasoning {
            for item in self.items.iter_mut().filter(|item| item.key == *key && !item.written) {
                item.written = true;
                list.item().raw(item.json);
            }
        }
        if follower.id.len() <= MAX_ITEM_ID { follower.id.clone() } else { Cow::Borrowed("") }
    }

    /// Writes the reasoning just before an item that names none.
    fn write_waiting(&mut self, list: &mut InputItems<'_>) {
        for item in self.items.iter_mut().filter(|item| item.waits && !item.written) {
            item.written = true;
            list.item().raw(item.json);
        }
        self.items.iter_mut().for_each(|item| item.waits = false);
    }
}

/// Writes a text together with the other parts of the same item.
fn write_text(list: &mut InputItems<'_>, first: &ContentBlock, parts: &[ContentBlock], id: &str, phase: Option<&str>) {
    let out = list.item();
    out.raw("{\"type\":\"message\",\"role\":\"assistant\",");
    if id.is_empty() {
        // Without an id the message is of the simpler kind, whose content is a string.
        out.raw("\"content\":");
        out.json(first.as_text().unwrap_or_default());
    } else {
        out.raw("\"id\":");
        out.json(id);
        out.raw(",\"status\":\"completed\",\"content\":[");
        for (at, part) in std::iter::once(first).chain(parts).enumerate() {
            out.raw(if at == 0 { "" } else { "," });
            let is_refusal = replay_of(part).refusal;
            out.raw(if is_refusal {
                "{\"type\":\"refusal\",\"refusal\":"
            } else {
                "{\"type\":\"output_text\",\"annotations\":[],\"text\":"
            });
            out.json(part.as_text().unwrap_or_default());
            out.raw("}");
        }
        out.raw("]");
    }
    if let Some(phase) = phase {
        out.raw(",\"phase\":");
        out.json(phase);
    }
    out.raw("}");
}

fn write_call(list: &mut InputItems<'_>, call: &ToolUse, id: &str) {
    let out = list.item();
    out.raw("{\"type\":\"function_call\",");
    if !id.is_empty() {
        out.raw("\"id\":");
        out.json(id);
        out.raw(",");
    }
    out.raw("\"call_id\":");
    out.json(&*call_id(call.id.as_str()));
    out.raw(",\"name\":");
    out.json(&call.name);
    out.raw(",\"arguments\":");
    out.json(call.input.as_str());
    out.raw("}");
}
