//! A pager over rows, for the alternate screen: scrolling and search.

use crate::keys::{Key, KeyCode};
use crate::layout::Layout;
use crate::screen::Size;
use crate::text::{Line, Span};
use crate::theme::Role;

/// A move of a [`Pager`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum PagerMove {
    /// Up by so many rows.
    Up(usize),
    /// Down by so many rows.
    Down(usize),
    /// Up by a page.
    PageUp,
    /// Down by a page.
    PageDown,
    /// To the first row.
    Start,
    /// To the last page.
    End,
}

/// Longest text that is searched for, in bytes.
const LONGEST_QUERY: usize = 1_000;

/// Result of a key for a [`Pager`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a pager stays or goes")]
pub enum PagerResult {
    /// The pager stays, perhaps with another page.
    Stays,
    /// The person closes the pager.
    Closed,
}

/// Rows with a place in them and a search.
#[derive(Debug, Clone, Default)]
pub struct Pager {
    title: String,
    rows: Vec<Line>,
    /// Text of each row in lower case, for the search.
    texts: Vec<String>,
    top: usize,
    query: String,
    /// `true` while the person writes the text to search for.
    is_searching: bool,
    /// Row of the match that was found last.
    found: Option<usize>,
}

impl Pager {
    /// A pager at the last page of rows.
    #[must_use]
    pub fn new(title: impl Into<String>, rows: Vec<Line>, size: Size) -> Self {
        let mut pager = Self { title: title.into(), ..Self::default() };
        pager.replace(rows);
        pager.apply(PagerMove::End, size);
        pager
    }

    /// Puts other rows in place, such as after a change of the width. Keeps the place as far as it exists.
    pub fn replace(&mut self, rows: Vec<Line>) {
        self.texts = rows.iter().map(|row| row.text().to_lowercase()).collect();
        self.rows = rows;
        self.top = self.top.min(self.rows.len().saturating_sub(1));
        self.found = self.found.filter(|row| *row < self.rows.len());
    }

    /// Takes a key: arrows, page keys, and those of `less` move, `/` searches, `n` and `N` show the next and the previous match, `q`,
    /// Esc, Ctrl+C and Ctrl+O close.
    pub fn handle(&mut self, key: Key, size: Size) -> PagerResult {
        if self.is_searching {
            self.search_key(key, size);
            return PagerResult::Stays;
        }
        match (key.code, key.typed()) {
            (KeyCode::Up, _) | (_, Some('k')) => self.apply(PagerMove::Up(1), size),
            (KeyCode::Down | KeyCode::Enter, _) | (_, Some('j')) => self.apply(PagerMove::Down(1), size),
            (KeyCode::PageUp, _) | (_, Some('b')) => self.apply(PagerMove::PageUp, size),
            (KeyCode::PageDown, _) | (_, Some(' ')) => self.apply(PagerMove::PageDown, size),
            (KeyCode::Home, _) | (_, Some('g')) => self.apply(PagerMove::Start, size),
            (KeyCode::End, _) | (_, Some('G')) => self.apply(PagerMove::End, size),
            (_, Some('/')) => {
                self.is_searching = true;
                self.search("", size);
            }
            (_, Some('n')) => {
                self.next_match(size);
            }
            (_, Some('N')) => {
                self.previous_match(size);
            }
            (KeyCode::Escape, _) | (_, Some('q')) => return PagerResult::Closed,
            (KeyCode::Char('c' | 'o'), None) if key.modifiers.ctrl => return PagerResult::Closed,
            _ => {}
        }
        PagerResult::Stays
    }

    /// Takes a key of the search line. Each one searches anew.
    fn search_key(&mut self, key: Key, size: Size) {
        let mut query = self.query.clone();
        match (key.code, key.typed()) {
            (_, Some(c)) if query.len() < LONGEST_QUERY => query.push(c),
            (KeyCode::Backspace, _) => {
                query.pop();
            }
            (KeyCode::Enter, _) => self.is_searching = false,
            (KeyCode::Escape, _) => {
                self.is_searching = false;
                query.clear();
            }
            (KeyCode::Char('c'), None) if key.modifiers.ctrl => {
                self.is_searching = false;
                query.clear();
            }
            _ => {}
        }
        if query != self.query {
            self.search(&query, size);
        }
    }

    /// Moves.
    pub fn apply(&mut self, step: PagerMove, size: Size) {
        let page = page(size);
        let last = self.rows.len().saturating_sub(page);
        self.top = match step {
            PagerMove::Up(rows) => self.top.saturating_sub(rows),
            PagerMove::Down(rows) => self.top.saturating_add(rows),
            // One row of the page before stays.
            PagerMove::PageUp => self.top.saturating_sub(page.saturating_sub(1).max(1)),
            PagerMove::PageDown => self.top.saturating_add(page.saturating_sub(1).max(1)),
            PagerMove::Start => 0,
            PagerMove::End => last,
        }
        .min(last);
    }

    /// Looks for a text, whatever its case, from the top of the page, and shows the first match. An empty text ends the search.
    /// Returns `true` if it was found.
    pub fn search(&mut self, query: &str, size: Size) -> bool {
        self.query = query.to_lowercase();
        self.found = None;
        let from = self.top;
        self.go_to(|row| row >= from, false, size)
    }

    /// Shows the next match, or the first one behind the last.
    pub fn next_match(&mut self, size: Size) -> bool {
        let found = self.found.map_or(self.top, |row| row + 1);
        self.go_to(|row| row >= found, false, size)
    }

    /// Shows the match before, or the last one before the first.
    pub fn previous_match(&mut self, size: Size) -> bool {
        let found = self.found.unwrap_or(self.top);
        self.go_to(|row| row < found, true, size)
    }

    /// Number of rows that have the text.
    #[must_use]
    pub fn matches(&self) -> usize {
        if self.query.is_empty() { 0 } else { self.texts.iter().filter(|text| text.contains(&self.query)).count() }
    }

    /// Rows of the page, with a title above and the keys below.
    #[must_use]
    pub fn view(&self, layout: &Layout<'_>, size: Size) -> Vec<Line> {
        let page = page(size);
        let last = (self.top + page).min(self.rows.len());
        let place = format!("{}-{last} of {}", (self.top + 1).min(last), self.rows.len());
        let mut details = vec![self.title.clone(), place];
        if !self.query.is_empty() {
            details.push(format!("{} rows match", self.matches()));
        }
        let mut rows = vec![layout.line(layout.details(details), Role::Faint)];
        let shown = self.rows.iter().enumerate().skip(self.top).take(page);
        rows.extend(shown.map(|(at, row)| if self.found == Some(at) { marked(row, layout) } else { row.clone() }));
        rows.resize(page + 1, Line::new());
        if self.is_searching {
            rows.push(layout.line(format!("/{}", self.query), Role::Accent));
        } else {
            let keys = ["Up Down PgUp PgDn scroll", "/ searches", "n N next and previous", "q closes"];
            rows.push(layout.line(layout.details(keys), Role::Faint));
        }
        rows.truncate(size.rows());
        rows
    }

    /// Shows the first row with the text that `is_wanted`, in the direction; else the first of all.
    fn go_to(&mut self, is_wanted: impl Fn(usize) -> bool, is_backwards: bool, size: Size) -> bool {
        if self.query.is_empty() {
            return false;
        }
        let matches = self.texts.iter().enumerate().filter(|(_, text)| text.contains(&self.query)).map(|(row, _)| row);
        let found: Vec<usize> = matches.collect();
        let row = if is_backwards {
            found.iter().rev().find(|row| is_wanted(**row)).or(found.last())
        } else {
            found.iter().find(|row| is_wanted(**row)).or(found.first())
        };
        self.found = row.copied();
        if let Some(row) = self.found {
            let page = page(size);
            if row < self.top || row >= self.top + page {
                self.top = row.saturating_sub(page / 3).min(self.rows.len().saturating_sub(page));
            }
        }
        self.found.is_some()
    }
}

/// Rows of a page: one is for the title and one for the keys.
fn page(size: Size) -> usize {
    size.rows().saturating_sub(2).max(1)
}

fn marked(row: &Line, layout: &Layout<'_>) -> Line {
    let style = layout.style(Role::Selection);
    row.spans().iter().map(|span| Span::new(span.text(), span.style().patched(style))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::Glyphs;
    use crate::theme::Theme;
    use proptest::prelude::*;

    fn pager(count: usize, size: Size) -> Pager {
        Pager::new("Transcript", (0..count).map(|row| Line::plain(format!("Row {row}"))).collect(), size)
    }

    fn view(pager: &Pager, size: Size) -> Vec<String> {
        let theme = Theme::default();
        let layout = Layout { columns: size.live_columns(), theme: &theme, glyphs: Glyphs::UNICODE };
        pager.view(&layout, size).iter().map(Line::text).collect()
    }

    #[test]
    fn pages_follow_the_moves() {
        let size = Size::new(80, 7);
        let mut pager = pager(20, size);
        assert_eq!(view(&pager, size)[..2], ["Transcript · 16-20 of 20", "Row 15"]);
        pager.apply(PagerMove::PageUp, size);
        assert_eq!(view(&pager, size)[1], "Row 11");
        pager.apply(PagerMove::Start, size);
        pager.apply(PagerMove::Down(2), size);
        assert_eq!(view(&pager, size)[1], "Row 2");
    }

    #[test]
    fn the_search_goes_around() {
        let size = Size::new(80, 7);
        let mut pager = pager(20, size);
        pager.apply(PagerMove::Start, size);
        assert!(pager.search("ROW 1", size));
        assert_eq!(pager.found, Some(1));
        assert!(pager.next_match(size));
        assert_eq!(pager.found, Some(10));
        assert_eq!(pager.matches(), 11);
        assert!(pager.previous_match(size) && pager.previous_match(size));
        assert_eq!(pager.found, Some(19));
        assert!(view(&pager, size).contains(&"Row 19".to_owned()));
        assert!(!pager.search("nothing", size));
    }

    #[test]
    fn keys_search_and_close() {
        let size = Size::new(80, 7);
        let mut pager = pager(20, size);
        let press = |pager: &mut Pager, keys: &str| keys.chars().map(|c| pager.handle(Key::char(c), size)).last();
        press(&mut pager, "g/row 7q");
        assert_eq!(view(&pager, size).last().unwrap(), "/row 7q");
        assert_eq!(pager.found, None);
        pager.handle(Key::new(KeyCode::Backspace), size);
        assert_eq!(pager.found, Some(7));
        pager.handle(Key::new(KeyCode::Enter), size);
        assert!(view(&pager, size).last().unwrap().contains("q closes"));
        assert_eq!(press(&mut pager, "n"), Some(PagerResult::Stays));
        assert_eq!(press(&mut pager, "c"), Some(PagerResult::Stays), "a letter without Ctrl closes nothing");
        assert_eq!(pager.handle(Key::char('c').ctrl(), size), PagerResult::Closed);
        assert_eq!(press(&mut pager, "q"), Some(PagerResult::Closed));
    }

    #[derive(Debug, Clone)]
    enum Step {
        Move(PagerMove),
        Search(String),
        Next,
        Previous,
        Rows(usize),
    }

    proptest! {
        #[test]
        fn a_page_always_has_the_height(steps in prop::collection::vec(prop_oneof![
            (0usize..50).prop_map(|rows| Step::Move(PagerMove::Down(rows))),
            (0usize..50).prop_map(|rows| Step::Move(PagerMove::Up(rows))),
            Just(Step::Move(PagerMove::PageUp)),
            Just(Step::Move(PagerMove::End)),
            "[0-9]{0,2}".prop_map(Step::Search),
            Just(Step::Next),
            Just(Step::Previous),
            (0usize..60).prop_map(Step::Rows),
        ], 0..30), height in 3u16..20) {
            let size = Size::new(40, height);
            let mut pager = pager(30, size);
            for step in steps {
                match step {
                    Step::Move(step) => pager.apply(step, size),
                    Step::Search(query) => { pager.search(&query, size); }
                    Step::Next => { pager.next_match(size); }
                    Step::Previous => { pager.previous_match(size); }
                    Step::Rows(count) => pager.replace((0..count).map(|row| Line::plain(row.to_string())).collect()),
                }
                prop_assert_eq!(view(&pager, size).len(), size.rows());
            }
        }
    }
}
