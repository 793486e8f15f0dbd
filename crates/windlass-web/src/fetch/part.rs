//! Part of a page that one call returns.

/// Part of a text, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PagePart<'a> {
    pub(super) text: &'a str,
    /// Offset of the part, in characters.
    pub(super) start: usize,
    /// Length of the whole text, in characters.
    pub(super) whole: usize,
    /// Offset of the rest in characters, if there is one.
    pub(super) rest: Option<usize>,
}

/// Returns the part that begins at an offset and has at most `most` characters. It ends at the end of a line if there
/// is one in its second half.
pub(super) fn part(text: &str, offset: usize, most: usize) -> PagePart<'_> {
    let whole = text.chars().count();
    let at = |count: usize| text.char_indices().nth(count).map_or(text.len(), |(index, _)| index);
    let begin = at(offset);
    let window = text.get(begin..at(offset.saturating_add(most))).unwrap_or_default();
    let is_last = begin + window.len() >= text.len();
    let line = window.rfind('\n').map(|end| end + 1).filter(|end| !is_last && *end > window.len() / 2);
    let taken = line.and_then(|end| window.get(..end)).unwrap_or(window);
    let rest = (!is_last).then(|| offset + taken.chars().count());
    PagePart { text: taken, start: offset.min(whole), whole, rest }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_make_up_the_whole() {
        let text = "äöü line one\nline two is longer\n\nthe end 🦀 of it";
        for most in 1..60 {
            let (mut offset, mut all) = (0, String::new());
            loop {
                let part = part(text, offset, most);
                assert!(part.text.chars().count() <= most);
                all.push_str(part.text);
                match part.rest {
                    Some(rest) => offset = rest,
                    None => break,
                }
            }
            assert_eq!(all, text, "{most}");
        }
        assert_eq!(part(text, 10_000, 5), PagePart { text: "", start: 48, whole: 48, rest: None });
        assert_eq!(part("one\ntwo\nthree", 0, 9).text, "one\ntwo\n");
    }
}
