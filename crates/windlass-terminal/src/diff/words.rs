//! Changed words of two lines.

use similar::{Algorithm, DiffOp, capture_diff_slices};

/// Most bytes of a line whose words are compared.
const MOST_BYTES: usize = 1_000;

/// Ranges of bytes that changed, in both lines.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Pair {
    pub(super) old: Vec<(usize, usize)>,
    pub(super) new: Vec<(usize, usize)>,
}

/// Changed words of two lines; `None` if they have less than a third in common, so that marks would say nothing.
pub(super) fn changed_words(old: &str, new: &str) -> Option<Pair> {
    if old.len().max(new.len()) > MOST_BYTES {
        return None;
    }
    let (old_words, new_words) = (words(old), words(new));
    let operations = capture_diff_slices(Algorithm::Myers, &texts(old, &old_words), &texts(new, &new_words));
    let mut pair = Pair { old: Vec::new(), new: Vec::new() };
    let mut common = 0;
    for operation in &operations {
        let range = |words: &[(usize, usize)], range: std::ops::Range<usize>| {
            let words = words.get(range)?;
            Some((words.first()?.0, words.last()?.1))
        };
        if let DiffOp::Equal { .. } = operation {
            common += range(&old_words, operation.old_range()).map_or(0, |(start, end)| end - start);
            continue;
        }
        pair.old.extend(range(&old_words, operation.old_range()));
        pair.new.extend(range(&new_words, operation.new_range()));
    }
    (common * 3 >= old.trim().len().max(new.trim().len())).then_some(pair)
}

/// Ranges of the words of a line: letters and digits, blanks, and each other character by itself.
fn words(line: &str) -> Vec<(usize, usize)> {
    let kind = |c: char| match c {
        _ if c.is_alphanumeric() || c == '_' => 0,
        _ if c.is_whitespace() => 1,
        _ => 2,
    };
    let mut words: Vec<(usize, usize)> = Vec::new();
    let mut last = 2;
    for (at, c) in line.char_indices() {
        let end = at + c.len_utf8();
        match words.last_mut() {
            Some(word) if last == kind(c) && last != 2 => word.1 = end,
            _ => words.push((at, end)),
        }
        last = kind(c);
    }
    words
}

fn texts<'a>(line: &'a str, words: &[(usize, usize)]) -> Vec<&'a str> {
    words.iter().map(|(start, end)| line.get(*start..*end).unwrap_or_default()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_words_are_found() {
        let pair = changed_words("let count = old(1);", "let count = new_name(1);").unwrap();
        assert_eq!(pair, Pair { old: vec![(12, 15)], new: vec![(12, 20)] });
        assert_eq!(changed_words("entirely different", "nothing in common here at all"), None);
        assert_eq!(changed_words(&"a ".repeat(1_000), "a"), None);
        let pair = changed_words("日本 = 1", "日本 = 2").unwrap();
        assert_eq!(pair, Pair { old: vec![(9, 10)], new: vec![(9, 10)] });
    }
}
