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
    "count",
    "abbrev-commit",
    "abbrev?",
    "after=",
    "all",
    "author=",
    "before=",
    "branches?",
    "cached",
    "cc",
    "check",
    "cherry",
    "cherry-pick",
    "color-words?",
    "color?",
    "combined-all-paths",
    "committer=",
    "compact-summary",
    "cumulative",
    "date-order",
    "date=",
    "decorate-refs=",
    "decorate?",
    "diff-algorithm=",
    "diff-filter=",
    "dirstat?",
    "exclude=",
    "exit-code",
    "extended-regexp",
    "find-copies?",
    "find-renames?",
    "first-parent",
    "fixed-strings",
    "follow",
    "format=",
    "full-history",
    "full-index",
    "function-context",
    "graph",
    "grep=",
    "histogram",
    "ignore-all-space",
    "ignore-blank-lines",
    "ignore-space-at-eol",
    "ignore-space-change",
    "ignore-submodules?",
    "inter-hunk-context=",
    "invert-grep",
    "left-right",
    "max-count=",
    "max-parents=",
    "merge-base",
    "merges",
    "min-parents=",
    "minimal",
    "name-only",
    "name-status",
    "no-abbrev-commit",
    "no-color",
    "no-commit-id",
    "no-decorate",
    "no-ext-diff",
    "no-merges",
    "no-notes",
    "no-patch",
    "no-prefix",
    "no-renames",
    "no-textconv",
    "not",
    "notes?",
    "numstat",
    "oneline",
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
    "regexp-ignore-case",
    "relative?",
    "remotes?",
    "reverse",
    "shortstat",
    "simplify-by-decoration",
    "since=",
    "skip=",
    "source",
    "stat?",
    "staged",
    "summary",
    "tags?",
    "text",
    "topo-order",
    "unified=",
    "until=",
    "walk-reflogs",
    "word-diff-regex=",
    "word-diff?",
];

const fn history(name: &'static str) -> Spec {
    Spec::new(name, "pusDwbamctzgiEFPrRsWqM1234567890", "nLSGU", ANY).long(HISTORY_LONG).number()
}

const BLAME_LONG: &[&str] = &[
    "abbrev=",
    "color-by-age",
    "color-lines",
    "date=",
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
    "is-bare-repository",
    "is-inside-git-dir",
    "is-inside-work-tree",
    "is-shallow-repository",
    "quiet",
    "remotes?",
    "short?",
    "show-cdup",
    "show-prefix",
    "show-toplevel",
    "symbolic",
    "symbolic-full-name",
    "tags?",
    "verify",
];

const REF_LONG: &[&str] = &[
    "abbrev=",
    "all",
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
    Spec::new("blame", "bcefklnpstw", "CLM", ANY).long(BLAME_LONG),
    Spec::new("branch", "arvlqi", "", ANY).long(REF_LONG),
    Spec::new("cat-file", "pste", "", ANY),
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
    history("diff-tree"),
    Spec::new("for-each-ref", "", "", ANY).long(REF_LONG),
    Spec::new("grep", "aivwhHEGPFnlLzcopWq", "ABCem", ANY).long(GREP_LONG).number(),
    history("log"),
    Spec::new("ls-files", "cdmoiuksztv", "x", ANY).long(LS_LONG),
    Spec::new("ls-tree", "drtlz", "", ANY).long(LS_LONG),
    Spec::new("merge-base", "a", "", ANY).long(&["all", "fork-point", "independent", "is-ancestor", "octopus"]),
    Spec::new("name-rev", "", "", ANY).long(&["all", "always", "name-only", "tags"]),
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
    Spec::new("tag", "li", "", ANY).long(REF_LONG),
    history("whatchanged"),
    Spec::new("version", "", "", Operands::Files(0)),
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
        "symbolic-ref" => match args {
            [name] if name.as_literal()? == "HEAD" => Some(Classification::new(Effect::Git)),
            [short, name] if short.as_literal()? == "--short" && name.as_literal()? == "HEAD" => {
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
    let parsed = parse(spec, args)?;
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
        ["get-url", name] if !name.starts_with('-') => Some(Classification::new(Effect::Git)),
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
    let key = match words?.as_slice() {
        ["--get" | "get", key] => (*key).to_owned(),
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
    (public.contains(&lower.as_str()) || lower.starts_with("branch.")).then(|| Classification::new(Effect::Git))
}
