//! Output items of a response, shown one after the other in the order of their places.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashSet, VecDeque};

use serde_json::value::RawValue;
use windlass_model::ModelError;
use windlass_types::{BlockStart, ModelErrorKind, ModelEvent, StopReason};

use super::block::OutputBlocks;
use super::item::{Growth, SilentItem};
use crate::error::{protocol, unreadable};
use crate::responses::frame::OutputItem;
use crate::responses::replay::ReplayedReasoning;

/// Maximum number of items of one response.
const MAX_ITEMS: usize = 10_000;

#[derive(Debug, Default)]
pub(super) struct Items {
    /// Items that are not completely shown, by their places. The first is shown as it grows, the others wait.
    open: VecDeque<SilentItem>,
    /// Places of the items that are shown to their end.
    closed: BTreeSet<usize>,
    /// All ids that were seen. A server may change the id of an item from event to event.
    ids: HashSet<String>,
    /// Place after the last one.
    next: usize,
    follows: FollowedReasoning,
    /// Keys of reasoning that came without the data needed to read it again.
    unreadable: Vec<String>,
    searches: u64,
}

/// Reasoning that the next item follows.
#[derive(Debug, Default)]
struct FollowedReasoning {
    keys: Vec<String>,
    /// `true` if no other item came in between.
    is_open: bool,
}

impl Items {
    pub(super) fn searches(&self) -> u64 {
        self.searches
    }

    /// Begins an item.
    pub(super) fn add(&mut self, place: Option<usize>, item: &OutputItem<'_>) -> Result<(), ModelError> {
        let place = place.unwrap_or(self.next);
        self.insert(SilentItem::new(place, item))
    }

    fn insert(&mut self, output: SilentItem) -> Result<(), ModelError> {
        let place = output.place;
        if self.closed.contains(&place) || self.open.iter().any(|other| other.place == place) {
            return Err(protocol(format_args!("two items in place {place}")));
        }
        if self.closed.len() + self.open.len() >= MAX_ITEMS {
            return Err(protocol(format_args!("a response has more than {MAX_ITEMS} items")));
        }
        self.next = self.next.max(place.saturating_add(1));
        self.ids.insert(output.id.clone());
        // An item that was shown already stays the first.
        let is_after = |other: &SilentItem| other.is_shown() || other.place < place;
        let at = self.open.iter().position(|other| !is_after(other)).unwrap_or(self.open.len());
        self.open.insert(at, output);
        Ok(())
    }

    /// Adds growth to an item.
    pub(super) fn grow(&mut self, place: Option<usize>, id: Option<&str>, growth: Growth) -> Result<(), ModelError> {
        let at = match place {
            Some(place) => self.open.iter().position(|item| item.place == place),
            None => Some(self.only(id.unwrap_or_default())?),
        };
        let at = match (at, place) {
            (Some(at), _) => at,
            (None, Some(place)) => {
                if self.closed.contains(&place) {
                    return Err(protocol("an item grows after its end"));
                }
                let item = growth.item().ok_or_else(|| protocol("arguments of a call that did not begin"))?;
                self.add(Some(place), &item)?;
                self.open.iter().position(|item| item.place == place).unwrap_or_default()
            }
            (None, None) => return Err(ambiguous()),
        };
        self.open.get_mut(at).map_or_else(|| Err(ambiguous()), |item| item.grow(growth))
    }

    /// Returns the open item that an event without a place refers to.
    fn only(&self, id: &str) -> Result<usize, ModelError> {
        let named = self.open.iter().position(|item| !id.is_empty() && item.id == id);
        match named {
            Some(at) => Ok(at),
            None if self.open.len() == 1 => Ok(0),
            None => Err(ambiguous()),
        }
    }

    /// Completes an item.
    pub(super) fn done(&mut self, place: Option<usize>, item: &OutputItem<'_>, json: &str) -> Result<(), ModelError> {
        let at = match place {
            Some(place) => self.open.iter().position(|open| open.place == place),
            None if self.open.is_empty() => None,
            None => Some(self.same(item)?),
        };
        let at = match at {
            Some(at) => at,
            None => {
                // The item came complete at once.
                let place = place.unwrap_or(self.next);
                self.add(Some(place), item)?;
                self.open.iter().position(|open| open.place == place).unwrap_or_default()
            }
        };
        self.ids.insert(item.id.as_deref().unwrap_or_default().to_owned());
        self.open.get_mut(at).map_or_else(|| Err(ambiguous()), |open| open.end(item, json))
    }

    fn same(&self, item: &OutputItem<'_>) -> Result<usize, ModelError> {
        let by_call = self.open.iter().position(|open| open.is_call(item.call_id.as_deref()));
        by_call.map_or_else(|| self.only(item.id.as_deref().unwrap_or_default()), Ok)
    }

    /// Shows the growth of the items whose turn has come.
    pub(super) fn show(&mut self, blocks: &mut OutputBlocks, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        while let Some(first) = self.open.front_mut() {
            first.show(&self.follows.keys, blocks, out)?;
            if !first.is_done() {
                break;
            }
            self.finish_first(blocks, out)?;
        }
        Ok(())
    }

    /// Ends the first item, whether complete or not.
    fn finish_first(&mut self, blocks: &mut OutputBlocks, out: &mut VecDeque<ModelEvent>) -> Result<(), ModelError> {
        let Some(first) = self.open.pop_front() else { return Ok(()) };
        self.closed.insert(first.place);
        self.searches += u64::from(first.is_search());
        if first.is_reasoning() {
            let finished = first.finish_reasoning(blocks, out)?;
            if !self.follows.is_open {
                self.follows.keys.clear();
            }
            self.follows.is_open = true;
            self.follows.keys.push(finished.key.clone());
            if !finished.is_readable {
                self.unreadable.push(finished.key);
            }
            return Ok(());
        }
        self.follows.is_open = false;
        if !first.finish(&self.follows.keys, blocks, out)? {
            // The reasoning before an item that is not kept cannot be sent back.
            self.follows.keys.clear();
        }
        Ok(())
    }

    /// Ends the response with its whole output, and with this reason if it was cut.
    pub(super) fn end(
        &mut self,
        cut: Option<&StopReason>,
        output: &[&RawValue],
        blocks: &mut OutputBlocks,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        match cut {
            Some(reason) => return self.cut(reason, blocks, out),
            None => self.end_open(output, blocks, out)?,
        }
        self.show_unseen(output, blocks, out)?;
        self.show_late(output, blocks, out)
    }

    /// Ends the open items with their form in the whole output. An incomplete call is discarded.
    fn end_open(
        &mut self,
        output: &[&RawValue],
        blocks: &mut OutputBlocks,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        for open in &mut self.open {
            if open.is_done() {
                continue;
            }
            if open.is_call_item() {
                return Err(unfinished());
            }
            let json = output.get(open.place).map(|json| json.get());
            if let Some((json, item)) = json.and_then(|json| Some((json, OutputItem::read(json).ok()?)))
                && open.is_like(&item)
            {
                open.end(&item, json)?;
            }
        }
        while !self.open.is_empty() {
            self.show(blocks, out)?;
            self.finish_first(blocks, out)?;
        }
        Ok(())
    }

    /// Shows items that only the whole output holds.
    fn show_unseen(
        &mut self,
        output: &[&RawValue],
        blocks: &mut OutputBlocks,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        if output.len() <= self.closed.len() {
            return Ok(());
        }
        for (place, json) in output.iter().enumerate() {
            let item = OutputItem::read(json.get()).map_err(|error| unreadable("an item of the output", error))?;
            let is_known = item.id.as_deref().is_some_and(|id| !id.is_empty() && self.ids.contains(id));
            if is_known || self.closed.contains(&place) {
                continue;
            }
            if item.is_incomplete() || item.status.as_deref() == Some("in_progress") {
                return Err(unfinished());
            }
            self.done(Some(place), &item, json.get())?;
            self.show(blocks, out)?;
        }
        Ok(())
    }

    /// Shows reasoning whose data for reading it again is only in the whole output. The block is at the end; the items
    /// that follow the reasoning name it.
    fn show_late(
        &mut self,
        output: &[&RawValue],
        blocks: &mut OutputBlocks,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        if self.unreadable.is_empty() {
            return Ok(());
        }
        let wanted: HashSet<String> = self.unreadable.drain(..).collect();
        for json in output {
            let Some(item) = ReplayedReasoning::read(json.get()).filter(ReplayedReasoning::is_readable) else {
                continue;
            };
            if wanted.contains(&*item.key(json.get())) {
                let (thinking, signature) = (String::new(), json.get().to_owned());
                blocks.open(BlockStart::Thinking { thinking, signature }, out)?;
                blocks.close(out);
            }
        }
        Ok(())
    }

    /// Ends the open items at a limit or a filter. A call is the last block in this case: the loop does not run it.
    fn cut(
        &mut self,
        reason: &StopReason,
        blocks: &mut OutputBlocks,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        loop {
            self.show(blocks, out)?;
            let Some(first) = self.open.front() else { return Ok(()) };
            if !first.is_call_item() {
                self.finish_first(blocks, out)?;
                continue;
            }
            if !first.is_shown() {
                return Ok(());
            }
            blocks.close(out);
            let is_known = matches!(reason, StopReason::MaxTokens | StopReason::ContentFilter);
            return if is_known { Ok(()) } else { Err(unfinished()) };
        }
    }
}

/// Creates the error of a message whose items were not finished.
fn unfinished() -> ModelError {
    ModelError::new(ModelErrorKind::Cut, "the API ended the response before its items were complete")
}

fn ambiguous() -> ModelError {
    protocol("an event that does not say which of several items it is about")
}

impl Growth {
    /// Returns the item that this growth begins, for servers that do not announce items. A call needs its name.
    fn item(&self) -> Option<OutputItem<'static>> {
        let kind = match self {
            Self::Text { .. } => "message",
            Self::Reasoning { .. } => "reasoning",
            Self::Arguments(_) | Self::AllArguments(_) => return None,
        };
        Some(OutputItem { kind: Cow::Borrowed(kind), ..OutputItem::default() })
    }
}
