//! The tool `apply_patch`.

use std::borrow::Cow;
use std::path::PathBuf;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use windlass_tool::{
    Annotations, BoxFuture, DynTool, InterruptBehavior, PreparedCall, ToolCx, ToolError, ToolOutput, schema_of,
};
use windlass_types::{Access, JsonText, ToolSpec};

use super::commit::commit;
use super::parse::parse;
use super::patch::{FileChange, FilePatch};
use super::plan::{Becomes, Planned, plan};

/// Adds, changes, moves and deletes files by one patch: all of them, or none.
///
/// The tool takes the format that begins with `*** Begin Patch`, and unified diffs. By the rules of
/// [`Edit`](crate::Edit) a file must have been read in the session and must not have changed since. All bytes outside
/// the changed lines stay unchanged, and a moved file keeps its mode. A hunk with more than one match is refused. Each
/// path of the patch is judged and saved for checkpoints before anything runs.
///
/// If a write fails, the earlier ones are undone. Directories that were made for them stay, and a restored file has the
/// usual mode. The tool is for models that were trained on this format.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct ApplyPatch;

/// Input of [`ApplyPatch`].
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ApplyPatchInput {
    /// The whole patch, from `*** Begin Patch` to `*** End Patch`.
    pub input: String,
}

impl ApplyPatch {
    /// The name of the tool.
    pub const NAME: &'static str = "apply_patch";
}

const DESCRIPTION: &str = "Adds, changes, moves and deletes files by one patch; all of it is made, or none. The patch:
*** Begin Patch
*** Update File: path/of/a/file.py
*** Move to: new/path.py
@@ class Shop
     def price(self):
-        return 1
+        return 2
*** Add File: path/of/a/new_file.py
+print(\"each line begins with +\")
*** Delete File: path/of/an/old_file.py
*** End Patch
Paths are relative to the current directory, or absolute. `*** Move to:` stands only where a file is moved. In a hunk each \
line begins with a blank (kept), - (removed) or + (added). Give about 3 kept lines before and after each change, exactly as \
the file has them and without line numbers; where they are not unique, add one or more lines `@@ TEXT` with a line of the \
file above the place, such as its class or function. Hunks follow the order of the file. `*** End of File` after a hunk says \
that it is at the end. Files that are changed, moved or deleted must have been read in this session and must not have \
changed since. A unified diff with ---, +++ and @@ -LINE,COUNT +LINE,COUNT @@ lines is taken too.";

impl DynTool for ApplyPatch {
    fn spec(&self) -> ToolSpec {
        ToolSpec::new(Self::NAME, DESCRIPTION, schema_of::<ApplyPatchInput>())
    }

    fn name(&self) -> Cow<'_, str> {
        Cow::Borrowed(Self::NAME)
    }

    fn annotations(&self) -> Annotations {
        Annotations::default().with_interrupt(InterruptBehavior::Block)
    }

    fn is_enabled(&self) -> bool {
        true
    }

    fn prepare(self: Arc<Self>, input: &JsonText) -> Result<Box<dyn PreparedCall>, ToolError> {
        let ApplyPatchInput { input } = input.to().map_err(|error| ToolError::invalid_input(error.to_string()))?;
        let files = parse(&input).map_err(|error| {
            let reason = error.to_string();
            ToolError::invalid_input(format!("No file was changed: {}.", reason.trim_end_matches('.')))
        })?;
        Ok(Box::new(Prepared { files }))
    }
}

/// A patch that was read.
struct Prepared {
    files: Vec<FilePatch>,
}

impl Prepared {
    fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.iter().flat_map(|file| {
            let moved = match &file.change {
                FileChange::Update { move_to, .. } => move_to.as_deref(),
                _ => None,
            };
            std::iter::once(file.path.as_str()).chain(moved)
        })
    }
}

impl PreparedCall for Prepared {
    fn access(&self) -> Access {
        Access::Writes(self.paths().map(PathBuf::from).collect())
    }

    fn title(&self) -> String {
        const NAMED: usize = 3;
        let paths: Vec<&str> = self.paths().take(NAMED).collect();
        let more = self.paths().count().saturating_sub(NAMED);
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        format!("Patch {}{more}", paths.join(", "))
    }

    fn preview(&self, cx: ToolCx) -> BoxFuture<'_, Option<String>> {
        Box::pin(async move {
            let planned = plan(&cx, &self.files).await.ok()?;
            Some(planned.into_iter().map(|planned| Outcome::of(planned).diff).collect())
        })
    }

    fn call(self: Box<Self>, cx: ToolCx) -> BoxFuture<'static, Result<ToolOutput, ToolError>> {
        Box::pin(async move {
            let plan = commit(&cx, plan(&cx, &self.files).await?).await?;
            let files: Vec<Outcome> = plan.into_iter().map(Outcome::of).collect();
            let lines: Vec<&str> = files.iter().map(|file| file.line.as_str()).collect();
            let word = if files.len() == 1 { "file" } else { "files" };
            let text = format!("Changed {} {word}:\n{}", files.len(), lines.join("\n"));
            let diff: String = files.iter().map(|file| file.diff.as_str()).collect();
            let structured: Vec<&Value> = files.iter().map(|file| &file.structured).collect();
            ToolOutput::text(text).with_diff(diff).with_structured(&json!({ "files": structured }))
        })
    }
}

/// Outcome of one file, for the model, people and programs.
struct Outcome {
    line: String,
    diff: String,
    structured: Value,
}

impl Outcome {
    fn of(planned: Planned) -> Self {
        const NULL: &str = "/dev/null";
        let Planned { target, becomes, inexact } = planned;
        let old = target.path.to_string_lossy().into_owned();
        let (mark, kind, new, content) = match becomes {
            Becomes::Added(new) => ('A', "add", Some(old.clone()), new),
            Becomes::Changed(new) => ('M', "update", Some(old.clone()), new),
            Becomes::Moved(to, new) => ('R', "move", Some(to.path.to_string_lossy().into_owned()), new),
            Becomes::Deleted => ('D', "delete", None, Vec::new()),
        };
        let change = target.change(&content);
        let moved = new.as_ref().filter(|new| **new != old);
        let to = moved.map(|new| format!(" to {new}")).unwrap_or_default();
        let mut line = format!("{mark} {old}{to} ({})", change.counts());
        if !inexact.is_empty() {
            let lines: Vec<String> = inexact.iter().map(usize::to_string).collect();
            line.push_str(&format!(
                "; found only with other blanks or quotes than the patch has, at line {}: check the result there",
                lines.join(", ")
            ));
        }
        if kind == "update" {
            line.push_str(&change.names_note());
        }
        let old_name = if change.created { NULL } else { old.as_str() };
        let diff = change.patch.unified(old_name, new.as_deref().unwrap_or(NULL));
        let structured = json!({
            "type": kind,
            "filePath": old,
            "movedTo": moved,
            "originalFile": change.original,
            "structuredPatch": change.structured_patch(),
        });
        Self { line, diff, structured }
    }
}
