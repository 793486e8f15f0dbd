//! Running a program with an option and words that no program knows, and reading its messages.

use std::{
    fs,
    path::PathBuf,
    process::{Command, Stdio},
};

use super::super::{git, options::OptionValue};
use super::{END, OPERAND, ObservedArity, OptionEntry};

/// Builtins of the shell: an installed program of the same name does not run.
pub(super) const BUILTINS: &[&str] = &[":", "false", "pwd", "true", "type"];

/// Sub-commands of git that answer an unknown option with their usage alone: they name unknown revisions.
const NAME_REVISIONS: &[&str] = &["git diff-files", "git diff-index", "git diff-tree", "git rev-list"];

/// Sub-commands that print their usage where no operand is given.
const NEED_OPERANDS: &[&str] = &["git diff-index", "git diff-tree", "git grep", "git range-diff", "git rev-list"];

/// A directory with a small repository, removed when done.
pub(super) struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Scratch {
    pub(super) fn new(name: &str) -> Self {
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

    /// Runs a program; returns its output, and `true` if it succeeded; `None` if it is not installed.
    pub(super) fn run(&self, words: &[&str]) -> Option<(String, bool)> {
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

    /// Runs the program with an option and these words; returns its output, and `true` if it succeeded.
    fn run_with(&self, option: &OptionEntry, text: &str, behind: &[&str]) -> Option<(String, bool)> {
        let words = option.program.split(' ').chain([text]).chain(behind.iter().copied());
        self.run(&words.collect::<Vec<_>>())
    }

    pub(super) fn see(&self, option: &OptionEntry) -> Option<ObservedArity> {
        match option.program.as_str() {
            "ps" => return self.see_ps(option),
            "xxd" => return self.see_by_file(option, ["3", "4"]),
            "unzip" | "zipinfo" => return self.see_by_file(option, ["windlass-zz.zip", "windlass-yy.zip"]),
            _ => {}
        }
        let markers = Markers::of(&option.program);
        if option.text == END || option.text == OPERAND {
            return self.see_manners(option, &Markers::DASHED);
        }
        let (text, success) = self.run_with(option, &option.text, &markers.0)?;
        let mut taken = markers.taken(&text);
        if taken == Some(0) && text.contains("-- '-'") {
            // The program's message does not name the word that it means: with a single word there is no doubt.
            taken = markers.taken(&self.run_with(option, &option.text, &markers.0[..1])?.0).or(Some(1));
        }
        let looks_ahead = text.contains("which wasn't expected") || text.contains("unexpected argument '");
        if looks_ahead && taken.is_some() {
            // The program looks for unknown options before it gives words to those that it knows. With the option in
            // the last place it reports whether a value is missing; without a pattern it reports that first.
            let program = if option.program == "rg" { "rg --files" } else { &option.program };
            let last = OptionEntry::new(program, String::new(), OptionValue::None);
            let (alone, _) = self.run_with(&last, &option.text, &[])?;
            let missing = ["requires a value", "a value is required", "missing value", "missing argument"];
            taken = Some(usize::from(missing.iter().any(|complaint| alone.contains(complaint))));
        }
        let Some(taken) = taken else {
            let alone = self.run_with(option, &option.text, &[])?;
            let same = success && !text.is_empty() && alone.0 == text;
            return Some(if same {
                ObservedArity::Ended
            } else if success {
                ObservedArity::Silent
            } else {
                ObservedArity::Refused
            });
        };
        let attached = format!("{}{}", option.text, if option.text.starts_with("--") { "=@" } else { "@" });
        // Some commands report unknown revisions before an unknown option.
        let behind: &[&str] = match option.program.as_str() {
            "git diff-files" => &[],
            program if NAME_REVISIONS.contains(&program) => &["HEAD"],
            _ => &markers.0,
        };
        let refuses = refuses_attached(&attached, &self.run_with(option, &attached, behind)?.0);
        Some(match taken {
            0 if refuses => ObservedArity::Alone,
            0 => ObservedArity::Attached,
            1 if refuses => ObservedArity::NextOnly,
            1 => ObservedArity::Next,
            _ => ObservedArity::NextTwo,
        })
    }

    /// Probes programs that name the first file that they cannot open: the named word shows if the first one was the
    /// value of the option.
    fn see_by_file(&self, option: &OptionEntry, words: [&'static str; 2]) -> Option<ObservedArity> {
        let missing = |text: &str| {
            let is_missing = |word: &&str| {
                text.contains(&format!(" {word}: No such file"))
                    || text.contains(&format!("cannot find or open {word},"))
            };
            words.iter().position(is_missing)
        };
        let Some(taken) = missing(&self.run_with(option, &option.text, &words)?.0) else {
            return Some(ObservedArity::Refused);
        };
        let attached = format!("{}{}", option.text, words[0]);
        let takes_attached = missing(&self.run_with(option, &attached, &words)?.0) == Some(0);
        Some(match (taken, takes_attached) {
            (0, false) => ObservedArity::Alone,
            (0, true) => ObservedArity::Attached,
            (_, true) => ObservedArity::Next,
            (_, false) => ObservedArity::NextOnly,
        })
    }

    /// Probes `ps`, which does not name the unknown word: with one word behind the option its message is about that
    /// word.
    fn see_ps(&self, option: &OptionEntry) -> Option<ObservedArity> {
        let unknown = |text: &str| text.contains("unsupported SysV option") || text.contains("unknown gnu long option");
        if unknown(&self.run_with(option, &option.text, &[])?.0) {
            return Some(ObservedArity::Refused);
        }
        let is_alone = unknown(&self.run_with(option, &option.text, &["-Q"])?.0);
        let attached = format!("{}{}", option.text, if option.text.starts_with("--") { "=@" } else { "@" });
        let (text, _) = self.run_with(option, &attached, &[])?;
        let refuses = unknown(&text) || text.contains("does not take an argument");
        Some(match (is_alone, refuses) {
            (true, true) => ObservedArity::Alone,
            (true, false) => ObservedArity::Attached,
            (false, true) => ObservedArity::NextOnly,
            (false, false) => ObservedArity::Next,
        })
    }

    /// Returns how words behind `--` and behind an operand are taken: as options or not.
    fn see_manners(&self, option: &OptionEntry, markers: &Markers) -> Option<ObservedArity> {
        let history = git::specs().any(|(name, spec)| {
            option.program == format!("git {name}") && spec.options.long.contains(&"patch-with-stat")
        });
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
            true if ends => self.run_with(option, operand, &[&[END][..], &markers.0].concat())?,
            _ => self.run_with(option, first, &markers.0)?,
        };
        let takes = markers.taken(&text) == Some(0)
            || text.contains("must come before non-option arguments")
            || (text.starts_with("usage: git") && (!ends || NEED_OPERANDS.contains(&option.program.as_str())));
        Some(match (takes, ends) {
            (true, true) => ObservedArity::Silent,
            (false, true) => ObservedArity::Ends,
            (true, false) => ObservedArity::Permutes,
            (false, false) => ObservedArity::Ordered,
        })
    }
}

/// Returns `true` if the program reports that this option takes no value.
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

    /// Returns the number of words taken as values, by the first word that the program names.
    fn taken(&self, text: &str) -> Option<usize> {
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
            "--: invalid option".to_owned(),
        ];
        let complains = complaints.iter().any(|complaint| line.contains(complaint)) || line == format!("--{marker}");
        Some(if complains { at } else { at.saturating_add(1) })
    }
}
