//! Notebook that borrows the exact text of its parts from the file.

use super::json::{Members, elements, joined};

/// Notebook in nbformat 4, borrowed from the text of its file.
#[derive(Debug)]
pub(crate) struct Notebook<'a> {
    /// Text of the file without its byte-order mark.
    pub(super) text: &'a str,
    /// Exact text of the array `cells`.
    pub(super) array: &'a str,
    pub(crate) cells: Vec<Cell<'a>>,
    /// Minor version of the notebook format.
    pub(crate) minor: u64,
    /// Programming language of its code.
    pub(crate) language: String,
}

/// One cell.
#[derive(Debug)]
pub(crate) struct Cell<'a> {
    /// Whole cell, as its exact text.
    pub(super) text: &'a str,
    pub(super) members: Members<'a>,
    /// Number of the cell, from 1.
    pub(crate) number: usize,
    /// Id of the cell. Older notebooks have none.
    pub(crate) id: Option<String>,
    /// `code`, `markdown` or `raw`.
    pub(crate) kind: String,
    pub(crate) source: String,
}

impl<'a> Notebook<'a> {
    /// Parses the bytes of a notebook file.
    ///
    /// # Errors
    /// Predicate such as `is not in UTF-8`; the caller puts the file name before it.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|_| "is not in UTF-8".to_owned())?;
        let members: Members<'_> = serde_json::from_str(text).map_err(|error| format!("is not valid JSON: {error}"))?;
        let version = members.number("nbformat");
        if version != Some(4) {
            let version = version.map_or_else(|| "none".to_owned(), |version| version.to_string());
            return Err(format!("is not a notebook of the format 4: its `nbformat` is {version}"));
        }
        let cells_text = members.get("cells").unwrap_or_default();
        let cells = elements(cells_text).ok_or_else(|| "has no array `cells`".to_owned())?;
        let cells: Result<Vec<Cell<'_>>, String> =
            (1..).zip(cells).map(|(number, cell)| Cell::read(number, cell)).collect();
        let language = language(&members).unwrap_or_else(|| "python".to_owned());
        Ok(Self {
            text,
            array: cells_text,
            cells: cells?,
            minor: members.number("nbformat_minor").unwrap_or_default(),
            language,
        })
    }

    /// Finds a cell by its id. If no id matches, `cell-N` is the cell with number N.
    ///
    /// # Errors
    /// Sentence for the model: no cell matches, or several cells have the id.
    pub(super) fn cell(&self, name: &str) -> Result<&Cell<'a>, String> {
        let with_id: Vec<&Cell<'a>> = self.cells.iter().filter(|cell| cell.id.as_deref() == Some(name)).collect();
        match with_id.as_slice() {
            [cell] => return Ok(cell),
            [_, ..] => {
                let names: Vec<String> = with_id.iter().map(|cell| format!("cell-{}", cell.number)).collect();
                return Err(format!("{} cells have the id {name:?}. Name one as {}.", names.len(), names.join(" or ")));
            }
            [] => {}
        }
        let number = name.strip_prefix("cell-").and_then(|number| number.parse::<usize>().ok());
        let cell = number.and_then(|number| self.cells.get(number.checked_sub(1)?));
        cell.ok_or_else(|| {
            format!("No cell has the id {name:?}; there are {} cells. Read shows their ids.", self.cells.len())
        })
    }
}

impl<'a> Cell<'a> {
    fn read(number: usize, text: &'a str) -> Result<Self, String> {
        let members = Members::of(text).ok_or_else(|| format!("has a cell {number} that is no object"))?;
        let kind = members.text("cell_type").ok_or_else(|| format!("has a cell {number} without a `cell_type`"))?;
        let source = members.get("source").unwrap_or("\"\"");
        let source = joined(source).ok_or_else(|| format!("has a cell {number} whose `source` is no text"))?;
        Ok(Self { text, number, id: members.text("id"), kind, source, members })
    }

    /// Name of the cell in calls: its id, or `cell-` and its number.
    pub(crate) fn name(&self) -> String {
        self.id.clone().unwrap_or_else(|| format!("cell-{}", self.number))
    }

    /// Execution count that the notebook stores for the cell; `None` if it stores none.
    pub(crate) fn run(&self) -> Option<u64> {
        self.members.number("execution_count")
    }

    /// Outputs of its code.
    pub(super) fn outputs(&self) -> Vec<Members<'a>> {
        let outputs = self.members.get("outputs").and_then(elements).unwrap_or_default();
        outputs.into_iter().filter_map(Members::of).collect()
    }
}

/// Programming language in the metadata of the notebook; `None` if they name none.
fn language(members: &Members<'_>) -> Option<String> {
    let metadata = Members::of(members.get("metadata")?)?;
    let named = |section: &str, name: &str| Members::of(metadata.get(section)?)?.text(name);
    named("language_info", "name").or_else(|| named("kernelspec", "language"))
}
