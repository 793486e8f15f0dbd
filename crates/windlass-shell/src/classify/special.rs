//! Small programs whose operands have a meaning of their own.

use super::{
    Classification, Findings, PathOperand,
    options::{Operands, Spec, parse},
};
use crate::Word;

fn literals(args: &[Word]) -> Option<Vec<&str>> {
    args.iter().map(Word::as_literal).collect()
}

fn harmless() -> Findings {
    Some(Classification::reading(Vec::new()))
}

/// `command -v` and `-V` only say where a program is.
pub(super) fn command(args: &[Word]) -> Findings {
    let args = literals(args)?;
    match args.split_first()? {
        (&("-v" | "-V"), names) if names.iter().all(|n| !n.starts_with('-')) => harmless(),
        _ => None,
    }
}

pub(super) fn date(args: &[Word]) -> Findings {
    const DATE: Spec = Spec::new("date", "uR", "d", Operands::Text(1)).files("r").long(&[
        "date=",
        "iso-8601?",
        "reference@",
        "rfc-3339=",
        "rfc-email",
        "universal",
        "utc",
    ]);
    // `-I` takes its value attached only.
    let (short_iso, rest): (Vec<_>, Vec<_>) = args.iter().cloned().partition(|w| w.text().starts_with("-I"));
    let known =
        |w: &Word| matches!(w.as_literal(), Some("-I" | "-Idate" | "-Ihours" | "-Iminutes" | "-Iseconds" | "-Ins"));
    let parsed = parse(&DATE, &rest)?;
    // Any other operand sets the clock.
    let formats = parsed.operands.len() <= 1
        && parsed.operands.iter().all(|w| w.as_literal().is_some_and(|t| t.starts_with('+')));
    (formats && short_iso.iter().all(known)).then(|| Classification::reading(parsed.files))
}

/// The format must not store into a variable (`%n`), nor options be given (`-v`).
pub(super) fn printf(args: &[Word]) -> Findings {
    let args = literals(args)?;
    let (format, _) = args.split_first()?;
    let mut rest = format.split('%').skip(1).peekable();
    let mut escaped = false;
    while let Some(directive) = rest.next() {
        if escaped {
            escaped = false;
            continue;
        }
        if directive.is_empty() {
            // `%%`, unless the format ends here.
            escaped = rest.peek().is_some();
            continue;
        }
        let conversion = directive
            .trim_start_matches(|c: char| matches!(c, '-' | '+' | ' ' | '#' | '.' | '*' | '\'') || c.is_ascii_digit());
        if !conversion.starts_with(['d', 'i', 'o', 'u', 'x', 'X', 'e', 'E', 'f', 'F', 'g', 'G', 'c', 's', 'b', 'q']) {
            return None;
        }
    }
    (!format.starts_with('-')).then(harmless)?
}

pub(super) fn ps(args: &[Word]) -> Findings {
    // Some spellings of `e` print the environment of every process.
    match literals(args)?.as_slice() {
        [] | ["aux" | "ax" | "-ef" | "-e" | "-A" | "-f" | "-aux" | "-u"] => harmless(),
        ["aux", sort] if sort.starts_with("--sort=") => harmless(),
        _ => None,
    }
}

pub(super) fn bracket(args: &[Word]) -> Findings {
    let (end, inner) = args.split_last()?;
    if end.as_literal() == Some("]") { test(inner) } else { None }
}

/// One test, possibly negated. `-v` and `-o` evaluate their operand.
pub(super) fn test(args: &[Word]) -> Findings {
    let args = literals(args)?;
    let test = match args.as_slice() {
        ["!", rest @ ..] => rest,
        rest => rest,
    };
    let is_number = |text: &str| text.trim_start_matches('-').chars().all(|c| c.is_ascii_digit()) && !text.is_empty();
    match *test {
        ["-n" | "-z" | "-t", _] => harmless(),
        [
            "-a" | "-b" | "-c" | "-d" | "-e" | "-f" | "-g" | "-h" | "-k" | "-L" | "-N" | "-O" | "-p" | "-r" | "-s"
            | "-S" | "-u" | "-w" | "-x" | "-G",
            path,
        ] => (!path.is_empty()).then(|| Classification::reading(vec![PathOperand::literal(path)])),
        [_, "=" | "==" | "!=", _] => harmless(),
        [a, "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge", b] if is_number(a) && is_number(b) => harmless(),
        [a, "-nt" | "-ot" | "-ef", b] if !a.is_empty() && !b.is_empty() => {
            Some(Classification::reading(vec![PathOperand::literal(a), PathOperand::literal(b)]))
        }
        [text] if !text.starts_with('-') => harmless(),
        _ => None,
    }
}

/// The filter must not reach the environment or load modules.
pub(super) fn jq(args: &[Word]) -> Findings {
    const JQ: Spec = Spec::new("jq", "rcnseMCSajRV", "", Operands::Files(usize::MAX)).long(&[
        "ascii-output",
        "color-output",
        "compact-output",
        "exit-status",
        "indent=",
        "join-output",
        "monochrome-output",
        "null-input",
        "raw-input",
        "raw-output",
        "slurp",
        "sort-keys",
        "stream",
        "tab",
    ]);
    const REFUSED: &[&str] =
        &["env", "ENV", "import", "include", "modulemeta", "get_search_list", "input_filename", "halt_error"];
    // `--arg name value`, `--argjson name value`.
    let mut rest = Vec::new();
    let mut words = args.iter();
    while let Some(word) = words.next() {
        if matches!(word.text(), "--arg" | "--argjson") {
            words.next()?.as_literal()?;
            words.next()?.as_literal()?;
        } else {
            rest.push(word.clone());
        }
    }
    let parsed = parse(&JQ, &rest)?;
    let (filter, files) = parsed.operands.split_first()?;
    let mut names = filter.as_literal()?.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    if names.any(|name| REFUSED.contains(&name)) || files.iter().any(|f| f.text().is_empty()) {
        return None;
    }
    Some(Classification::reading(files.iter().map(|w| PathOperand::operand(w, false)).collect()))
}
