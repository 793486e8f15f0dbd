//! Options that make git print the content of files: our reading of them against git itself.
//!
//! Every option that git has, by what it offers for completion and by the texts in its binary, is given to every
//! sub-command that reads, in a repository whose files have a mark in every line. `tests/patches/observed.txt` keeps
//! which of them printed it.

#![expect(
    clippy::disallowed_methods,
    clippy::string_slice,
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]

use super::{Standing, shown};
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    thread,
};
use windlass_shell::analyse;

const OBSERVED: &str = include_str!("../../tests/patches/observed.txt");

/// A text that is in every line of every file, and nowhere else.
const MARK: &str = "zzsecret";

/// Sub-commands that only read, with words before and behind the option that is tried.
const READING: &[(&str, &[&str])] = &[
    ("annotate", &["f"]),
    ("bisect log", &[""]),
    ("blame", &["f"]),
    ("cat-file", &["HEAD:f"]),
    ("check-attr", &["a f", "-a f"]),
    ("check-ignore", &["f"]),
    ("cherry", &["HEAD~1 HEAD"]),
    ("count-objects", &[""]),
    ("describe", &["", "--always"]),
    ("diff", &["", "HEAD", "--cached"]),
    ("diff-files", &[""]),
    ("diff-index", &["HEAD"]),
    ("diff-tree", &["HEAD", "HEAD~1 HEAD", "merged"]),
    ("for-each-ref", &[""]),
    ("grep", &["zz", "-e zz"]),
    ("log", &["", "merged"]),
    ("ls-files", &[""]),
    ("ls-tree", &["HEAD"]),
    ("merge-base", &["HEAD HEAD~1"]),
    ("merge-tree", &["HEAD HEAD~1 HEAD", "HEAD other"]),
    ("name-rev", &["HEAD"]),
    ("notes list", &[""]),
    ("range-diff", &["HEAD~1..HEAD HEAD~2..HEAD"]),
    ("reflog", &["", "show"]),
    ("rev-list", &["HEAD", "merged"]),
    ("rev-parse", &["HEAD"]),
    ("shortlog", &["HEAD"]),
    ("show", &["", "merged"]),
    ("show-branch", &[""]),
    ("show-ref", &[""]),
    ("stash list", &[""]),
    ("stash show", &[""]),
    ("status", &[""]),
    ("var", &["GIT_AUTHOR_IDENT"]),
    ("whatchanged", &["", "merged"]),
    ("worktree list", &[""]),
];

/// Sub-commands that change the repository: each try has one of its own.
const CHANGING: &[(&str, &[&str])] = &[
    ("add", &["", "--dry-run ."]),
    ("branch", &["-l"]),
    ("checkout", &["", "f"]),
    ("commit", &["", "--dry-run"]),
    ("reset", &["", "f"]),
    ("restore", &["f"]),
    ("rm", &["--dry-run f"]),
    ("stash push", &[""]),
    ("tag", &["-l"]),
];

/// Sub-commands that take the options of comparisons.
const COMPARING: &[&str] = &[
    "diff",
    "diff-files",
    "diff-index",
    "diff-tree",
    "log",
    "reflog",
    "rev-list",
    "show",
    "stash list",
    "stash show",
    "status",
    "whatchanged",
];

/// Options whose value is a file that is read: that word is judged by itself.
const READ_A_FILE: &[&str] = &["--pathspec-from-file"];

/// Values of options that take one.
const VALUES: &[&str] = &["1", "diff", "m"];

/// A directory with a repository, removed when done.
struct Repository(PathBuf);

impl Drop for Repository {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Repository {
    fn new(name: &str) -> Self {
        let root = std::env::temp_dir().join(format!("patches-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        fs::create_dir_all(&root).unwrap();
        let repository = Self(root);
        let mut count = 0;
        let mut write = |lines: usize| {
            count += 1;
            let text: String = (0..lines).map(|line| format!("{MARK} {line} {} \n", count * line)).collect();
            fs::write(repository.0.join("f"), &text).unwrap();
        };
        let git = |text: &str| drop(repository.git(&text.split(' ').collect::<Vec<_>>()));
        git("init -q -b main");
        for lines in [20, 22, 24] {
            write(lines);
            git("add f");
            git("commit -qm m");
        }
        git("checkout -qb other HEAD~1");
        write(21);
        git("commit -qam m");
        git("merge -q main");
        write(23);
        git("commit -qam m");
        git("tag merged");
        git("checkout -q main");
        write(25);
        git("stash -q");
        write(26);
        git("add f");
        write(27);
        repository
    }

    /// Copies the repository.
    fn copied(&self, name: &str) -> Self {
        let copy = Self(self.0.with_extension(name.replace(' ', "-")));
        let _ = fs::remove_dir_all(&copy.0);
        assert!(Command::new("cp").arg("-a").args([&self.0, &copy.0]).status().unwrap().success());
        copy
    }

    /// Returns the output of git.
    fn git(&self, words: &[&str]) -> String {
        let mut command = Command::new("timeout");
        command.args(["5", "git"]).args(words).current_dir(&self.0).stdin(Stdio::null()).env_clear();
        command.envs(["PATH", "LD_LIBRARY_PATH"].iter().filter_map(|name| Some((*name, std::env::var_os(name)?))));
        command
            .env("HOME", &self.0)
            .env("LC_ALL", "C")
            .env("TERM", "dumb")
            .env("GIT_PAGER", "cat")
            .env("GIT_EDITOR", "true");
        command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_OPTIONAL_LOCKS", "0");
        for who in ["AUTHOR", "COMMITTER"] {
            command.env(format!("GIT_{who}_NAME"), "a").env(format!("GIT_{who}_EMAIL"), "a@b");
        }
        let Ok(output) = command.output() else { return String::new() };
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    }

    /// Returns `true` if a command prints the content of a file.
    fn prints(&self, subcommand: &str, option: &str, behind: &str) -> bool {
        let words: Vec<&str> = [subcommand, option, behind].iter().flat_map(|text| text.split(' ')).collect();
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        self.git(&words).contains(MARK)
    }

    /// Returns the long options that git has for a sub-command.
    fn offered(&self, subcommand: &str) -> BTreeSet<String> {
        let words: Vec<&str> = subcommand.split(' ').chain(["--git-completion-helper-all"]).collect();
        let text = self.git(&words);
        text.split_whitespace().filter(|word| word.starts_with("--") && word.len() > 2).map(str::to_owned).collect()
    }

    fn version(&self) -> String {
        self.git(&["--version"]).trim().to_owned()
    }
}

/// Returns options that stand as texts in the binary of git.
fn in_binary(repository: &Repository) -> BTreeSet<String> {
    let directory = PathBuf::from(repository.git(&["--exec-path"]).trim());
    let bytes = fs::read(directory.join("git")).unwrap_or_default();
    let texts = bytes.split(|byte| *byte == 0).filter_map(|text| std::str::from_utf8(text).ok());
    let options = texts.filter(|text| {
        let name = text.strip_prefix("--").map(|name| name.strip_suffix('=').unwrap_or(name)).unwrap_or_default();
        name.len() > 1 && name.chars().all(|c| c.is_ascii_lowercase() || c == '-')
    });
    options.map(str::to_owned).collect()
}

/// Returns every spelling in which the options are tried, but for those that write a file.
fn spellings(long: &BTreeSet<String>) -> Vec<String> {
    let mut all: Vec<String> = ('a'..='z').chain('A'..='Z').chain('0'..='9').map(|c| format!("-{c}")).collect();
    all.push("-L1,1:f".to_owned());
    let writes = |option: &&String| ["--output", "--output=", "--output-directory="].contains(&option.as_str());
    for option in long.iter().filter(|option| !writes(option)) {
        all.push(option.trim_end_matches('=').to_owned());
        if option.ends_with('=') {
            all.extend(VALUES.iter().map(|value| format!("{option}{value}")));
        }
    }
    all
}

/// Returns each option before and behind some that ask for less than content.
fn beside_summaries(options: &[String]) -> Vec<String> {
    let negations = ["--no-no-patch", "--no-quiet", "--no-stat", "--no-raw"].map(str::to_owned);
    let options = options.iter().filter(|option| !option.contains('=')).chain(&negations);
    let pairs = |option| {
        ["--stat", "-s", "--quiet", "--name-only"].map(|less| [format!("{option} {less}"), format!("{less} {option}")])
    };
    options.flat_map(pairs).flatten().collect()
}

/// Returns the spellings that make a sub-command print content.
fn printing(repository: &Repository, (subcommand, behind): (&str, &[&str]), tried: &[String]) -> BTreeSet<String> {
    let prints = |option: &&String| behind.iter().any(|behind| repository.prints(subcommand, option, behind));
    let plain = String::new();
    let printing = std::iter::once(&plain).chain(tried).filter(prints).cloned().collect();
    // A file that one of them made would be an operand of the next.
    let names = fs::read_dir(&repository.0).unwrap().map(|entry| entry.unwrap().file_name());
    assert_eq!(names.filter(|name| name != ".git" && name != "f").count(), 0, "{subcommand}");
    printing
}

/// Returns the observations: the version, and by sub-command the options with which it printed content.
fn observed() -> (&'static str, BTreeMap<&'static str, BTreeSet<&'static str>>) {
    let mut lines = OBSERVED.lines().filter(|line| !line.starts_with("# "));
    let version = lines.next().unwrap();
    let mut seen: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in lines {
        let (subcommand, option) = line.split_once('\t').unwrap();
        seen.entry(subcommand).or_default().insert(option);
    }
    (version, seen)
}

/// Returns `true` if a command is treated as one that may show the content of `f`.
fn counts(subcommand: &str, option: &str, behind: &str) -> bool {
    let analysis = analyse(&format!("git {subcommand} {option} {behind}"));
    let end = |path: &Path| if path == Path::new("/w/f") { Standing::Leaf } else { Standing::Missing };
    analysis.found().iter().any(|found| !shown(found.words(), &["/w".into()], &["/w".into()], &end).is_empty())
}

fn behind(subcommand: &str) -> &'static [&'static str] {
    READING.iter().chain(CHANGING).find(|(name, _)| *name == subcommand).map_or(&[], |(_, behind)| behind)
}

#[test]
fn every_option_that_was_seen_to_print_content_counts() {
    let (_, seen) = observed();
    let mut missed = Vec::new();
    let mut checked = 0;
    for (subcommand, options) in &seen {
        for option in options.iter().filter(|option| !READ_A_FILE.contains(*option)) {
            for words in behind(subcommand) {
                checked += 1;
                if !counts(subcommand, option, words) {
                    missed.push(format!("git {subcommand} {option} {words}"));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
    assert!(checked > 1000, "{checked}");
}

/// Git takes the beginning of a long option for the whole.
#[test]
fn every_beginning_of_such_an_option_counts() {
    let (_, seen) = observed();
    let mut missed = Vec::new();
    for (subcommand, options) in seen.iter().filter(|(_, options)| !options.contains("")) {
        let own = options.iter().filter(|option| !(READ_A_FILE.contains(*option) || option.contains(' ')));
        let longs = own.filter_map(|option| option.strip_prefix("--"));
        for long in longs {
            let (name, value) = long.split_once('=').map_or((long, None), |(name, value)| (name, Some(value)));
            for end in 1..=name.len() {
                let option = format!("--{}{}", &name[..end], value.map_or(String::new(), |value| format!("={value}")));
                if !counts(subcommand, &option, behind(subcommand)[0]) {
                    missed.push(format!("git {subcommand} {option}"));
                }
            }
        }
    }
    assert!(missed.is_empty(), "{missed:#?}");
}

/// For another git version than the observed one, all options are checked; for the same one, a part is enough.
#[test]
fn the_installed_git_prints_nothing_that_does_not_count() {
    let repository = Repository::new("installed");
    let (version, _) = observed();
    let offered = repository.offered("diff");
    let same = repository.version() == version;
    let subcommands = ["log", "status", "diff-tree", "stash show", "stash list", "reflog", "show"];
    for subcommand in subcommands.into_iter().take(if same { 2 } else { usize::MAX }) {
        let options: BTreeSet<String> = offered.union(&repository.offered(subcommand)).cloned().collect();
        let words = &behind(subcommand)[..1];
        for option in printing(&repository, (subcommand, words), &spellings(&options)) {
            assert!(counts(subcommand, &option, words[0]), "git {subcommand} {option} {}", words[0]);
        }
    }
}

#[test]
#[ignore = "writes tests/patches/observed.txt anew from the git that is installed"]
fn observe_the_installed_git() {
    let repository = Repository::new("observe");
    let in_binary = in_binary(&repository);
    let diff = repository.offered("diff");
    let mut text = format!(
        "# Options with which git prints the content of files, written by the test `observe_the_installed_git`.\n{}\n",
        repository.version()
    );
    let see = |(subcommand, behind): &(&'static str, &'static [&'static str])| {
        let mut options = repository.offered(subcommand);
        if COMPARING.contains(subcommand) {
            options.extend(diff.iter().chain(in_binary.iter()).cloned());
        }
        let mut tried = spellings(&options);
        if *subcommand == "diff" {
            tried.extend(beside_summaries(&tried));
        }
        if READING.iter().any(|(name, _)| name == subcommand) {
            return printing(&repository.copied(subcommand), (subcommand, behind), &tried);
        }
        let fresh = |option: &String| {
            behind.iter().any(|behind| repository.copied(subcommand).prints(subcommand, option, behind))
        };
        tried.into_iter().filter(|option| fresh(option)).collect()
    };
    let all: Vec<_> = READING.iter().chain(CHANGING).collect();
    let results: Vec<_> = thread::scope(|scope| {
        let running: Vec<_> = all
            .chunks(all.len().div_ceil(4))
            .map(|part| scope.spawn(|| part.iter().map(|entry| (entry.0, see(entry))).collect::<Vec<_>>()))
            .collect();
        running.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    for (subcommand, options) in results {
        for option in options {
            writeln!(text, "{subcommand}\t{option}").unwrap();
        }
    }
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/patches/observed.txt");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
