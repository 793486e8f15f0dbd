//! Deny and ask rules against found commands.

use super::matching::{DenyMatch, glob};
use crate::scan::FoundCommand;
use crate::word::{Word, base_name};

/// Options before a sub-command whose value is the next word.
const VALUED_OPTIONS: &[(&str, &[&str])] = &[
    ("aws", &["--profile", "--region", "--output", "--endpoint-url"]),
    ("bundle", &["--gemfile"]),
    ("cargo", &["-C", "-Z", "--color", "--config", "--manifest-path"]),
    ("docker", &["-c", "-H", "-l", "--config", "--context", "--host", "--log-level"]),
    ("gcloud", &["--account", "--configuration", "--project"]),
    ("gh", &["-R", "--repo"]),
    (
        "git",
        &[
            "-C",
            "-c",
            "--attr-source",
            "--config-env",
            "--exec-path",
            "--git-dir",
            "--namespace",
            "--shallow-file",
            "--super-prefix",
            "--work-tree",
        ],
    ),
    ("go", &["-C"]),
    ("helm", &["-n", "--namespace", "--kube-context", "--kubeconfig"]),
    ("hg", &["-R", "--config", "--cwd", "--encoding", "--encodingmode", "--repository"]),
    (
        "jj",
        &["-R", "--at-operation", "--at-op", "--color", "--config", "--config-file", "--config-toml", "--repository"],
    ),
    ("kubectl", &["-n", "-s", "--as", "--cluster", "--context", "--kubeconfig", "--namespace", "--server", "--user"]),
    ("make", &["-C", "-f", "-I", "-o", "-W", "--directory", "--file", "--makefile"]),
    ("npm", &["-C", "-w", "--loglevel", "--prefix", "--registry", "--workspace"]),
    ("pnpm", &["-C", "-F", "--dir", "--filter"]),
    ("podman", &["-c", "--connection", "--log-level", "--root", "--runroot", "--url"]),
    ("systemctl", &["-H", "-M", "-t", "--host", "--machine"]),
    ("uv", &["--directory", "--project", "--config-file"]),
    ("yarn", &["--cwd"]),
];

pub(super) fn matches_words(pattern: &[String], command: &FoundCommand, exact: bool) -> DenyMatch {
    // The program is the first word of each variant.
    if let (Some(start), Some(program)) = (pattern.get(..1), command.words().first())
        && compare(start, &[program], false) == DenyMatch::No
    {
        return DenyMatch::No;
    }
    let words: Vec<&Word> = command.words().iter().collect();
    let mut best = compare(pattern, &words, exact);
    if pattern.len() > 1 {
        for variant in variants(&words) {
            best = best.max(compare(pattern, &variant, exact));
        }
    }
    best
}

fn compare(pattern: &[String], words: &[&Word], exact: bool) -> DenyMatch {
    for (index, expected) in pattern.iter().enumerate() {
        let Some(word) = words.get(index) else {
            return DenyMatch::No;
        };
        match word.as_literal() {
            Some(text) if text == expected || (index == 0 && same_program(expected, text)) => {}
            Some(_) => return DenyMatch::No,
            // The expansion may become this word, or vanish and leave its place to the next.
            None if expected.starts_with(&word.literal_prefix()) => return DenyMatch::Possible,
            None => return DenyMatch::No,
        }
    }
    match words.get(pattern.len()..).unwrap_or_default() {
        [] => DenyMatch::Yes,
        _ if !exact => DenyMatch::Yes,
        rest if rest.iter().all(|w| !w.is_literal() && w.literal_prefix().is_empty()) => DenyMatch::Possible,
        _ => DenyMatch::No,
    }
}

fn same_program(expected: &str, program: &str) -> bool {
    if expected.contains('/') { base_name(expected) == program } else { base_name(program) == expected }
}

/// Returns the words without options before the sub-command (their values known, and not), and without any option.
fn variants<'w>(words: &[&'w Word]) -> [Vec<&'w Word>; 3] {
    let Some((program, args)) = words.split_first() else {
        return [Vec::new(), Vec::new(), Vec::new()];
    };
    let name = program.as_literal().map(base_name).unwrap_or_default();
    let valued = VALUED_OPTIONS.iter().find(|(tool, _)| *tool == name).map_or(&[][..], |(_, options)| options);
    let is_option = |word: &Word| word.text().starts_with(['-', '+']);
    let without_leading = |valued: &[&str]| {
        let mut rest = args;
        while let Some((word, tail)) = rest.split_first().filter(|(word, _)| is_option(word)) {
            rest = if valued.contains(&word.text()) { tail.get(1..).unwrap_or_default() } else { tail };
        }
        let mut kept = vec![*program];
        kept.extend_from_slice(rest);
        kept
    };
    let inner = without_leading(valued);
    let mut bare = vec![*program];
    bare.extend(inner.iter().skip(1).filter(|w| !is_option(w)));
    [inner, without_leading(&[]), bare]
}

pub(super) fn matches_wildcard(parts: &[String], command: &FoundCommand) -> DenyMatch {
    let words: Vec<&Word> = command.words().iter().collect();
    let mut best = compare_wildcard(parts, &words);
    for variant in variants(&words) {
        best = best.max(compare_wildcard(parts, &variant));
    }
    best
}

fn compare_wildcard(parts: &[String], words: &[&Word]) -> DenyMatch {
    let text = joined(words);
    if glob(parts, &text) {
        return DenyMatch::Yes;
    }
    let Some(unknown) = words.iter().position(|w| !w.is_literal()) else {
        return DenyMatch::No;
    };
    let known = words.get(..unknown).unwrap_or_default();
    let mut known = if known.is_empty() { String::new() } else { joined(known) + " " };
    known.push_str(&words.get(unknown).map(|w| w.literal_prefix()).unwrap_or_default());
    let head = parts.first().map(String::as_str).unwrap_or_default();
    if head.starts_with(&known) || known.starts_with(head) { DenyMatch::Possible } else { DenyMatch::No }
}

fn joined(words: &[&Word]) -> String {
    let mut text = String::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            text.push(' ');
        }
        text.push_str(if index == 0 { base_name(word.text()) } else { word.text() });
    }
    text
}
