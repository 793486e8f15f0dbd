//! One stream, read to its end and checked against the grammar of a message.

use crate::Violation;
use futures_util::StreamExt;
use windlass_model::{ModelError, ModelStream};
use windlass_types::{BlockStart, ContentBlock, ModelErrorKind, ModelEvent, ModelItem, StreamDelta, Usage};

/// Ending of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the contract of a stream knows exactly these")]
pub enum Ending {
    /// The message is complete.
    Complete,
    /// The stream ended with an error.
    Failed(ModelErrorKind),
    /// The stream ended without either.
    Cut,
}

/// Outcome of one call.
#[derive(Debug)]
#[non_exhaustive]
pub struct Transcript {
    /// Items, in order.
    pub items: Vec<ModelItem>,
    /// Error at the end, if any.
    pub error: Option<ModelError>,
}

impl Transcript {
    pub(super) fn refused(error: ModelError) -> Self {
        Self { items: Vec::new(), error: Some(error) }
    }

    /// Returns the ending of the stream.
    pub fn ending(&self) -> Ending {
        match (&self.error, self.items.last()) {
            (Some(error), _) => Ending::Failed(error.kind),
            (None, Some(ModelItem { event: ModelEvent::MessageStop, .. })) => Ending::Complete,
            _ => Ending::Cut,
        }
    }

    /// Returns the text of all text blocks, joined.
    pub fn text(&self) -> String {
        let pieces = self.items.iter().filter_map(|item| match &item.event {
            ModelEvent::BlockStart { block: BlockStart::Text(text), .. }
            | ModelEvent::BlockStart { block: BlockStart::Whole(ContentBlock::Text { text, .. }), .. }
            | ModelEvent::BlockDelta { delta: StreamDelta::Text(text), .. } => Some(text.as_str()),
            _ => None,
        });
        pieces.collect()
    }

    /// Returns the name and input text of each streamed tool use.
    pub fn tool_inputs(&self) -> Vec<(String, String)> {
        let mut calls = Vec::new();
        for item in &self.items {
            match &item.event {
                ModelEvent::BlockStart { index, block: BlockStart::ToolUse { name, .. } } => {
                    calls.push((*index, name.clone(), String::new()));
                }
                ModelEvent::BlockDelta { index, delta: StreamDelta::ToolInput(text) } => {
                    if let Some((_, _, input)) = calls.iter_mut().find(|(at, ..)| at == index) {
                        input.push_str(text);
                    }
                }
                _ => {}
            }
        }
        calls.into_iter().map(|(_, name, input)| (name, input)).collect()
    }
}

/// Reads a stream to its end and checks each item against the grammar.
///
/// # Errors
/// An event in the wrong place, usage that shrinks, or items after the end.
pub async fn read(mut stream: ModelStream) -> Result<Transcript, Violation> {
    let mut grammar = Grammar::default();
    let mut transcript = Transcript { items: Vec::new(), error: None };
    while let Some(item) = stream.next().await {
        if let Some(error) = &transcript.error {
            return Err(Violation::new(format!("the stream continues after its error ({error}): {item:?}")));
        }
        match item {
            Ok(item) => {
                grammar.accept(&item.event).map_err(|reason| {
                    let at = transcript.items.len();
                    Violation::new(format!("item {at}, {:?}: {reason}", item.event))
                })?;
                transcript.items.push(item);
            }
            Err(error) if grammar.stopped => {
                return Err(Violation::new(format!("the stream fails after its message is complete: {error}")));
            }
            Err(error) => transcript.error = Some(error),
        }
    }
    Ok(transcript)
}

/// State of the grammar of a message.
#[derive(Debug, Default)]
struct Grammar {
    started: bool,
    open: Option<Kind>,
    blocks: usize,
    reason: bool,
    stopped: bool,
    usage: Usage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
    ToolUse,
    Other,
}

impl Grammar {
    fn accept(&mut self, event: &ModelEvent) -> Result<(), String> {
        if self.stopped {
            return Err("it follows the end of the message".to_owned());
        }
        match event {
            ModelEvent::MessageStart { id, model, usage } => {
                if self.started {
                    return Err("the message has begun already".to_owned());
                }
                if id.as_str().is_empty() || model.is_empty() {
                    return Err("the message has no id or no model".to_owned());
                }
                self.started = true;
                self.count(usage)
            }
            ModelEvent::Ping
            | ModelEvent::Unknown
            | ModelEvent::RateLimit(_)
            | ModelEvent::ReasoningDropped { .. }
            | ModelEvent::WebSearched(_) => Ok(()),
            _ if !self.started => Err("the message has not begun".to_owned()),
            ModelEvent::BlockStart { index, block } => self.begin(*index, block),
            ModelEvent::BlockDelta { index, delta } => self.extend(*index, delta),
            ModelEvent::BlockStop { index } => {
                self.check_open(*index)?;
                self.open = None;
                self.blocks += 1;
                Ok(())
            }
            ModelEvent::MessageDelta { stop_reason, usage } => {
                if stop_reason.is_some() && self.open.is_some() {
                    return Err("a block is still open".to_owned());
                }
                self.reason |= stop_reason.is_some();
                self.count(usage)
            }
            ModelEvent::MessageStop if self.open.is_some() => Err("a block is still open".to_owned()),
            ModelEvent::MessageStop if !self.reason => Err("there was no stop reason".to_owned()),
            ModelEvent::MessageStop => {
                self.stopped = true;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn begin(&mut self, index: usize, block: &BlockStart) -> Result<(), String> {
        if self.open.is_some() {
            return Err("a block is still open".to_owned());
        }
        if self.reason {
            return Err("it follows the stop reason".to_owned());
        }
        if index != self.blocks {
            return Err(format!("block {} is due", self.blocks));
        }
        self.open = Some(match block {
            BlockStart::Text(_) => Kind::Text,
            BlockStart::Thinking { .. } => Kind::Thinking,
            BlockStart::ToolUse { id, name } if id.as_str().is_empty() || name.is_empty() => {
                return Err("the tool use has no id or no name".to_owned());
            }
            BlockStart::ToolUse { .. } => Kind::ToolUse,
            _ => Kind::Other,
        });
        Ok(())
    }

    fn extend(&self, index: usize, delta: &StreamDelta) -> Result<(), String> {
        self.check_open(index)?;
        let fits = match delta {
            StreamDelta::Text(_) => self.open == Some(Kind::Text),
            StreamDelta::Thinking(_) | StreamDelta::Signature(_) => self.open == Some(Kind::Thinking),
            StreamDelta::ToolInput(_) => self.open == Some(Kind::ToolUse),
            _ => true,
        };
        if fits || self.open == Some(Kind::Other) { Ok(()) } else { Err("it does not belong to its block".to_owned()) }
    }

    fn check_open(&self, index: usize) -> Result<(), String> {
        if self.open.is_some() && index == self.blocks { Ok(()) } else { Err("that block is not open".to_owned()) }
    }

    /// Checks that usage is cumulative: no figure shrinks.
    fn count(&mut self, usage: &Usage) -> Result<(), String> {
        let figures = |usage: &Usage| {
            [
                usage.input_tokens,
                usage.output_tokens,
                usage.cache_creation_input_tokens,
                usage.cache_read_input_tokens,
                usage.web_search_requests,
            ]
        };
        let shrinks = figures(&self.usage).iter().zip(figures(usage)).any(|(before, now)| now < *before);
        if shrinks {
            return Err(format!("usage shrinks, from {:?}", self.usage));
        }
        self.usage = *usage;
        Ok(())
    }
}
