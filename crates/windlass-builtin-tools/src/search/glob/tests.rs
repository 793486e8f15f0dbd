use super::*;
use crate::search::testing::Tree;
use futures::executor::block_on;
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;
use windlass_local::LocalWorkspace;

fn names(tree: &Tree, pattern: &str) -> Vec<String> {
    found(tree, pattern, tree.scope(), 100)
}

fn search(pattern: &GlobPattern, scope: WalkScope, limit: usize) -> GlobOutcome {
    block_on(GlobSearch::run(pattern, &LocalWorkspace::new(), scope, limit)).unwrap()
}

fn found(tree: &Tree, pattern: &str, mut scope: WalkScope, limit: usize) -> Vec<String> {
    let pattern = GlobPattern::parse(pattern).unwrap();
    scope.root = tree.root.join(pattern.base());
    let outcome = search(&pattern, scope, limit);
    outcome.paths.iter().map(|path| tree.relative(path)).collect()
}

#[test]
fn patterns_mean_what_people_expect() {
    let tree = Tree::with(&[
        ("main.rs", ""),
        ("src/lib.rs", ""),
        ("src/deep/er/mod.rs", ""),
        ("src/a.ts", ""),
        ("src/b.tsx", ""),
        (".github/workflows/ci.yml", ""),
        (".git/config.rs", ""),
        ("with space/[x].md", ""),
        ("app/[id]/+page.ts", ""),
        ("app/[id]/deep/+page.tsx", ""),
        ("app/i/+page.ts", ""),
        ("{{name}}/a.py", ""),
    ]);
    for (pattern, expected) in [
        ("**/*.rs", &["src/deep/er/mod.rs", "src/lib.rs", "main.rs"][..]),
        ("*.rs", &["main.rs"]),
        ("./*.rs", &["main.rs"]),
        ("src/**/*.rs", &["src/deep/er/mod.rs", "src/lib.rs"]),
        ("src/*", &["src/b.tsx", "src/a.ts", "src/lib.rs"]),
        ("src/*.{ts,tsx}", &["src/b.tsx", "src/a.ts"]),
        ("{main,src/lib}.rs", &["src/lib.rs", "main.rs"]),
        ("src/lib.rs", &["src/lib.rs"]),
        ("src/", &["src/b.tsx", "src/a.ts", "src/deep/er/mod.rs", "src/lib.rs"]),
        ("s?c/[ab].*", &["src/b.tsx", "src/a.ts"]),
        ("src/[!ab]*", &["src/lib.rs"]),
        ("**/*.yml", &[".github/workflows/ci.yml"]),
        ("with space/\\[x\\].md", &["with space/[x].md"]),
        ("with space/[x].md", &["with space/[x].md"]),
        ("app/[id]/+page.ts", &["app/i/+page.ts", "app/[id]/+page.ts"]),
        ("app/[id]/**/*.tsx", &["app/[id]/deep/+page.tsx"]),
        ("app/[id]/*.{ts,tsx}", &["app/i/+page.ts", "app/[id]/+page.ts"]),
        ("**/[id]/+page.ts", &["app/i/+page.ts", "app/[id]/+page.ts"]),
        ("{{name}}/a.py", &["{{name}}/a.py"]),
        ("**/config.rs", &[]),
        ("*.RS", &[]),
        ("nowhere/*.rs", &[]),
    ] {
        assert_eq!(names(&tree, pattern), expected, "{pattern}");
    }
}

#[test]
fn unusable_patterns_are_explained() {
    for (pattern, expected) in [
        ("", "empty"),
        ("  ", "empty"),
        ("src/*/../x", "`..`"),
        ("{a,b", "unclosed alternate"),
        ("[a", "unclosed character class"),
        (&"a".repeat(5000), "longer"),
    ] {
        let error = GlobPattern::parse(pattern).unwrap_err().to_string();
        assert!(error.contains(expected), "{pattern}: {error}");
    }
}

#[test]
fn the_base_is_the_part_without_wildcards() {
    for (pattern, base, rest) in [
        ("/etc/*.conf", "/etc", "*.conf"),
        ("../other/**/x", "../other", "**/x"),
        ("a/b/c", "a/b", "c"),
        ("/", "/", "**"),
        ("a//b/*", "a/b", "*"),
        ("a{b,c}/d", "", "a{b,c}/d"),
    ] {
        let parsed = GlobPattern::parse(pattern).unwrap();
        assert_eq!((parsed.base(), parsed.rest()), (Path::new(base), rest), "{pattern}");
    }
}

#[test]
fn ignore_files_count_unless_asked_otherwise() {
    let tree = Tree::with(&[
        (".gitignore", "/target\n*.log\n!keep.log\n"),
        (".ignore", "private.txt\n"),
        ("a.txt", ""),
        ("private.txt", ""),
        ("x.log", ""),
        ("keep.log", ""),
        ("target/debug/out.txt", ""),
        ("sub/.gitignore", "b.txt\n"),
        ("sub/b.txt", ""),
    ]);
    assert_eq!(names(&tree, "**/*.{txt,log}"), ["keep.log", "a.txt"]);
    // A folder that the pattern names itself is searched.
    assert_eq!(names(&tree, "target/debug/*.txt"), ["target/debug/out.txt"]);
    let mut all = tree.scope();
    all.include_ignored = true;
    assert_eq!(found(&tree, "**/*.{txt,log}", all, 100).len(), 6);
}

#[test]
fn only_the_newest_are_kept_and_all_are_counted() {
    let tree = Tree::new();
    for age in 0..50 {
        tree.write(&format!("dir{}/f{age:02}", age % 3), "", age);
    }
    let pattern = GlobPattern::parse("**/f*").unwrap();
    let outcome = search(&pattern, tree.scope(), 4);
    let names: Vec<String> = outcome.paths.iter().map(|path| tree.relative(path)).collect();
    assert_eq!(names, ["dir0/f00", "dir1/f01", "dir2/f02", "dir0/f03"]);
    assert_eq!(outcome.total, 50);
}

#[test]
fn what_is_not_allowed_is_neither_entered_nor_listed() {
    let tree = Tree::with(&[("a/x", ""), ("secret/x", ""), ("secret/deep/x", ""), ("b/secret.x", "")]);
    let asked_inside = Arc::new(AtomicUsize::new(0));
    let (root, asked) = (tree.root.clone(), Arc::clone(&asked_inside));
    let scope = tree.scope_where(move |path| {
        let path = path.strip_prefix(&root).unwrap();
        if path.starts_with("secret") && path != Path::new("secret") {
            asked.fetch_add(1, Ordering::Relaxed);
        }
        path != Path::new("secret") && path != Path::new("b/secret.x")
    });
    assert_eq!(found(&tree, "**/*x", scope, 10), ["a/x"]);
    assert_eq!(asked_inside.load(Ordering::Relaxed), 0);
}

#[test]
fn a_stopped_search_says_so_and_returns() {
    let tree = Tree::with(&[("a", ""), ("b", ""), ("c", "")]);
    for why in [WalkInterrupt::Cancelled, WalkInterrupt::TimedOut] {
        let pattern = GlobPattern::parse("**").unwrap();
        let outcome = search(&pattern, tree.scope_until(1, why).0, 10);
        assert_eq!(outcome.report.interrupted, Some(why));
        assert!(outcome.total < 3);
    }
}

#[cfg(unix)]
#[test]
fn links_are_listed_only_when_they_stay_inside() {
    use std::os::unix::fs::symlink;
    let tree = Tree::with(&[("in/file.md", ""), ("out/secret.md", "")]);
    let at = tree.root.join("in");
    symlink("file.md", at.join("link.md")).unwrap();
    symlink("../out/secret.md", at.join("leak.md")).unwrap();
    symlink("../out", at.join("dir")).unwrap();
    symlink("nowhere", at.join("dangling.md")).unwrap();
    symlink("loop.md", at.join("loop.md")).unwrap();
    let mut names = names(&tree, "in/**/*.md");
    names.sort();
    assert_eq!(names, ["in/file.md", "in/link.md"]);
    let visible = tree.scope_where(|path| !path.ends_with("file.md"));
    assert_eq!(found(&tree, "in/**/*.md", visible, 10), [""; 0]);
}

/// Every file below a folder, by the simplest means.
fn all_files(dir: &Path, into: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(dir).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            all_files(&entry.path(), into);
        } else {
            into.push(entry.path());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, fork: false, ..ProptestConfig::default() })]

    #[test]
    fn agrees_with_matching_every_path(
        files in prop::collection::btree_set("([ab]{1,2}/){0,3}[ab]{1,2}\\.[xy]", 1..25),
        pattern in "(\\./)?(([ab]{1,2}|\\*|a\\*|\\*\\*|[ab]\\?|\\{a,b\\})/){0,3}(\\*|\\*\\.x|a\\*|[ab]{1,2}\\.x|\\*\\*|\\{a,b\\}\\.\\*|[ab]{1,2}/)",
    ) {
        let tree = Tree::new();
        for (age, file) in files.iter().enumerate() {
            tree.write(file, "", (age as u64 * 7) % 5);
        }
        let plain = pattern.trim_start_matches("./");
        let whole = if plain.ends_with('/') { format!("{plain}**") } else { plain.to_owned() };
        let matcher = GlobBuilder::new(&whole).literal_separator(true).build().unwrap().compile_matcher();
        let mut all = Vec::new();
        all_files(&tree.root, &mut all);
        let mut expected: Vec<(std::cmp::Reverse<SystemTime>, PathBuf)> = all
            .into_iter()
            .filter(|path| matcher.is_match(path.strip_prefix(&tree.root).unwrap()))
            .map(|path| (std::cmp::Reverse(path.metadata().unwrap().modified().unwrap()), path))
            .collect();
        expected.sort();
        let expected: Vec<String> = expected.iter().map(|(_, path)| tree.relative(path)).collect();
        prop_assert_eq!(names(&tree, &pattern), expected);
    }
}
