//! The Edit and MultiEdit tools.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use windlass_tool::{Annotations, InterruptBehavior, Tool, ToolCx, ToolError, ToolOutput};
use windlass_types::Access;
use windlass_types::text::visible_path;

use super::change::{Change, Target, not_text};
use super::charset::{Charset, Content};
use super::edit::{EditError, Replacement, apply_in, first_ending};
use super::open::named_path;
use super::open::not_found;

/// Maximum size in bytes of an editable file that is not UTF-8. Such a file is decoded in memory as a whole.
pub(crate) const MAX_TRANSCODED: usize = 8 * 1024 * 1024;

/// Replaces an exact text in a file. The session must have read the file before.
///
/// The search is literal and must match once, unless every occurrence is requested. Bytes outside the replaced text
/// never change: encoding, byte-order mark, line breaks and final newline stay unchanged.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct Edit;

/// Input of [`Edit`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct EditInput {
    /// Absolute path of the file.
    #[serde(deserialize_with = "named_path")]
    pub file_path: String,
    /// The exact text to replace, without line numbers. Empty only to create a file.
    pub old_string: String,
    /// The text to put there; must differ.
    pub new_string: String,
    /// Replace every occurrence instead of the only one.
    #[serde(default)]
    pub replace_all: Option<bool>,
}

/// Makes several edits of one file. If one edit fails, the file stays unchanged.
///
/// Each edit works on the result of the previous one, by the rules of [`Edit`].
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct MultiEdit;

/// Input of [`MultiEdit`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct MultiEditInput {
    /// Absolute path of the file.
    #[serde(deserialize_with = "named_path")]
    pub file_path: String,
    /// The edits, in order.
    pub edits: Vec<EditStep>,
}

/// One of several edits.
#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct EditStep {
    /// The exact text to replace, as it is after the edits before.
    pub old_string: String,
    /// The text to put there; must differ.
    pub new_string: String,
    /// Replace every occurrence instead of the only one.
    #[serde(default)]
    pub replace_all: Option<bool>,
}

impl EditStep {
    fn replacement(&self) -> Replacement<'_> {
        Replacement { old: &self.old_string, new: &self.new_string, all: self.replace_all.unwrap_or(false) }
    }
}

impl Tool for Edit {
    const NAME: &'static str = "Edit";
    const DESCRIPTION: &'static str = "Replaces old_string by new_string in a file. old_string is matched literally, \
        blanks included, and must occur exactly once: add surrounding lines until it does, or set replace_all. Leave \
        out the line numbers that Read prints. Write line breaks as LF; the file's own kind is kept. The file must \
        have been read in this session and must not have changed since. With an empty old_string a new file is \
        created.";
    type Input = EditInput;
    type Output = ToolOutput;

    fn access(&self, input: &EditInput) -> Access {
        Access::writes(&input.file_path)
    }

    fn title(&self, input: &EditInput) -> Cow<'static, str> {
        format!("Edit {}", input.file_path).into()
    }

    fn annotations(&self) -> Annotations {
        Annotations::default().with_interrupt(InterruptBehavior::Block)
    }

    async fn preview(&self, input: &EditInput, cx: &ToolCx) -> Option<String> {
        let all = input.replace_all.unwrap_or(false);
        preview(cx, &input.file_path, &[Replacement { old: &input.old_string, new: &input.new_string, all }]).await
    }

    async fn call(&self, input: EditInput, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let all = input.replace_all.unwrap_or(false);
        let edit = Replacement { old: &input.old_string, new: &input.new_string, all };
        let (change, count) = edit_file(cx, &input.file_path, &[edit]).await?;
        let structured = json!({
            "filePath": change.path.to_string_lossy(),
            "oldString": input.old_string,
            "newString": input.new_string,
            "originalFile": change.original,
            "structuredPatch": change.structured_patch(),
            "userModified": false,
            "replaceAll": all,
        });
        ToolOutput::text(summary(&change, count)).with_diff(change.diff()).with_structured(&structured)
    }
}

impl Tool for MultiEdit {
    const NAME: &'static str = "MultiEdit";
    const DESCRIPTION: &'static str = "Makes several edits of one file in one step, by the rules of Edit. They are \
        applied in order, each to the result of the one before. If one of them fails, none is made.";
    type Input = MultiEditInput;
    type Output = ToolOutput;

    fn access(&self, input: &MultiEditInput) -> Access {
        Access::writes(&input.file_path)
    }

    fn title(&self, input: &MultiEditInput) -> Cow<'static, str> {
        format!("Edit {} in {} places", input.file_path, input.edits.len()).into()
    }

    fn annotations(&self) -> Annotations {
        Annotations::default().with_interrupt(InterruptBehavior::Block)
    }

    async fn preview(&self, input: &MultiEditInput, cx: &ToolCx) -> Option<String> {
        preview(cx, &input.file_path, &replacements(&input.edits)).await
    }

    async fn call(&self, input: MultiEditInput, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let (change, count) = edit_file(cx, &input.file_path, &replacements(&input.edits)).await?;
        let structured = json!({
            "filePath": change.path.to_string_lossy(),
            "edits": input.edits,
            "originalFile": change.original,
            "structuredPatch": change.structured_patch(),
            "userModified": false,
        });
        ToolOutput::text(summary(&change, count)).with_diff(change.diff()).with_structured(&structured)
    }
}

fn replacements(steps: &[EditStep]) -> Vec<Replacement<'_>> {
    steps.iter().map(EditStep::replacement).collect()
}

/// Returns the diff that the edits would make, without changing the file; `None` if they do not apply.
async fn preview(cx: &ToolCx, file_path: &str, edits: &[Replacement<'_>]) -> Option<String> {
    let target = Target::look(cx, file_path).await.ok()?;
    let (bytes, _) = apply_edits(&target, edits).ok()?;
    Some(target.change(&bytes).diff())
}

async fn edit_file(cx: &ToolCx, file_path: &str, edits: &[Replacement<'_>]) -> Result<(Change, usize), ToolError> {
    let Some(first) = edits.first() else {
        return Err(ToolError::invalid_input("edits is empty: give at least one edit"));
    };
    let target = Target::look(cx, file_path).await?;
    if target.content.is_none() && !first.old.is_empty() {
        return Err(not_found(cx, &target.path).await);
    }
    target.check_seen()?;
    let (bytes, count) = apply_edits(&target, edits)?;
    Ok((target.write(&bytes).await?, count))
}

/// Bytes of a file with these edits, and the number of changed places.
fn apply_edits(target: &Target, edits: &[Replacement<'_>]) -> Result<(Vec<u8>, usize), ToolError> {
    let content = target.format();
    let Content::Text(format) = content else {
        return Err(not_text(&target.path, content));
    };
    let size = target.content.as_ref().map_or(0, Vec::len);
    if format.charset != Charset::Utf8 && size > MAX_TRANSCODED {
        return Err(ToolError::rejected(format!(
            "{} has {size} bytes of {}; at most {MAX_TRANSCODED} can be edited outside UTF-8. Change it with Bash.",
            visible_path(&target.path),
            format.charset.name(),
        )));
    }
    let mut bytes = Cow::Borrowed(target.content.as_deref().unwrap_or_default());
    // The line ending is taken before the first edit, because an edit may remove the only line break.
    let (mut count, default_ending) = (0, first_ending(format.split_bom(&bytes).1, format));
    for (number, edit) in (1..).zip(edits) {
        let edited = apply_in(&bytes, format, *edit, default_ending)
            .map_err(|error| refusal(target, &error, number, edits.len()))?;
        bytes = Cow::Owned(edited.bytes);
        count += edited.count;
    }
    if target.content.as_deref() == Some(&*bytes) {
        return Err(ToolError::rejected("The edits cancel each other out, so there is nothing to change."));
    }
    Ok((bytes.into_owned(), count))
}

fn refusal(target: &Target, error: &EditError, number: usize, count: usize) -> ToolError {
    let path = visible_path(&target.path);
    let reason = error.to_string();
    let reason = reason.trim_end_matches('.');
    ToolError::rejected(if count == 1 {
        format!("{path} was not changed: {reason}.")
    } else {
        format!("{path} was not changed, none of the {count} edits was made. Edit {number}: {reason}.")
    })
}

fn summary(change: &Change, count: usize) -> String {
    const MAX_SHOWN_PLACES: usize = 8;
    let path = visible_path(&change.path);
    if change.created {
        return format!("Created {path} ({} lines).", change.patch.added);
    }
    let hunks = &change.patch.hunks;
    let starts = hunks.iter().take(MAX_SHOWN_PLACES).map(|hunk| {
        let before = hunk.lines.iter().take_while(|line| line.starts_with(' ')).count();
        (hunk.new_start + before).to_string()
    });
    let starts: Vec<String> = starts.collect();
    let word = if hunks.len() == 1 { "line" } else { "lines" };
    let more = if hunks.len() > MAX_SHOWN_PLACES || change.patch.truncated { ", …" } else { "" };
    let places = if starts.is_empty() { String::new() } else { format!(" at {word} {}{more}", starts.join(", ")) };
    let replacements = if count == 1 { String::new() } else { format!(" {count} replacements,") };
    format!("Edited {path}:{replacements} {}{places}.{}", change.counts(), change.names_note())
}
