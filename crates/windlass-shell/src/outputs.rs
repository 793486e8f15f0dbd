//! The deny side: files that a command writes without a redirection, because an option, an operand or a text in
//! another language names them.
//!
//! The tables over-approximate: an abbreviation matches every option it could mean, and a value is treated as a path. A
//! program without an entry may still write.

mod git;
mod output;
mod scripts;

pub use output::{Output, OutputKind};

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::classify;
use crate::scan::FoundCommand;
use crate::word::{Word, base_name};
use output::{join, value};

/// Addresses are not joined with more paths than this: real commands have fewer, and all pairs would be too many.
const MAX_DIRECTORIES: usize = 64;

/// Output options and operands of a program that writes files.
struct OutputRules {
    names: &'static [&'static str],
    /// Short options whose value, attached or the next word, is written. They may end a bundle.
    short: &'static str,
    /// Other short options with a value, which end a bundle too.
    valued: &'static str,
    /// Long options whose value is written, without dashes.
    long: &'static [&'static str],
    /// Words with one dash behind which the path is the next word, or follows an `=`.
    words: &'static [&'static str],
    operands: WrittenOperands,
}

/// Operands that are written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WrittenOperands {
    None,
    /// Addresses: files of their last names, unless this option names the file.
    AddressesBut(char, &'static str),
    /// The same, only with this option.
    AddressesWith(char, &'static str),
}

const fn writer(
    names: &'static [&'static str],
    short: &'static str,
    valued: &'static str,
    long: &'static [&'static str],
) -> OutputRules {
    OutputRules { names, short, valued, long, words: &[], operands: WrittenOperands::None }
}

const WRITERS: &[OutputRules] = &[
    writer(&["sort", "gsort"], "o", "kStT", &["output"]),
    writer(&["shuf", "gshuf"], "o", "in", &["output"]),
    writer(&["tree"], "o", "LPIHT", &["output"]),
    writer(&["iconv"], "o", "ft", &["output"]),
    writer(&["sdiff", "gpg", "gpg2", "pandoc", "http", "https"], "o", "", &["output"]),
    writer(&["less"], "oO", "", &["log-file", "LOG-FILE"]),
    writer(&["csplit", "gcsplit"], "f", "bn", &["prefix"]),
    writer(&["cp", "gcp", "mv", "gmv", "ln", "gln", "install", "ginstall"], "t", "Sgmo", &["target-directory"]),
    writer(
        &["tar", "gtar", "bsdtar"],
        "Cfg",
        "bFHIKLNTVX",
        &["directory", "file", "listed-incremental", "one-top-level", "index-file", "volno-file"],
    ),
    writer(&["unzip"], "d", "", &[]),
    writer(&["7z", "7za", "7zr", "7zz"], "o", "", &[]),
    writer(&["zip"], "Ob", "", &["output-file", "temp-path"]),
    writer(&["zstd", "unzstd", "lz4"], "o", "D", &["output-dir-flat", "output-dir-mirror"]),
    writer(&["cpio"], "DFO", "CEHIMR", &["directory", "file"]),
    writer(&["patch", "gpatch"], "odr", "BDFgipVYz", &["output", "directory", "reject-file"]),
    writer(&["rsync"], "T", "Befm", &["log-file", "partial-dir", "backup-dir", "temp-dir"]),
    writer(&["time", "strace", "ltrace", "perf"], "o", "f", &["output"]),
    writer(&["valgrind"], "", "", &["log-file", "xml-file"]),
    writer(&["tcpdump"], "w", "", &[]),
    writer(&["vim", "vi", "nvim", "view", "ex"], "wW", "", &[]),
    writer(&["yq"], "", "", &["split-exp-file"]),
    writer(&["pg_dump", "pg_dumpall"], "f", "hpUdn", &["file"]),
    writer(&["mysqldump"], "r", "", &["result-file"]),
    writer(&["pip", "pip3"], "td", "cir", &["target", "dest", "prefix", "root"]),
    writer(&["cargo"], "", "", &["target-dir", "root", "out-dir"]),
    writer(&["rustc"], "o", "CLZ", &["out-dir"]),
    writer(&["javac"], "d", "", &[]),
    writer(&["tsc"], "", "", &["outFile", "outDir", "declarationDir", "tsBuildInfoFile"]),
    writer(&["dot", "neato"], "o", "", &[]),
    writer(&["gawk", "awk"], "odp", "vFEeifl", &["pretty-print", "dump-variables", "profile"]),
    OutputRules {
        words: &["-MF", "-dumpdir", "-aux-info"],
        ..writer(
            &["gcc", "g++", "cc", "c++", "clang", "clang++", "tcc", "gfortran", "as", "ld"],
            "o",
            "DILfWmxlMBdgO",
            &["output"],
        )
    },
    OutputRules {
        words: &["-out", "-keyout", "-writerand", "-CAserial", "-certsout", "-nodes-out"],
        ..writer(&["openssl"], "", "", &[])
    },
    OutputRules {
        words: &["-o", "-coverprofile", "-cpuprofile", "-memprofile", "-outputdir", "-trace", "-pkgdir"],
        ..writer(&["go"], "", "", &[])
    },
    OutputRules { words: &["-fprint", "-fprint0", "-fprintf", "-fls"], ..writer(&["find", "gfind"], "", "", &[]) },
    OutputRules {
        operands: WrittenOperands::AddressesWith('O', "remote-name"),
        ..writer(
            &["curl"],
            "ocD",
            "AbCdEeFHhKmPQrTtuUwXxyYz",
            &[
                "output",
                "output-dir",
                "cookie-jar",
                "dump-header",
                "trace",
                "trace-ascii",
                "stderr",
                "libcurl",
                "etag-save",
                "hsts",
                "alt-svc",
            ],
        )
    },
    OutputRules {
        operands: WrittenOperands::AddressesBut('O', "output-document"),
        ..writer(
            &["wget"],
            "OoaP",
            "eitTwQUlARDIXB",
            &[
                "output-document",
                "output-file",
                "append-output",
                "directory-prefix",
                "save-cookies",
                "warc-file",
                "rejected-log",
                "hsts-file",
            ],
        )
    },
    OutputRules {
        operands: WrittenOperands::AddressesBut('o', "out"),
        ..writer(&["aria2c"], "od", "ixjsk", &["out", "dir", "log", "save-session", "save-cookies"])
    },
];

static BY_NAME: LazyLock<HashMap<&str, Vec<&OutputRules>>> = LazyLock::new(|| {
    let mut by_name: HashMap<&str, Vec<&OutputRules>> = HashMap::new();
    for writer in WRITERS {
        for name in writer.names {
            by_name.entry(name).or_default().push(writer);
        }
    }
    by_name
});

impl FoundCommand {
    /// Returns the files that the command may write without a redirection, as far as its options, its operands and the
    /// texts among its arguments name them, in any spelling: attached, bundled, abbreviated. For deny rules and the
    /// like: over-approximate.
    #[must_use]
    pub fn outputs(&self) -> Vec<Output<'_>> {
        let words = self.words();
        let (Some(program), Some(args)) = (self.program(), words.get(1..)) else { return Vec::new() };
        let mut outputs = Vec::new();
        if program == "git" {
            outputs.extend(git::outputs(args));
        }
        for writer in BY_NAME.get(program).into_iter().flatten() {
            writer.outputs(args, &mut outputs);
        }
        if !classify::is_understood(words) {
            scripts::outputs(program, args, &mut outputs);
        }
        attached(args, &mut outputs);
        outputs
            .retain(|output| !matches!(output.path.as_str(), "" | "-" | "/dev/null" | "/dev/stdout" | "/dev/stderr"));
        let mut seen: HashMap<String, OutputKind> = HashMap::new();
        outputs.retain(|output| {
            let before = seen.insert(output.path.clone(), output.kind);
            before.is_none_or(|before| before < output.kind)
        });
        outputs
    }
}

impl OutputRules {
    fn outputs<'w>(&self, args: &'w [Word], outputs: &mut Vec<Output<'w>>) {
        let mut operands = Vec::new();
        let mut directories: Vec<&str> = Vec::new();
        let mut named = false;
        let mut rest = args.iter();
        while let Some(word) = rest.next() {
            let text = word.text();
            let next = rest.as_slice().first();
            let found = if let Some(long) = text.strip_prefix("--").filter(|long| !long.is_empty()) {
                named |= match self.operands {
                    WrittenOperands::None => false,
                    WrittenOperands::AddressesBut(_, option) => long.split('=').next() == Some(option),
                    WrittenOperands::AddressesWith(_, option) => long.starts_with(option),
                };
                self.long(long, word, next)
            } else if text.starts_with('-') {
                let found = self.short(text, word, next);
                named |= match self.operands {
                    WrittenOperands::None => false,
                    WrittenOperands::AddressesBut(letter, _) => found.is_some_and(|(by, ..)| by == letter),
                    WrittenOperands::AddressesWith(letter, _) => text.contains(letter),
                };
                found.map(|(_, from, path)| (from, path))
            } else {
                operands.push(word);
                None
            };
            if let Some((from, path)) = found {
                if !std::ptr::eq(from, word) {
                    rest.next();
                }
                if directories.len() < MAX_DIRECTORIES {
                    directories.push(path);
                }
                outputs.push(Output::written(from, path));
            }
        }
        let addresses = match self.operands {
            WrittenOperands::None => false,
            WrittenOperands::AddressesBut(..) => !named,
            WrittenOperands::AddressesWith(..) => named,
        };
        for word in operands.into_iter().filter(|_| addresses) {
            let path = word.text().split(['?', '#']).next().unwrap_or_default();
            let name = base_name(path.trim_end_matches('/'));
            outputs.push(Output::written(word, name));
            outputs.extend(directories.iter().map(|at| Output::written(word, join(at, name))));
        }
    }

    /// Returns the path that a long option names, attached or as the next word.
    fn long<'w>(&self, long: &'w str, word: &'w Word, next: Option<&'w Word>) -> Option<(&'w Word, &'w str)> {
        let (name, attached) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
        // Abbreviations match too.
        let known = self.long.iter().any(|known| known.starts_with(name))
            || self.words.iter().any(|known| known.strip_prefix('-') == Some(name));
        known.then_some(())?;
        value(word, attached, next)
    }

    /// Returns the path that a bundle of short options, or a word with one dash, names, and by which letter.
    fn short<'w>(&self, text: &'w str, word: &'w Word, next: Option<&'w Word>) -> Option<(char, &'w Word, &'w str)> {
        let (name, attached) = text.split_once('=').map_or((text, None), |(name, value)| (name, Some(value)));
        if self.words.contains(&name) {
            return value(word, attached, next).map(|(from, path)| ('-', from, path));
        }
        let mut letters = text.chars();
        letters.next();
        while let Some(letter) = letters.next() {
            if self.short.contains(letter) {
                let attached = Some(letters.as_str()).filter(|rest| !rest.is_empty());
                return value(word, attached, next).map(|(from, path)| (letter, from, path));
            }
            if self.valued.contains(letter) {
                return None;
            }
        }
        None
    }
}

/// Appends the texts that any program may take for the value of a short option: behind each letter with which a bundle
/// may end.
fn attached<'w>(args: &'w [Word], outputs: &mut Vec<Output<'w>>) {
    const LETTERS: usize = 4;
    for word in args {
        let Some(bundle) = word.text().strip_prefix('-').filter(|text| !text.starts_with('-')) else { continue };
        let mut letters = bundle.chars();
        for at in 0..LETTERS {
            if !letters.next().is_some_and(|c| c.is_ascii_alphabetic()) {
                break;
            }
            let rest = letters.as_str().trim_start_matches('=');
            // `-d@FILE`: the file that is sent.
            let rest = rest.strip_prefix('@').unwrap_or(rest);
            let kind = if at == 0 { OutputKind::Argument } else { OutputKind::Guess };
            if rest.contains(['/', '.']) {
                outputs.push(Output::new(kind, word, rest));
            }
        }
    }
}

#[cfg(test)]
mod tests;
