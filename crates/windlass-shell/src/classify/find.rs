//! `find`: starting points, then an expression of tests and printing actions.

use super::effect::{Classification, Findings, PathOperand};
use super::special;
use crate::Word;

pub(super) const ALONE: &[&str] = &[
    "!",
    "(",
    ")",
    ",",
    "-a",
    "-and",
    "-daystart",
    "-depth",
    "-empty",
    "-executable",
    "-false",
    "-ignore_readdir_race",
    "-ls",
    "-mount",
    "-nogroup",
    "-not",
    "-noleaf",
    "-nouser",
    "-nowarn",
    "-o",
    "-or",
    "-print",
    "-print0",
    "-prune",
    "-quit",
    "-readable",
    "-true",
    "-warn",
    "-writable",
    "-xdev",
];

pub(super) const WITH_VALUE: &[&str] = &[
    "-amin",
    "-atime",
    "-cmin",
    "-ctime",
    "-fstype",
    "-gid",
    "-group",
    "-ilname",
    "-iname",
    "-inum",
    "-ipath",
    "-iregex",
    "-iwholename",
    "-links",
    "-lname",
    "-maxdepth",
    "-mindepth",
    "-mmin",
    "-mtime",
    "-name",
    "-newerBt",
    "-newerat",
    "-newerct",
    "-newermt",
    "-path",
    "-perm",
    "-printf",
    "-regex",
    "-regextype",
    "-size",
    "-type",
    "-uid",
    "-used",
    "-user",
    "-wholename",
];

pub(super) const WITH_FILE: &[&str] = &["-anewer", "-cnewer", "-newer", "-newermm", "-samefile"];

pub(super) fn classify(args: &[Word]) -> Findings {
    let mut args = args.iter().peekable();
    // `-L` and `-H` follow links.
    while args.next_if(|w| matches!(w.text(), "-P" | "-O0" | "-O1" | "-O2" | "-O3")).is_some() {}
    let mut reads = Vec::new();
    let is_start = |word: &&Word| match word.as_literal() {
        Some(text) => !text.starts_with('-') && !matches!(text, "!" | "(" | ")" | ","),
        None => word.cannot_be_option(),
    };
    while let Some(start) = args.next_if(|w| is_start(w)) {
        if start.text().is_empty() {
            return None;
        }
        reads.push(PathOperand::operand(start, true));
    }
    if reads.is_empty() {
        reads.push(PathOperand::working_directory(true));
    }
    while let Some(word) = args.next() {
        let test = word.as_literal()?;
        if ALONE.contains(&test) {
            continue;
        }
        if !WITH_VALUE.contains(&test) && !WITH_FILE.contains(&test) {
            return None;
        }
        let value = args.next()?.as_literal()?;
        if test.starts_with("-newer") && test.ends_with('t') && !special::is_date(value) {
            return None;
        }
        if WITH_FILE.contains(&test) {
            reads.push(PathOperand::literal(value));
        }
    }
    Some(Classification::reading(reads))
}
