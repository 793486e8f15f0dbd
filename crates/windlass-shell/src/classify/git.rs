//! Reading sub-commands of git.
//!
//! Even these run programs that the repository's configuration or attributes name (pagers, file system monitors,
//! external and text-converting diff drivers, filters, signature checkers): see [`Effect::Git`].

mod table;

use super::effect::{Classification, Effect, Findings, PathOperand};
use super::options::{ProgramSpec, parse};
use crate::Word;
use table::{STASH_LIST, SUBCOMMANDS, history};

/// Every table of this module, by sub-command.
#[cfg(all(test, target_os = "linux"))]
pub(super) fn specs() -> impl Iterator<Item = (&'static str, &'static ProgramSpec)> {
    const HISTORY: &ProgramSpec = &history("log");
    let histories = ["stash show", "reflog", "reflog show"].map(|name| (name, HISTORY));
    SUBCOMMANDS.iter().map(|spec| (spec.name, spec)).chain(histories).chain([("stash list", &STASH_LIST)])
}

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

fn with_spec(spec: &ProgramSpec, args: &[Word]) -> Findings {
    let parsed = parse(spec, args)?;
    let amount = |value: &str| value.chars().all(|c| c.is_ascii_digit() || matches!(c, '%' | '/'));
    if !parsed.values(&["-B", "-C", "-M", "-U"]).all(amount) {
        return None;
    }
    for (name, value) in &parsed.options {
        let value = value.as_deref().unwrap_or_default();
        let checks = ["%G", "%+G", "%-G", "% G", "signature"].iter().any(|placeholder| value.contains(placeholder));
        // They run the signature checker.
        if matches!(name.as_str(), "--format" | "--group" | "--pretty" | "--sort") && checks {
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
        let paths = operand_paths(operand)?.into_iter();
        class.reads.extend(paths.map(|path| PathOperand { option: path.option && parsed.is_open(operand), ..path }));
    }
    class.reads.extend_from_slice(&parsed.files);
    if spec.name == "grep" || spec.name == "status" || spec.name == "ls-files" {
        class.reads.push(PathOperand::working_directory(true));
    }
    Some(class)
}

/// Returns the possible paths of an operand, revisions included: they do no harm as paths.
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
        "list" => with_spec(&STASH_LIST, rest),
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
        [] | ["-v" | "--verbose" | "show"] => Some(Classification::new(Effect::Git)),
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

/// Classifies a read of one key without secrets.
fn config(args: &[Word]) -> Findings {
    let words: Option<Vec<&str>> = args.iter().map(Word::as_literal).collect();
    let mut words = words?;
    words.retain(|word| *word != "--show-origin");
    let words = words.as_slice();
    let scoped = matches!(words.first(), Some(&("--global" | "--local" | "--system" | "--worktree")));
    let words = if scoped { words.get(1..)? } else { words };
    let key = match words {
        // With a value it would be set. An option alone is none of the keys below.
        ["--get" | "--get-all" | "get", key] | [key] => *key,
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
    // Keys that `remote -v` shows too.
    let remote = lower.starts_with("remote.") && [".url", ".pushurl", ".fetch"].iter().any(|k| lower.ends_with(k));
    (public.contains(&lower.as_str()) || lower.starts_with("branch.") || remote)
        .then(|| Classification::new(Effect::Git))
}
