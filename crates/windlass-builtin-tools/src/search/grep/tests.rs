use super::*;
use crate::search::testing::Tree;
use futures::executor::block_on;
use proptest::prelude::*;
use std::sync::atomic::Ordering;
use windlass_local::LocalWorkspace;
use windlass_tool::WalkInterrupt;

fn content(pattern: &str) -> GrepQuery {
    GrepQuery { pattern: pattern.to_owned(), mode: GrepMode::Content, ..GrepQuery::default() }
}

fn found(query: &GrepQuery, scope: WalkScope) -> Result<GrepOutcome, GrepError> {
    block_on(search(query.clone(), &LocalWorkspace::new(), scope)).unwrap()
}

fn outcome(tree: &Tree, query: &GrepQuery) -> GrepOutcome {
    found(query, tree.scope()).unwrap()
}

/// Lines in the form of grep.
fn lines(tree: &Tree, query: &GrepQuery) -> Vec<String> {
    shown(tree, outcome(tree, query).found)
}

fn shown(tree: &Tree, found: GrepFound) -> Vec<String> {
    match found {
        GrepFound::Files(paths) => paths.iter().map(|path| tree.relative(path)).collect(),
        GrepFound::Counts(counts) => {
            counts.iter().map(|(path, count)| format!("{}:{count}", tree.relative(path))).collect()
        }
        GrepFound::Content(files) => files
            .iter()
            .flat_map(|(path, lines)| {
                let path = tree.relative(path);
                lines.iter().map(move |line| match line.kind {
                    LineKind::Match => format!("{path}:{}:{}", line.number, line.text),
                    LineKind::Context => format!("{path}-{}-{}", line.number, line.text),
                    LineKind::Break => "--".to_owned(),
                })
            })
            .collect(),
    }
}

#[test]
fn lines_come_by_path_and_number() {
    let tree = Tree::with(&[("b.txt", "x\nfoo 1\ny\nfoo 2"), ("a/c.txt", "foo 3\n"), ("a.txt", "nothing\n")]);
    let found = outcome(&tree, &content("fo+"));
    assert_eq!((found.total_files, found.total_lines, found.more), (Some(2), Some(3), false));
    assert_eq!(shown(&tree, found.found), ["a/c.txt:1:foo 3", "b.txt:2:foo 1", "b.txt:4:foo 2"]);
}

#[test]
fn context_groups_are_separated() {
    let tree = Tree::with(&[("a", "1\nfoo\n3\n4\n5\n6\nfoo\n8\n"), ("b", "foo\n")]);
    let query = GrepQuery { before: 1, after: 1, ..content("foo") };
    assert_eq!(lines(&tree, &query), ["a-1-1", "a:2:foo", "a-3-3", "--", "a-6-6", "a:7:foo", "a-8-8", "--", "b:1:foo"]);
}

#[test]
fn options_mean_what_ripgrep_means() {
    let tree = Tree::with(&[("a", "Foo foo\nbar\n"), ("b", "start\n  middle\nend\n"), ("c", "x\r\ny\r\n")]);
    let insensitive = GrepQuery { ignore_case: true, ..content("FOO") };
    assert_eq!(lines(&tree, &insensitive), ["a:1:Foo foo"]);
    let only = GrepQuery { only_matching: true, before: 3, ..insensitive };
    assert_eq!(lines(&tree, &only), ["a:1:Foo", "a:1:foo"]);
    let across = GrepQuery { multiline: true, ..content("start.*end") };
    assert_eq!(lines(&tree, &across), ["b:1:start", "b:2:  middle", "b:3:end"]);
    let parts = GrepQuery { only_matching: true, ..across.clone() };
    assert_eq!(lines(&tree, &parts), ["b:1:start", "b:2:  middle", "b:3:end"]);
    let count = GrepQuery { mode: GrepMode::Counts, ..across };
    assert_eq!(lines(&tree, &count), ["b:1"]);
    // A line end is the same in every form.
    assert_eq!(lines(&tree, &content("^y$")), ["c:2:y"]);
    assert_eq!(lines(&tree, &content(r"\r$")), ["c:1:x", "c:2:y"]);
}

#[test]
fn files_come_newest_first_and_counts_by_path() {
    let tree = Tree::with(&[("b", "foo\nfoo\n"), ("c", "no\n"), ("a", "foo\n"), ("d", "foo foo\n")]);
    let files = GrepQuery { mode: GrepMode::Files, ..content("foo") };
    assert_eq!(lines(&tree, &files), ["d", "a", "b"]);
    let counts = GrepQuery { mode: GrepMode::Counts, ..content("foo") };
    let found = outcome(&tree, &counts);
    assert_eq!((found.total_files, found.total_lines), (Some(3), Some(4)));
    assert_eq!(shown(&tree, found.found), ["a:1", "b:2", "d:1"]);
    // The sums are those of all files, however few are asked for.
    for mode in [GrepMode::Files, GrepMode::Counts] {
        let few = outcome(&tree, &GrepQuery { mode, limit: Some(1), ..content("foo") });
        assert_eq!((few.total_files, few.more), (Some(3), true));
        assert_eq!(few.total_lines, (mode == GrepMode::Counts).then_some(4));
    }
}

#[test]
fn types_and_globs_narrow_and_never_widen() {
    let tree = Tree::with(&[
        (".gitignore", "ignored.rs\n"),
        ("ignored.rs", "foo"),
        ("a.rs", "foo"),
        ("a.py", "foo"),
        ("src/b.rs", "foo"),
        ("src/c.test.rs", "foo"),
        (".hidden/d.rs", "foo"),
        (".git/e.rs", "foo"),
    ]);
    let files = |types: &[&str], globs: &[&str]| {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        lines(&tree, &GrepQuery { mode: GrepMode::Counts, types: owned(types), globs: owned(globs), ..content("foo") })
    };
    assert_eq!(files(&["rust"], &[]), [".hidden/d.rs:1", "a.rs:1", "src/b.rs:1", "src/c.test.rs:1"]);
    assert_eq!(files(&["rust", "py"], &["a.*"]), ["a.py:1", "a.rs:1"]);
    assert_eq!(files(&[], &["*.rs", "!*.test.rs"]), [".hidden/d.rs:1", "a.rs:1", "src/b.rs:1"]);
    assert_eq!(files(&[], &["src/**"]), ["src/b.rs:1", "src/c.test.rs:1"]);
    assert_eq!(files(&[], &["!src"]), [".hidden/d.rs:1", "a.py:1", "a.rs:1"]);
    assert_eq!(files(&[], &["ignored.rs"]), [""; 0]);
    assert_eq!(files(&[], &["*.{py,go}"]), ["a.py:1"]);
}

#[test]
fn mistakes_come_with_advice() {
    let tree = Tree::new();
    let error = |query: GrepQuery| found(&query, tree.scope()).unwrap_err().to_string();
    for (pattern, expected) in [
        ("", "empty"),
        ("foo(", r"use `foo\(`"),
        ("interface{}", r"use `interface\{\}`"),
        ("a\\nb", "`multiline`"),
        ("(?<!x)y", "look-around"),
        (r"(a)\1", "backreferences"),
        (r"\p{Greek}{9999999}", "size limit"),
    ] {
        let error = error(content(pattern));
        assert!(error.contains(expected), "{pattern}: {error}");
        assert!(!error.contains('\n'), "{error}");
    }
    let unknown = |name: &str| error(GrepQuery { types: vec![name.to_owned()], ..content("x") });
    assert!(unknown("rs").contains("did you mean `rust`"), "{}", unknown("rs"));
    assert!(unknown("nosuch").contains("`*.nosuch`"), "{}", unknown("nosuch"));
    let glob = error(GrepQuery { globs: vec!["{a".to_owned()], ..content("x") });
    assert!(glob.contains("invalid glob `{a`"), "{glob}");
}

#[test]
fn binary_files_are_left_out_and_encodings_are_read() {
    let tree = Tree::new();
    tree.write("binary", b"foo\0bar\n", 0);
    tree.write("latin1", b"foo \xe9\n", 0);
    tree.write("bom", b"\xef\xbb\xbffoo\n", 0);
    let utf16: Vec<u8> = "\u{feff}foo ü\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    tree.write("utf16", utf16, 0);
    tree.write("empty", b"", 0);
    assert_eq!(lines(&tree, &content("^foo")), ["bom:1:foo", "latin1:1:foo \u{fffd}", "utf16:1:foo ü"]);
}

#[test]
fn long_lines_are_cut_around_the_match() {
    let tree = Tree::new();
    let line = format!("{}needle{}\n", "ä".repeat(5_000), "ö".repeat(5_000));
    tree.write("long", format!("{line}short needle\n"), 0);
    let found = lines(&tree, &content("needle"));
    assert!(found[0].contains("needle") && found[0].len() < 900, "{}", found[0]);
    assert!(found[0].starts_with("long:1:[9800 bytes cut] ää"), "{}", found[0]);
    assert!(found[0].ends_with("öö [9406 bytes cut]"), "{}", found[0]);
    assert_eq!(found[1], "long:2:short needle");
}

#[test]
fn large_files_are_searched_and_endless_lines_are_not_kept() {
    let tree = Tree::new();
    let mut large = "a line of no interest\n".repeat(200_000);
    large.push_str("needle\n");
    tree.write("large", large, 0);
    tree.write("line", vec![b'x'; 40 * 1024 * 1024], 0);
    let found = outcome(&tree, &content("needle|xy"));
    assert_eq!(found.too_large, 1);
    assert_eq!(shown(&tree, found.found), ["large:200001:needle"]);
}

#[test]
fn a_result_is_as_large_as_asked_whatever_there_is() {
    let tree = Tree::new();
    for n in 0..20 {
        tree.write(&format!("f{n:02}"), "foo\n".repeat(100_000), 0);
    }
    let query = GrepQuery { limit: Some(3), offset: 99_999, ..content("foo") };
    let found = outcome(&tree, &query);
    assert!(found.more && found.total_lines.is_none());
    assert_eq!(shown(&tree, found.found), ["f00:100000:foo", "f01:1:foo", "f01:2:foo"]);
    let all = outcome(&tree, &content("foo"));
    let GrepFound::Content(files) = all.found else { panic!("not content") };
    assert_eq!(files.iter().map(|(_, lines)| lines.len()).sum::<usize>(), MAX_ENTRIES);
    assert!(all.more);
}

#[test]
fn a_file_that_was_named_is_searched_whatever_its_name() {
    let tree = Tree::with(&[(".gitignore", "*.log\n"), ("x.log", "foo\n")]);
    let query = GrepQuery { globs: vec!["*.rs".to_owned()], ..content("foo") };
    let found = found(&query, tree.scope_of("x.log")).unwrap();
    assert_eq!(shown(&tree, found.found), ["x.log:1:foo"]);
}

#[test]
fn what_is_not_allowed_is_not_opened() {
    let tree = Tree::with(&[("a", "foo"), ("secret/b", "foo"), ("c.secret", "foo")]);
    let scope = tree.scope_where(|path| !path.to_string_lossy().contains("secret"));
    for mode in [GrepMode::Files, GrepMode::Counts, GrepMode::Content] {
        let found = found(&GrepQuery { mode, ..content("foo") }, scope.clone()).unwrap();
        let found = shown(&tree, found.found);
        assert!(found.len() == 1 && found[0].starts_with('a'), "{found:?}");
    }
}

#[test]
fn a_large_file_does_not_hold_up_the_end() {
    let tree = Tree::new();
    tree.write("large", "nothing here\n".repeat(1_000_000), 0);
    for why in [WalkInterrupt::Cancelled, WalkInterrupt::TimedOut] {
        let (scope, calls) = tree.scope_until(5, why);
        let found = found(&content("x"), scope).unwrap();
        assert_eq!(found.report.interrupted, Some(why));
        // Not read to its end: 13 MB are more than two hundred reads.
        assert!(calls.load(Ordering::Relaxed) < 20);
    }
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::sync::atomic::AtomicBool;

    #[test]
    fn links_and_special_files_are_left_alone() {
        let tree = Tree::with(&[("in/a", "foo"), ("out/secret", "foo")]);
        symlink("../out/secret", tree.root.join("in/link")).unwrap();
        symlink("../out", tree.root.join("in/dir")).unwrap();
        let mode = rustix::fs::Mode::from_bits_truncate(0o600);
        let pipe = tree.root.join("in/pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
        let inside = found(&content("foo"), tree.scope_of("in")).unwrap();
        assert_eq!(shown(&tree, inside.found), ["in/a:1:foo"]);
        // A pipe that is named itself is not waited for either.
        let inside = found(&content("foo"), tree.scope_of("in/pipe")).unwrap();
        assert_eq!(shown(&tree, inside.found), [""; 0]);
    }

    /// Ends the other thread also when an assertion fails.
    struct StopOnDrop<'a>(&'a AtomicBool);

    impl Drop for StopOnDrop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }

    #[test]
    fn a_swap_race_never_shows_what_is_outside() {
        let tree = Tree::with(&[("in/dir/file", "foo inside\n"), ("out/file", "foo OUTSIDE\n")]);
        let stop = AtomicBool::new(false);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                let (dir, aside) = (tree.root.join("in/dir"), tree.root.join("aside"));
                let (file, leaf) = (dir.join("file"), tree.root.join("leaf"));
                while !stop.load(Ordering::Relaxed) {
                    fs::rename(&dir, &aside).unwrap();
                    symlink("../out", &dir).unwrap();
                    fs::remove_file(&dir).unwrap();
                    fs::rename(&aside, &dir).unwrap();
                    fs::rename(&file, &leaf).unwrap();
                    symlink("../../out/file", &file).unwrap();
                    fs::remove_file(&file).unwrap();
                    fs::rename(&leaf, &file).unwrap();
                }
            });
            let _stop = StopOnDrop(&stop);
            let mut seen = 0;
            for _ in 0..1_500 {
                let found = found(&content("foo"), tree.scope_of("in")).unwrap();
                for line in shown(&tree, found.found) {
                    assert_eq!(line, "in/dir/file:1:foo inside");
                    seen += 1;
                }
            }
            assert!(seen > 0);
        });
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, fork: false, ..ProptestConfig::default() })]

    /// Lines with context, by the simplest means.
    #[test]
    fn agrees_with_a_scan_of_the_lines(
        files in prop::collection::btree_map("([ab]/){0,2}[ab]{1,2}", "([abc ]{0,4}\n){0,12}[abc]{0,3}", 1..8),
        pattern in "[abc]{1,2}|[ab]\\+c|\\^[ab]|c\\$|\\^\\$",
        before in 0_usize..3,
        after in 0_usize..3,
    ) {
        let tree = Tree::new();
        let files: Vec<_> = files.into_iter().filter(|(path, _)| {
            let at = tree.root.join(path);
            // A file and a folder cannot have one name.
            !at.exists() && at.parent().is_some_and(|dir| std::fs::create_dir_all(dir).is_ok())
                && { tree.write(path, "", 0); true }
        }).collect();
        let regex = grep_regex::RegexMatcherBuilder::new().build(&pattern).unwrap();
        let is_match = |line: &str| grep_matcher::Matcher::is_match(&regex, line.as_bytes()).unwrap();
        let mut expected: Vec<(PathBuf, Vec<String>)> = Vec::new();
        for (path, text) in &files {
            tree.write(path, text, 0);
            let lines: Vec<&str> = text.lines().collect();
            let hits: Vec<bool> = lines.iter().map(|line| is_match(line)).collect();
            let near = |n: usize| {
                let to = (n + before + 1).min(hits.len());
                hits[n.saturating_sub(after)..to].iter().any(|hit| *hit)
            };
            let mut out = Vec::new();
            let mut last = None;
            for (n, line) in lines.iter().enumerate().filter(|(n, _)| near(*n)) {
                if before + after > 0 && last.is_none_or(|last| last + 1 < n) {
                    out.push("--".to_owned());
                }
                let mark = if hits[n] { ':' } else { '-' };
                out.push(format!("{path}{mark}{}{mark}{line}", n + 1));
                last = Some(n);
            }
            expected.push((PathBuf::from(path), out));
        }
        expected.sort();
        let mut whole: Vec<String> = expected.into_iter().flat_map(|(_, lines)| lines).collect();
        if whole.first().is_some_and(|line| line == "--") {
            whole.remove(0);
        }
        let query = GrepQuery { before, after, ..content(&pattern) };
        prop_assert_eq!(lines(&tree, &query), whole);
    }

    /// Pages put one after the other are the whole, in every mode.
    #[test]
    fn pages_make_up_the_whole(
        sizes in prop::collection::vec(0_usize..12, 1..12),
        limit in 1_usize..7,
        around in 0_usize..2,
        mode in prop::sample::select(vec![GrepMode::Files, GrepMode::Counts, GrepMode::Content]),
    ) {
        let tree = Tree::new();
        for (n, size) in sizes.iter().enumerate() {
            tree.write(&format!("{}/{n}", n % 3), "foo\nno\nno\nno\n".repeat(*size), (n as u64 * 5) % 4);
        }
        let query = GrepQuery { mode, before: around, after: around, ..content("foo") };
        let whole = outcome(&tree, &query);
        prop_assert!(!whole.more);
        let whole = shown(&tree, whole.found);
        let mut pages = Vec::new();
        loop {
            let page = outcome(&tree, &GrepQuery { limit: Some(limit), offset: pages.len(), ..query.clone() });
            let more = page.more;
            let page = shown(&tree, page.found);
            prop_assert!(page.len() == limit || !more);
            pages.extend(page);
            prop_assert_eq!(more, pages.len() < whole.len());
            if !more {
                break;
            }
        }
        prop_assert_eq!(pages, whole);
    }
}
