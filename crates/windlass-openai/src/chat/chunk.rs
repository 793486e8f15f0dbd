//! JSON of a chunk, in its wire format.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use windlass_types::WholeNumber;

/// Chunk of an answer. Members stay unparsed until they are needed: nearly every chunk brings a few letters of one of
/// them, and an unneeded member of an unexpected type does no harm.
#[derive(Default, Deserialize)]
pub(super) struct ChatChunk<'a> {
    #[serde(borrow, default)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) object: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) model: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<ChunkChoice<'a>>>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) x_groq: Option<XGroq<'a>>,
}

/// Additional members of Groq: earlier versions have the usage only here.
#[derive(Deserialize)]
pub(super) struct XGroq<'a> {
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
pub(super) struct ChunkChoice<'a> {
    #[serde(borrow, default)]
    pub(super) index: Option<&'a RawValue>,
    /// Some servers write the last chunk, or a whole answer, as a message.
    #[serde(borrow, default, alias = "message")]
    pub(super) delta: Option<ChunkDelta<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

impl ChunkChoice<'_> {
    /// `true` for the requested choice. More than one is never requested.
    pub(super) fn is_first(&self) -> bool {
        // An unreadable index must not lose an answer.
        let number = self.index.and_then(|index| serde_json::from_str::<WholeNumber>(index.get()).ok());
        number.is_none_or(|number| number.get() == 0)
    }
}

#[derive(Default, Deserialize)]
pub(super) struct ChunkDelta<'a> {
    #[serde(borrow, default)]
    pub(super) content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reasoning_content: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reasoning: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reasoning_text: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) reasoning_details: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) refusal: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) tool_calls: Option<Vec<ChunkCall<'a>>>,
}

/// Piece of a call.
#[derive(Default, Deserialize)]
pub(super) struct ChunkCall<'a> {
    #[serde(borrow, default)]
    pub(super) index: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) function: Option<ChunkFunction<'a>>,
    /// Content that Gemini wants back with the call.
    #[serde(borrow, default)]
    pub(super) extra_content: Option<&'a RawValue>,
}

impl ChunkCall<'_> {
    /// Returns the index of the call, if the piece has one.
    ///
    /// # Errors
    /// Fails if the index is not a number without a fraction.
    pub(super) fn index(&self) -> Result<Option<u64>, serde_json::Error> {
        let Some(index) = self.index.filter(|json| !is_blank(Some(json))) else { return Ok(None) };
        // Some servers write a number as a string.
        let digits = index.get().trim_matches('"');
        serde_json::from_str::<WholeNumber>(digits).map(|count| Some(count.get()))
    }
}

#[derive(Default, Deserialize)]
pub(super) struct ChunkFunction<'a> {
    #[serde(borrow, default)]
    pub(super) name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
}

/// Part of a content that comes as a list.
#[derive(Deserialize)]
pub(super) struct ChunkPart<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) text: Option<&'a RawValue>,
    /// Text, or parts.
    #[serde(borrow, default)]
    pub(super) thinking: Option<&'a RawValue>,
}

/// Returns the text of a string member that is not empty. `None` also for unreadable text: only for members that an
/// answer can do without.
pub(super) fn text(json: Option<&RawValue>) -> Option<String> {
    let json = json?.get();
    if !json.starts_with('"') || json.len() == 2 {
        return None;
    }
    literal(json)
}

/// Returns the text of a string literal; `None` if it is not one, or holds half of a surrogate pair.
pub(super) fn literal(json: &str) -> Option<String> {
    let text = json.strip_prefix('"')?.strip_suffix('"')?;
    // Without an early exit the compiler can process many bytes at once.
    let is_plain = text.bytes().fold(true, |plain, byte| plain & (byte >= b' ') & (byte != b'"') & (byte != b'\\'));
    if is_plain { Some(text.to_owned()) } else { serde_json::from_str(json).ok() }
}

/// `true` if a member is missing, `null` or an empty string.
pub(super) fn is_blank(json: Option<&RawValue>) -> bool {
    json.is_none_or(|json| matches!(json.get(), "null" | "\"\""))
}

/// Returns the parts of a content that is a list; `None` if it is not a list of parts.
pub(super) fn parts(json: &RawValue) -> Option<Vec<ChunkPart<'_>>> {
    if json.get().starts_with('[') { serde_json::from_str(json.get()).ok() } else { None }
}
