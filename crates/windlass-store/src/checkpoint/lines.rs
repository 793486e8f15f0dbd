//! Line counts of differences between two contents.

use similar::{Algorithm, DiffTag, capture_diff_slices};

/// Maximum number of lines on each side that are compared one by one.
const MAX_LINES: usize = 5_000;

/// Number of bytes examined to distinguish text from other content.
const SAMPLE_BYTES: usize = 8 * 1024;

/// Returns the numbers of lines inserted and deleted when the first content becomes the second. Zero for content that
/// is not text. If very many lines differ, common lines may be counted as well.
pub(crate) fn count(from: &[u8], to: &[u8]) -> (u64, u64) {
    if [from, to].iter().any(|content| content.iter().take(SAMPLE_BYTES).any(|byte| *byte == 0)) {
        return (0, 0);
    }
    let (from, to) = middles(from, to);
    let number = |part: &[u8]| part.split_inclusive(|byte| *byte == b'\n').count();
    let (deleted, inserted) = (number(from), number(to));
    if deleted == 0 || inserted == 0 || deleted > MAX_LINES || inserted > MAX_LINES {
        return (inserted as u64, deleted as u64);
    }
    let from: Vec<&[u8]> = from.split_inclusive(|byte| *byte == b'\n').collect();
    let to: Vec<&[u8]> = to.split_inclusive(|byte| *byte == b'\n').collect();
    let mut counted = (0, 0);
    for op in capture_diff_slices(Algorithm::Myers, &from, &to) {
        let (tag, old, new) = op.as_tag_tuple();
        if tag != DiffTag::Equal {
            counted.0 += new.len() as u64;
            counted.1 += old.len() as u64;
        }
    }
    counted
}

/// Returns two contents without the whole lines that both begin and end with.
fn middles<'a>(a: &'a [u8], b: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    let same = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let begin = match a.get(..same) {
        // One content is a prefix of the other: a line that continues in the other is not the same line.
        Some(head) if same < a.len() || same < b.len() => {
            head.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
        }
        _ => same,
    };
    let (a, b) = (a.get(begin..).unwrap_or_default(), b.get(begin..).unwrap_or_default());
    let same = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    // The first line of the tail may have begun before.
    let tail = a.get(a.len() - same..).unwrap_or_default();
    let common_tail = tail.iter().position(|byte| *byte == b'\n').map_or(0, |at| tail.len() - at - 1);
    (a.get(..a.len() - common_tail).unwrap_or_default(), b.get(..b.len() - common_tail).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted_as_a_diff_counts_them() {
        for (from, to, expected) in [
            ("", "", (0, 0)),
            ("a\n", "a\n", (0, 0)),
            ("", "a\nb\n", (2, 0)),
            ("a\nb", "", (0, 2)),
            ("a\nb\nc\n", "a\nc\n", (0, 1)),
            ("a\nc\n", "a\nb\nc\n", (1, 0)),
            ("a\nb\nc\n", "a\nx\nc\n", (1, 1)),
            ("a", "a\n", (1, 1)),
            ("a\nb", "a\nb\n", (1, 1)),
            ("xa\n", "ya\n", (1, 1)),
            ("a\na\n", "a\na\na\n", (1, 0)),
            ("1\n2\n3\n4\n", "2\n3\n5\n4\n", (1, 1)),
        ] {
            assert_eq!(count(from.as_bytes(), to.as_bytes()), expected, "{from:?} {to:?}");
        }
    }

    #[test]
    fn other_content_has_no_lines_and_much_text_is_bounded() {
        assert_eq!(count(b"\0\n\n", b"a\n"), (0, 0));
        let (a, b) = ("a\n".repeat(MAX_LINES * 2), "b\n".repeat(MAX_LINES * 3));
        assert_eq!(count(a.as_bytes(), b.as_bytes()), (15_000, 10_000));
        let long = format!("{a}x\n{a}");
        assert_eq!(count(long.as_bytes(), (a.clone() + "y\nz\n" + &a).as_bytes()), (2, 1));
    }
}
