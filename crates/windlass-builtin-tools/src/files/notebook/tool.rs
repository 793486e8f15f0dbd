//! The NotebookEdit tool.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use windlass_tool::{Annotations, InterruptBehavior, Tool, ToolCx, ToolError, ToolOutput};
use windlass_types::Access;
use windlass_types::text::visible_path;

use super::document::Notebook;
use super::edit::{self, Changed};
use super::is_notebook;
use crate::files::change::{MAX_ORIGINAL, Target};
use crate::files::open::named_path;
use crate::files::open::not_found;

/// Changes one cell of a Jupyter notebook.
///
/// A cell gets another source, is inserted or is removed. The rest of the file stays unchanged byte for byte: unknown
/// fields, their order and their formatting. Outputs of code are removed when its source changes. The rules of
/// [`Edit`](crate::Edit) apply: the notebook must have been read in the session and must not have changed since.
#[derive(Clone, Copy, Debug, Default)]
#[non_exhaustive]
pub struct NotebookEdit;

/// Input of [`NotebookEdit`].
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct NotebookEditInput {
    /// Absolute path of the notebook.
    #[serde(deserialize_with = "named_path")]
    pub notebook_path: String,
    /// Id of the cell as Read shows it. With insert the new cell comes behind it, and without one it comes first.
    #[serde(default)]
    pub cell_id: Option<String>,
    /// The whole new source of the cell. Empty for delete.
    pub new_source: String,
    /// Type of the cell. Needed for insert.
    #[serde(default)]
    pub cell_type: Option<CellKind>,
    /// Default: replace.
    #[serde(default)]
    pub edit_mode: Option<EditMode>,
}

/// The types of cells that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[non_exhaustive]
pub enum CellKind {
    /// A program.
    Code,
    /// Text.
    Markdown,
}

/// What happens to a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
#[non_exhaustive]
pub enum EditMode {
    /// Its source is replaced.
    #[default]
    Replace,
    /// A new one is added.
    Insert,
    /// It is removed.
    Delete,
}

impl CellKind {
    fn name(self) -> &'static str {
        match self {
            Self::Code => "code",
            Self::Markdown => "markdown",
        }
    }
}

impl EditMode {
    fn name(self) -> &'static str {
        match self {
            Self::Replace => "replace",
            Self::Insert => "insert",
            Self::Delete => "delete",
        }
    }
}

impl Tool for NotebookEdit {
    const NAME: &'static str = "NotebookEdit";
    const DESCRIPTION: &'static str = "Changes one cell of a Jupyter notebook (.ipynb): replaces its source, inserts a \
        new cell behind it, or deletes it. The notebook must have been read in this session and must not have changed \
        since. Outputs of a replaced code cell are removed. One call changes one cell; its id does not change.";
    type Input = NotebookEditInput;
    type Output = ToolOutput;

    fn access(&self, input: &NotebookEditInput) -> Access {
        Access::writes(&input.notebook_path)
    }

    fn title(&self, input: &NotebookEditInput) -> Cow<'static, str> {
        format!("Edit a cell of {}", input.notebook_path).into()
    }

    fn annotations(&self) -> Annotations {
        Annotations::default().with_interrupt(InterruptBehavior::Block)
    }

    async fn preview(&self, input: &NotebookEditInput, cx: &ToolCx) -> Option<String> {
        let target = Target::look(cx, &input.notebook_path).await.ok()?;
        let (bytes, _) = apply_change(&target, input, cx).ok()?;
        Some(target.change(&bytes).diff())
    }

    async fn call(&self, input: NotebookEditInput, cx: &ToolCx) -> Result<ToolOutput, ToolError> {
        let target = Target::look(cx, &input.notebook_path).await?;
        if target.content.is_none() {
            return Err(not_found(cx, &target.path).await);
        }
        target.check_seen()?;
        let (bytes, completed) = apply_change(&target, &input, cx)?;
        let updated = String::from_utf8_lossy(&bytes).into_owned();
        let change = target.write(&bytes).await?;
        let mode = input.edit_mode.unwrap_or_default();
        let structured = json!({
            "new_source": input.new_source,
            "old_source": completed.old_source,
            "cell_id": completed.cell,
            "cell_type": completed.kind,
            "language": completed.language,
            "edit_mode": mode.name(),
            "notebook_path": change.path.to_string_lossy(),
            "original_file": change.original,
            "updated_file": Some(updated).filter(|updated| updated.len() <= MAX_ORIGINAL),
        });
        let text = summary(mode, &completed, &visible_path(&change.path)) + &change.names_note();
        ToolOutput::text(text).with_diff(change.diff()).with_structured(&structured)
    }
}

/// Completed change of a cell.
struct CompletedChange {
    cell: String,
    kind: String,
    old_source: Option<String>,
    cleared: usize,
    cells: usize,
    language: String,
}

/// Bytes of a changed notebook.
fn apply_change(
    target: &Target,
    input: &NotebookEditInput,
    cx: &ToolCx,
) -> Result<(Vec<u8>, CompletedChange), ToolError> {
    let path = visible_path(&target.path);
    if !is_notebook(&target.path) {
        return Err(ToolError::rejected(format!(
            "{path} is not a notebook: its name does not end with .ipynb. Use Edit."
        )));
    }
    let raw = target.content.as_deref().unwrap_or_default();
    let notebook = Notebook::read(raw)
        .map_err(|problem| ToolError::rejected(format!("{path} {problem}. It cannot be changed cell by cell.")))?;
    let rejection = |problem: String| ToolError::rejected(format!("{path} was not changed: {problem}"));
    let id = fresh_id(&notebook, cx);
    let change = requested_change(input, &id)?;
    let Changed { text, cell, kind, old_source, cleared } = notebook.changed(change).map_err(rejection)?;
    // Detects a splice at a wrong position before anything is written.
    let expected = match input.edit_mode.unwrap_or_default() {
        EditMode::Replace => notebook.cells.len(),
        EditMode::Insert => notebook.cells.len() + 1,
        EditMode::Delete => notebook.cells.len().saturating_sub(1),
    };
    let read_back = Notebook::read(text.as_bytes()).map(|notebook| notebook.cells.len());
    if read_back != Ok(expected) {
        return Err(rejection("the result would not be a notebook. Change it with a program through Bash.".to_owned()));
    }
    let mark: &[u8] = if raw.starts_with(b"\xEF\xBB\xBF") { b"\xEF\xBB\xBF" } else { b"" };
    let bytes = [mark, text.as_bytes()].concat();
    let completed = CompletedChange { cell, kind, old_source, cleared, cells: expected, language: notebook.language };
    Ok((bytes, completed))
}

fn requested_change<'i>(input: &'i NotebookEditInput, id: &'i str) -> Result<edit::Change<'i>, ToolError> {
    let cell = input.cell_id.as_deref().filter(|id| !id.is_empty());
    let kind = input.cell_type.map(CellKind::name);
    let source = input.new_source.as_str();
    let missing = |what: &str| ToolError::invalid_input(format!("{what}. Read shows the ids of the cells."));
    Ok(match input.edit_mode.unwrap_or_default() {
        EditMode::Replace => {
            let cell = cell.ok_or_else(|| missing("cell_id is missing: name the cell to replace"))?;
            edit::Change::Replace { cell, kind, source }
        }
        EditMode::Insert => {
            let kind = kind.ok_or_else(|| missing("cell_type is missing: a new cell is code or markdown"))?;
            edit::Change::Insert { after: cell, kind, source, id }
        }
        EditMode::Delete => {
            let cell = cell.ok_or_else(|| missing("cell_id is missing: name the cell to delete"))?;
            edit::Change::Delete { cell }
        }
    })
}

/// An unused id: eight hexadecimal digits, as in most notebooks.
fn fresh_id(notebook: &Notebook<'_>, cx: &ToolCx) -> String {
    let bits = cx.ids().bits();
    let candidates = (0..16).map(|part| format!("{:08x}", (bits >> (part * 8)) & 0xFFFF_FFFF));
    let is_free = |id: &String| notebook.cells.iter().all(|cell| cell.id.as_ref() != Some(id));
    candidates.into_iter().find(is_free).unwrap_or_else(|| format!("{bits:032x}"))
}

fn summary(mode: EditMode, completed: &CompletedChange, path: &str) -> String {
    let CompletedChange { cell, kind, cleared, cells, .. } = completed;
    let outputs = match cleared {
        0 => String::new(),
        1 => " Its output is gone.".to_owned(),
        more => format!(" Its {more} outputs are gone."),
    };
    match mode {
        EditMode::Replace => format!("Replaced the source of the {kind} cell {cell} in {path}.{outputs}"),
        EditMode::Insert => format!("Inserted the {kind} cell {cell} into {path}, which has {cells} cells now."),
        EditMode::Delete => format!("Deleted the {kind} cell {cell} of {path}, which has {cells} cells now."),
    }
}
