//! The Write tool.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use windlass_tool::{Annotations, InterruptBehavior, Tool, ToolCx, ToolError, ToolOutput};
use windlass_types::Access;
use windlass_types::text::visible_path;

use super::canonical::Ending;
use super::change::Target;
use super::charset::{Content, TextFormat};
use super::edit::{rewrite, uniform_ending};
use super::open::named_path;

/// Creates a file, or replaces one that was read.
///
/// The write is atomic. An existing file keeps its encoding, byte-order mark, mode and, when it has only one kind, its
/// line breaks.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Write;

/// Input of [`Write`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WriteInput {
    /// Absolute path of the file.
    #[serde(deserialize_with = "named_path")]
    pub file_path: String,
    /// The whole new content.
    pub content: String,
}

impl Tool for Write {
    const NAME: &'static str = "Write";
    const DESCRIPTION: &'static str = "Creates a file with the given content, with missing directories, or replaces \
        all of an existing file. An existing file must have been read in this session and must not have changed \
        since. For a change of a part, Edit is safer and shorter.";
    type Input = WriteInput;
    type Output = ToolOutput;

    fn access(&self, input: &WriteInput) -> Access {
        Access::writes(&input.file_path)
    }

    fn title(&self, input: &WriteInput) -> Cow<'static, str> {
        format!("Write {}", input.file_path).into()
    }

    fn annotations(&self) -> Annotations {
        Annotations::default().with_interrupt(InterruptBehavior::Block)
    }

    async fn preview(&self, input: &WriteInput, cx: &ToolCx) -> Option<String> {
        let target = Target::look(cx, &input.file_path).await.ok()?;
        let new = rewrite(&input.content, existing(&target)).ok()?;
        Some(target.change(&new).diff())
    }

    async fn call(&self, input: WriteInput, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let target = Target::look(cx, &input.file_path).await?;
        target.check_seen()?;
        let existing = existing(&target);
        let new = rewrite(&input.content, existing).map_err(|e| ToolError::rejected(format!("{e}.")))?;
        let kept = existing.map(|(raw, format)| kept_note(raw, format, &input.content)).unwrap_or_default();
        let change = target.write(&new).await?;

        let path = visible_path(&change.path);
        let text = if change.created {
            format!("Created {path} ({} lines).", change.patch.added)
        } else {
            format!("Replaced {path} ({}).{kept}{}", change.counts(), change.names_note())
        };
        let structured = json!({
            "type": if change.created { "create" } else { "update" },
            "filePath": change.path.to_string_lossy(),
            "content": input.content,
            "structuredPatch": change.structured_patch(),
            "originalFile": change.original,
            "userModified": false,
        });
        ToolOutput::text(text).with_diff(change.diff()).with_structured(&structured)
    }
}

/// Existing text, with its format.
fn existing(target: &Target) -> Option<(&[u8], TextFormat)> {
    match (target.content.as_deref(), target.format()) {
        (Some(raw), Content::Text(format)) => Some((raw, format)),
        _ => None,
    }
}

/// Names the kept properties of the old file's form that are not visible in the content.
fn kept_note(raw: &[u8], format: TextFormat, content: &str) -> String {
    let (bom, body) = format.split_bom(raw);
    let mut kept = Vec::new();
    if format.charset != TextFormat::NEW.charset {
        kept.push(format!("encoding {}", format.charset.name()));
    } else if !bom.is_empty() {
        kept.push("byte-order mark".to_owned());
    }
    if content.contains('\n') && !content.contains('\r') {
        match uniform_ending(body, format) {
            Some(Ending::CrLf) => kept.push("CRLF line breaks".to_owned()),
            Some(Ending::Cr) => kept.push("CR line breaks".to_owned()),
            Some(Ending::Lf) | None => {}
        }
    }
    if kept.is_empty() { String::new() } else { format!(" Kept as before: {}.", kept.join(", ")) }
}
