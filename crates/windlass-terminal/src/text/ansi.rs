//! Text with the colours of a program of the person, such as that of a status line.

use super::line::{Line, Span};
use super::style::{Color, Style};

/// A line of text with the colours that its SGR sequences ask for. Other escape sequences are left out.
#[must_use]
pub fn colored_line(text: &str) -> Line {
    let (mut line, mut style, mut rest) = (Line::new(), Style::PLAIN, text);
    while let Some(at) = rest.find('\u{1b}') {
        let (before, sequence) = rest.split_at(at);
        line.push(Span::new(before, style));
        let (parameters, behind) = split_sequence(sequence);
        if let Some(parameters) = parameters {
            style = styled(style, parameters);
        }
        rest = behind;
    }
    line.push(Span::new(rest, style));
    line
}

/// The parameters of the SGR sequence that a text begins with, if it is one, and the text behind the sequence.
fn split_sequence(text: &str) -> (Option<&str>, &str) {
    let behind_escape = text.get(1..).unwrap_or_default();
    match behind_escape.chars().next() {
        Some('[') => {
            let body = behind_escape.get(1..).unwrap_or_default();
            let Some(end) = body.find(|c: char| ('@'..='~').contains(&c)) else { return (None, "") };
            let (parameters, last) = body.split_at(end);
            let behind = last.get(1..).unwrap_or_default();
            (last.starts_with('m').then_some(parameters), behind)
        }
        // A link or a title ends with BEL or ST; the text between two of them stays.
        Some(']') => {
            let end = behind_escape.find(['\u{7}', '\u{1b}']);
            let behind = end.and_then(|end| behind_escape.get(end..)).unwrap_or_default();
            (None, behind.strip_prefix('\u{7}').or_else(|| behind.strip_prefix("\u{1b}\\")).unwrap_or(behind))
        }
        Some(other) => (None, behind_escape.get(other.len_utf8()..).unwrap_or_default()),
        None => (None, ""),
    }
}

fn styled(style: Style, parameters: &str) -> Style {
    let mut numbers = parameters.split([';', ':']).map(|number| number.parse::<u8>().unwrap_or(0));
    let mut style = style;
    while let Some(number) = numbers.next() {
        style = match number {
            0 => Style::PLAIN,
            1 => style.bold(),
            2 => style.dim(),
            3 => style.italic(),
            4 => style.underline(),
            7 => style.reverse(),
            9 => style.strikethrough(),
            22 => Style { bold: false, dim: false, ..style },
            23 => Style { italic: false, ..style },
            24 => Style { underline: false, ..style },
            27 => Style { reverse: false, ..style },
            29 => Style { strikethrough: false, ..style },
            30..=37 => style.foreground(Color::Ansi(number - 30)),
            38 => style.foreground(extended(&mut numbers)),
            39 => style.foreground(Color::Default),
            40..=47 => style.background(Color::Ansi(number - 40)),
            48 => style.background(extended(&mut numbers)),
            49 => style.background(Color::Default),
            90..=97 => style.foreground(Color::Ansi(number - 82)),
            100..=107 => style.background(Color::Ansi(number - 92)),
            _ => style,
        };
    }
    style
}

/// The colour behind 38 or 48.
fn extended(numbers: &mut impl Iterator<Item = u8>) -> Color {
    let mut next = || numbers.next().unwrap_or(0);
    match next() {
        5 => Color::Indexed(next()),
        2 => Color::Rgb(next(), next(), next()),
        _ => Color::Default,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_stay_and_all_else_that_a_terminal_obeys_goes() {
        let line = colored_line(
            "a \u{1b}[1;31mred\u{1b}[0m \u{1b}[38;5;208mo\u{1b}[48;2;1;2;3mb\u{1b}[2J\u{1b}]0;owned\u{7}c",
        );
        assert_eq!(line.text(), "a red obc");
        let styles: Vec<Style> = line.spans().iter().map(Span::style).collect();
        assert_eq!(styles[1], Style::PLAIN.bold().foreground(Color::Ansi(1)));
        assert_eq!(styles[3].foreground, Color::Indexed(208));
        assert_eq!(styles[4].background, Color::Rgb(1, 2, 3));
    }

    #[test]
    fn a_link_shows_its_text() {
        assert_eq!(colored_line("\u{1b}]8;;https://e.com\u{1b}\\text\u{1b}]8;;\u{1b}\\ end").text(), "text end");
    }

    #[test]
    fn a_cut_sequence_is_left_out() {
        for text in ["a\u{1b}", "a\u{1b}[", "a\u{1b}[3", "a\u{1b}]8;;x"] {
            assert_eq!(colored_line(text).text(), "a", "{text:?}");
        }
    }
}
