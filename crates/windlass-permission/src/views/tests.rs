use super::pathspec::MAX_COLONS;
use super::*;
use windlass_shell::analyse;

/// Returns the paths that a command shows from `/w/sub`, where `sub` is below the workspace `/w`.
fn paths(text: &str) -> Vec<String> {
    let analysis = analyse(text);
    let there = |path: &Path| match path.to_str() {
        Some("/w/sub/src" | "/w/sub") => Standing::Directory,
        Some("/w/sub/a.txt") => Standing::Leaf,
        _ => Standing::Missing,
    };
    let command = &analysis.found()[0];
    let shown = shown(command.words(), &["/w/sub".into()], &["/w".into()], &there);
    shown.iter().map(|shown| format!("{}{}", shown.path.display(), if shown.tree { "/" } else { "" })).collect()
}

#[test]
fn summaries_show_no_content() {
    for text in [
        "git status",
        "git log --oneline -5",
        "git log --stat --color",
        "git log -S foo --oneline",
        "git log --full-diff --stat a.txt",
        "git bisect visualize --oneline",
        "git bisect log",
        "git diff --stat HEAD",
        "git diff -w --stat",
        "git diff --cached --name-only",
        "git diff -S foo --stat",
        "git show --no-renames --stat",
        "git diff --name-only",
        "git show -s HEAD",
        "git show --stat=80 HEAD",
        "git stash -u",
        "git stash show",
        "git stash list",
        "git add -u",
        "git commit -m 'show it'",
        "git checkout -b x",
        "git worktree list",
        "git push -u origin main",
        "git branch -c a b",
        "git status -sb",
        "git status -uno",
        "git stash push -m verbose",
        "git stash show --stat",
        "git stash list --stat",
        "git commit -v -m 'show it'",
        "git commit -mpatch",
        "git checkout -bp",
        "git add --verbose a.txt",
        "git add -v a.txt",
        "git cat-file -t abc",
        "git cat-file -p HEAD",
        "git cat-file -p @",
        "git branch -a",
        "git ls-files",
        "ls -p",
        "hg status",
        "hg log -l 5",
        "svn info",
        "gh pr list",
        "jj log",
        "git read-tree HEAD",
        "git rebase main",
        "git --work-tree=x status",
    ] {
        assert_eq!(paths(text), [""; 0], "{text}");
    }
}

#[test]
fn what_is_not_narrowed_shows_everything() {
    for text in [
        "git log -p",
        "git merge-tree HEAD a b",
        "git read-tree -u --prefix=x/ HEAD",
        "git subtree add --prefix x . HEAD",
        "git --work-tree=x checkout HEAD -- .",
        "git --work-tree x restore .",
        "git am --show-current-patch",
        "git rebase --show",
        "hg diff",
        "hg log -p",
        "hg -R . cat x",
        "jj show",
        "svn diff -r 1",
        "gh pr diff 3",
        "git diff -I --stat",
        "git diff -wS --stat",
        "git diff --src-prefix --name-only",
        "git diff --quiet --no-quiet",
        "git show --stat --no-no-patch",
        "git show --skip-to -s",
        "git status -v",
        "git status -vv",
        "git status -sv",
        "git status --verb",
        "git log --patch-with-s",
        "git diff --check",
        "git stash list --patch-with-raw",
        "git stash show --color",
        "git stash --patc",
        "git stash push --staged",
        "git commit --dry-run -v",
        "git commit -va --short",
        "git commit -ap",
        "git commit --interactive",
        "git add -e",
        "git add -up",
        "git checkout -p",
        "git restore --staged -p",
        "git log --submodule=diff",
        "git log --patc",
        "git log -U0 --oneline",
        "git log -c -1",
        "git log --stat -p",
        "git diff",
        "git diff HEAD~3",
        "git diff --stat --patch",
        "git show abc",
        "git show abc -- ':!src'",
        "git diff ':/some message'",
        "git grep foo",
        "git archive HEAD",
        "git stash show -p",
        "git stash show -U3",
        "git stash show --patc",
        "git worktree add ../x",
        "git diff ':!src'",
        "git diff ':^src'",
        "git show HEAD:1:2:3:4:5:6:7:8:x",
        "git --paginate log -p",
        "git --attr-source HEAD log -p",
        "git --config-env a.b=C log -p",
        "git --shallow-file x log -p",
        "git --config-env alias.x=C x",
        "git --config-env=alias.x=C x",
        "git add -p",
        "git cat-file -p abcdef",
        "git cat-file --batch",
        "git cat-file blob abcdef",
        "git -C deep log -p",
        "git -c alias.x='show HEAD:a' x",
        "git show HEAD:",
        "git diff -- ':(top,glob)*/x'",
        "/usr/bin/git -c a=b --no-pager diff",
    ] {
        assert!(paths(text).contains(&"/w/".to_owned()), "{text} {:?}", paths(text));
    }
}

#[test]
fn options_lead_beyond_the_paths_and_their_values_narrow_nothing() {
    for text in [
        "git log --full-diff -p a.txt",
        "git log -p --full-diff -- a.txt",
        "git show --full-d HEAD -- a.txt",
        "git log --follow -p a.txt",
        "git log -p --author a.txt",
        "git log -p -S a.txt",
        "git diff HEAD --output a.txt",
        "git grep a.txt",
        "git grep -n a.txt HEAD",
        "git grep -- a.txt",
        "git grep -f a.txt",
        "git grep -nf a.txt",
        "git grep -A a.txt x",
        "git grep --max-depth a.txt x",
        "git difftool -x a.txt",
        "git difftool --extcmd a.txt",
        "git bisect visualize",
        "git bisect view -p",
    ] {
        assert!(paths(text).contains(&"/w/".to_owned()), "{text} {:?}", paths(text));
    }
}

#[test]
fn paths_narrow_what_is_shown() {
    for (text, expected) in [
        ("git diff -- src x", &["/w/sub/src/", "/w/sub/x/"][..]),
        ("git diff src", &["/w/sub/src/"]),
        ("git diff HEAD a.txt", &["/w/sub/a.txt"]),
        ("git log -p -- 'src/*.rs'", &["/w/sub/src/"]),
        ("git log -p -- '*.rs'", &["/w/sub/"]),
        // A place of secrets may be in the history alone.
        ("git log -p -- 'src/*.key'", &["/w/sub/src/", "/w/sub/src/x.key"]),
        ("git log -p -- ':(top)*.key'", &["/w/sub/x.key", "/w/sub/", "/w/x.key", "/w/"]),
        ("git archive HEAD .env", &["/w/sub/.env", "/w/sub/.env/"]),
        ("git log -p -- .env", &["/w/sub/.env", "/w/sub/.env/"]),
        ("git diff -- ':(literal)a*b/c'", &["/w/sub/a*b/c/"]),
        ("git diff -- ':(top)x'", &["/w/sub/x/", "/w/x/"]),
        ("git diff -- :/x", &["/w/sub/x/", "/w/x/"]),
        ("git diff HEAD:x HEAD~:x", &["/w/sub/x/", "/w/sub/x/", "/w/x/", "/w/x/"]),
        ("git show HEAD:x/y", &["/w/sub/x/y", "/w/x/y"]),
        ("git show 'HEAD@{2020-01-01 00:00}:x'", &["/w/sub/00}:x", "/w/sub/x", "/w/00}:x", "/w/x"]),
        ("git show HEAD:./x", &["/w/sub/x"]),
        ("git show HEAD:../x", &["/w/x"]),
        ("git show :x", &["/w/sub/x", "/w/x"]),
        ("git show :2:x", &["/w/sub/2:x", "/w/sub/x", "/w/2:x", "/w/x"]),
        ("git cat-file -p HEAD:x", &["/w/sub/x", "/w/x"]),
        ("git cat-file blob HEAD:x", &["/w/sub/x", "/w/x"]),
        // The path is a file now and here, and may have been a directory, or be one at the top.
        ("git log -p -- 'a.txt/*'", &["/w/sub/a.txt/"]),
        ("git diff -- :/a.txt", &["/w/sub/a.txt/", "/w/a.txt/"]),
        ("git blame -L 1,2 gone", &["/w/sub/1,2", "/w/sub/gone"]),
        ("git log -L1,2:x", &["/w/sub/x"]),
        ("git log -L 1,2:x", &["/w/sub/x", "/w/x"]),
        ("git grep foo -- src", &["/w/sub/src/"]),
        ("git -C src diff -- ../x", &["/w/sub/x/"]),
    ] {
        assert_eq!(paths(text), expected, "{text}");
    }
}

#[test]
fn a_word_of_many_colons_adds_few_paths() {
    let word = format!("git show HEAD{}", ":x".repeat(200));
    let paths = paths(&word);
    assert!(paths.contains(&"/w/".to_owned()), "{paths:?}");
    assert_eq!(paths.len(), 1 + 2 * MAX_COLONS);
}
