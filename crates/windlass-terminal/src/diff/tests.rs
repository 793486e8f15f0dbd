use super::*;
use crate::layout::Glyphs;
use crate::text::width;
use crate::theme::Theme;
use proptest::prelude::*;

const DIFF: &str = "--- a/src/main.rs\n+++ b/src/main.rs\n@@ -9,3 +9,4 @@ fn main() {\n context\n-let x = old(1);\n\
                    +let x = new(1);\n+let y = 2;\n \n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n--- not a header\n";

fn rows(diff: &str, columns: usize, most: usize) -> Vec<Line> {
    let theme = Theme::default();
    diff_rows(diff, &Layout { columns, theme: &theme, glyphs: Glyphs::UNICODE }, most)
}

fn texts(lines: &[Line]) -> Vec<String> {
    lines.iter().map(Line::text).collect()
}

#[test]
fn files_hunks_and_numbers_are_shown() {
    assert_eq!(
        texts(&rows(DIFF, 80, 100)),
        [
            "src/main.rs +2 -1",
            " 9  context",
            "10 -let x = old(1);",
            "10 +let x = new(1);",
            "11 +let y = 2;",
            "12  ",
            "gone.txt +0 -1",
            " 1 --- not a header",
        ]
    );
    assert_eq!(diff_counts(DIFF), (2, 2));
}

#[test]
fn changed_words_have_a_style_of_their_own() {
    let diff = "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-let x = old(1);\n+let x = new(1);\n context\n";
    let theme = Theme::default();
    let lines = rows(diff, 80, 100);
    let marked = |line: &Line, role| -> Vec<String> {
        let spans = line.spans().iter().filter(|span| span.style() == theme.style(role));
        spans.map(|span| span.text().to_owned()).collect()
    };
    assert_eq!(marked(&lines[1], Role::RemovedWord), ["old"]);
    assert_eq!(marked(&lines[2], Role::AddedWord), ["new"]);
}

#[test]
fn long_diffs_and_lines_are_bounded() {
    let mut diff = "--- a/x\n+++ b/x\n@@ -0,0 +1,5000 @@\n".to_owned();
    diff.extend((0..5000).map(|number| format!("+line {number}\n")));
    let shown = texts(&rows(&diff, 80, 10));
    assert_eq!(shown.len(), 12);
    assert_eq!(shown.last().unwrap(), "… 4990 lines more");
    let wide = format!("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-{}\n+b\n", "日".repeat(30));
    assert_eq!(
        texts(&rows(&wide, 20, 10))[1..4],
        ["1 -日日日日日日日日", "  -日日日日日日日日", "  -日日日日日日日日"]
    );
}

#[test]
fn escape_codes_and_paths_are_safe() {
    let diff = "--- a/x\u{1b}[2J\n+++ b/x\u{202e}y\u{1b}]0;t\u{7}\n@@ -1 +1 @@\n-\u{1b}[31mred\n+\tplain\n";
    assert_eq!(texts(&rows(diff, 80, 10)), ["xy +1 -1", "1 -red", "1 +   plain"]);
}

proptest! {
    #[test]
    fn any_text_is_laid_out_within_the_columns(diff in "(@@ -1,9 \\+1,9 @@\n|[-+ ][a-z日 ]{0,40}\n|--- a/x\n|\\+\\+\\+ b/x\n|\\PC{0,30}\n){0,20}", columns in 1usize..60) {
        for line in rows(&diff, columns, 50) {
            // Headlines and the last row may be longer.
            let is_row = line.text().trim_start().starts_with(|c: char| c.is_ascii_digit());
            prop_assert!(!is_row || columns < 12 || width(&line.text()) <= columns, "{line:?}");
        }
    }
}
