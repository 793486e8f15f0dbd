use crate::files::apply_patch::parse::parse;
use crate::files::apply_patch::patch::{Anchor, FileChange, FilePatch, MAX_PATCH, Mark, ParseError};

/// Short form of a patch.
fn shown(text: &str) -> String {
    match parse(text) {
        Ok(files) => files.iter().map(file).collect::<Vec<_>>().join(" | "),
        Err(error) => format!("! {error}"),
    }
}

fn file(file: &FilePatch) -> String {
    let hunks = match &file.change {
        FileChange::Add(content) => return format!("add {} {content:?}", file.path),
        FileChange::Delete(None) => return format!("delete {}", file.path),
        FileChange::Delete(Some(hunks)) | FileChange::Update { hunks, .. } => hunks,
    };
    let moved = match &file.change {
        FileChange::Update { move_to: Some(to), .. } => format!(" to {to}"),
        FileChange::Delete(_) => " deleted".to_owned(),
        _ => String::new(),
    };
    let hunks = hunks.iter().map(|hunk| {
        let lines = hunk.lines.iter().map(|line| {
            let mark = match line.mark {
                Mark::Keep => '=',
                Mark::Remove => '-',
                Mark::Add => '+',
            };
            format!("{mark}{}{}", line.text, if line.unended { "$" } else { "" })
        });
        let lines: Vec<String> = lines.collect();
        let anchor = match &hunk.anchor {
            Anchor::Line(line) => format!("@{line}"),
            Anchor::Below { headers, at_end } => format!("{headers:?}{}", if *at_end { "$" } else { "" }),
        };
        format!(" {anchor} {}", lines.join(","))
    });
    format!("{}{moved}{}", file.path, hunks.collect::<String>())
}

#[test]
fn the_format_of_begin_patch_is_read() {
    let patch = "*** Begin Patch\n*** Update File: a b.py\n*** Move to: c.py\n@@ class A\n@@  def f():\n keep\n-old\n+new\n\n\
                 @@\n+more\n*** End of File\n*** Add File: n\n+one\n+\n+two\n*** Delete File: d\n*** End Patch\n";
    assert_eq!(
        shown(patch),
        "a b.py to c.py [\"class A\", \" def f():\"] =keep,-old,+new []$ +more | add n \"one\\n\\ntwo\\n\" | delete d"
    );
    let cases = [
        // The first hunk may stand without `@@`; empty lines in a hunk are kept lines, at its end they are none.
        ("*** Update File: a\n x\n\n-y\n\n\n", "a [] =x,=,-y"),
        // Positions of a diff are no text of the file.
        ("*** Update File: a\n@@ -1,2 +1,2 @@ fn x\n-y", "a [] -y"),
        ("*** Update File: a\n*** Move to: b\n", "a to b"),
        ("*** Add File: a\n", "add a \"\""),
        ("*** Add File: a\n+x\n\n*** Delete File: b\n\n", "add a \"x\\n\" | delete b"),
    ];
    for (body, expected) in cases {
        let patch = format!("\n*** Begin Patch\n{body}\n*** End Patch");
        assert_eq!(shown(&patch.replace("\n\n*** End", "\n*** End")), expected, "{patch}");
        assert_eq!(shown(&patch.replace("\n\n*** End", "\n*** End").replace('\n', "\r\n")), expected, "with CRLF");
    }
}

#[test]
fn a_patch_that_is_wrong_is_refused_with_its_line() {
    let cases = [
        ("", "! the patch changes no file"),
        ("*** Begin Patch\n*** End Patch", "! the patch changes no file"),
        ("hello", "! this is no patch"),
        ("*** Begin Patch\n*** Update File: a\n-x", "! the patch ends without"),
        ("*** Begin Patch\n*** Update File: a\n@@\n*keep\n*** End Patch", "! line 4 of the patch: each line of a hunk"),
        ("*** Begin Patch\n*** Add File: a\nx\n*** End Patch", "! line 3 of the patch: each line of an added file"),
        ("*** Begin Patch\n*** Update File: a\n*** End Patch", "! line 2 of the patch: no change follows"),
        (
            "*** Begin Patch\n*** Update File: a\n@@ x\n keep\n*** End Patch",
            "! line 4 of the patch: the hunk before it",
        ),
        ("*** Begin Patch\n*** Rename File: a\n*** End Patch", "! line 2 of the patch: expected `*** Add File"),
        ("*** Begin Patch\n*** Delete File:  \n*** End Patch", "! line 2 of the patch: the path"),
        ("*** Begin Patch\n*** Delete File: a\n*** End Patch\nmore", "! line 4 of the patch: nothing may follow"),
        ("--- a/x\n", "! line 1 of the patch: a `+++` line"),
        ("--- a/x\n+++ b/x\n", "! line 2 of the patch: no hunk follows"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n", "! line 4 of the patch: the hunk ends before"),
        ("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n-b\n", "! line 5 of the patch: the hunk has more lines"),
        ("--- a/x\n+++ b/x\n@@ def f():\n-a\n", "! line 3 of the patch: expected `@@ -LINE"),
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "! line 2 of the patch: modes"),
        ("diff --git a/x b/x\nnew file mode 120000\n", "! line 2 of the patch: a new file has the usual mode"),
        ("diff --git a/x b/x\nindex 1..2\nGIT binary patch\n", "! line 3 of the patch: binary"),
        ("diff --git a/x b/y\ncopy from x\ncopy to y\n", "! line 2 of the patch: copies"),
        ("diff --git a/x b/y\nindex 1..2\n", "! line 1 of the patch: no file is named"),
    ];
    for (patch, expected) in cases {
        let found = shown(patch);
        assert!(found.starts_with(expected), "{patch:?} gives {found}");
    }
    let large = format!("*** Begin Patch\n*** Add File: a\n+{}\n*** End Patch", "x".repeat(MAX_PATCH));
    assert_eq!(parse(&large), Err(ParseError::TooLarge(large.len())));
    let many: String = (0..300).map(|n| format!("*** Delete File: {n}\n")).collect();
    assert_eq!(parse(&format!("*** Begin Patch\n{many}*** End Patch")), Err(ParseError::TooManyFiles));
}

#[test]
fn unified_diffs_are_read() {
    let cases = [
        ("--- a/x.rs\n+++ b/x.rs\n@@ -3,2 +3,2 @@ fn f()\n keep\n-old\n+new\n", "x.rs @3 =keep,-old,+new"),
        ("--- x\t2020-01-01\n+++ x\t2020-01-02\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n", "x @1 -a$,+b"),
        ("--- /dev/null\n+++ b/n\n@@ -0,0 +1,2 @@\n+a\n+b\n\\ No newline at end of file\n", "add n \"a\\nb\""),
        ("--- a/d\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", "d deleted @1 -a"),
        (
            "diff --git a/o b/n\nsimilarity index 100%\nrename from o\nrename to n\ndiff --git a/e b/e\nnew file mode \
             100644\nindex 0..e69\ndiff --git a/f b/f\ndeleted file mode 100755\nindex e69..0\n",
            "o to n | add e \"\" | f deleted",
        ),
        ("--- \"a/\\303\\244 b\"\n+++ \"b/\\303\\244 b\"\n@@ -1 +1 @@\n-a\n+b\n", "ä b @1 -a,+b"),
        // A line within a hunk that looks like a header belongs to the hunk.
        (
            "--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- a\n keep\n\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
            "x @1 --- a,=keep | y @1 -a,+b",
        ),
    ];
    for (patch, expected) in cases {
        assert_eq!(shown(patch), expected, "{patch}");
    }
}

#[test]
fn no_text_makes_the_reader_panic() {
    use proptest::prelude::*;
    let line = prop_oneof![
        Just("*** Begin Patch"),
        Just("*** End Patch"),
        Just("*** Update File: a"),
        Just("*** Add File: b"),
        Just("*** Move to: c"),
        Just("*** End of File"),
        Just("@@"),
        Just("@@ -1,2 +3 @@"),
        Just("@@ -9999999999999999999 +1 @@"),
        Just("--- a/x"),
        Just("+++ b/x"),
        Just("--- \"a\\"),
        Just("diff --git a/ b/"),
        Just("diff --git \"a/\\3"),
        Just("+ä"),
        Just("-"),
        Just(" "),
        Just(""),
        Just("ä"),
        Just("\\ No newline"),
        Just("rename from x"),
        Just("\r"),
    ];
    let text = (proptest::collection::vec(line, 0..20), prop_oneof![Just("\n"), Just("\r\n")]);
    proptest!(|((lines, end) in text)| {
        let _ = parse(&lines.join(end));
    });
}
