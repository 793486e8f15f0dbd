//! The deny side: every command that might run.
//!
//! A tolerant reader of the whole shell language. It never refuses; where it cannot follow, it records why
//! ([`Undecided`]). All work is paid from a budget that is linear in the length of the text.

mod aliases;
mod assignment;
mod carried;
mod emit;
mod found;
mod handed;
mod input_code;
mod pipelines;
mod reader;
mod script;
mod sink;
mod values;
mod variables;
mod word;
mod wrappers;

pub use found::FoundCommand;

pub(crate) use carried::has_code;
pub(crate) use pipelines::Pipelines;
pub(crate) use sink::ScanResult;
pub use wrappers::is_shell;
pub(crate) use wrappers::{SHELLS, is_wrapper};

use crate::reason::Undecided;
use sink::FindingSink;

/// Longer texts are scanned up to here and are then undecided.
const MAX_SCANNED_CHARS: usize = 200_000;

/// Finds the commands of a text.
pub(crate) fn scan(text: &str) -> ScanResult {
    let chars: Vec<char> = text.chars().take(MAX_SCANNED_CHARS).collect();
    let mut sink = FindingSink::new(chars.len());
    if text.chars().nth(MAX_SCANNED_CHARS).is_some() {
        sink.undecided(Undecided::TooLarge);
    }
    if text.contains(['\0', '\r']) {
        // bash drops the first and keeps the second; terminals show neither.
        sink.undecided(Undecided::Malformed);
    }
    reader::ScriptReader::new(&chars, 0, &mut sink).whole_script();
    input_code::note(&mut sink.scan);
    sink.scan
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod words_tests;
