//! A notebook as its bytes have it.

use super::json::{Members, elements, joined};

/// A notebook of the format 4.
#[derive(Debug)]
pub(crate) struct Notebook<'a> {
    /// All of the file without its byte-order mark.
    pub(super) text: &'a str,
    /// The array of all cells, as it stands in the text.
    pub(super) array: &'a str,
    pub(crate) cells: Vec<Cell<'a>>,
    /// Second part of the version of its format.
    pub(crate) minor: u64,
    /// The programming language of its code.
    pub(crate) language: String,
}

/// One cell.
#[derive(Debug)]
pub(crate) struct Cell<'a> {
    /// The whole cell, as it stands in the text.
    pub(super) text: &'a str,
    pub(super) members: Members<'a>,
    /// Counted from 1.
    pub(crate) number: usize,
    /// Its own id. Older notebooks have none.
    pub(crate) id: Option<String>,
    /// `code`, `markdown` or `raw`.
    pub(crate) kind: String,
    pub(crate) source: String,
}

impl<'a> Notebook<'a> {
    /// Reads a notebook.
    ///
    /// # Errors
    /// Why it is none that can be read here, as the rest of a sentence that begins with the file.
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, String> {
        let bytes = bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(|_| "is not in UTF-8".to_owned())?;
        let members: Members<'_> = serde_json::from_str(text).map_err(|error| format!("is not valid JSON: {error}"))?;
        let version = members.number("nbformat");
        if version != Some(4) {
            let version = version.map_or_else(|| "none".to_owned(), |version| version.to_string());
            return Err(format!("is not a notebook of the format 4: its `nbformat` is {version}"));
        }
        let array = members.get("cells").unwrap_or_default();
        let cells = elements(array).ok_or_else(|| "has no array `cells`".to_owned())?;
        let cells: Result<Vec<Cell<'_>>, String> =
            (1..).zip(cells).map(|(number, cell)| Cell::read(number, cell)).collect();
        let language = language(&members).unwrap_or_else(|| "python".to_owned());
        Ok(Self { text, array, cells: cells?, minor: members.number("nbformat_minor").unwrap_or_default(), language })
    }

    /// The cell with an id, or with the name that [`Cell::name`] gives to one without an id.
    ///
    /// # Errors
    /// There is none, or more than one, as a sentence.
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

    /// How a call names it: its id, or `cell-` and its number.
    pub(crate) fn name(&self) -> String {
        self.id.clone().unwrap_or_else(|| format!("cell-{}", self.number))
    }

    /// How often code had run when it ran last.
    pub(crate) fn run(&self) -> Option<u64> {
        self.members.number("execution_count")
    }

    /// What running it has put out.
    pub(super) fn outputs(&self) -> Vec<Members<'a>> {
        let outputs = self.members.get("outputs").and_then(elements).unwrap_or_default();
        outputs.into_iter().filter_map(Members::of).collect()
    }
}

/// What the metadata say of the language.
fn language(members: &Members<'_>) -> Option<String> {
    let metadata = Members::of(members.get("metadata")?)?;
    let named = |section: &str, name: &str| Members::of(metadata.get(section)?)?.text(name);
    named("language_info", "name").or_else(|| named("kernelspec", "language"))
}
