//! Listing archives, and unpacking compressed files to the standard output.

use super::effect::{Classification, Findings, PathOperand};
use crate::Word;

fn literals(args: &[Word]) -> Option<Vec<&str>> {
    args.iter().map(Word::as_literal).collect()
}

fn reading<'a>(files: impl IntoIterator<Item = &'a str>) -> Findings {
    let files = files.into_iter().filter(|file| *file != "-");
    Some(Classification::reading(files.map(PathOperand::literal).collect()))
}

/// Programs that unpack single files, and the suffixes of these: without one another file might be opened.
struct Unpacker {
    names: &'static [&'static str],
    mode: Mode,
    suffixes: &'static [&'static str],
}

/// Operation of the program without options.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    /// Packs in place.
    Packs,
    /// Unpacks in place.
    Unpacks,
    /// Unpacks to the standard output.
    Prints,
}

const fn unpacker(names: &'static [&'static str], mode: Mode, suffixes: &'static [&'static str]) -> Unpacker {
    Unpacker { names, mode, suffixes }
}

const GZIP: &[&str] = &[".gz", ".tgz", ".Z"];
const XZ: &[&str] = &[".xz", ".txz", ".lzma"];
const BZIP: &[&str] = &[".bz2", ".tbz2"];
const ZSTD: &[&str] = &[".zst", ".tzst"];

const UNPACKERS: &[Unpacker] = &[
    unpacker(&["zcat", "gzcat"], Mode::Prints, GZIP),
    unpacker(&["xzcat", "lzcat"], Mode::Prints, XZ),
    unpacker(&["bzcat"], Mode::Prints, BZIP),
    unpacker(&["zstdcat"], Mode::Prints, ZSTD),
    unpacker(&["gunzip"], Mode::Unpacks, GZIP),
    unpacker(&["unxz"], Mode::Unpacks, XZ),
    unpacker(&["bunzip2"], Mode::Unpacks, BZIP),
    unpacker(&["unzstd"], Mode::Unpacks, ZSTD),
    unpacker(&["gzip"], Mode::Packs, GZIP),
    unpacker(&["xz"], Mode::Packs, XZ),
    unpacker(&["bzip2"], Mode::Packs, BZIP),
    unpacker(&["zstd"], Mode::Packs, ZSTD),
];

/// Returns `true` if a program of this name packs or unpacks.
pub(super) fn is_unpacker(name: &str) -> bool {
    UNPACKERS.iter().any(|unpacker| unpacker.names.contains(&name))
}

/// The letters that are taken as options, by program.
#[cfg(all(test, target_os = "linux"))]
pub(super) fn letters() -> Vec<(&'static str, &'static str)> {
    let unpackers = UNPACKERS.iter().flat_map(|unpacker| unpacker.names.iter().map(|name| (*name, "cdkqvlt")));
    unpackers.chain([("tar", "tvzjJa")]).collect()
}

pub(super) fn unpack(name: &str, args: &[Word]) -> Findings {
    let unpacker = UNPACKERS.iter().find(|unpacker| unpacker.names.contains(&name))?;
    let args = literals(args)?;
    let (options, files): (Vec<&str>, Vec<&str>) = args.iter().partition(|a| a.len() > 1 && a.starts_with('-'));
    let mut letters = String::new();
    for option in options {
        match option {
            "--decompress" => letters.push('d'),
            "--stdout" => letters.push('c'),
            "--list" => letters.push('l'),
            "--test" => letters.push('t'),
            short => letters.push_str(short.strip_prefix('-').filter(|s| !s.starts_with('-'))?),
        }
    }
    let has = |letter: char| letters.contains(letter);
    let does = match unpacker.mode {
        // Listing and testing exclude each other: of two such options the last one wins.
        _ if has('l') || has('t') => {
            let bzip = unpacker.suffixes == BZIP;
            letters.chars().all(|c| "ltqv".contains(c)) && has('l') != has('t') && !(bzip && has('l'))
        }
        Mode::Prints => letters.chars().all(|c| "cdq".contains(c)),
        Mode::Unpacks => has('c') && letters.chars().all(|c| "cdkqv".contains(c)),
        Mode::Packs => has('c') && has('d') && letters.chars().all(|c| "cdkqv".contains(c)),
    };
    let named = files.iter().all(|f| *f == "-" || unpacker.suffixes.iter().any(|s| f.ends_with(s)));
    (does && named).then(|| reading(files))?
}

/// `tar -tvf x.tar.gz`: only a list. A colon in the archive's name means another machine.
pub(super) fn tar(args: &[Word]) -> Findings {
    let args = literals(args)?;
    let mut args = args.into_iter().peekable();
    let mut lists = false;
    let mut archive = None;
    let mut first = true;
    while archive.is_none() {
        let word = args.next()?;
        if let Some(file) = word.strip_prefix("--file=") {
            archive = Some(file);
        } else if let Some(long) = word.strip_prefix("--") {
            match long {
                "list" => lists = true,
                "verbose" | "gzip" | "bzip2" | "xz" | "zstd" => {}
                "file" => archive = Some(args.next()?),
                _ => return None,
            }
        } else {
            let letters = match word.strip_prefix('-') {
                Some(letters) => letters,
                None if first => word,
                None => return None,
            };
            let (flags, named) = letters.strip_suffix('f').map_or((letters, false), |flags| (flags, true));
            if letters.is_empty() || !flags.chars().all(|c| "tvzjJa".contains(c)) {
                return None;
            }
            lists |= flags.contains('t');
            if named {
                archive = Some(args.next()?);
            }
        }
        first = false;
    }
    let archive = archive.filter(|a| !a.is_empty() && !a.contains(':') && (*a == "-" || !a.starts_with('-')))?;
    let lists = args.all(|word| match word {
        "-t" | "--list" => {
            lists = true;
            true
        }
        "-v" | "--verbose" | "--wildcards" => true,
        member => !member.starts_with('-'),
    }) && lists;
    lists.then(|| reading([archive]))?
}

/// Options that list, in every bundle that is taken.
pub(super) const UNZIP: &[&str] = &["-l", "-v", "-lv", "-vl", "-lq", "-ql", "-qql", "-Z", "-Z1", "-z"];
pub(super) const ZIPINFO: &[&str] = &["-1", "-s", "-m", "-l", "-h", "-t"];

/// `unzip -l x.zip`, `zipinfo x.zip`. If the file is not found, another suffix is tried.
pub(super) fn unzip(name: &str, args: &[Word]) -> Findings {
    let args = literals(args)?;
    let (option, rest) = match args.split_first()? {
        (option, rest) if option.starts_with('-') => (*option, rest),
        _ => ("", args.as_slice()),
    };
    let lists = match name {
        "zipinfo" => option.is_empty() || ZIPINFO.contains(&option),
        _ => UNZIP.contains(&option),
    };
    let (archive, members) = rest.split_first()?;
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '+' | ' ' | '@');
    let known = [".zip", ".jar", ".war", ".whl", ".apk", ".docx", ".xlsx", ".nupkg", ".vsix", ".epub"];
    let named = known.iter().any(|suffix| archive.ends_with(suffix));
    if !lists || !named || archive.starts_with('-') || !archive.chars().all(plain) {
        return None;
    }
    if members.iter().any(|member| member.starts_with('-')) {
        return None;
    }
    let tried = [format!("{archive}.zip"), format!("{archive}.ZIP")];
    reading([*archive].into_iter().chain(tried.iter().map(String::as_str)))
}
