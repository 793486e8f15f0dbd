//! `xargs` before a program that opens nothing: whatever words come in, they are printed.

use super::effect::{Classification, Findings};
use super::special;
use crate::Word;

/// Options without a value.
pub(super) const ALONE: &[&str] = &["-0", "-r", "-t", "-x"];

/// Options whose value is the next word.
#[cfg(all(test, target_os = "linux"))]
pub(super) const WITH_VALUE: &[&str] = &["-n", "-L", "-P", "-s", "-I", "-d"];

/// Left out: `-a` (reads a file), `-o` and `-p` (ask), `--process-slot-var`.
pub(super) fn classify(args: &[Word]) -> Findings {
    let mut args = args;
    while let Some((word, rest)) = args.split_first() {
        let text = word.as_literal()?;
        if !text.starts_with('-') {
            break;
        }
        let numbered = |option: &str| text.strip_prefix(option).is_some_and(is_number);
        args = match text {
            "-0r" | "-r0" => rest,
            _ if ALONE.contains(&text) => rest,
            "-n" | "-L" | "-P" | "-s" => {
                rest.first()?.as_literal().filter(|value| is_number(value))?;
                rest.get(1..)?
            }
            "-I" | "-d" => {
                rest.first()?.as_literal().filter(|value| !value.is_empty() && !value.starts_with('-'))?;
                rest.get(1..)?
            }
            "-I{}" | "-I%" => rest,
            _ if ["-n", "-L", "-P"].into_iter().any(numbered) => rest,
            _ => return None,
        };
    }
    let Some((program, given)) = args.split_first() else {
        return Some(Classification::reading(Vec::new()));
    };
    if given.iter().any(|word| !word.is_literal()) {
        return None;
    }
    match program.as_literal()? {
        "echo" | "basename" | "dirname" => Some(Classification::reading(Vec::new())),
        // Words that come in must not become the format.
        "printf" if !given.is_empty() => special::printf(given),
        _ => None,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}
