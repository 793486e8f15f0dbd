//! Options that take the next word: our tables against the real programs.
//!
//! A word that we take for the value of an option and the program takes for another option, or the other way
//! round, is the way to hide an option that writes. So every option of every table is given to the real program
//! before words that no program knows, and its messages show whether it took these words for
//! options. `tests/arity/observed.txt` keeps the observations, with the versions; the tables must agree with it and
//! with the programs that are installed where the tests run.
#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot be set up has failed")]

mod probe;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::Path,
    thread,
};

use probe::Scratch;

use super::{
    archive, awk, edits, find, git,
    options::{OperandKind, OptionValue, ProgramSpec},
    ps, sed, special, table, xargs,
};

const OBSERVED: &str = include_str!("../../tests/arity/observed.txt");

/// Treatment of the words behind an option, as observed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum ObservedArity {
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
    /// Printed its help or version, and ended.
    Ended,
    /// The messages of the program do not show how it took the words.
    Silent,
    /// Behind `--` it takes no word for an option.
    Ends,
    /// Behind an operand it still takes words for options.
    Permutes,
    /// Behind an operand it takes no word for an option.
    Ordered,
}

const NAMES: &[(ObservedArity, &str)] = &[
    (ObservedArity::Alone, "alone"),
    (ObservedArity::Attached, "attached"),
    (ObservedArity::Next, "next"),
    (ObservedArity::NextOnly, "next-only"),
    (ObservedArity::NextTwo, "next-two"),
    (ObservedArity::Refused, "refused"),
    (ObservedArity::Ended, "ended"),
    (ObservedArity::Silent, "silent"),
    (ObservedArity::Ends, "ends"),
    (ObservedArity::Permutes, "permutes"),
    (ObservedArity::Ordered, "ordered"),
];

/// In the place of an option: the word that ends them, and an operand.
const END: &str = "--";
const OPERAND: &str = "operand";

/// The option of programs that take a number as one.
const NUMBER: &str = "-5";

impl ObservedArity {
    fn name(self) -> &'static str {
        NAMES.iter().find(|(seen, _)| *seen == self).map_or("", |(_, name)| name)
    }

    fn parse(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(seen, _)| *seen)
    }

    /// Returns `true` if a table with this entry reads every word as the program does.
    fn agrees(self, option: &OptionEntry) -> bool {
        // An option that is never part of a bundle is treated as long.
        let bundles = !option.program.starts_with("find") && option.program != "xxd";
        let short = !option.text.starts_with("--") && bundles && option.text != NUMBER;
        match (self, option.value) {
            (Self::Ends, _) => option.text == END,
            (Self::Permutes, _) => option.text == OPERAND && !option.ordered,
            (Self::Ordered, _) => option.text == OPERAND && (option.ordered || !option.hides),
            (_, _) if [END, OPERAND].contains(&option.text.as_str()) => false,
            (Self::Refused | Self::Ended, _) => true,
            (Self::Alone, OptionValue::None) | (Self::Attached, OptionValue::Optional | OptionValue::Attached) => true,
            // We or the program refuse the value.
            (Self::Alone, OptionValue::Optional | OptionValue::Attached) | (Self::Attached, OptionValue::None) => {
                !short
            }
            (Self::Next, OptionValue::Next | OptionValue::File | OptionValue::Last | OptionValue::Attached) => true,
            (Self::NextOnly, OptionValue::Next | OptionValue::File) => !short || option.apart,
            (Self::NextTwo, OptionValue::Two) => true,
            _ => false,
        }
    }
}

/// An option of a table.
#[derive(Debug, Clone)]
struct OptionEntry {
    /// The program, with its sub-command.
    program: String,
    text: String,
    value: OptionValue,
    apart: bool,
    ordered: bool,
    /// `true` if the option can hide the name of a file by taking it as its value.
    hides: bool,
}

impl OptionEntry {
    fn new(program: &str, text: String, value: OptionValue) -> Self {
        Self { program: program.to_owned(), text, value, apart: false, ordered: false, hides: true }
    }

    fn key(&self) -> (String, String) {
        (self.program.clone(), self.text.clone())
    }
}

fn of_spec(program: &str, spec: &ProgramSpec) -> Vec<OptionEntry> {
    let kinds = [
        (spec.options.flags, OptionValue::None),
        (spec.options.valued, OptionValue::Next),
        (spec.options.files, OptionValue::File),
        (spec.options.optional, OptionValue::Optional),
    ];
    let short = kinds.iter().flat_map(|(letters, value)| letters.chars().map(|c| (format!("-{c}"), *value)));
    let long =
        spec.options.long.iter().map(|entry| OptionValue::of(entry)).map(|(name, value)| (format!("--{name}"), value));
    let general = [END, OPERAND]
        .into_iter()
        .skip(usize::from(spec.syntax.endless))
        .map(|text| (text.to_owned(), OptionValue::None));
    let (apart, ordered) = (spec.syntax.apart, spec.syntax.ordered);
    let number = spec.syntax.number.then(|| (NUMBER.to_owned(), OptionValue::None));
    let all: Vec<_> = short.chain(long).chain(general).chain(number).collect();
    let takes = all.iter().any(|(_, value)| {
        matches!(value, OptionValue::Next | OptionValue::File | OptionValue::Last | OptionValue::Two)
    });
    // Elsewhere such a value is judged as a file too.
    let hides =
        takes && (matches!(spec.operands, OperandKind::Pattern | OperandKind::PatternHere) || spec.name == "jq");
    let option = |(text, value)| OptionEntry { apart, ordered, hides, ..OptionEntry::new(program, text, value) };
    all.into_iter().map(option).collect()
}

/// Returns the options of `ps` that begin with a dash.
fn of_ps() -> Vec<OptionEntry> {
    let letters = |letters: &'static str, value| letters.chars().map(move |c| (format!("-{c}"), value));
    let words = |words: &'static [&str], value| words.iter().map(move |word| (format!("--{word}"), value));
    let alone = letters(ps::FORMATS, OptionValue::None)
        .chain(letters(ps::CHOICES, OptionValue::None))
        .chain(letters("e", OptionValue::None));
    let all = alone.chain(letters(ps::VALUED, OptionValue::Next)).chain(words(ps::LONG, OptionValue::None));
    let all = all.chain(words(ps::LONG_VALUED, OptionValue::Next));
    all.map(|(text, value)| OptionEntry { apart: true, ..OptionEntry::new("ps", text, value) }).collect()
}

/// Returns every option of every table.
fn options() -> Vec<OptionEntry> {
    let mut all: Vec<OptionEntry> = table::TABLE.iter().flat_map(|spec| of_spec(spec.name, spec)).collect();
    for spec in [&special::DATE, &special::ICONV, &special::JQ, &sed::SED].into_iter().chain(edits::ALL) {
        all.extend(of_spec(spec.name, spec));
    }
    all.extend(["awk", "mawk", "gawk"].iter().flat_map(|name| of_spec(name, &awk::AWK)));
    for (name, spec) in git::specs() {
        all.extend(of_spec(&format!("git {name}"), spec));
    }
    let mut add = |program: &str, options: &[&str], value: OptionValue| {
        all.extend(options.iter().map(|text| OptionEntry::new(program, (*text).to_owned(), value)));
    };
    add("find .", find::ALONE, OptionValue::None);
    add("find .", find::WITH_VALUE, OptionValue::Next);
    add("find .", find::WITH_FILE, OptionValue::File);
    add("xargs", xargs::ALONE, OptionValue::None);
    add("xargs", xargs::WITH_VALUE, OptionValue::Next);
    add("xxd", special::XXD, OptionValue::None);
    add("xxd", special::XXD_NUMBERS, OptionValue::Next);
    add("unzip", archive::UNZIP, OptionValue::None);
    add("zipinfo", archive::ZIPINFO, OptionValue::None);
    all.extend(of_ps());
    all.extend(special::WHO.chars().map(|c| OptionEntry::new("who", format!("-{c}"), OptionValue::None)));
    for (name, letters) in archive::letters() {
        all.extend(letters.chars().map(|c| OptionEntry::new(name, format!("-{c}"), OptionValue::None)));
    }
    for option in all.iter_mut().filter(|option| option.program.starts_with("find")) {
        option.apart = true;
    }
    // Operators of expressions are no options.
    all.retain(|option| option.text.starts_with('-') || option.text == OPERAND);
    all.sort_by_key(OptionEntry::key);
    all.dedup_by_key(|option| option.key());
    all
}

/// Returns the version of each program, as it names itself.
fn versions(scratch: &Scratch, options: &[OptionEntry]) -> BTreeMap<String, String> {
    let mut programs: Vec<&str> = options.iter().filter_map(|option| option.program.split(' ').next()).collect();
    programs.dedup();
    let version = |program: &&str| {
        let asked = match *program {
            "unzip" | "zipinfo" | "xxd" | "mawk" | "awk" => ["-v", "-W version"],
            _ => ["--version", "-V"],
        };
        // Programs of the shell have its version.
        let asked_of = if probe::BUILTINS.contains(program) { "bash" } else { program };
        let answer = asked.iter().find_map(|option| {
            let words: Vec<&str> = [asked_of].into_iter().chain(option.split(' ')).collect();
            let (text, _) = scratch.run(&words)?;
            let is_version = |line: &&str| line.contains('.') && line.contains(|c: char| c.is_ascii_digit());
            text.lines().find(is_version).map(|line| line.trim().to_owned())
        });
        let installed = scratch.run(&[program, "--windlass"]).is_some();
        installed.then(|| ((*program).to_owned(), answer.unwrap_or_else(|| "says no version".to_owned())))
    };
    programs.iter().filter_map(version).collect()
}

/// Probes the installed programs with each of the options.
fn see_all(scratch: &Scratch, options: &[OptionEntry]) -> Vec<(OptionEntry, Option<ObservedArity>)> {
    let workers = thread::available_parallelism().map_or(2, usize::from);
    let size = options.len().div_ceil(workers).max(1);
    thread::scope(|scope| {
        let see = |part: &[OptionEntry]| part.iter().map(|option| (option.clone(), scratch.see(option))).collect();
        let running: Vec<_> = options.chunks(size).map(|part| scope.spawn(move || -> Vec<_> { see(part) })).collect();
        running.into_iter().flat_map(|part| part.join().unwrap()).collect()
    })
}

/// Returns the recorded observations, by program and option, and the versions.
fn observed() -> (BTreeMap<(String, String), ObservedArity>, BTreeMap<String, String>) {
    let mut seen = BTreeMap::new();
    let mut versions = BTreeMap::new();
    for line in OBSERVED.lines().filter(|line| !line.starts_with("# ") && !line.is_empty()) {
        match line.split('\t').collect::<Vec<_>>().as_slice() {
            [program, version] => {
                versions.insert((*program).to_owned(), (*version).to_owned());
            }
            [program, option, name] => {
                seen.insert(((*program).to_owned(), (*option).to_owned()), ObservedArity::parse(name).unwrap());
            }
            _ => panic!("{line}"),
        }
    }
    (seen, versions)
}

/// Options whose programs print too little to be observed: these entries were read in their manuals.
const READ: &[(&str, &[&str])] = &[
    // The program prints every unknown word, `--` included.
    ("git rev-parse", &["--"]),
    // Only a number may be attached.
    ("shasum", &["-a"]),
    // The program prints a number that is never the same, and ends.
    ("vmstat", &["-f"]),
];

/// Programs that were not at hand.
const NOT_AT_HAND: &[&str] = &["gzcat"];

fn was_read(option: &OptionEntry) -> bool {
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

/// A table that is left out would not be compared with the observations.
#[test]
fn every_program_that_was_seen_has_its_table_compared() {
    let (seen, _) = observed();
    let compared: BTreeSet<String> = options().into_iter().map(|option| option.program).collect();
    let left_out: BTreeSet<&String> =
        seen.keys().map(|(program, _)| program).filter(|program| !compared.contains(*program)).collect();
    assert!(left_out.is_empty(), "{left_out:?}");
}

/// A word that begins with a dash is a value only for options observed to take it.
#[test]
fn options_that_take_any_word_are_known_to() {
    let (seen, _) = observed();
    let mut checked = 0;
    let specs = [&special::DATE, &special::JQ].into_iter().chain(edits::ALL).chain(table::TABLE);
    for spec in specs.chain(git::specs().filter(|(_, spec)| !spec.options.dashed.is_empty()).map(|(_, spec)| spec)) {
        for option in spec.options.dashed {
            let program =
                if spec.name == "grep" && !spec.options.dashed.contains(&"--regexp") { "git grep" } else { spec.name };
            let key = (program.to_owned(), (*option).to_owned());
            let takes = [ObservedArity::Next, ObservedArity::NextOnly, ObservedArity::NextTwo];
            assert!(seen.get(&key).is_some_and(|seen| takes.contains(seen)), "{program} {option}");
            checked += 1;
        }
    }
    assert!(checked > 15, "{checked}");
}

/// If the version is the observed one, probing the options that take values is enough.
#[test]
fn installed_programs_take_values_as_the_tables_say() {
    let scratch = Scratch::new("installed");
    let (_, seen_versions) = observed();
    let mut options = options();
    let installed = versions(&scratch, &options);
    let program = |option: &OptionEntry| option.program.split(' ').next().unwrap_or_default().to_owned();
    // One program under two names, of which a system has one.
    let names = [("fd", "fdfind"), ("gzcat", "zcat")];
    let has_other_name = |program: &str| {
        let others = names.iter().flat_map(|(one, other)| [(*one, *other), (*other, *one)]);
        others.into_iter().any(|(name, other)| name == program && installed.contains_key(other))
    };
    let is_missing = |program: &String| !installed.contains_key(program) && !has_other_name(program);
    let mut missing: Vec<String> = options.iter().map(program).filter(is_missing).collect();
    missing.dedup();
    if !missing.is_empty() {
        windlass_testkit::skipped(&format!("{} programs that are not installed: {missing:?}", missing.len()));
    }
    let others: Vec<&String> = installed
        .iter()
        .filter(|(name, version)| is_another_program(seen_versions.get(*name), version))
        .map(|(name, _)| name)
        .collect();
    if !others.is_empty() {
        windlass_testkit::skipped(&format!("{} programs whose names others have here: {others:?}", others.len()));
    }
    assert!(installed.contains_key("git"), "the tests need git");
    options.retain(|option| {
        let name = program(option);
        let same = installed.get(&name) == seen_versions.get(&name);
        let is_there = installed.contains_key(&name) && !others.contains(&&name);
        is_there && !was_read(option) && (!same || is_covered_by_another(option))
    });
    eprintln!("{} options of {} programs are looked at", options.len(), installed.len());
    let wrong: Vec<String> = see_all(&scratch, &options)
        .into_iter()
        .filter_map(|(option, seen)| {
            // The messages of another version may show too little.
            let silent = seen == Some(ObservedArity::Silent)
                && installed.get(&program(&option)) != seen_versions.get(&program(&option));
            let seen = seen.filter(|seen| !seen.agrees(&option) && !silent)?;
            Some(format!("{} {}: {:?}, but {seen:?}", option.program, option.text, option.value))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns `true` if a program of the same name is another one, with options of its own, and not another version. The
/// programs of GNU name their project; those that replace them (uutils, busybox) name another one or none.
fn is_another_program(seen: Option<&String>, installed: &str) -> bool {
    seen.is_some_and(|seen| seen.contains("GNU")) && !installed.contains("GNU")
}

#[test]
fn replacements_of_programs_are_recognised_by_their_version() {
    let seen = |version: &str| Some(version.to_owned());
    let gnu = seen("date (GNU coreutils) 9.1");
    assert!(is_another_program(gnu.as_ref(), "date (uutils coreutils) 0.2.2"));
    assert!(is_another_program(gnu.as_ref(), "says no version"));
    assert!(!is_another_program(gnu.as_ref(), "date (GNU coreutils) 9.7"));
    assert!(!is_another_program(seen("ripgrep 13.0.0").as_ref(), "ripgrep 14.1.1"));
    assert!(!is_another_program(None, "says no version"));
}

/// Returns `true` if one program with such an option is enough: git has many sub-commands that read options with a
/// value with the same code.
fn is_covered_by_another(option: &OptionEntry) -> bool {
    let readers = ["git log", "git blame", "git branch", "git grep", "git shortlog", "git status", "git stash list"];
    let git = option.program.starts_with("git ");
    let manners = [END, OPERAND].contains(&option.text.as_str());
    manners || (option.value != OptionValue::None && (!git || readers.contains(&option.program.as_str())))
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
