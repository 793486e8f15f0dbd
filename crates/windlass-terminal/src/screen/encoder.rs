//! Control sequences of a frame.

use crate::text::{Color, Span, Style};
use std::fmt::Write as _;

/// Colours that a terminal knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
#[expect(clippy::exhaustive_enums, reason = "terminals know one of these")]
pub enum ColorDepth {
    /// No colours. Bold, faint, underlined and swapped text stay.
    None,
    /// The sixteen colours that each terminal names itself.
    #[default]
    Ansi16,
    /// The 256 colours of xterm.
    Indexed256,
    /// Red, green and blue with 8 bits each.
    Rgb,
}

/// Begin of synchronised output: the terminal shows the frame as a whole. Unknown modes are ignored.
const SYNCHRONIZE: &str = "\u{1b}[?2026h";
const SYNCHRONIZED: &str = "\u{1b}[?2026l";
const HIDE_CURSOR: &str = "\u{1b}[?25l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";
const NO_WRAP: &str = "\u{1b}[?7l";
const WRAP: &str = "\u{1b}[?7h";

/// Bytes of one frame.
#[derive(Debug)]
pub(super) struct Encoder {
    out: String,
    depth: ColorDepth,
    style: Style,
    is_begun: bool,
}

impl Encoder {
    pub(super) fn new(depth: ColorDepth) -> Self {
        Self { out: String::new(), depth, style: Style::PLAIN, is_begun: false }
    }

    /// Bytes of the frame; none if nothing was encoded.
    pub(super) fn finish(self) -> String {
        self.out
    }

    pub(super) fn is_begun(&self) -> bool {
        self.is_begun
    }

    pub(super) fn begin(&mut self) {
        if !std::mem::replace(&mut self.is_begun, true) {
            self.out.push_str(SYNCHRONIZE);
            self.out.push_str(HIDE_CURSOR);
        }
    }

    /// Ends a frame that was begun.
    pub(super) fn end(&mut self, shows_cursor: bool) {
        if std::mem::take(&mut self.is_begun) {
            if shows_cursor {
                self.out.push_str(SHOW_CURSOR);
            }
            self.out.push_str(SYNCHRONIZED);
        }
    }

    /// Appends control sequences of this crate.
    pub(super) fn raw(&mut self, sequences: &str) {
        self.out.push_str(sequences);
    }

    pub(super) fn up(&mut self, rows: usize) {
        self.count(rows, 'A');
    }

    pub(super) fn down(&mut self, rows: usize) {
        self.count(rows, 'B');
    }

    /// Moves to a column of this row, from zero.
    pub(super) fn column(&mut self, column: usize) {
        self.out.push('\r');
        self.count(column, 'C');
    }

    /// Moves to the beginning of a row of the screen, from zero.
    pub(super) fn row(&mut self, row: usize) {
        // Writing to a string does not fail.
        let _ = write!(self.out, "\u{1b}[{};1H", row + 1);
    }

    /// Begins the next row. The screen scrolls at its end.
    pub(super) fn newline(&mut self) {
        self.out.push_str("\r\n");
    }

    pub(super) fn erase_right(&mut self) {
        self.out.push_str("\u{1b}[K");
    }

    /// Erases this row and those below, from the first column.
    ///
    /// Erasing all of the screen at once would make some terminals save it in the scrollback, so the row is erased by itself. That
    /// also parts it from the row above if the terminal had wrapped one into the other.
    pub(super) fn erase_below(&mut self) {
        self.out.push_str("\r\u{1b}[K\u{1b}[C\u{1b}[J\r");
    }

    /// Lets text end at the margin, or wrap there.
    pub(super) fn wrap(&mut self, is_on: bool) {
        self.out.push_str(if is_on { WRAP } else { NO_WRAP });
    }

    /// Appends spans. The style is plain before and behind them.
    pub(super) fn spans<'a>(&mut self, spans: impl IntoIterator<Item = &'a Span>) {
        for span in spans {
            self.switch(span.style());
            self.out.push_str(span.text());
        }
        self.switch(Style::PLAIN);
    }

    fn count(&mut self, count: usize, command: char) {
        match count {
            0 => {}
            1 => {
                self.out.push_str("\u{1b}[");
                self.out.push(command);
            }
            _ => {
                let _ = write!(self.out, "\u{1b}[{count}{command}");
            }
        }
    }

    fn switch(&mut self, style: Style) {
        let style = self.reduced(style);
        if style == self.style {
            return;
        }
        self.style = style;
        self.out.push_str("\u{1b}[0");
        let attributes = [
            (style.bold, 1),
            (style.dim, 2),
            (style.italic, 3),
            (style.underline, 4),
            (style.reverse, 7),
            (style.strikethrough, 9),
        ];
        for (_, code) in attributes.iter().filter(|(is_on, _)| *is_on) {
            let _ = write!(self.out, ";{code}");
        }
        self.color(style.foreground, 30);
        self.color(style.background, 40);
        self.out.push('m');
    }

    /// Appends a colour; `base` is 30 for text and 40 for the background.
    fn color(&mut self, color: Color, base: u16) {
        let _ = match color {
            Color::Default => Ok(()),
            Color::Ansi(number) if number % 16 < 8 => write!(self.out, ";{}", base + u16::from(number % 16)),
            Color::Ansi(number) => write!(self.out, ";{}", base + 52 + u16::from(number % 16)),
            Color::Indexed(number) => write!(self.out, ";{};5;{number}", base + 8),
            Color::Rgb(red, green, blue) => write!(self.out, ";{};2;{red};{green};{blue}", base + 8),
        };
    }

    /// The style in the colours that the terminal knows.
    fn reduced(&self, style: Style) -> Style {
        let color = |color| reduced(color, self.depth);
        Style { foreground: color(style.foreground), background: color(style.background), ..style }
    }
}

/// The nearest colour that a terminal of this depth knows.
fn reduced(color: Color, depth: ColorDepth) -> Color {
    match (depth, color) {
        (ColorDepth::None, _) => Color::Default,
        (ColorDepth::Rgb, _) | (_, Color::Default | Color::Ansi(_)) => color,
        (ColorDepth::Indexed256, Color::Indexed(_)) => color,
        (ColorDepth::Indexed256, Color::Rgb(red, green, blue)) => Color::Indexed(indexed(red, green, blue)),
        (ColorDepth::Ansi16, Color::Indexed(number)) if number < 16 => Color::Ansi(number),
        (ColorDepth::Ansi16, Color::Indexed(number)) => {
            let (red, green, blue) = of_index(number);
            Color::Ansi(named(red, green, blue))
        }
        (ColorDepth::Ansi16, Color::Rgb(red, green, blue)) => Color::Ansi(named(red, green, blue)),
    }
}

/// Place in the cube of six steps for each primary, or in the row of greys.
fn indexed(red: u8, green: u8, blue: u8) -> u8 {
    let highest = red.max(green).max(blue);
    let lowest = red.min(green).min(blue);
    if highest - lowest < 10 {
        return match highest {
            0..=7 => 16,
            239..=255 => 231,
            grey => 232 + (grey - 8) / 10,
        };
    }
    let step = |primary: u8| match primary {
        0..=47 => 0,
        48..=114 => 1,
        _ => (primary - 35) / 40,
    };
    16 + 36 * step(red) + 6 * step(green) + step(blue)
}

fn of_index(number: u8) -> (u8, u8, u8) {
    if number >= 232 {
        let grey = 8 + (number - 232) * 10;
        return (grey, grey, grey);
    }
    let number = number.saturating_sub(16);
    let primary = |step: u8| if step == 0 { 0 } else { 55 + step * 40 };
    (primary(number / 36), primary(number / 6 % 6), primary(number % 6))
}

/// One of the sixteen named colours.
fn named(red: u8, green: u8, blue: u8) -> u8 {
    let highest = red.max(green).max(blue);
    let lowest = red.min(green).min(blue);
    if highest - lowest < 40 {
        return match highest {
            0..=63 => 0,
            64..=143 => 8,
            144..=215 => 7,
            _ => 15,
        };
    }
    let middle = lowest + (highest - lowest) / 2;
    let bit = |primary: u8, bit: u8| if primary > middle { bit } else { 0 };
    let color = bit(red, 1) | bit(green, 2) | bit(blue, 4);
    if highest > 191 { color + 8 } else { color }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn encoded(depth: ColorDepth, style: Style) -> String {
        let mut encoder = Encoder::new(depth);
        encoder.spans(&[Span::new("x", style)]);
        encoder.finish()
    }

    #[test]
    fn colors_are_those_that_the_terminal_knows() {
        let style = Style::PLAIN.foreground(Color::Rgb(255, 80, 80)).background(Color::Ansi(12)).bold();
        assert_eq!(encoded(ColorDepth::Rgb, style), "\u{1b}[0;1;38;2;255;80;80;104mx\u{1b}[0m");
        assert_eq!(encoded(ColorDepth::Indexed256, style), "\u{1b}[0;1;38;5;203;104mx\u{1b}[0m");
        assert_eq!(encoded(ColorDepth::Ansi16, style), "\u{1b}[0;1;91;104mx\u{1b}[0m");
        assert_eq!(encoded(ColorDepth::None, style), "\u{1b}[0;1mx\u{1b}[0m");
        assert_eq!(encoded(ColorDepth::Rgb, Style::PLAIN), "x");
    }

    #[test]
    fn every_color_has_a_name() {
        for (color, name) in [
            (Color::Rgb(0, 0, 0), 0),
            (Color::Rgb(128, 128, 128), 8),
            (Color::Rgb(255, 255, 255), 15),
            (Color::Rgb(160, 0, 0), 1),
            (Color::Rgb(0, 255, 0), 10),
            (Color::Indexed(21), 12),
            (Color::Indexed(3), 3),
        ] {
            assert_eq!(reduced(color, ColorDepth::Ansi16), Color::Ansi(name), "{color:?}");
        }
        for number in 16..=255 {
            let (red, green, blue) = of_index(number);
            let nearest = reduced(Color::Rgb(red, green, blue), ColorDepth::Indexed256);
            let Color::Indexed(nearest) = nearest else { panic!("{nearest:?}") };
            let (r, g, b) = of_index(nearest);
            let apart = r.abs_diff(red).max(g.abs_diff(green)).max(b.abs_diff(blue));
            assert!(apart <= 10, "{number} became {nearest}");
        }
    }
}
