//! Outputs of tools.

use crate::ToolError;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use windlass_types::{
    ContentBlock, ContextChange, IMAGE_TYPES, ImageSource, JsonText, ToolResultContent, media_type_of,
};

/// Maximum size of an image, in bytes before they are written as base64: five megabytes of base64, the limit of
/// providers.
const MAX_IMAGE_BYTES: usize = 5 * 1024 * 1024 / 4 * 3;

/// Maximum number of characters of a tool's own note after its result.
const MAX_NOTE_CHARS: usize = 2_000;

/// Output of a tool that did its work.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct ToolOutput {
    /// Content for the model.
    pub content: ToolResultContent,
    /// `true` if the model should take the output as a failure, such as an exit code.
    pub is_error: bool,
    /// The same content as data, for hosts and hooks.
    pub structured: Option<JsonText>,
    /// Unified diff of the changes on disk, for people.
    pub diff: Option<String>,
    /// Changes of the session's state, applied in call order.
    pub changes: Vec<ContextChange>,
    /// Note of the tool itself for the model, outside of text by others: see [`with_note`](Self::with_note).
    pub note: Option<String>,
}

impl ToolOutput {
    /// Returns text for the model.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: ToolResultContent::Text(text.into()), ..Self::default() }
    }

    /// Returns blocks for the model: text, images, documents.
    pub fn blocks(blocks: Vec<ContentBlock>) -> Self {
        Self { content: ToolResultContent::Blocks(blocks), ..Self::default() }
    }

    /// Returns an image for the model: `image/png`, `image/jpeg`, `image/gif` or `image/webp`.
    ///
    /// ```
    /// # mod windlass { pub use windlass_tool::*; pub mod tool { pub use windlass_tool::*; } }
    /// use windlass::ToolOutput;
    ///
    /// let bytes = *b"\x89PNG\r\n\x1a\n and so on";
    /// assert!(ToolOutput::image("image/png", bytes).is_ok());
    /// assert!(ToolOutput::image("image/bmp", bytes).is_err());
    /// ```
    ///
    /// # Errors
    /// Models do not read this media type, the bytes are those of another one, or there are none or too many of them.
    /// With such an image, every later request of the session would be refused.
    pub fn image(media_type: impl Into<String>, bytes: impl AsRef<[u8]>) -> Result<Self, ToolError> {
        let (media_type, bytes) = (media_type.into(), bytes.as_ref());
        let problem = match media_type_of(bytes).filter(|found| *found != media_type) {
            _ if !IMAGE_TYPES.contains(&media_type.as_str()) => {
                format!("is {media_type}, and only {} can be read", IMAGE_TYPES.join(", "))
            }
            _ if bytes.is_empty() => "is empty".to_owned(),
            _ if bytes.len() > MAX_IMAGE_BYTES => {
                format!("has {} bytes, and at most {MAX_IMAGE_BYTES} can be read", bytes.len())
            }
            Some(found) => format!("says that it is {media_type}, but it is {found}"),
            None => {
                let source = ImageSource::Base64 { media_type, data: STANDARD.encode(bytes) };
                return Ok(Self::blocks(vec![ContentBlock::Image { source }]));
            }
        };
        Err(ToolError::rejected(format!("The image {problem}.")))
    }

    /// Adds the same content as data.
    ///
    /// # Errors
    /// The value cannot be written as JSON.
    pub fn with_structured(mut self, value: &impl Serialize) -> Result<Self, ToolError> {
        self.structured = Some(JsonText::of(value)?);
        Ok(self)
    }

    /// Adds a unified diff of the changes on disk.
    #[must_use]
    pub fn with_diff(mut self, diff: impl Into<String>) -> Self {
        self.diff = Some(diff.into());
        self
    }

    /// Adds a change of the session's state.
    #[must_use]
    pub fn with_change(mut self, change: ContextChange) -> Self {
        self.changes.push(change);
        self
    }

    /// Adds a note of the tool itself. It follows the result, outside of the marks around text by others, and nothing
    /// in the result can imitate it. At most 2,000 characters are kept; text by others does not belong there.
    #[must_use]
    pub fn with_note(mut self, note: impl Into<String>) -> Self {
        self.note = Some(note.into().chars().take(MAX_NOTE_CHARS).collect());
        self
    }

    /// Marks the output as a failure for the model.
    #[must_use]
    pub fn failed(mut self) -> Self {
        self.is_error = true;
        self
    }
}

/// Types that a [`Tool`](crate::Tool) may return: text, blocks, [`Json`] of any value, nothing, or a whole
/// [`ToolOutput`].
///
/// ```
/// # mod windlass { pub use windlass_tool::*; pub mod tool { pub use windlass_tool::*; } }
/// use windlass::{ToolError, ToolOutput, tool::IntoToolOutput};
///
/// struct Celsius(f32);
///
/// impl IntoToolOutput for Celsius {
///     fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
///         Ok(ToolOutput::text(format!("{:.1} degrees", self.0)))
///     }
/// }
///
/// let output = Celsius(21.04).into_tool_output().unwrap_or_else(|_| ToolOutput::text("unknown"));
/// assert_eq!(output.content.text(), "21.0 degrees");
/// ```
#[diagnostic::on_unimplemented(
    message = "a tool cannot return `{Self}`",
    label = "not an output of a tool",
    note = "return a `String`, `Json(value)` for a value that serde can write, `()`, or a `ToolOutput`"
)]
pub trait IntoToolOutput {
    /// Converts the value into output.
    ///
    /// # Errors
    /// The value cannot be written as JSON.
    fn into_tool_output(self) -> Result<ToolOutput, ToolError>;
}

impl IntoToolOutput for ToolOutput {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(self)
    }
}

impl IntoToolOutput for String {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(self))
    }
}

impl IntoToolOutput for &'static str {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text(self))
    }
}

impl IntoToolOutput for Vec<ContentBlock> {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::blocks(self))
    }
}

impl IntoToolOutput for () {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::text("Done."))
    }
}

/// A value as the output of a tool: the model reads its JSON, and hosts get it as data.
///
/// ```
/// # mod windlass { pub use windlass_tool::*; pub mod tool { pub use windlass_tool::*; } }
/// use windlass::{Json, tool::IntoToolOutput};
///
/// #[derive(serde::Serialize)]
/// struct Weather {
///     degrees: i32,
/// }
///
/// let output = Json(Weather { degrees: 21 }).into_tool_output()?;
/// assert_eq!(output.content.text(), r#"{"degrees":21}"#);
/// assert_eq!(output.structured.unwrap().as_str(), r#"{"degrees":21}"#);
/// # Ok::<(), windlass_tool::ToolError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "it is made and taken apart by its field")]
pub struct Json<T>(pub T);

impl<T: Serialize> IntoToolOutput for Json<T> {
    fn into_tool_output(self) -> Result<ToolOutput, ToolError> {
        let json = JsonText::of(&self.0)?;
        let mut output = ToolOutput::text(json.as_str());
        output.structured = Some(json);
        Ok(output)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_that_no_model_reads_is_refused() {
        let png = b"\x89PNG\r\n\x1a\n".as_slice();
        let output = ToolOutput::image("image/png", png).unwrap();
        let ToolResultContent::Blocks(blocks) = output.content else { panic!("no blocks") };
        let source = ImageSource::Base64 { media_type: "image/png".to_owned(), data: "iVBORw0KGgo=".to_owned() };
        assert_eq!(blocks, [ContentBlock::Image { source }]);
        // A type that the first bytes do not show is trusted.
        assert!(ToolOutput::image("image/gif", [0]).is_ok());
        assert!(ToolOutput::image("image/gif", vec![0; MAX_IMAGE_BYTES]).is_ok());
        for (media_type, bytes, problem) in [
            ("image/bmp", png, "is image/bmp"),
            ("image/jpeg", png, "but it is image/png"),
            ("image/png", b"%PDF-1.7", "but it is application/pdf"),
            ("image/png", b"", "is empty"),
            ("image/gif", &vec![0; MAX_IMAGE_BYTES + 1], "at most"),
        ] {
            let error = ToolOutput::image(media_type, bytes).unwrap_err();
            assert!(error.model_text().contains(problem), "{error}");
        }
    }

    #[test]
    fn what_cannot_be_written_is_an_error() {
        let unwritable = std::collections::BTreeMap::from([((1, 2), 3)]);
        assert!(Json(unwritable).into_tool_output().is_err());
    }
}
