//! Which options take the next word: our tables against the real programs.
//!
//! A word that we take for the value of an option and the program takes for another option, or the other way
//! round, is the way to hide an option that writes. So every option of every table is given to the real program
//! before words that no program knows, and what the program says of these words tells whether it took them for
//! options. `tests/arity/observed.txt` keeps what was seen, with the versions; the tables must agree with it and
//! with the programs that are installed where the tests run.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};

use super::{
    archive, awk, edits, find, git,
    options::{Operands, Spec, Value},
    sed, special, table, xargs,
};

const OBSERVED: &str = include_str!("../../tests/arity/observed.txt");

/// Programs of the shell itself: what is installed under their names is not what runs.
const BUILTINS: &[&str] = &[":", "false", "pwd", "true", "type"];

/// Sub-commands of git that answer an unknown option with their usage alone: they name unknown revisions.
const NAME_REVISIONS: &[&str] = &["git diff-files", "git diff-index", "git diff-tree", "git rev-list"];

/// What a program did with the words behind an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Seen {
    /// Took the next word for an option. Attached to the option it takes no value.
    Alone,
    /// Took the next word for an option. It takes a value that is attached.
    Attached,
    /// Took the next word as the value. It also takes one that is attached.
    Next,
    /// Took the next word as the value. It takes none that is attached.
    NextOnly,
    /// Took the next two words as values.
    NextTwo,
    /// Did not know the option, or not without a value, and ended.
    Refused,
    /// Printed what it knows of itself, and ended.
    Ended,
    /// Said too little.
    Silent,
    /// Behind `--` it takes no word for an option.
    Ends,
    /// Behind an operand it still takes words for options.
    Permutes,
    /// Behind an operand it takes no word for an option.
    Ordered,
}

const NAMES: &[(Seen, &str)] = &[
    (Seen::Alone, "alone"),
    (Seen::Attached, "attached"),
    (Seen::Next, "next"),
    (Seen::NextOnly, "next-only"),
    (Seen::NextTwo, "next-two"),
    (Seen::Refused, "refused"),
    (Seen::Ended, "ended"),
    (Seen::Silent, "silent"),
    (Seen::Ends, "ends"),
    (Seen::Permutes, "permutes"),
    (Seen::Ordered, "ordered"),
];

/// Programs that look for unknown options before they give words to those that they know.
const LOOKS_AHEAD: &[&str] = &["fd", "fdfind", "rg"];

/// Sub-commands that print their usage where no operand is given.
const NEED_OPERANDS: &[&str] = &["git diff-index", "git diff-tree", "git grep", "git range-diff", "git rev-list"];

/// In the place of an option: the word that ends them, and an operand.
const END: &str = "--";
const OPERAND: &str = "operand";

/// The option of programs that take a number as one.
const NUMBER: &str = "-5";

impl Seen {
    fn name(self) -> &'static str {
        NAMES.iter().find(|(seen, _)| *seen == self).unwrap().1
    }

    fn parse(name: &str) -> Self {
        NAMES.iter().find(|(_, known)| *known == name).unwrap_or_else(|| panic!("{name}")).0
    }

    /// Whether a table that says this of the option reads no word otherwise than the program.
    fn agrees(self, option: &Option) -> bool {
        // What is never part of a bundle counts as long.
        let short = !option.text.starts_with("--") && !option.program.starts_with("find") && option.text != NUMBER;
        match (self, option.value) {
            (Self::Ends, _) => option.text == END,
            (Self::Permutes, _) => option.text == OPERAND && !option.ordered,
            (Self::Ordered, _) => option.text == OPERAND && (option.ordered || !option.hides),
            (_, _) if [END, OPERAND].contains(&option.text.as_str()) => false,
            (Self::Refused | Self::Ended, _) => true,
            (Self::Alone, Value::None) | (Self::Attached, Value::Optional | Value::Attached) => true,
            // We or the program refuse the value.
            (Self::Alone, Value::Optional | Value::Attached) | (Self::Attached, Value::None) => !short,
            (Self::Next, Value::Next | Value::File | Value::Last | Value::Attached) => true,
            (Self::NextOnly, Value::Next | Value::File) => !short || option.apart,
            (Self::NextTwo, Value::Two) => true,
            _ => false,
        }
    }
}

/// An option of a table.
#[derive(Debug, Clone)]
struct Option {
    /// The program, with its sub-command.
    program: String,
    text: String,
    value: Value,
    apart: bool,
    ordered: bool,
    /// Whether an option can hide the name of a file: by taking it as its value.
    hides: bool,
}

impl Option {
    fn new(program: &str, text: String, value: Value) -> Self {
        Self { program: program.to_owned(), text, value, apart: false, ordered: false, hides: true }
    }

    fn key(&self) -> (String, String) {
        (self.program.clone(), self.text.clone())
    }
}

fn of_spec(program: &str, spec: &Spec) -> Vec<Option> {
    let kinds = [
        (spec.flags, Value::None),
        (spec.valued, Value::Next),
        (spec.files, Value::File),
        (spec.optional, Value::Optional),
    ];
    let short = kinds.iter().flat_map(|(letters, value)| letters.chars().map(|c| (format!("-{c}"), *value)));
    let long = spec.long.iter().map(|entry| Value::of(entry)).map(|(name, value)| (format!("--{name}"), value));
    let general = [END, OPERAND].into_iter().skip(usize::from(spec.endless)).map(|text| (text.to_owned(), Value::None));
    let (apart, ordered) = (spec.apart, spec.ordered);
    let number = spec.number.then(|| (NUMBER.to_owned(), Value::None));
    let all: Vec<_> = short.chain(long).chain(general).chain(number).collect();
    let takes = all.iter().any(|(_, value)| matches!(value, Value::Next | Value::File | Value::Last | Value::Two));
    let hides = takes && !matches!(spec.operands, Operands::Text(_));
    let option = |(text, value)| Option { apart, ordered, hides, ..Option::new(program, text, value) };
    all.into_iter().map(option).collect()
}

/// Every option of every table.
fn options() -> Vec<Option> {
    let mut all: Vec<Option> = table::TABLE.iter().flat_map(|spec| of_spec(spec.name, spec)).collect();
    for spec in [&special::DATE, &special::ICONV, &special::JQ, &sed::SED].into_iter().chain(edits::ALL) {
        all.extend(of_spec(spec.name, spec));
    }
    all.extend(["awk", "mawk", "gawk"].iter().flat_map(|name| of_spec(name, &awk::AWK)));
    for (name, spec) in git::specs() {
        all.extend(of_spec(&format!("git {name}"), spec));
    }
    let mut add = |program: &str, options: &[&str], value: Value| {
        all.extend(options.iter().map(|text| Option::new(program, (*text).to_owned(), value)));
    };
    add("find .", find::ALONE, Value::None);
    add("find .", find::WITH_VALUE, Value::Next);
    add("find .", find::WITH_FILE, Value::File);
    add("xargs", xargs::ALONE, Value::None);
    add("xargs", xargs::WITH_VALUE, Value::Next);
    for (name, letters) in archive::letters() {
        all.extend(letters.chars().map(|c| Option::new(name, format!("-{c}"), Value::None)));
    }
    for option in all.iter_mut().filter(|option| option.program.starts_with("find")) {
        option.apart = true;
    }
    // Operators of expressions are no options.
    all.retain(|option| option.text.starts_with('-') || option.text == OPERAND);
    all.sort_by_key(Option::key);
    all.dedup_by_key(|option| option.key());
    all
}

/// A directory with a small repository, removed when done.
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Scratch {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("arity-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).unwrap();
        let scratch = Self(root);
        for text in [
            "git init -q -b main",
            "touch f",
            "git add f",
            "git -c user.name=a -c user.email=a@b commit -qm m",
            "cp /dev/null g",
            "git add g",
            "git -c user.name=a -c user.email=a@b stash -q",
        ] {
            let words: Vec<&str> = text.split(' ').collect();
            let _ = scratch.run(&words);
        }
        scratch
    }

    /// What a program prints, and whether it succeeded; `None` where it is not installed.
    fn run(&self, words: &[&str]) -> std::option::Option<(String, bool)> {
        let builtin = words.first().is_some_and(|program| BUILTINS.contains(program));
        let mut command = Command::new("timeout");
        command.arg("10");
        if builtin {
            command.args(["bash", "-c", "\"$@\"", "bash"]);
        }
        command.args(words).current_dir(&self.0).stdin(Stdio::null()).env_clear();
        for name in ["PATH", "LD_LIBRARY_PATH"] {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command.env("HOME", &self.0).env("LC_ALL", "C").env("TERM", "dumb").env("GIT_PAGER", "cat");
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_OPTIONAL_LOCKS", "0");
        let output = command.output().ok()?;
        let text = [output.stderr, output.stdout].concat();
        (output.status.code() != Some(127))
            .then(|| (String::from_utf8_lossy(&text).into_owned(), output.status.success()))
    }

    /// What the program says when it is given an option and these words.
    fn say(&self, option: &Option, text: &str, behind: &[&str]) -> std::option::Option<(String, bool)> {
        let words = option.program.split(' ').chain([text]).chain(behind.iter().copied());
        self.run(&words.collect::<Vec<_>>())
    }

    fn see(&self, option: &Option) -> std::option::Option<Seen> {
        let markers = Markers::of(&option.program);
        if option.text == END || option.text == OPERAND {
            return self.see_manners(option, &Markers::DASHED);
        }
        let (text, success) = self.say(option, &option.text, &markers.0)?;
        let mut taken = markers.taken(&text);
        if taken == Some(0) && text.contains("-- '-'") {
            // It does not say which of the words it means: with one word alone there is no doubt.
            taken = markers.taken(&self.say(option, &option.text, &markers.0[..1])?.0).or(Some(1));
        }
        if LOOKS_AHEAD.contains(&option.program.as_str()) && taken.is_some() {
            // Without a pattern it says that first.
            let last = Option::new(
                if option.program == "rg" { "rg --files" } else { &option.program },
                String::new(),
                Value::None,
            );
            let (alone, _) = self.say(&last, &option.text, &[])?;
            taken = Some(usize::from(alone.contains("requires a value") || alone.contains("a value is required")));
        }
        let Some(taken) = taken else {
            let alone = self.say(option, &option.text, &[])?;
            let same = success && !text.is_empty() && alone.0 == text;
            return Some(if same {
                Seen::Ended
            } else if success {
                Seen::Silent
            } else {
                Seen::Refused
            });
        };
        let attached = format!("{}{}", option.text, if option.text.starts_with("--") { "=@" } else { "@" });
        // Where unknown revisions are named, they are named before an unknown option is.
        let behind: &[&str] = match option.program.as_str() {
            "git diff-files" => &[],
            program if NAME_REVISIONS.contains(&program) => &["HEAD"],
            _ => &markers.0,
        };
        let refuses = refuses_attached(&attached, &self.say(option, &attached, behind)?.0);
        Some(match taken {
            0 if refuses => Seen::Alone,
            0 => Seen::Attached,
            1 if refuses => Seen::NextOnly,
            1 => Seen::Next,
            _ => Seen::NextTwo,
        })
    }

    /// Whether words are taken for options behind `--` and behind an operand.
    fn see_manners(&self, option: &Option, markers: &Markers) -> std::option::Option<Seen> {
        let history = git::specs()
            .any(|(name, spec)| option.program == format!("git {name}") && spec.long.contains(&"patch-with-stat"));
        let operand = match option.program.as_str() {
            "git stash show" => "stash@{0}",
            "git range-diff" => "HEAD...HEAD",
            "git diff-files" => "f",
            "git rev-parse" | "git show-branch" => "HEAD",
            _ if history => "HEAD",
            _ => "f",
        };
        let ends = option.text == END;
        let first = if ends { END } else { operand };
        let (text, _) = match NEED_OPERANDS.contains(&option.program.as_str()) {
            true if ends => self.say(option, operand, &[&[END][..], &markers.0].concat())?,
            _ => self.say(option, first, &markers.0)?,
        };
        let takes = markers.taken(&text) == Some(0)
            || text.contains("must come before non-option arguments")
            || (text.starts_with("usage: git") && (!ends || NEED_OPERANDS.contains(&option.program.as_str())));
        Some(match (takes, ends) {
            (true, true) => Seen::Silent,
            (false, true) => Seen::Ends,
            (true, false) => Seen::Permutes,
            (false, false) => Seen::Ordered,
        })
    }
}

/// Whether the program says that this option takes no value.
fn refuses_attached(option: &str, text: &str) -> bool {
    let complaints = [
        "invalid option",
        "doesn't allow an argument",
        "takes no value",
        "unknown switch `@'",
        "unrecognized",
        "unknown option",
        "Unknown option",
        "Unknown arguments",
        "not an option",
        "Bad flag",
        "Invalid argument -`@'",
        "Invalid argument `--",
        "wasn't expected",
        "wasn't expecting",
        "unexpected value",
    ];
    let names = |line: &str| line.contains('@') || line.contains(option.trim_end_matches("=@"));
    let complains = |line: &str| complaints.iter().any(|complaint| line.contains(complaint)) && names(line);
    text.starts_with("usage:") || text.lines().any(|line| complains(line) || line == option)
}

/// The words put behind an option.
struct Markers([&'static str; 3]);

impl Markers {
    const DASHED: Self = Self(["--windlass-zz", "--windlass-yy", "--windlass-xx"]);

    fn of(program: &str) -> Self {
        if NAME_REVISIONS.contains(&program) {
            Self(["windlass-zz", "windlass-yy", "windlass-xx"])
        } else {
            Self::DASHED
        }
    }

    /// How many of the words were taken as values, by the first that the program names.
    fn taken(&self, text: &str) -> std::option::Option<usize> {
        let bare = |marker: &str| marker.trim_start_matches('-').to_owned();
        let line = text.lines().find(|line| line.contains("windlass-") || line.contains("-- '-'"))?;
        if line.contains("invalid option -- '-'") {
            return Some(0);
        }
        let at = self.0.iter().position(|marker| line.contains(&bare(marker)))?;
        let marker = bare(self.0.get(at)?);
        let complaints = [
            format!("unrecognized option '--{marker}'"),
            format!("unrecognized argument: --{marker}"),
            format!("unknown option `{marker}'"),
            format!("unknown option `--{marker}'"),
            format!("invalid option: --{marker}"),
            format!("Unknown option: {marker}"),
            format!("Unknown option --{marker}"),
            format!("nknown arguments: --{marker}"),
            format!("Found argument '--{marker}' which wasn't expected"),
            format!("unexpected argument '--{marker}' found"),
            format!("unrecognized flag --{marker}"),
            format!("not an option: --{marker}"),
            format!("unknown predicate `--{marker}'"),
            format!("Invalid argument `--{marker}'"),
            format!("Bad flag `--{marker}'"),
            format!("ambiguous argument '{marker}'"),
            format!("--: invalid option"),
        ];
        let complains = complaints.iter().any(|complaint| line.contains(complaint)) || line == format!("--{marker}");
        Some(if complains { at } else { at.saturating_add(1) })
    }
}

/// The version of each program, as it names itself.
fn versions(scratch: &Scratch, options: &[Option]) -> BTreeMap<String, String> {
    let mut programs: Vec<&str> = options.iter().filter_map(|option| option.program.split(' ').next()).collect();
    programs.dedup();
    let version = |program: &&str| {
        let asked = match *program {
            "unzip" | "zipinfo" | "xxd" | "mawk" | "awk" => ["-v", "-W version"],
            _ => ["--version", "-V"],
        };
        let said = asked.iter().find_map(|option| {
            let words: Vec<&str> = [*program].into_iter().chain(option.split(' ')).collect();
            let (text, _) = scratch.run(&words)?;
            text.lines().find(|line| line.contains(|c: char| c.is_ascii_digit())).map(|line| line.trim().to_owned())
        });
        let installed = scratch.run(&[program, "--windlass"]).is_some();
        installed.then(|| ((*program).to_owned(), said.unwrap_or_else(|| "says no version".to_owned())))
    };
    programs.iter().filter_map(version).collect()
}

/// What the installed programs do with each of the options.
fn see_all(scratch: &Scratch, options: &[Option]) -> Vec<(Option, std::option::Option<Seen>)> {
    let workers = thread::available_parallelism().map_or(2, usize::from);
    let size = options.len().div_ceil(workers).max(1);
    thread::scope(|scope| {
        let see = |part: &[Option]| part.iter().map(|option| (option.clone(), scratch.see(option))).collect();
        let running: Vec<_> = options.chunks(size).map(|part| scope.spawn(move || -> Vec<_> { see(part) })).collect();
        running.into_iter().flat_map(|part| part.join().unwrap()).collect()
    })
}

/// What was observed, by program and option, and the versions.
fn observed() -> (BTreeMap<(String, String), Seen>, BTreeMap<String, String>) {
    let mut seen = BTreeMap::new();
    let mut versions = BTreeMap::new();
    for line in OBSERVED.lines().filter(|line| !line.starts_with("# ") && !line.is_empty()) {
        match line.split('\t').collect::<Vec<_>>().as_slice() {
            [program, version] => {
                versions.insert((*program).to_owned(), (*version).to_owned());
            }
            [program, option, name] => {
                seen.insert(((*program).to_owned(), (*option).to_owned()), Seen::parse(name));
            }
            _ => panic!("{line}"),
        }
    }
    (seen, versions)
}

/// Options of programs which say too little to be observed: what is known of them was read.
const READ: &[(&str, &[&str])] = &[
    // It prints what it does not know, `--` included.
    ("git rev-parse", &["--"]),
    // Only a number may be attached.
    ("shasum", &["-a"]),
    // It prints a number that is never the same, and ends.
    ("vmstat", &["-f"]),
];

/// Programs that were not at hand.
const NOT_AT_HAND: &[&str] = &["gzcat"];

fn was_read(option: &Option) -> bool {
    READ.iter().any(|(program, options)| {
        *program == option.program && (options.is_empty() || options.contains(&&*option.text))
    })
}

#[test]
fn every_option_takes_its_value_as_the_real_program_was_seen_to() {
    let (seen, _) = observed();
    let wrong: Vec<String> = options()
        .iter()
        .filter(|option| !was_read(option) && !NOT_AT_HAND.contains(&option.program.as_str()))
        .filter_map(|option| match seen.get(&option.key()) {
            Some(seen) if seen.agrees(option) => None,
            seen => Some(format!("{} {}: {:?}, seen {seen:?}", option.program, option.text, option.value)),
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), options().len(), wrong.join("\n"));
}

/// What may begin with a dash is a value where the program was seen to take it.
#[test]
fn options_that_take_any_word_are_known_to() {
    let (seen, _) = observed();
    let mut checked = 0;
    let specs = [&special::DATE, &special::JQ].into_iter().chain(edits::ALL).chain(table::TABLE);
    for spec in specs.chain(git::specs().filter(|(_, spec)| !spec.dashed.is_empty()).map(|(_, spec)| spec)) {
        for option in spec.dashed {
            let program = if spec.name == "grep" && spec.number && !spec.harmless { "git grep" } else { spec.name };
            let key = (program.to_owned(), (*option).to_owned());
            let takes = [Seen::Next, Seen::NextOnly, Seen::NextTwo];
            assert!(seen.get(&key).is_some_and(|seen| takes.contains(seen)), "{program} {option}");
            checked += 1;
        }
    }
    assert!(checked > 15, "{checked}");
}

/// Where the version is the one that was observed, a look at the options that take values is enough.
#[test]
fn installed_programs_take_values_as_the_tables_say() {
    let scratch = Scratch::new("installed");
    let (_, seen_versions) = observed();
    let mut options = options();
    let installed = versions(&scratch, &options);
    let program = |option: &Option| option.program.split(' ').next().unwrap_or_default().to_owned();
    let mut missing: Vec<String> =
        options.iter().map(program).filter(|program| !installed.contains_key(program)).collect();
    missing.dedup();
    eprintln!("skipped, because they are not installed: {} programs {missing:?}", missing.len());
    assert!(installed.contains_key("git"), "the tests need git");
    options.retain(|option| {
        let name = program(option);
        let same = installed.get(&name) == seen_versions.get(&name);
        installed.contains_key(&name) && !was_read(option) && (!same || is_told(option))
    });
    eprintln!("{} options of {} programs are looked at", options.len(), installed.len());
    let wrong: Vec<String> = see_all(&scratch, &options)
        .into_iter()
        .filter_map(|(option, seen)| {
            let seen = seen.filter(|seen| !seen.agrees(&option))?;
            Some(format!("{} {}: {:?}, but {seen:?}", option.program, option.text, option.value))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Of an option that takes a value, whether one program with such options is enough: git has many sub-commands that
/// read them with the same code.
fn is_told(option: &Option) -> bool {
    let readers = ["git log", "git blame", "git branch", "git grep", "git shortlog", "git status", "git stash list"];
    let git = option.program.starts_with("git ");
    let manners = [END, OPERAND].contains(&option.text.as_str());
    manners || (option.value != Value::None && (!git || readers.contains(&option.program.as_str())))
}

#[test]
#[ignore = "writes tests/arity/observed.txt anew from the programs that are installed"]
fn observe_the_installed_programs() {
    let scratch = Scratch::new("observe");
    let options = options();
    let mut text = String::from(
        "# What programs do with the words behind an option, written by the test `observe_the_installed_programs`.\n",
    );
    for (program, version) in versions(&scratch, &options) {
        writeln!(text, "{program}\t{version}").unwrap();
    }
    for (option, seen) in see_all(&scratch, &options) {
        if let Some(seen) = seen {
            writeln!(text, "{}\t{}\t{}", option.program, option.text, seen.name()).unwrap();
        }
    }
    fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/arity/observed.txt"), text).unwrap();
}
