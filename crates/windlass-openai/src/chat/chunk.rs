//! The JSON of a chunk, as the wire has it.

use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use windlass_types::WholeNumber;

/// A chunk. Members stay text until they are needed: nearly every chunk brings a few letters of one of them, and a server
/// that writes another type in one that is not needed does no harm.
#[derive(Default, Deserialize)]
pub(super) struct Chunk<'a> {
    #[serde(borrow, default)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) object: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) model: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) choices: Option<Vec<Choice<'a>>>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) x_groq: Option<XGroq<'a>>,
}

/// What Groq adds: earlier versions have the usage only here.
#[derive(Deserialize)]
pub(super) struct XGroq<'a> {
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
pub(super) struct Choice<'a> {
    #[serde(borrow, default)]
    pub(super) index: Option<&'a RawValue>,
    /// Some servers write the last chunk, or a whole answer, as a message.
    #[serde(borrow, default, alias = "message")]
    pub(super) delta: Option<Delta<'a>>,
    #[serde(borrow, default)]
    pub(super) finish_reason: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) usage: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) error: Option<&'a RawValue>,
}

impl Choice<'_> {
    /// Whether this is the choice that was asked for. More than one never is.
    pub(super) fn is_first(&self) -> bool {
        // An index that cannot be read must not lose an answer.
        let number = self.index.and_then(|index| serde_json::from_str::<WholeNumber>(index.get()).ok());
        number.is_none_or(|number| number.get() == 0)
    }
}

#[derive(Default, Deserialize)]
pub(super) struct Delta<'a> {
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
    pub(super) tool_calls: Option<Vec<Piece<'a>>>,
}

/// A piece of a call.
#[derive(Default, Deserialize)]
pub(super) struct Piece<'a> {
    #[serde(borrow, default)]
    pub(super) index: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) function: Option<Function<'a>>,
    /// What Gemini wants back with the call.
    #[serde(borrow, default)]
    pub(super) extra_content: Option<&'a RawValue>,
}

impl Piece<'_> {
    /// The index of the call, if the piece has one.
    ///
    /// # Errors
    /// The index is not a number without a fraction.
    pub(super) fn index(&self) -> Result<Option<u64>, serde_json::Error> {
        let Some(index) = self.index.filter(|json| !is_blank(Some(json))) else { return Ok(None) };
        // Some servers write a number as a string.
        let digits = index.get().trim_matches('"');
        serde_json::from_str::<WholeNumber>(digits).map(|count| Some(count.get()))
    }
}

#[derive(Default, Deserialize)]
pub(super) struct Function<'a> {
    #[serde(borrow, default)]
    pub(super) name: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) arguments: Option<&'a RawValue>,
}

/// A part of a content that comes as a list.
#[derive(Deserialize)]
pub(super) struct Part<'a> {
    #[serde(borrow, default, rename = "type")]
    pub(super) kind: Cow<'a, str>,
    #[serde(borrow, default)]
    pub(super) text: Option<&'a RawValue>,
    /// A text, or parts.
    #[serde(borrow, default)]
    pub(super) thinking: Option<&'a RawValue>,
}

/// The text of a member that is a string and not empty. `None` also for a text that cannot be read: only for members that an
/// answer can do without.
pub(super) fn text(json: Option<&RawValue>) -> Option<String> {
    let json = json?.get();
    if !json.starts_with('"') || json.len() == 2 {
        return None;
    }
    literal(json)
}

/// The text of a string literal. `None`: it is not one, or holds half of a surrogate pair.
pub(super) fn literal(json: &str) -> Option<String> {
    let text = json.strip_prefix('"')?.strip_suffix('"')?;
    // Without an early exit the compiler looks at many bytes at once.
    let is_plain = text.bytes().fold(true, |plain, byte| plain & (byte >= b' ') & (byte != b'"') & (byte != b'\\'));
    if is_plain { Some(text.to_owned()) } else { serde_json::from_str(json).ok() }
}

/// `true` if a member is missing, `null` or an empty string.
pub(super) fn is_blank(json: Option<&RawValue>) -> bool {
    json.is_none_or(|json| matches!(json.get(), "null" | "\"\""))
}

/// The parts of a content that is a list. `None`: it is not a list of parts.
pub(super) fn parts(json: &RawValue) -> Option<Vec<Part<'_>>> {
    if json.get().starts_with('[') { serde_json::from_str(json.get()).ok() } else { None }
}
