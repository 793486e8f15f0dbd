//! Reading sub-commands of git.
//!
//! Even these run programs that the repository's configuration or attributes name (pagers, file system monitors,
//! external and text-converting diff drivers, filters, signature checkers): see [`Effect::Git`].

use super::{
    Classification, Effect, Findings, PathOperand,
    options::{Operands, Spec, parse},
};
use crate::Word;

const ANY: Operands = Operands::Files(usize::MAX);

/// Options of `log`, `show`, `diff` and their kin. Left out: `--output` (writes), `--ext-diff`, `--textconv`,
/// `--show-signature` (run programs), `--no-index` (reads outside).
const HISTORY_LONG: &[&str] = &[
    "abbrev?",
    "abbrev-commit",
    "after=",
    "all",
    "all-match",
    "ancestry-path?",
    "anchored=",
    "author=",
    "author-date-order",
    "base",
    "basic-regexp",
    "before=",
    "binary",
    "boundary",
    "branches?",
    "break-rewrites?",
    "cached",
    "cc",
    "check",
    "cherry",
    "cherry-mark",
    "cherry-pick",
    "children",
    "clear-decorations",
    "color?",
    "color-moved?",
    "color-moved-ws=",
    "color-words?",
    "combined-all-paths",
    "committer=",
    "compact-summary",
    "count",
    "cumulative",
    "date=",
    "date-order",
    "decorate?",
    "decorate-refs=",
    "decorate-refs-exclude=",
    "default-prefix",
    "dense",
    "diff-algorithm=",
    "diff-filter=",
    "diff-merges=",
    "dirstat?",
    "dst-prefix=",
    "encoding=",
    "exclude=",
    "exit-code",
    "expand-tabs?",
    "extended-regexp",
    "find-copies?",
    "find-copies-harder",
    "find-renames?",
    "first-parent",
    "fixed-strings",
    "follow",
    "format=",
    "full-history",
    "full-index",
    "function-context",
    "glob=",
    "graph",
    "grep=",
    "histogram",
    "ignore-all-space",
    "ignore-blank-lines",
    "ignore-cr-at-eol",
    "ignore-matching-lines=",
    "ignore-space-at-eol",
    "ignore-space-change",
    "ignore-submodules?",
    "indent-heuristic",
    "inter-hunk-context=",
    "invert-grep",
    "irreversible-delete",
    "left-only",
    "left-right",
    "line-prefix=",
    "log-size",
    "mailmap",
    "max-age=",
    "max-count=",
    "max-parents=",
    "merge-base",
    "merges",
    "min-age=",
    "min-parents=",
    "minimal",
    "name-only",
    "name-status",
    "no-abbrev",
    "no-abbrev-commit",
    "no-color",
    "no-color-moved",
    "no-commit-id",
    "no-decorate",
    "no-diff-merges",
    "no-expand-tabs",
    "no-ext-diff",
    "no-indent-heuristic",
    "no-mailmap",
    "no-max-parents",
    "no-merges",
    "no-min-parents",
    "no-notes",
    "no-patch",
    "no-prefix",
    "no-relative",
    "no-rename-empty",
    "no-renames",
    "no-textconv",
    "no-use-mailmap",
    "no-walk?",
    "not",
    "notes?",
    "numstat",
    "objects",
    "oneline",
    "ours",
    "output-indicator-context=",
    "output-indicator-new=",
    "output-indicator-old=",
    "parents",
    "patch",
    "patch-with-stat",
    "patience",
    "perl-regexp",
    "pickaxe-all",
    "pickaxe-regex",
    "pretty?",
    "quiet",
    "raw",
    "reflog",
    "regexp-ignore-case",
    "relative?",
    "relative-date",
    "remotes?",
    "remove-empty",
    "reverse",
    "right-only",
    "shortstat",
    "show-linear-break?",
    "show-notes?",
    "show-pulls",
    "simplify-by-decoration",
    "simplify-merges",
    "since=",
    "skip=",
    "source",
    "sparse",
    "src-prefix=",
    "staged",
    "stat?",
    "stat-count=",
    "stat-graph-width=",
    "stat-name-width=",
    "stat-width=",
    "summary",
    "tags?",
    "text",
    "theirs",
    "timestamp",
    "topo-order",
    "unified=",
    "until=",
    "use-mailmap",
    "walk-reflogs",
    "word-diff?",
    "word-diff-regex=",
    "ws-error-highlight=",
];

const fn history(name: &'static str) -> Spec {
    Spec::new(name, "pusDwbamctzgiEFPrRsWqMCB1234567890", "nLSGUI", ANY).long(HISTORY_LONG).number()
}

const BLAME_LONG: &[&str] = &[
    "abbrev=",
    "color-by-age",
    "color-lines",
    "date=",
    "ignore-rev=",
    "incremental",
    "line-porcelain",
    "porcelain",
    "root",
    "score-debug",
    "show-email",
    "show-name",
    "show-number",
    "since=",
];

const GREP_LONG: &[&str] = &[
    "after-context=",
    "all-match",
    "and",
    "before-context=",
    "break",
    "cached",
    "color?",
    "column",
    "context=",
    "count",
    "exclude-standard",
    "extended-regexp",
    "files-with-matches",
    "files-without-match",
    "fixed-strings",
    "full-name",
    "function-context",
    "heading",
    "ignore-case",
    "invert-match",
    "line-number",
    "max-count=",
    "max-depth=",
    "name-only",
    "no-color",
    "not",
    "null",
    "only-matching",
    "or",
    "perl-regexp",
    "quiet",
    "show-function",
    "text",
    "untracked",
    "word-regexp",
];

const REV_PARSE_LONG: &[&str] = &[
    "abbrev-ref?",
    "absolute-git-dir",
    "all",
    "branches?",
    "git-common-dir",
    "git-dir",
    "git-path=",
    "is-bare-repository",
    "is-inside-git-dir",
    "is-inside-work-tree",
    "is-shallow-repository",
    "quiet",
    "remotes?",
    "short?",
    "show-cdup",
    "show-object-format?",
    "show-prefix",
    "show-superproject-working-tree",
    "show-toplevel",
    "symbolic",
    "symbolic-full-name",
    "tags?",
    "verify",
];

const REF_LONG: &[&str] = &[
    "abbrev=",
    "all",
    "branches",
    "color?",
    "column?",
    "contains?",
    "count=",
    "exclude-existing",
    "format=",
    "head",
    "heads",
    "ignore-case",
    "list",
    "merged?",
    "no-color",
    "no-column",
    "no-contains?",
    "no-merged?",
    "omit-empty",
    "points-at=",
    "quiet",
    "remotes",
    "show-current",
    "sort=",
    "tags",
    "verbose",
    "verify",
];

const LS_LONG: &[&str] = &[
    "abbrev?",
    "cached",
    "deduplicate",
    "deleted",
    "directory",
    "eol",
    "error-unmatch",
    "exclude-standard",
    "exclude=",
    "format=",
    "full-name",
    "full-tree",
    "ignored",
    "killed",
    "long",
    "modified",
    "name-only",
    "name-status",
    "no-empty-directory",
    "object-only",
    "others",
    "stage",
    "unmerged",
];

const STATUS_LONG: &[&str] = &[
    "ahead-behind",
    "branch",
    "column?",
    "find-renames?",
    "ignore-submodules?",
    "ignored?",
    "long",
    "no-ahead-behind",
    "no-column",
    "no-renames",
    "porcelain?",
    "renames",
    "short",
    "show-stash",
    "untracked-files?",
    "verbose",
];

const SUBCOMMANDS: &[Spec] = &[
    Spec::new("annotate", "bcefklnpstw", "CLM", ANY).long(BLAME_LONG),
    Spec::new("blame", "bcefklnpstw", "CLM", ANY).long(BLAME_LONG),
    Spec::new("branch", "arvlqi", "", ANY).long(REF_LONG),
    Spec::new("cat-file", "pste", "", ANY),
    Spec::new("check-attr", "az", "", ANY).long(&["all", "cached"]),
    Spec::new("check-ignore", "qvnz", "", ANY).long(&["no-index", "non-matching", "quiet", "verbose"]),
    Spec::new("cherry", "v", "", ANY).long(&["abbrev?"]),
    Spec::new("count-objects", "vH", "", Operands::Files(0)).long(&["human-readable", "verbose"]),
    Spec::new("describe", "", "", ANY).long(&[
        "abbrev=",
        "all",
        "always",
        "broken?",
        "candidates=",
        "contains",
        "dirty?",
        "exact-match",
        "exclude=",
        "first-parent",
        "long",
        "match=",
        "tags",
    ]),
    history("diff"),
    history("diff-files"),
    history("diff-index"),
    history("diff-tree"),
    Spec::new("for-each-ref", "", "", ANY).long(REF_LONG),
    Spec::new("grep", "aivwhHIEGPFnlLzcopWq", "ABCem", ANY).long(GREP_LONG).number(),
    history("log"),
    Spec::new("ls-files", "cdmoiuksztv", "x", ANY).long(LS_LONG),
    Spec::new("ls-tree", "drtlz", "", ANY).long(LS_LONG),
    Spec::new("merge-base", "a", "", ANY).long(&["all", "fork-point", "independent", "is-ancestor", "octopus"]),
    Spec::new("name-rev", "", "", ANY).long(&["all", "always", "name-only", "tags"]),
    history("range-diff"),
    Spec::new("rev-list", "nr1234567890", "n", ANY).long(HISTORY_LONG).number(),
    Spec::new("rev-parse", "q", "", ANY).long(REV_PARSE_LONG),
    Spec::new("shortlog", "nsec", "w", ANY).long(&[
        "all",
        "committer",
        "email",
        "group=",
        "no-merges",
        "numbered",
        "since=",
        "summary",
        "until=",
    ]),
    history("show"),
    Spec::new("show-branch", "ar", "", ANY).long(&["all", "remotes", "current", "list"]),
    Spec::new("show-ref", "dhqs", "", ANY).long(REF_LONG),
    Spec::new("status", "sbvzunoalrm", "", ANY).long(STATUS_LONG),
    Spec::new("tag", "lin1234567890", "", ANY).long(REF_LONG),
    history("whatchanged"),
    Spec::new("version", "", "", Operands::Files(0)).long(&["build-options"]),
];

pub(super) fn classify(args: &[Word]) -> Findings {
    let mut args = args;
    while let Some((option, rest)) = args.split_first() {
        match option.as_literal()? {
            "--no-pager" | "-P" | "--no-optional-locks" | "--literal-pathspecs" => args = rest,
            "--version" if rest.is_empty() => return Some(Classification::new(Effect::Git)),
            _ => break,
        }
    }
    let (name, args) = args.split_first()?;
    match name.as_literal()? {
        "stash" => stash(args),
        "reflog" => reflog(args),
        "remote" => remote(args),
        "worktree" => listing(args),
        "config" => config(args),
        "symbolic-ref" => symbolic_ref(args),
        "notes" => notes(args),
        "sparse-checkout" => match args {
            [list] if list.as_literal()? == "list" => Some(Classification::new(Effect::Git)),
            _ => None,
        },
        "bisect" => match args {
            [log] if log.as_literal()? == "log" => Some(Classification::new(Effect::Git)),
            _ => None,
        },
        "var" => match args {
            [name] if matches!(name.as_literal()?, "GIT_AUTHOR_IDENT" | "GIT_COMMITTER_IDENT") => {
                Some(Classification::new(Effect::Git))
            }
            _ => None,
        },
        name => {
            let spec = SUBCOMMANDS.iter().find(|spec| spec.name == name)?;
            with_spec(spec, args)
        }
    }
}

fn with_spec(spec: &Spec, args: &[Word]) -> Findings {
    // `-M90%`: how much has to be the same. Behind `--` it is a path, and then not the name of a program either.
    let likeness = |word: &&Word| {
        let number = word.as_literal().and_then(|t| t.strip_prefix("-M").or_else(|| t.strip_prefix("-C")));
        let number = number.and_then(|n| n.strip_suffix('%'));
        number.is_some_and(|n| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit())) && spec.flags.contains('M')
    };
    let args: Vec<Word> = args.iter().filter(|word| !likeness(word)).cloned().collect();
    let parsed = parse(spec, &args)?;
    for (name, value) in &parsed.options {
        let value = value.as_deref().unwrap_or_default();
        let checks = ["%G", "%+G", "%-G", "% G", "signature"].iter().any(|placeholder| value.contains(placeholder));
        // They run the signature checker.
        if matches!(name.as_str(), "--format" | "--pretty" | "--sort") && checks {
            return None;
        }
    }
    let lists = |extra: &[&str]| {
        let listing = ["-l", "--list", "--contains", "--no-contains", "--merged", "--no-merged", "--points-at"];
        parsed.operands.is_empty() || listing.iter().chain(extra).any(|option| parsed.has(option))
    };
    // Otherwise an operand makes a branch or a tag.
    if matches!(spec.name, "branch" | "tag") && !lists(&[]) {
        return None;
    }
    let mut class = Classification::new(Effect::Git);
    for (name, value) in &parsed.options {
        // `-L 1,5:file`
        if let Some((_, path)) = value.as_deref().filter(|_| name == "-L").and_then(|v| v.rsplit_once(':')) {
            class.reads.extend(operand_paths(&Word::literal(path))?);
        }
    }
    for operand in &parsed.operands {
        class.reads.extend(operand_paths(operand)?);
    }
    if spec.name == "grep" || spec.name == "status" || spec.name == "ls-files" {
        class.reads.push(PathOperand::working_directory(true));
    }
    Some(class)
}

/// The paths an operand may stand for, revisions included: they do no harm as paths.
fn operand_paths(operand: &Word) -> Option<Vec<PathOperand>> {
    let text = operand.text();
    let outside = text.starts_with(['/', '~']) || text.split('/').any(|part| part == "..");
    if outside || text.is_empty() {
        return None;
    }
    let mut paths = vec![PathOperand::operand(operand, true)];
    if let Some((_, path)) = text.split_once(':').filter(|(_, path)| !path.is_empty()) {
        if path.starts_with('/') {
            return None;
        }
        paths.push(PathOperand { glob: !operand.is_literal(), recursive: true, ..PathOperand::literal(path) });
    }
    Some(paths)
}

/// With one name, which is read. A second one is written.
fn symbolic_ref(args: &[Word]) -> Findings {
    let words: Option<Vec<&str>> = args.iter().map(Word::as_literal).collect();
    let mut words = words?;
    words.retain(|word| !matches!(*word, "--short" | "--quiet" | "-q" | "--no-recurse"));
    match words.as_slice() {
        [name] if *name == "HEAD" || name.starts_with("refs/") => Some(Classification::new(Effect::Git)),
        _ => None,
    }
}

fn notes(args: &[Word]) -> Findings {
    let words: Option<Vec<&str>> = args.iter().map(Word::as_literal).collect();
    match words?.as_slice() {
        [] | ["list" | "show"] => Some(Classification::new(Effect::Git)),
        ["list" | "show", object] if !object.starts_with('-') => Some(Classification::new(Effect::Git)),
        _ => None,
    }
}

fn stash(args: &[Word]) -> Findings {
    let (verb, rest) = args.split_first()?;
    match verb.as_literal()? {
        "list" => with_spec(&history("stash"), rest),
        "show" => with_spec(&history("stash"), rest),
        _ => None,
    }
}

fn reflog(args: &[Word]) -> Findings {
    match args.split_first() {
        None => Some(Classification::new(Effect::Git)),
        Some((verb, rest)) => match verb.as_literal()? {
            "show" => with_spec(&history("reflog"), rest),
            "list" if rest.is_empty() => Some(Classification::new(Effect::Git)),
            "expire" | "delete" | "drop" | "exists" | "list" | "write" => None,
            _ => with_spec(&history("reflog"), args),
        },
    }
}

/// Not `remote show`, which contacts the other side.
fn remote(args: &[Word]) -> Findings {
    let words: Option<Vec<&str>> = args.iter().map(Word::as_literal).collect();
    match words?.as_slice() {
        [] | ["-v" | "--verbose"] => Some(Classification::new(Effect::Git)),
        ["get-url", name] | ["get-url", "--all" | "--push", name] if !name.starts_with('-') => {
            Some(Classification::new(Effect::Git))
        }
        _ => None,
    }
}

fn listing(args: &[Word]) -> Findings {
    let words: Option<Vec<&str>> = args.iter().map(Word::as_literal).collect();
    match words?.as_slice() {
        ["list"] | ["list", "--porcelain" | "-v" | "--verbose"] => Some(Classification::new(Effect::Git)),
        _ => None,
    }
}

/// One key that holds no secret.
fn config(args: &[Word]) -> Findings {
    let words: Option<Vec<&str>> = args.iter().map(Word::as_literal).collect();
    let mut words = words?;
    words.retain(|word| *word != "--show-origin");
    let words = words.as_slice();
    let scoped = matches!(words.first(), Some(&("--global" | "--local" | "--system" | "--worktree")));
    let words = if scoped { words.get(1..)? } else { words };
    let key = match words {
        ["--get" | "--get-all" | "get", key] => (*key).to_owned(),
        // With a value it would be set.
        [key] if key.contains('.') && !key.starts_with('-') => (*key).to_owned(),
        _ => return None,
    };
    let public = [
        "user.name",
        "user.email",
        "init.defaultbranch",
        "core.bare",
        "core.autocrlf",
        "core.filemode",
        "core.ignorecase",
    ];
    let lower = key.to_ascii_lowercase();
    // What `remote -v` tells too.
    let remote = lower.starts_with("remote.") && [".url", ".pushurl", ".fetch"].iter().any(|k| lower.ends_with(k));
    (public.contains(&lower.as_str()) || lower.starts_with("branch.") || remote)
        .then(|| Classification::new(Effect::Git))
}
