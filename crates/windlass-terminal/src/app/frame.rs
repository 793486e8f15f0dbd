//! Frames: the input of the live area, and the pages of the transcript.

use super::App;
use crate::cell::Fold;
use crate::dialog::{DialogRowKind, DialogView};
use crate::input::TerminalInput;
use crate::keys::KeyCode;
use crate::live::InputArea;
use crate::pager::{Pager, PagerMove};
use crate::prompt_area::dialog_room;
use crate::screen::{Caret, Drawn};
use crate::text::{Line, Style};
use crate::theme::Role;
use std::io::{self, Write as _};
use windlass_types::{NanoUsd, PermissionMode};

/// Most rows of the completion menu.
const MENU_ROWS: usize = 8;
/// Most rows of the prompt.
const PROMPT_ROWS: usize = 10;

impl App {
    /// Draws what has changed.
    pub(super) fn draw(&mut self) -> io::Result<()> {
        let now = self.now();
        if self.pager.is_none() {
            let input = self.input_area();
            // Without a frame that is due, the screen shows the rows already.
            let is_shown = match self.surface.draw(&input)? {
                Drawn::Written => true,
                Drawn::Unchanged => self.surface.due().is_none(),
                Drawn::Busy => false,
            };
            if is_shown {
                self.dialogs.drawn(now);
            }
        }
        Ok(())
    }

    /// Rings the bell of the terminal.
    pub(super) fn ring(&self) {
        // A terminal that is gone rings no bell.
        let _ = io::stdout().write_all(b"\x07");
    }

    /// Shows the transcript on the alternate screen.
    pub(super) fn show_transcript(&mut self) {
        let size = self.surface.size();
        let layout = self.surface.layout();
        let rows = self.surface.transcript().rows(&layout, Fold::Expanded);
        let pager = match self.pager.take() {
            Some(mut pager) => {
                pager.replace(rows);
                pager
            }
            None => Pager::new("Transcript", rows, size),
        };
        self.pager = Some(pager);
        self.draw_page();
    }

    fn draw_page(&mut self) {
        let Some(pager) = &self.pager else { return };
        let rows = pager.view(&self.surface.layout(), self.surface.size());
        // A terminal that is gone ends the loop with its next frame.
        let _ = self.surface.draw_page(&rows);
    }

    /// Takes a key for the transcript.
    pub(super) fn page(&mut self, input: &TerminalInput) {
        let (TerminalInput::Key(key), Some(pager)) = (input, &mut self.pager) else { return };
        let size = self.surface.size();
        match key.code {
            KeyCode::Up | KeyCode::Char('k') => pager.apply(PagerMove::Up(1), size),
            KeyCode::Down | KeyCode::Char('j') | KeyCode::Enter => pager.apply(PagerMove::Down(1), size),
            KeyCode::PageUp | KeyCode::Char('b') => pager.apply(PagerMove::PageUp, size),
            KeyCode::PageDown | KeyCode::Char(' ') => pager.apply(PagerMove::PageDown, size),
            KeyCode::Home | KeyCode::Char('g') => pager.apply(PagerMove::Start, size),
            KeyCode::End | KeyCode::Char('G') => pager.apply(PagerMove::End, size),
            KeyCode::Escape | KeyCode::Char('q' | 'c' | 'o') => {
                self.pager = None;
                let _ = self.surface.leave_page();
                return;
            }
            _ => return,
        }
        self.draw_page();
    }

    fn style(&self, role: Role) -> Style {
        self.surface.layout().style(role)
    }

    /// The prompt or the dialog that is shown.
    fn input_area(&mut self) -> InputArea {
        if self.is_leaving {
            return InputArea::default();
        }
        let size = self.surface.size();
        let (columns, rows) = (size.live_columns(), size.live_rows());
        let (dialog_columns, dialog_rows) = dialog_room(size);
        self.dialogs.resize(dialog_columns, dialog_rows);
        match self.dialogs.view() {
            Some(view) => self.dialog_area(&view),
            None => self.prompt_area(columns, rows),
        }
    }

    fn dialog_area(&self, view: &DialogView) -> InputArea {
        let rows = view.rows.iter().map(|row| Line::styled(&row.text, self.style(role(row.kind)))).collect();
        InputArea { rows, caret: view.caret.map(|(row, column)| Caret { row, column }), status: None }
    }

    /// The prompt, with a menu, a search or the keys below it.
    fn prompt_area(&self, columns: usize, rows: usize) -> InputArea {
        let sign = if self.prompt.is_shell_command() { "! " } else { "> " };
        let most = PROMPT_ROWS.min(rows.saturating_sub(2)).max(1);
        let view = self.prompt.composer().view(columns.saturating_sub(sign.len()), most);
        let mut lines = Vec::new();
        for (index, row) in view.rows.iter().enumerate() {
            let prefix = if index == 0 && !view.has_more_above { sign } else { "  " };
            lines.push(Line::styled(prefix, self.style(Role::Accent)).with(&row.text, self.style(Role::Text)));
        }
        lines.extend(self.below_prompt(rows.saturating_sub(lines.len() + 1)));
        let caret = Caret { row: view.caret_row, column: view.caret_column + sign.len() };
        InputArea { rows: lines, caret: Some(caret), status: Some(self.status_row()) }
    }

    fn below_prompt(&self, room: usize) -> Vec<Line> {
        if let Some(search) = self.prompt.search() {
            let found = search.found(self.prompt.history()).map(|found| found.prompt.expanded()).unwrap_or_default();
            let first = found.lines().next().unwrap_or_default();
            let text = format!("history of {}: {}  {first}", search.scope().name(), search.query());
            return vec![Line::styled(text, self.style(Role::Accent))];
        }
        if let Some(menu) = self.prompt.menu() {
            let row = |row: crate::completion::MenuRow| {
                let role = if row.is_selected { Role::Selection } else { Role::Text };
                Line::styled(format!("  {}", row.name), self.style(role))
                    .with(format!("  {}", row.detail), self.style(Role::Faint))
            };
            return menu.rows(room.min(MENU_ROWS)).into_iter().map(row).collect();
        }
        if self.shows_keys {
            let row = |(keys, action): (String, &str)| {
                Line::styled(format!("  {keys:<24} {action}"), self.style(Role::Faint))
            };
            return self.prompt.keymap().help().into_iter().take(room).map(row).collect();
        }
        Vec::new()
    }

    /// The row below the prompt: a hint, or the mode, the model and the use of the session.
    fn status_row(&self) -> Line {
        if let Some(hint) = &self.hint {
            return Line::styled(format!("  {hint}"), self.style(Role::Warning));
        }
        if let Some(arguments) = self.prompt.argument_hint() {
            return Line::styled(format!("  {arguments}"), self.style(Role::Faint));
        }
        let status = self.surface.presenter().status();
        let mut details = Vec::new();
        details.extend(status.model.clone().filter(|model| model != "default"));
        if status.context_tokens > 0 {
            details.push(match status.context_tokens.saturating_mul(100).checked_div(status.context_window) {
                Some(percent) => format!("{percent} % of the context"),
                None => format!("{} tokens", crate::layout::tokens(status.context_tokens)),
            });
        }
        if status.cost > NanoUsd::ZERO {
            details.push(format!("${:.4}", status.cost.usd()));
        }
        details.extend(status.title.clone());
        Line::styled(format!("  {}", mode_words(self.prompt.permission_mode())), self.style(Role::Accent))
            .with(details.iter().map(|detail| format!("  {detail}")).collect::<String>(), self.style(Role::Faint))
    }
}

fn role(kind: DialogRowKind) -> Role {
    match kind {
        DialogRowKind::Title => Role::Heading,
        DialogRowKind::Added => Role::Added,
        DialogRowKind::Removed => Role::Removed,
        DialogRowKind::Selected => Role::Selection,
        DialogRowKind::Note | DialogRowKind::Hunk | DialogRowKind::Disabled | DialogRowKind::Hint => Role::Faint,
        _ => Role::Text,
    }
}

/// The permission mode in words.
fn mode_words(mode: PermissionMode) -> &'static str {
    match mode {
        PermissionMode::Default => "asks before changes",
        PermissionMode::AcceptEdits => "accepts edits",
        PermissionMode::Plan => "plans, changes nothing",
        PermissionMode::DontAsk => "denies without asking",
        PermissionMode::Auto => "a model decides",
        PermissionMode::BypassPermissions => "allows everything",
        _ => "another mode",
    }
}
