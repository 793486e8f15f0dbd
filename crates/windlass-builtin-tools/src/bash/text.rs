//! Output of a terminal program as text for a model.

use windlass_tool::CapturedOutput;

/// Shown part of an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clipped {
    pub(super) text: String,
    /// Bytes between the two parts of `text`.
    pub(super) left_out: u64,
}

/// Clips an output to at most `budget` characters, without the marker line: whole, or its beginning and its end, cut at
/// nearby line ends.
pub(super) fn clip(output: &CapturedOutput, budget: usize, marker: impl FnOnce(u64) -> String) -> Clipped {
    if output.omitted_bytes == 0 && output.tail.is_empty() {
        let text = clean(&output.head);
        if fits(text.trim_end(), budget) {
            return Clipped { text: text.trim_end().to_owned(), left_out: 0 };
        }
    }
    let head = beginning(&output.head, budget / 2);
    let rest = output.head.get(head.len()..).unwrap_or_default();
    let (tail, skipped) = if output.tail.is_empty() { (rest, 0) } else { (output.tail.as_str(), rest.len()) };
    let end = ending(tail, budget - budget / 2);
    let left_out = output.omitted_bytes.saturating_add((skipped + tail.len() - end.len()) as u64);
    let text = format!("{}\n{}\n{}", clean(head).trim_end(), marker(left_out), clean(end).trim_end());
    Clipped { text, left_out }
}

fn fits(text: &str, budget: usize) -> bool {
    text.len() <= budget || text.chars().count() <= budget
}

/// First characters of a text, up to the limit.
fn beginning(text: &str, limit: usize) -> &str {
    let end = text.char_indices().nth(limit).map_or(text.len(), |(at, _)| at);
    let cut = text.get(..end).unwrap_or_default();
    // Whole lines, if that costs no more than a quarter.
    match cut.rfind('\n') {
        Some(line) if end < text.len() && line >= end / 4 * 3 => cut.get(..=line).unwrap_or(cut),
        _ => cut,
    }
}

/// Last characters of a text, up to the limit.
fn ending(text: &str, limit: usize) -> &str {
    let Some(skip) = limit.checked_sub(1) else {
        return "";
    };
    let start = text.char_indices().nth_back(skip).map_or(0, |(at, _)| at);
    let (before, cut) = text.split_at_checked(start).unwrap_or(("", text));
    match cut.find('\n') {
        Some(_) if before.is_empty() || before.ends_with('\n') => cut,
        Some(line) if line <= cut.len() / 4 => cut.get(line + 1..).unwrap_or(cut),
        _ => cut,
    }
}

/// Converts text to its appearance in a terminal: escape sequences are removed, carriage returns end lines, struck-over
/// letters are single, and other control characters are visible.
pub(crate) fn clean(text: &str) -> String {
    if !text.contains(is_special) {
        return text.to_owned();
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_special) {
        let (plain, special) = rest.split_at_checked(at).unwrap_or((rest, ""));
        clean.push_str(plain);
        rest = replace_special(special, &mut clean);
    }
    clean.push_str(rest);
    clean
}

fn is_special(c: char) -> bool {
    c.is_control() && !matches!(c, '\n' | '\t')
}

/// Consumes the control character or sequence at the start. Returns the rest.
fn replace_special<'a>(text: &'a str, clean: &mut String) -> &'a str {
    let mut chars = text.chars();
    match chars.next() {
        Some('\u{1b}') => match after_escape(chars.as_str()) {
            Some(rest) => return rest,
            None => clean.push('\u{241b}'),
        },
        Some('\r') => {
            let rest = text.trim_start_matches('\r');
            clean.push('\n');
            return rest.strip_prefix('\n').unwrap_or(rest);
        }
        Some('\u{8}') if clean.ends_with(|c| c != '\n') => drop(clean.pop()),
        Some('\u{8}') => {}
        Some('\u{7f}') => clean.push('\u{2421}'),
        // The symbol of a control character is at a fixed distance in Unicode.
        Some(c) => clean
            .push(u32::from(c).checked_add(0x2400).filter(|_| c < ' ').and_then(char::from_u32).unwrap_or('\u{fffd}')),
        None => {}
    }
    chars.as_str()
}

/// Text after an escape sequence, the escape character already consumed; `None` if it is no sequence.
fn after_escape(text: &str) -> Option<&str> {
    let first = text.chars().next()?;
    let body = text.strip_prefix(first)?;
    match first {
        '[' => {
            let end = body.find(|c| !('\u{20}'..='\u{3f}').contains(&c))?;
            let last = body.get(end..)?.chars().next()?;
            ('@'..='~').contains(&last).then(|| body.get(end + 1..))?
        }
        ']' | 'P' | 'X' | '^' | '_' => {
            // A title or a link; without an end on its line it is no sequence.
            let end = body.find(['\u{7}', '\u{1b}', '\n'])?;
            let rest = body.get(end..)?;
            rest.strip_prefix('\u{7}').or_else(|| rest.strip_prefix("\u{1b}\\"))
        }
        ' '..='/' => {
            let end = body.find(|c| !(' '..='/').contains(&c))?;
            let last = body.get(end..)?.chars().next()?;
            ('0'..='~').contains(&last).then(|| body.get(end + 1..))?
        }
        '0'..='~' => Some(body),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
