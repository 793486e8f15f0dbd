//! Fast path for chunks of one stream, which differ only in a few letters: the surrounding text is compared, not
//! parsed.

use super::chunk::{ChatChunk, ChunkCall, ChunkChoice, ChunkDelta, literal, text};
use super::compat::ReasoningField;
use serde_json::value::RawValue;

/// Target of the letters of a chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum LetterTarget {
    /// Text of the answer.
    Content,
    /// Reasoning text.
    Reasoning(ReasoningField),
    /// Arguments of a call.
    Arguments { index: Option<u64>, id: Option<String> },
}

/// Parsed chunk, without its letters.
#[derive(Debug)]
pub(super) struct Template {
    head: String,
    tail: String,
    pub(super) place: LetterTarget,
}

impl Template {
    /// Returns the form of a chunk whose only new content is text in one member.
    pub(super) fn of(data: &str, chunk: &ChatChunk<'_>, fields: &[ReasoningField]) -> Option<Self> {
        let nothing_else = chunk.error.is_none() && chunk.usage.is_none_or(is_null) && chunk.x_groq.is_none();
        let [choice] = chunk.choices.as_deref()? else { return None };
        if !nothing_else || !is_plain(choice) {
            return None;
        }
        let (place, letters) = letters(choice.delta.as_ref()?, fields)?;
        // The member is a part of the text that was parsed.
        let start = (letters.get().as_ptr() as usize).checked_sub(data.as_ptr() as usize)?;
        let head = data.get(..start)?.to_owned();
        let tail = data.get(start.checked_add(letters.get().len())?..)?.to_owned();
        Some(Self { head, tail, place })
    }

    /// Returns the letters of a chunk that has this form. The surrounding text is JSON that was parsed, and the letters
    /// are a string literal: the chunk therefore is the JSON that a parser would read.
    pub(super) fn letters(&self, data: &str) -> Option<String> {
        literal(data.strip_prefix(&*self.head)?.strip_suffix(&*self.tail)?)
    }
}

fn is_null(json: &RawValue) -> bool {
    json.get() == "null"
}

fn is_plain(choice: &ChunkChoice<'_>) -> bool {
    let is_none = |member: Option<&RawValue>| member.is_none_or(is_null);
    choice.is_first() && is_none(choice.finish_reason) && is_none(choice.usage) && is_none(choice.error)
}

/// Returns the only member with text.
fn letters<'a>(delta: &ChunkDelta<'a>, fields: &[ReasoningField]) -> Option<(LetterTarget, &'a RawValue)> {
    let is_empty = |member: Option<&RawValue>| member.is_none_or(|json| matches!(json.get(), "null" | "\"\"" | "[]"));
    if !is_empty(delta.refusal) || !is_empty(delta.reasoning_details) {
        return None;
    }
    let reasoning = |field| match field {
        ReasoningField::ReasoningContent => delta.reasoning_content,
        ReasoningField::Reasoning => delta.reasoning,
        ReasoningField::ReasoningText => delta.reasoning_text,
    };
    let places = std::iter::once((LetterTarget::Content, delta.content))
        .chain(ReasoningField::ALL.map(|field| (LetterTarget::Reasoning(field), reasoning(field))));
    let mut full = places.filter(|(_, member)| !is_empty(*member));
    let (place, member) = match delta.tool_calls.as_deref() {
        None | Some([]) => full.next()?,
        Some([piece]) => arguments(piece)?,
        Some(_) => return None,
    };
    let known = match &place {
        LetterTarget::Content | LetterTarget::Arguments { .. } => true,
        LetterTarget::Reasoning(field) => fields.contains(field),
    };
    let member = member.filter(|member| known && member.get().starts_with('"'))?;
    full.next().is_none().then_some((place, member))
}

/// Returns the arguments of a piece that only continues a call. The surrounding text, including the id, is the same in
/// the next chunk.
fn arguments<'a>(piece: &ChunkCall<'a>) -> Option<(LetterTarget, Option<&'a RawValue>)> {
    let function = piece.function.as_ref()?;
    if text(function.name).is_some() || piece.extra_content.is_some() {
        return None;
    }
    Some((LetterTarget::Arguments { index: piece.index().ok()?, id: text(piece.id) }, function.arguments))
}
