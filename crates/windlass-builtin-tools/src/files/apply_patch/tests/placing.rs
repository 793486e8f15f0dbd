use crate::files::apply_patch::parse::parse;
use crate::files::apply_patch::patch::FileChange;
use crate::files::apply_patch::place::{Applied, PlaceError, apply};
use crate::files::charset::{Charset, Content, of_file};

fn placed(raw: &[u8], patch: &str) -> Result<Applied, PlaceError> {
    let mut files = parse(patch).unwrap();
    let FileChange::Update { hunks, .. } = files.remove(0).change else { panic!("no update: {patch}") };
    let Content::Text(format) = of_file(raw) else { panic!("binary") };
    apply(raw, format, &hunks)
}

/// Result of hunks, or the error.
fn hunks(raw: impl AsRef<[u8]>, hunks: &str) -> String {
    let patch = format!("*** Begin Patch\n*** Update File: a\n{hunks}\n*** End Patch\n");
    match placed(raw.as_ref(), &patch) {
        Ok(applied) => String::from_utf8_lossy(&applied.bytes).into_owned(),
        Err(error) => format!("! {error}"),
    }
}

const CLASSES: &str =
    "class A:\n    def run(self):\n        return 1\n\nclass B:\n    def run(self):\n        return 1\n";

#[test]
fn hunks_are_found_by_their_lines() {
    let cases = [
        ("a\nb\nc\n", " a\n-b\n+B\n c", "a\nB\nc\n"),
        ("a\nb\nc\n", "@@\n-a\n@@\n c\n+d", "b\nc\nd\n"),
        ("a\nb\nc\n", "@@ a\n+x", "a\nx\nb\nc\n"),
        ("a\nb\nc\n", "@@ b\n-c\n+C", "a\nb\nC\n"),
        // Hunks that touch.
        ("a\nb\nc\n", "-a\n+A\n@@\n-b\n+B\n@@\n-c", "A\nB\n"),
        // The end of the file keeps its line break, or the lack of one.
        ("a\nb", "-b\n+c", "a\nc"),
        ("a\nb", " b\n+c", "a\nb\nc"),
        ("a\nb", "-b", "a"),
        ("a\nb", "-a\n-b", ""),
        ("a\nb\n", "-b", "a\n"),
        ("a\na\n", "@@\n a\n+b\n*** End of File", "a\na\nb\n"),
        ("", "+a", "a\n"),
        ("\n", "+a\n*** End of File", "\na\n"),
        ("x\n", "+a\n*** End of File", "x\na\n"),
        // The place below a header is meant, and a header may be the first line of the hunk.
        (
            CLASSES,
            "@@ class B:\n-        return 1\n+        return 2",
            &CLASSES.replacen(
                "B:\n    def run(self):\n        return 1",
                "B:\n    def run(self):\n        return 2",
                1,
            ),
        ),
        (
            CLASSES,
            "@@ class B:\n class B:\n-    def run(self):\n+    def go(self):",
            &CLASSES.replacen("B:\n    def run", "B:\n    def go", 1),
        ),
        (
            CLASSES,
            "@@ class A:\n@@     def run(self):\n-        return 1\n+        return 0",
            &CLASSES.replacen("return 1", "return 0", 1),
        ),
    ];
    for (file, patch, expected) in cases {
        assert_eq!(hunks(file, patch), expected, "{file:?} {patch:?}");
    }
}

#[test]
fn kept_lines_stay_as_the_file_has_them() {
    let cases = [
        // Blanks at the end, then at the beginning, then typography.
        ("a  \nb\n", " a\n-b\n+c", "a  \nc\n"),
        ("\ta\n\tb\n", " a\n-b\n+c", "\ta\nc\n"),
        (
            "say \u{201C}hi\u{201D}\u{A0}\u{2014} x\nb\n",
            " say \"hi\" - x\n-b",
            "say \u{201C}hi\u{201D}\u{A0}\u{2014} x\n",
        ),
        // An exact match wins, although another position would match inexactly.
        ("x \nb\nx\nb\n", " x\n-b\n+c", "x \nb\nx\nc\n"),
    ];
    for (file, patch, expected) in cases {
        assert_eq!(hunks(file, patch), expected, "{file:?}");
    }
    let patch = "*** Begin Patch\n*** Update File: a\n-x\n+y\n@@\n-b\n+c\n*** End Patch";
    assert_eq!(placed(b"x\na\nb \n", patch).unwrap().inexact, [3]);
}

#[test]
fn line_breaks_encodings_and_marks_stay() {
    assert_eq!(hunks("a\r\nb\r\nc\r\n", " a\n-b\n+B\n+C"), "a\r\nB\r\nC\r\nc\r\n");
    assert_eq!(hunks("a\r\nb", "-b\n+B\n+C"), "a\r\nB\r\nC");
    assert_eq!(hunks("a\r\nb\nc\r\n", "-b\n+B\n c"), "a\r\nB\nc\r\n");
    assert_eq!(hunks("\u{FEFF}a\nb\n", "-a\n+A"), "\u{FEFF}A\nb\n");
    let latin = b"Le caf\xE9 est ferm\xE9, la for\xEAt est l\xE0.\r\nFin.\r\n";
    let patch =
        "*** Begin Patch\n*** Update File: a\n Le café est fermé, la forêt est là.\n-Fin.\n+Fermé.\n*** End Patch";
    assert_eq!(placed(latin, patch).unwrap().bytes, [&latin[..35], b"\r\nFerm\xE9.\r\n"].concat());
    for charset in [Charset::Utf16Le, Charset::Utf16Be] {
        let before = charset.encode("\u{FEFF}a😀\r\nb\r\n").unwrap();
        let patch = "*** Begin Patch\n*** Update File: a\n-a😀\n+🙂\n+x\n b\n*** End Patch";
        assert_eq!(placed(&before, patch).unwrap().bytes, charset.encode("\u{FEFF}🙂\r\nx\r\nb\r\n").unwrap());
    }
    // Damaged bytes elsewhere are left alone.
    let damaged = b"\xC3\xA4\xC3\xB6 \xFF\nb\n";
    let patch = "*** Begin Patch\n*** Update File: a\n-b\n+c\n*** End Patch";
    assert_eq!(placed(damaged, patch).unwrap().bytes, b"\xC3\xA4\xC3\xB6 \xFF\nc\n");
}

#[test]
fn what_is_not_clear_is_refused_with_what_to_do() {
    let cases = [
        ("a\nb\na\nb\n", " a\n-b", "fit in 2 places (lines 1, 3). Add lines around"),
        (CLASSES, "@@     def run(self):\n-        return 1", "fit in 2 places (lines 3, 7)"),
        (CLASSES, "@@     def run(self):\n+        pass", "fit in 2 places (lines 2, 6)"),
        ("a\nb\n", "-c", "line 3 of the patch: its lines are not in the file. Nothing similar"),
        ("    indented\n", "-  indent\n+x", "are not in the file. The nearest text is at line 1"),
        ("the quick fox\n", "-the quick fix\n+x", "The most similar text is at line 1"),
        ("a\nb\nc\n", "-b\n@@\n-a", "only before line 3 of the file"),
        ("a\nb\n", "@@ class C\n-a", "has no line \"class C\" for its `@@`"),
        ("a\nb\n", "+c", "only adds lines and does not say where"),
        ("a\nb\na\n", "@@\n-b\n*** End of File", "is not at the end of the file"),
        (CLASSES, "@@ class B:\n-        return 9", "not in the file below \"class B:\""),
    ];
    for (file, patch, expected) in cases {
        let found = hunks(file, patch);
        assert!(found.starts_with("! ") && found.contains(expected), "{patch:?} gives {found}");
    }
}

#[test]
fn diffs_go_by_their_lines_and_then_by_their_numbers() {
    let diff = |raw: &str, body: &str| {
        let patch = format!("--- a/x\n+++ b/x\n{body}");
        placed(raw.as_bytes(), &patch)
            .map(|applied| String::from_utf8(applied.bytes).unwrap())
            .map_err(|e| e.to_string())
    };
    let second = "@@ -3,2 +3,2 @@\n a\n-b\n+B\n";
    assert_eq!(diff("a\nb\na\nb\n", second).unwrap(), "a\nb\na\nB\n");
    assert_eq!(diff("x\ny\nz\na\nb\n", second).unwrap(), "x\ny\nz\na\nB\n", "counted wrong, but there is one place");
    assert!(diff("a\nb\n\n\na\nb\n", second).unwrap_err().contains("fit in 2 places"));
    // Once a hunk was found elsewhere, the others are expected as far away.
    let two = "@@ -1,2 +1,2 @@\n-p\n+P\n q\n@@ -3 +3 @@\n-a\n+A\n";
    assert_eq!(diff("new\np\nq\na\na\n", two).unwrap(), "new\nP\nq\nA\na\n");
    assert!(diff("a\n", "@@ -1,0 +2 @@\n+b\n").unwrap_err().contains("does not say where"));
    assert_eq!(diff("", "@@ -0,0 +1 @@\n+b\n").unwrap(), "b\n");
    let unended = "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n";
    assert_eq!(diff("a", unended).unwrap(), "b\n");
    assert!(diff("a\n", unended).unwrap_err().contains("No newline"));
    assert_eq!(diff("a\n", "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n").unwrap(), "b");
    assert!(
        diff("a\nc\n", "@@ -1 +1 @@\n-a\n+b\n\\ No newline at end of file\n").unwrap_err().contains("not the last")
    );
    // A CR in the diff is a CR of the file.
    assert_eq!(diff("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n-a\r\n+A\n b\r\n").unwrap(), "A\nb\r\n");
    // No kept line at all that the file ends with, and the diff does not say so.
    assert_eq!(diff("a\nb", "@@ -1,2 +1,2 @@\n-a\n+A\n b\n").unwrap(), "A\nb");
}

#[test]
fn work_is_bounded() {
    let file = "a\n".repeat(200_000);
    let lines = "-a\n".repeat(20_000);
    let found = hunks(&file, &format!("{lines}-b"));
    assert!(found.contains("too many places"), "{}", found.chars().take(300).collect::<String>());
}
