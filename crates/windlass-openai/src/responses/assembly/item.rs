//! One output item as it grows.

mod call;
mod message;
mod thought;

use std::borrow::Cow;
use std::collections::VecDeque;

use windlass_model::ModelError;
use windlass_types::{BlockStart, ContentBlock, JsonText, ModelEvent};

use super::block::OutputBlocks;
use crate::error::{protocol, unreadable};
use crate::responses::frame::OutputItem;
use crate::responses::replay::{ItemReplay, is_replayable};
use crate::responses::web_search;
use call::CallItem;
use message::MessageItem;
use thought::{FinishedReasoning, Thought};

/// Item type of a web search.
const SEARCH: &str = "web_search_call";

/// Growth of an item by an event.
#[derive(Debug)]
pub(super) enum Growth {
    /// Text of one part of a message.
    Text { part: usize, text: String, is_refusal: bool },
    /// Text of one part of a summary, or of the reasoning itself.
    Reasoning { part: usize, text: String, is_summary: bool },
    /// Piece of the arguments of a call.
    Arguments(String),
    /// Complete arguments of a call.
    AllArguments(String),
}

/// Kinds of events that add to an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GrowthKind {
    Text,
    Refusal,
    Reasoning,
    Summary,
    Arguments,
    AllArguments,
}

impl GrowthKind {
    pub(super) fn of(event: &str) -> Option<Self> {
        Some(match event.strip_prefix("response.")? {
            "output_text.delta" => Self::Text,
            "refusal.delta" => Self::Refusal,
            "reasoning_text.delta" => Self::Reasoning,
            "reasoning_summary_text.delta" => Self::Summary,
            "function_call_arguments.delta" => Self::Arguments,
            "function_call_arguments.done" => Self::AllArguments,
            _ => return None,
        })
    }
}

impl Growth {
    /// Creates the growth by an event, with the part of the content and of the summary that the event names.
    pub(super) fn new(kind: GrowthKind, text: String, content: Option<usize>, summary: Option<usize>) -> Self {
        let (part, summary) = (content.unwrap_or_default(), summary.unwrap_or_default());
        match kind {
            GrowthKind::Text => Self::Text { part, text, is_refusal: false },
            GrowthKind::Refusal => Self::Text { part, text, is_refusal: true },
            GrowthKind::Reasoning => Self::Reasoning { part, text, is_summary: false },
            GrowthKind::Summary => Self::Reasoning { part: summary, text, is_summary: true },
            GrowthKind::Arguments => Self::Arguments(text),
            GrowthKind::AllArguments => Self::AllArguments(text),
        }
    }
}

/// Item that is not shown to its end.
#[derive(Debug)]
pub(super) struct SilentItem {
    pub(super) place: usize,
    pub(super) id: String,
    phase: Option<String>,
    kind: Kind,
    /// JSON of the complete item.
    whole: Option<String>,
}

#[derive(Debug)]
enum Kind {
    Message(MessageItem),
    Call(CallItem),
    Reasoning(Thought),
    /// Tool that the API runs, or an unknown type.
    Other(String),
}

impl SilentItem {
    pub(super) fn new(place: usize, item: &OutputItem<'_>) -> Self {
        let kind = match &*item.kind {
            "message" => Kind::Message(MessageItem::default()),
            "function_call" => Kind::Call(CallItem::new(item)),
            "reasoning" => Kind::Reasoning(Thought::default()),
            other => Kind::Other(other.to_owned()),
        };
        let phase = item.phase.as_deref().map(str::to_owned);
        Self { place, id: item.id.as_deref().unwrap_or_default().to_owned(), phase, kind, whole: None }
    }

    pub(super) fn is_done(&self) -> bool {
        self.whole.is_some()
    }

    /// `true` if a part of the item was shown.
    pub(super) fn is_shown(&self) -> bool {
        match &self.kind {
            Kind::Message(message) => message.is_shown(),
            Kind::Call(call) => call.is_shown(),
            Kind::Reasoning(thought) => thought.is_shown(),
            Kind::Other(_) => false,
        }
    }

    pub(super) fn is_reasoning(&self) -> bool {
        matches!(self.kind, Kind::Reasoning(_))
    }

    pub(super) fn is_call_item(&self) -> bool {
        matches!(self.kind, Kind::Call(_))
    }

    /// `true` for the call with this id.
    pub(super) fn is_call(&self, id: Option<&str>) -> bool {
        matches!((&self.kind, id), (Kind::Call(call), Some(id)) if !id.is_empty() && call.id() == id)
    }

    pub(super) fn is_search(&self) -> bool {
        matches!(&self.kind, Kind::Other(kind) if kind == SEARCH)
    }

    /// `true` if an item is of the same type.
    pub(super) fn is_like(&self, item: &OutputItem<'_>) -> bool {
        let kind = match &self.kind {
            Kind::Message(_) => "message",
            Kind::Call(_) => "function_call",
            Kind::Reasoning(_) => "reasoning",
            Kind::Other(kind) => kind,
        };
        kind == item.kind
    }

    pub(super) fn grow(&mut self, growth: Growth) -> Result<(), ModelError> {
        if self.is_done() {
            return Err(protocol("an item grows after its end"));
        }
        match (&mut self.kind, growth) {
            (Kind::Message(message), Growth::Text { part, text, is_refusal }) => message.grow(part, text, is_refusal),
            (Kind::Reasoning(thought), Growth::Reasoning { part, text, is_summary }) => {
                thought.grow((is_summary, part), &text);
                Ok(())
            }
            (Kind::Call(call), Growth::Arguments(text)) => {
                call.grow(&text);
                Ok(())
            }
            (Kind::Call(call), Growth::AllArguments(text)) => call.complete(&text),
            (Kind::Other(_), _) => Ok(()),
            _ => Err(protocol("an item grows by what is not of its type")),
        }
    }

    /// Takes the complete item. A call that the model could not finish stays open.
    pub(super) fn end(&mut self, item: &OutputItem<'_>, json: &str) -> Result<(), ModelError> {
        if self.is_done() {
            return Err(protocol("an item ends twice"));
        }
        if !self.is_like(item) {
            return Err(protocol("an item ends as one of another type"));
        }
        if let Kind::Call(call) = &mut self.kind {
            call.name(item)?;
            if item.is_incomplete() {
                return Ok(());
            }
        }
        self.whole = Some(json.to_owned());
        Ok(())
    }

    /// Shows the new growth. The item follows this reasoning.
    pub(super) fn show(
        &mut self,
        reasoning: &[String],
        blocks: &mut OutputBlocks,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<(), ModelError> {
        match &mut self.kind {
            Kind::Message(message) => {
                let replay = || ItemReplay {
                    id: Cow::Borrowed(&self.id),
                    phase: self.phase.as_deref().map(Cow::Borrowed),
                    refusal: false,
                    reasoning: borrowed(reasoning),
                };
                message.show(&replay, blocks, out)
            }
            Kind::Call(call) => call.show(blocks, out),
            Kind::Reasoning(thought) => thought.show(blocks, out),
            Kind::Other(_) => Ok(()),
        }
    }

    /// Shows the end of the item. Returns `true` if anything of it is kept.
    pub(super) fn finish(
        self,
        reasoning: &[String],
        blocks: &mut OutputBlocks,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<bool, ModelError> {
        let whole = self.whole.as_deref();
        let item =
            whole.map(OutputItem::read).transpose().map_err(|error| unreadable("an item", error))?.unwrap_or_default();
        let id = item.id.clone().unwrap_or(Cow::Borrowed(&self.id));
        let phase = item.phase.clone().or(self.phase.as_deref().map(Cow::Borrowed));
        let replay = ItemReplay { id, phase, refusal: false, reasoning: borrowed(reasoning) };
        match self.kind {
            Kind::Message(message) => {
                let kept = message.finish(&item, &|| replay.clone(), blocks, out)?;
                out.extend(web_search::cited(item.content).map(|cited| ModelEvent::WebSearched(Box::new(cited))));
                Ok(kept)
            }
            Kind::Call(call) => call.finish(&item, self.place, &replay, blocks, out).map(|()| true),
            Kind::Other(kind) => match whole.filter(|_| is_replayable(&kind)) {
                Some(json) => {
                    let json = JsonText::parse(json).map_err(|error| unreadable("an item", error))?;
                    blocks.open(BlockStart::Whole(ContentBlock::Unknown(json)), out)?;
                    blocks.close(out);
                    if kind == SEARCH {
                        let found = whole.and_then(web_search::results);
                        out.extend(found.map(|found| ModelEvent::WebSearched(Box::new(found))));
                    }
                    Ok(true)
                }
                None => Ok(false),
            },
            Kind::Reasoning(_) => Ok(false),
        }
    }

    /// Shows the end of reasoning.
    pub(super) fn finish_reasoning(
        self,
        blocks: &mut OutputBlocks,
        out: &mut VecDeque<ModelEvent>,
    ) -> Result<FinishedReasoning, ModelError> {
        match self.kind {
            Kind::Reasoning(thought) => thought.finish(self.whole.as_deref(), &self.id, blocks, out),
            _ => Ok(FinishedReasoning { key: self.id, is_readable: false }),
        }
    }
}

fn borrowed(keys: &[String]) -> Vec<Cow<'_, str>> {
    keys.iter().map(|key| Cow::Borrowed(key.as_str())).collect()
}
