//! Changes of one cell, as replacements of bytes.

use std::ops::Range;

use super::document::{Cell, Notebook};
use super::json::span;
use super::style::Style;

/// Requested change of a notebook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change<'c> {
    /// Replaces the source of the cell of this name, and its type if one is given.
    Replace { cell: &'c str, kind: Option<&'c str>, source: &'c str },
    /// Inserts a new cell after the one of this name, or before all others.
    Insert { after: Option<&'c str>, kind: &'c str, source: &'c str, id: &'c str },
    /// Removes the cell of this name.
    Delete { cell: &'c str },
}

/// A changed notebook.
#[derive(Debug)]
pub(super) struct Changed {
    /// Text without byte-order mark.
    pub(super) text: String,
    /// Name of the cell afterwards, or its former name.
    pub(super) cell: String,
    pub(super) kind: String,
    pub(super) old_source: Option<String>,
    /// Number of removed outputs of the old source.
    pub(super) cleared: usize,
}

/// A range of the text and its replacement.
type Splice = (Range<usize>, String);

impl Notebook<'_> {
    /// Makes a change.
    ///
    /// # Errors
    /// Reason why the change cannot be made, as a sentence.
    pub(super) fn changed(&self, change: Change<'_>) -> Result<Changed, String> {
        let style = Style::of(self.text);
        match change {
            Change::Replace { cell, kind, source } => {
                let cell = self.cell(cell)?;
                let kind = kind.unwrap_or(&cell.kind);
                if kind == cell.kind && source == cell.source {
                    return Err(format!(
                        "Cell {} has this source already, so there is nothing to change.",
                        cell.number
                    ));
                }
                let splices = self.replacement(&style, cell, kind, source);
                let cleared = cell.outputs().len();
                Ok(Changed { kind: kind.to_owned(), cleared, ..self.with_splices(splices, cell) })
            }
            Change::Insert { after, kind, source, id } => {
                let after = after.map(|after| self.cell(after)).transpose()?;
                let has_ids = self.has_ids();
                let number = after.map_or(1, |cell| cell.number + 1);
                let splice = self.insertion(&style, after, kind, source, has_ids.then_some(id));
                let cell = if has_ids { id.to_owned() } else { format!("cell-{number}") };
                let text = splice_all(self.text, vec![splice]);
                Ok(Changed { text, cell, kind: kind.to_owned(), old_source: None, cleared: 0 })
            }
            Change::Delete { cell } => {
                let cell = self.cell(cell)?;
                Ok(self.with_splices(vec![self.removal(cell)], cell))
            }
        }
    }

    fn with_splices(&self, splices: Vec<Splice>, cell: &Cell<'_>) -> Changed {
        Changed {
            text: splice_all(self.text, splices),
            cell: cell.name(),
            kind: cell.kind.clone(),
            old_source: Some(cell.source.clone()),
            cleared: 0,
        }
    }

    /// `true` if cells have ids: from format 4.5 on, and if any cell has one.
    fn has_ids(&self) -> bool {
        self.minor >= 5 || self.cells.iter().any(|cell| cell.id.is_some())
    }

    /// Replaces the source in its place. The outputs of the old code are removed.
    fn replacement(&self, style: &Style, cell: &Cell<'_>, kind: &str, source: &str) -> Vec<Splice> {
        let has_source = cell.members.get("source").is_some();
        if kind != cell.kind || !has_source {
            let indentation = Style::indentation(self.text, span(self.text, cell.text).start);
            return vec![(span(self.text, cell.text), rebuild_cell(style, cell, kind, source, &indentation))];
        }
        let mut splices = Vec::new();
        for (name, empty) in [("outputs", "[]"), ("execution_count", "null")] {
            let value = cell.members.get(name).filter(|value| kind == "code" && *value != empty);
            splices.extend(value.map(|value| (span(self.text, value), empty.to_owned())));
        }
        if let Some(old) = cell.members.get("source") {
            let place = span(self.text, old);
            let new = if old.starts_with('"') {
                style.string(source)
            } else {
                style.lines(source, &Style::indentation(self.text, place.start))
            };
            splices.push((place, new));
        }
        splices
    }

    fn insertion(&self, style: &Style, after: Option<&Cell<'_>>, kind: &str, source: &str, id: Option<&str>) -> Splice {
        let array = span(self.text, self.array);
        let Some(first) = self.cells.first() else {
            let indentation = Style::indentation(self.text, array.start);
            let cell = new_cell(style, kind, source, id, &style.deeper(&indentation));
            return (array, style.array(&[cell], &indentation));
        };
        let indentation = Style::indentation(self.text, span(self.text, first.text).start);
        let cell = new_cell(style, kind, source, id, &indentation);
        let comma = style.comma(&indentation);
        match after {
            Some(after) => {
                let end = span(self.text, after.text).end;
                (end..end, format!("{comma}{cell}"))
            }
            None => {
                let start = span(self.text, first.text).start;
                (start..start, format!("{cell}{comma}"))
            }
        }
    }

    /// The cell with the comma that separates it from a neighbour.
    fn removal(&self, cell: &Cell<'_>) -> Splice {
        let place = span(self.text, cell.text);
        let neighbour =
            |number: Option<usize>| number.and_then(|at| self.cells.get(at)).map(|c| span(self.text, c.text));
        let next = neighbour(Some(cell.number));
        let before = neighbour(cell.number.checked_sub(2));
        match (before, next) {
            (_, Some(next)) => (place.start..next.start, String::new()),
            (Some(before), None) => (before.end..place.end, String::new()),
            (None, None) => (span(self.text, self.array), "[]".to_owned()),
        }
    }
}

/// Cell with another type, or with a source that it lacked: its other members stay, in their order.
fn rebuild_cell(style: &Style, cell: &Cell<'_>, kind: &str, source: &str, indentation: &str) -> String {
    let inside = style.deeper(indentation);
    let is_code = kind == "code";
    let mut members: Vec<(&str, String)> = Vec::new();
    for (name, value) in &cell.members.0 {
        let value = match name.as_str() {
            "cell_type" => style.string(kind),
            "source" => style.lines(source, &inside),
            "outputs" | "execution_count" => continue,
            _ => value.get().to_owned(),
        };
        members.push((name.as_str(), value));
    }
    if cell.members.get("source").is_none() {
        members.push(("source", style.lines(source, &inside)));
    }
    if is_code {
        let place = |members: &[(&str, String)], name: &str| {
            members.iter().position(|(known, _)| *known > name).unwrap_or(members.len())
        };
        members.insert(place(&members, "execution_count"), ("execution_count", "null".to_owned()));
        members.insert(place(&members, "outputs"), ("outputs", "[]".to_owned()));
    }
    style.object(&members, indentation)
}

/// A new cell, its members in the order in which notebooks are written.
fn new_cell(style: &Style, kind: &str, source: &str, id: Option<&str>, indentation: &str) -> String {
    let inside = style.deeper(indentation);
    let is_code = kind == "code";
    let mut members = vec![("cell_type", style.string(kind))];
    members.extend(is_code.then(|| ("execution_count", "null".to_owned())));
    members.extend(id.map(|id| ("id", style.string(id))));
    members.push(("metadata", "{}".to_owned()));
    members.extend(is_code.then(|| ("outputs", "[]".to_owned())));
    members.push(("source", style.lines(source, &inside)));
    style.object(&members, indentation)
}

/// Replaces pieces of a text, which do not overlap.
fn splice_all(text: &str, mut splices: Vec<Splice>) -> String {
    splices.sort_by_key(|(place, _)| place.start);
    let mut result = String::with_capacity(text.len());
    let mut end = 0;
    for (place, new) in splices {
        result.push_str(text.get(end..place.start).unwrap_or_default());
        result.push_str(&new);
        end = place.end;
    }
    result.push_str(text.get(end..).unwrap_or_default());
    result
}

#[cfg(test)]
mod tests;
