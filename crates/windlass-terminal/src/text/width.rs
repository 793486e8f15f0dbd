//! Widths of text in columns, by grapheme cluster.

use std::borrow::Cow;
use unicode_segmentation::UnicodeSegmentation as _;
use unicode_width::UnicodeWidthStr as _;

/// Columns that a tab takes: tabs are blanks by the time that text is shown.
pub const TAB_WIDTH: usize = 4;

/// Width of a text in columns. Control characters have none; a cluster (an emoji with joiners, a letter with marks)
/// is at most two columns wide.
#[must_use]
pub fn width(text: &str) -> usize {
    if text.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        return text.len();
    }
    clusters(text).map(|(_, width)| width).sum()
}

/// The grapheme clusters of a text with their widths in columns.
pub fn clusters(text: &str) -> impl Iterator<Item = (&str, usize)> {
    text.graphemes(true).map(|cluster| (cluster, cluster_width(cluster)))
}

/// Width of one cluster: `0`, `1` or `2`.
fn cluster_width(cluster: &str) -> usize {
    cluster.width().min(2)
}

/// A text that is at most `columns` wide: cut between clusters, with `…` for the part that is cut off.
#[must_use]
pub fn truncate(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let Some(room) = columns.checked_sub(1) else { return Cow::Borrowed("") };
    let mut shown = String::new();
    let mut used = 0;
    for (cluster, width) in clusters(text) {
        if used + width > room {
            break;
        }
        used += width;
        shown.push_str(cluster);
    }
    shown.push('…');
    Cow::Owned(shown)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clusters_are_as_wide_as_terminals_draw_them() {
        for (text, columns) in [
            ("", 0),
            ("abc", 3),
            ("日本語", 6),
            ("한국어", 6),
            ("👍", 2),
            ("👍🏽", 2),
            ("👨\u{200d}👩\u{200d}👧\u{200d}👦", 2),
            ("🇩🇪", 2),
            ("e\u{301}", 1),
            ("❤\u{fe0f}", 2),
            ("ｶﾞ", 2),
            ("क्षि", 2),
        ] {
            assert_eq!(width(text), columns, "{text:?}");
        }
    }

    #[test]
    fn a_cut_never_falls_inside_a_cluster() {
        assert_eq!(truncate("日本語", 6), "日本語");
        assert_eq!(truncate("日本語", 5), "日本…");
        assert_eq!(truncate("日本語", 4), "日…");
        assert_eq!(truncate("日本語", 1), "…");
        assert_eq!(truncate("日本語", 0), "");
        assert_eq!(truncate("ab👨\u{200d}👩\u{200d}👧c", 4), "ab…");
    }
}
