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
    let (mut args, mut replaced) = (args, None);
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
                let value = rest.first()?.as_literal().filter(|value| !value.is_empty() && !value.starts_with('-'))?;
                replaced = if text == "-I" { Some(value) } else { replaced };
                rest.get(1..)?
            }
            "-I{}" | "-I%" => {
                replaced = text.strip_prefix("-I");
                rest
            }
            _ if ["-n", "-L", "-P"].into_iter().any(numbered) => rest,
            _ => return None,
        };
    }
    // Without a program it is `echo`.
    let program = args.first().map_or(Some("echo"), Word::as_literal)?;
    let given = args.get(1..).unwrap_or_default();
    if given.iter().any(|word| !word.is_literal()) {
        return None;
    }
    let is_changed = |text: &str| replaced.is_some_and(|part| text.contains(part));
    match program {
        // To some versions words that come in may become a part of the program's name.
        _ if is_changed(program) => None,
        "echo" | "basename" | "dirname" => Some(Classification::reading(Vec::new())),
        // Words that come in must not become the format, which has to be there.
        "printf" if !given.iter().map(Word::text).find(|text| *text != "--").is_some_and(is_changed) => {
            special::printf(given)
        }
        _ => None,
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_digit())
}
