//! Rows of the input: the prompt with its menu, dialogs, pickers, and the list of keys, in the styles of the theme.

use crate::dialog::{DialogRowKind, DialogView};
use crate::history::{HistoryScope, HistorySearch};
use crate::input::InputMode;
use crate::keys::{KeyAction, Keymap, KeysLine, KeysList};
use crate::layout::Layout;
use crate::live::{InputArea, agent_room, has_spinner};
use crate::picker::Picker;
use crate::screen::{Caret, Size};
use crate::text::{Line, Span, safe_line, truncate, width};
use crate::theme::Role;

/// Columns of the mark before the prompt.
const MARK: usize = 2;
/// Most rows of the menu of completions.
const MENU_ROWS: usize = 6;
/// Widest column of names in the menu.
const NAME_COLUMNS: usize = 30;

/// Columns of the editor on a terminal of this size, for [`InputMode::set_columns`].
#[must_use]
pub fn prompt_columns(size: Size) -> usize {
    size.live_columns().saturating_sub(MARK).max(1)
}

/// Rows of the list of keys that fit on a terminal of this size, for [`InputMode::set_page`].
#[must_use]
pub fn keys_page(size: Size) -> usize {
    // The prompt and the row of the spinner are above the list, and its hint below.
    let rows = size.live_rows();
    rows.saturating_sub(2).saturating_sub(usize::from(rows > 3)).max(1)
}

/// Rows around the prompt.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[expect(clippy::exhaustive_structs, reason = "programs make it for each frame")]
pub struct PromptExtras {
    /// Short text in place of the row below the prompt.
    pub hint: Option<String>,
    /// Row below the prompt.
    pub status: Option<Line>,
}

/// The prompt with the menu of completions, the search in the history, or the list of keys.
#[must_use]
pub fn prompt_area(mode: &InputMode, extras: PromptExtras, layout: &Layout<'_>, size: Size) -> InputArea {
    let hint = extras.hint.map(|hint| one_row(layout, &hint, Role::Warning));
    let keys = mode.keys_list().map(|list| keys_rows(mode.keymap(), *list, layout, size));
    let (keys, status) = match keys {
        Some((rows, place)) => (rows, Some(hint.unwrap_or(place))),
        None => (Vec::new(), hint.or(extras.status)),
    };
    if mode.search().is_some() {
        return search_area(mode, status, layout);
    }
    // Half of the live area stays for what runs.
    let most = (size.live_rows() / 2).max(1);
    let view = mode.composer().view(prompt_columns(size), most);
    // Another sign than that of messages above, so that a draft is no message.
    let (sign, role) = if mode.is_shell_command() { ("!", Role::Warning) } else { (">", Role::Accent) };
    let mut rows = Vec::new();
    for (at, row) in view.rows.iter().enumerate() {
        let glyph = match at {
            0 if view.has_more_above => layout.glyphs.ellipsis,
            0 => sign,
            _ if view.has_more_below && at + 1 == view.rows.len() => layout.glyphs.ellipsis,
            _ => " ",
        };
        let mut line = layout.line(format!("{:<MARK$}", truncate(glyph, 1)), role);
        line.extend(marked(&row.text, &row.placeholders, layout));
        rows.push(line);
    }
    let caret = Caret { row: view.caret_row, column: view.caret_column + MARK };
    if let (Some(arguments), Some(last)) = (mode.argument_hint(), rows.last_mut()) {
        let room = layout.columns.saturating_sub(last.width());
        last.push(layout.span(truncate(&safe_line(arguments), room), Role::Faint));
    }
    let room = size.live_rows().saturating_sub(rows.len() + 1);
    rows.extend(menu_rows(mode, layout, room.min(MENU_ROWS)));
    rows.extend(keys.into_iter().take(room.max(1)));
    InputArea { rows, caret: Some(caret), status }
}

/// Columns and rows that the live area has for a dialog while so many agents work, for
/// [`Dialogs::resize`](crate::dialog::Dialogs::resize). A dialog that gets more would count rows as read that the live area
/// cuts.
#[must_use]
pub fn dialog_room(size: Size, agents: usize) -> (usize, usize) {
    let rows = size.live_rows();
    // The row of the spinner.
    let beside = usize::from(has_spinner(size)) + agent_room(size, agents);
    (size.live_columns(), rows.saturating_sub(beside).max(1))
}

/// A dialog in place of the prompt. The dialog is laid out for [`dialog_room`].
#[must_use]
pub fn dialog_area(view: &DialogView, layout: &Layout<'_>) -> InputArea {
    let row = |row: &crate::dialog::DialogRow| layout.line(truncate(&row.text, layout.columns), dialog_role(row.kind));
    let caret = view.caret.map(|(row, column)| Caret { row, column });
    InputArea { rows: view.rows.iter().map(row).collect(), caret, status: None }
}

/// A list with a search in place of the prompt. The page of the picker should have as many rows as there is room for.
#[must_use]
pub fn picker_area<T: Clone>(title: &str, picker: &Picker<T>, layout: &Layout<'_>) -> InputArea {
    let (shown, all) = picker.counts();
    let mut rows =
        vec![one_row(layout, &layout.details([title.to_owned(), format!("{shown} of {all}")]), Role::Heading)];
    let query = safe_line(picker.query());
    let mut search = layout.line(format!("{:<MARK$}", layout.glyphs.prompt), Role::Accent);
    search.push(layout.span(truncate(&query, layout.columns.saturating_sub(MARK)), Role::Text));
    let caret = Caret { row: 1, column: search.width() };
    rows.push(search);
    for row in picker.rows() {
        rows.push(entry(row.title, row.detail, layout.columns, row.is_selected, layout));
    }
    InputArea { rows, caret: Some(caret), status: None }
}

/// The page of the list of keys that is shown, and the row that says which it is.
#[must_use]
pub fn keys_rows(keymap: &Keymap, list: KeysList, layout: &Layout<'_>, size: Size) -> (Vec<Line>, Line) {
    let lines = list.lines(keymap, prompt_columns(size));
    let page = keys_page(size);
    let top = list.top(lines.len(), page);
    let row = |line: &KeysLine| {
        let mut row = Line::plain(" ".repeat(MARK));
        row.push(layout.span(&line.keys, Role::Text));
        row.push(layout.span(&line.description, Role::Faint));
        row
    };
    let rows: Vec<Line> = lines.iter().skip(top).take(page).map(row).collect();
    let place =
        format!("Row {} of {}. Up, Down, Page keys: scroll. Esc: close.", top.saturating_add(rows.len()), lines.len());
    (rows, one_row(layout, &place, Role::Faint))
}

fn search_area(mode: &InputMode, status: Option<Line>, layout: &Layout<'_>) -> InputArea {
    let Some(search) = mode.search() else { return InputArea::default() };
    let label = format!("Search {}: ", search.scope().name());
    let query = safe_line(search.query());
    let room = layout.columns.saturating_sub(width(&label) + 1);
    let mut line = layout.line(truncate(&label, layout.columns), Role::Accent);
    line.push(layout.span(truncate(&query, room), Role::Text));
    let caret = Caret { row: 0, column: line.width() };
    let found = search.found(mode.history()).map(|found| found.prompt.label().to_owned());
    let row = match found {
        Some(text) => one_row(layout, &format!("  {}", safe_line(&text)), Role::Text),
        None => one_row(layout, &format!("  {}", without_match(mode, search)), Role::Faint),
    };
    InputArea { rows: vec![line, row], caret: Some(caret), status }
}

/// The row of a search that finds nothing, with the key that searches elsewhere.
fn without_match(mode: &InputMode, search: &HistorySearch) -> String {
    let text = if search.query().is_empty() { "No earlier prompt" } else { "No earlier prompt with this text" };
    let place = match search.scope() {
        HistoryScope::Everywhere => String::new(),
        scope => format!(" in {}", scope.name()),
    };
    let next = search.scope().next().name();
    let key = mode.keymap().keys(KeyAction::Stash).next().map(|key| format!(" {key}: {next}.")).unwrap_or_default();
    format!("{text}{place}.{key}")
}

/// The text with its placeholders marked.
fn marked(text: &str, placeholders: &[std::ops::Range<usize>], layout: &Layout<'_>) -> Line {
    let mut line = Line::new();
    let mut from = 0;
    for range in placeholders {
        line.push(Span::plain(text.get(from..range.start).unwrap_or_default()));
        line.push(layout.span(text.get(range.clone()).unwrap_or_default(), Role::Link));
        from = range.end;
    }
    line.push(Span::plain(text.get(from..).unwrap_or_default()));
    line
}

fn menu_rows(mode: &InputMode, layout: &Layout<'_>, most: usize) -> Vec<Line> {
    let rows = mode.menu().map(|menu| menu.rows(most)).unwrap_or_default();
    let widest = rows.iter().map(|row| width(&row.name)).max().unwrap_or(0).min(NAME_COLUMNS);
    rows.iter().map(|row| entry(&row.name, &row.detail, widest, row.is_selected, layout)).collect()
}

/// A row of a list: a name in a column, and details behind it.
fn entry(name: &str, detail: &str, columns: usize, is_selected: bool, layout: &Layout<'_>) -> Line {
    let room = layout.columns.saturating_sub(MARK);
    let name = safe_line(name);
    let name = truncate(&name, room);
    let blanks = columns.min(room).saturating_sub(width(&name));
    let role = if is_selected { Role::Selection } else { Role::Text };
    let mark = if is_selected { layout.glyphs.active } else { " " };
    let mut line = layout.line(format!("{mark} "), Role::Accent);
    line.push(layout.span(&name, role));
    let detail = safe_line(detail);
    let left = room.saturating_sub(width(&name) + blanks + 2);
    if !detail.is_empty() && left > 0 {
        line.push(Span::plain(" ".repeat(blanks + 2)));
        line.push(layout.span(truncate(&detail, left), Role::Faint));
    }
    line
}

fn dialog_role(kind: DialogRowKind) -> Role {
    match kind {
        DialogRowKind::Title => Role::Heading,
        DialogRowKind::Note | DialogRowKind::Hint | DialogRowKind::Disabled | DialogRowKind::Hunk => Role::Faint,
        DialogRowKind::Field => Role::Accent,
        DialogRowKind::Added => Role::Added,
        DialogRowKind::Removed => Role::Removed,
        DialogRowKind::Selected => Role::Selection,
        _ => Role::Text,
    }
}

fn one_row(layout: &Layout<'_>, text: &str, role: Role) -> Line {
    let text = safe_line(text);
    layout.line(truncate(&text, layout.columns), role)
}

#[cfg(test)]
mod tests;
