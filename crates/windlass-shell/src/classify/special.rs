//! Small programs whose operands have a meaning of their own.

use super::effect::{Classification, Findings, PathOperand};
use super::options::{OperandKind, ProgramSpec, parse, read_only};
use crate::{Word, WordKind, texts};

fn literals(args: &[Word]) -> Option<Vec<&str>> {
    args.iter().map(Word::as_literal).collect()
}

fn harmless() -> Findings {
    Some(Classification::reading(Vec::new()))
}

/// Programs that print their version and read nothing of the directory for that, with the option.
///
/// Interpreters, package managers and toolchains are not among them: files of the project (`rust-toolchain.toml`,
/// `.tool-versions`, `packageManager`) choose the program that runs, and it may be run from the project.
const VERSIONS: &[(&str, &[&str])] = &[
    (
        "--version",
        &[
            "autoconf",
            "bash",
            "bison",
            "bzip2",
            "c++",
            "cc",
            "clang",
            "clang++",
            "clang-format",
            "clang-tidy",
            "cmake",
            "cpp",
            "ctest",
            "curl",
            "dash",
            "docker",
            "emacs",
            "flex",
            "g++",
            "gcc",
            "gdb",
            "gfortran",
            "gpg",
            "gzip",
            "ld",
            "less",
            "lld",
            "lldb",
            "m4",
            "make",
            "mysql",
            "nano",
            "ninja",
            "openssl",
            "pandoc",
            "patch",
            "pkg-config",
            "podman",
            "psql",
            "rsync",
            "screen",
            "shellcheck",
            "sqlite3",
            "strace",
            "sudo",
            "systemctl",
            "tmux",
            "valgrind",
            "vim",
            "wget",
            "xz",
            "zsh",
            "zstd",
        ],
    ),
    ("-V", &["ssh", "tmux"]),
    ("-version", &["ffmpeg", "ffprobe"]),
    ("version", &["openssl"]),
];

/// Returns `true` for a program of `VERSIONS` with its option alone.
pub(super) fn prints_version(program: &str, args: &[Word]) -> bool {
    let [option] = args else { return false };
    let fits = |(known, programs): &(&str, &[&str])| option.as_literal() == Some(known) && programs.contains(&program);
    VERSIONS.iter().any(fits)
}

/// `command -v` and `-V` only print where a program is.
pub(super) fn command(args: &[Word]) -> Findings {
    let args = literals(args)?;
    match args.split_first()? {
        (&("-v" | "-V"), names) if names.iter().all(|n| !n.starts_with('-')) => harmless(),
        _ => None,
    }
}

pub(super) const DATE: ProgramSpec = ProgramSpec::new("date", "uR", "d", OperandKind::Text(1))
    .optional("I")
    .files("r")
    .long(&["date=", "iso-8601?", "reference@", "rfc-3339=", "rfc-email", "universal", "utc"])
    .dashed(&["-d", "--date"]);

pub(super) fn date(args: &[Word]) -> Findings {
    let parsed = parse(&DATE, args)?;
    // Any other operand sets the clock.
    let formats = parsed.operands.len() <= 1
        && parsed.operands.iter().all(|w| w.as_literal().is_some_and(|t| t.starts_with('+')));
    let known = |unit: &str| matches!(unit, "date" | "hours" | "minutes" | "seconds" | "ns");
    let dates = parsed.values(&["-d", "--date"]).all(is_date);
    (formats && dates && parsed.values(&["-I"]).all(known)).then(|| Classification::reading(parsed.files))
}

/// Returns `true` if a text for a date names no file: `TZ="…"` in it names one of zones.
pub(super) fn is_date(text: &str) -> bool {
    texts::zone(text).is_none()
}

/// The format must not store into a variable (`%n`), nor options be given (`-v`).
pub(super) fn printf(given: &[Word]) -> Findings {
    let args = literals(given)?;
    let args = args.strip_prefix(&["--"]).unwrap_or(&args);
    let (format, _) = args.split_first()?;
    let ended = args.len() < given.len();
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
    (ended || !format.starts_with('-')).then(harmless)?
}

/// Classifies words of any kind: `echo` prints every word that is no option, and its options change the format. A
/// pattern is a path to the shell.
pub(super) fn echo(args: &[Word]) -> Findings {
    let patterns = args.iter().filter(|w| !w.is_literal());
    let patterns = patterns.map(|w| PathOperand { option: false, ..PathOperand::operand(w, false) });
    Some(Classification::reading(patterns.collect()))
}

pub(super) const ICONV: ProgramSpec = ProgramSpec::new("iconv", "cls", "ft", OperandKind::Files(usize::MAX)).long(&[
    "from-code=",
    "list",
    "silent",
    "to-code=",
]);

/// The names of encodings with a slash are files.
pub(super) fn iconv(args: &[Word]) -> Findings {
    let parsed = parse(&ICONV, args)?;
    let plain = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':'));
    let encodings = parsed.options.iter().all(|(_, value)| value.as_deref().is_none_or(plain));
    encodings.then(|| read_only(&ICONV, args))?
}

/// The shell's limits and mask, where they are shown and not set.
pub(super) fn limits(name: &str, args: &[Word]) -> Findings {
    let args = literals(args)?;
    let only_shows = match (name, args.as_slice()) {
        (_, []) => true,
        ("umask", [option]) => matches!(*option, "-S" | "-p"),
        ("ulimit", [option]) => option
            .strip_prefix('-')
            .map(|o| o.strip_prefix(['H', 'S']).unwrap_or(o))
            .is_some_and(|o| o.len() == 1 && o.chars().all(|c| "abcdefiklmnpqrstuvxPRT".contains(c))),
        _ => false,
    };
    only_shows.then(harmless)?
}

/// A word that begins with `@` names a file with more arguments.
pub(super) fn binary(spec: &ProgramSpec, args: &[Word]) -> Findings {
    let plain = args.iter().all(|w| !w.text().starts_with('@') && (w.is_literal() || !w.literal_prefix().is_empty()));
    if plain { read_only(spec, args) } else { None }
}

/// The options of `who`.
pub(super) const WHO: &str = "abdHlmpqrstTu";

/// Another file would be read in place of the records of logins.
pub(super) fn who(args: &[Word]) -> Findings {
    let args = literals(args)?;
    let options = args.iter().all(|a| a.strip_prefix('-').is_some_and(|o| o.chars().all(|c| WHO.contains(c))));
    (options || matches!(args.as_slice(), ["am", "i" | "I"])).then(harmless)?
}

/// The options of `xxd`, and those with a number behind them.
pub(super) const XXD: &[&str] = &["-a", "-b", "-e", "-E", "-i", "-p", "-ps", "-plain", "-u", "-C"];
pub(super) const XXD_NUMBERS: &[&str] = &["-c", "-cols", "-g", "-l", "-len", "-o", "-s", "-seek"];

/// Options are recognised by their first letters, never bundled, and a second operand is written.
pub(super) fn xxd(args: &[Word]) -> Findings {
    let is_number = |text: &str| {
        let text = text.trim_start_matches(['+', '-']);
        text.strip_prefix("0x").unwrap_or(text).chars().all(|c| c.is_ascii_hexdigit()) && !text.is_empty()
    };
    let args = literals(args)?;
    let mut args = args.iter();
    let mut file = None;
    while let Some(arg) = args.next() {
        match *arg {
            // The operand behind the file is the file to write.
            _ if file.is_some() => return None,
            option if XXD.contains(&option) => {}
            option if XXD_NUMBERS.contains(&option) => {
                if !is_number(args.next()?) {
                    return None;
                }
            }
            option if option.len() > 1 && option.starts_with('-') => {
                let value = ["-c", "-g", "-l", "-s"].iter().find_map(|o| option.strip_prefix(o))?;
                if !is_number(value) || !value.starts_with(|c: char| c.is_ascii_digit()) {
                    return None;
                }
            }
            operand if !operand.is_empty() => file = Some(operand),
            _ => return None,
        }
    }
    let reads = file.into_iter().filter(|f| *f != "-").map(PathOperand::literal);
    Some(Classification::reading(reads.collect()))
}

pub(super) fn bracket(args: &[Word]) -> Findings {
    let (end, inner) = args.split_last()?;
    if end.as_literal() == Some("]") { test(inner) } else { None }
}

/// Returns `true` for the variable of a loop over a file name pattern, in quotes: one word, whatever its value.
fn is_loop_value(word: &Word) -> bool {
    word.kind() == WordKind::Glob && word.source().starts_with("\"$") && word.source().ends_with('"')
}

/// One test, possibly negated. `-v` and `-o` evaluate their operand.
pub(super) fn test(args: &[Word]) -> Findings {
    let plain = match args {
        [not, rest @ ..] if not.as_literal() == Some("!") => rest,
        rest => rest,
    };
    if let [option, file] = plain
        && is_loop_value(file)
        && matches!(option.as_literal(), Some("-d" | "-e" | "-f" | "-h" | "-L" | "-r" | "-s" | "-w" | "-x"))
    {
        return Some(Classification::reading(vec![PathOperand { option: false, ..PathOperand::operand(file, false) }]));
    }
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

pub(super) const JQ: ProgramSpec = ProgramSpec::new("jq", "rcnseMCSajRV", "", OperandKind::Files(usize::MAX))
    .long(&[
        "arg==",
        "argjson==",
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
    ])
    .dashed(&["--arg"]);

/// The filter must not reach the environment or load modules.
pub(super) fn jq(args: &[Word]) -> Findings {
    const REFUSED: &[&str] =
        &["env", "ENV", "import", "include", "modulemeta", "get_search_list", "input_filename", "halt_error"];
    let parsed = parse(&JQ, args)?;
    let (filter, files) = parsed.operands.split_first()?;
    let mut names = filter.as_literal()?.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    if names.any(|name| REFUSED.contains(&name)) || files.iter().any(|f| f.text().is_empty()) {
        return None;
    }
    let files = files.iter().map(|w| parsed.operand(w, false)).chain(parsed.files.iter().cloned());
    Some(Classification::reading(files.collect()))
}
