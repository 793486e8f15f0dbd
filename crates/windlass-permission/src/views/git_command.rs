//! Reading of a git command: its sub-command, its options, and the words that are revisions, contents or pathspecs.

use super::pathspec::{Origin, View};
use crate::matcher::secret_example;
use crate::programs::GIT_OPTIONS_WITH_VALUES;
use windlass_shell::Word;

/// Sub-commands that show or copy content whatever their options.
const ALWAYS: &[&str] = &[
    "archive",
    "bundle",
    "checkout-index",
    "clone",
    "difftool",
    "fast-export",
    "format-patch",
    "grep",
    "merge-file",
    "merge-tree",
    "mergetool",
    "range-diff",
    "request-pull",
    "rerere",
    "send-email",
    "unpack-file",
];

/// Sub-commands that show content unless their options ask for a summary.
const BY_DEFAULT: &[&str] = &["diff", "show"];

/// Sub-commands that show content if an option asks for it.
const ON_DEMAND: &[&str] = &["diff-files", "diff-index", "diff-tree", "log", "reflog", "whatchanged"];

/// Sub-commands that show their changes before they ask about each part, with the letters behind which the value of an
/// option may stand.
const PIECEWISE: &[(&str, &[char])] = &[
    ("add", &[]),
    ("checkout", &['b', 'B']),
    ("commit", &['m', 'F', 'C', 'c', 't', 'S', 'u']),
    ("reset", &['U']),
    ("restore", &['s', 'U']),
    ("stash", &['m', 'U']),
];

const SUMMARIES: &[&str] = &[
    "--compact-summary",
    "--cumulative",
    "--dirstat",
    "--name-only",
    "--name-status",
    "--no-patch",
    "--numstat",
    "--quiet",
    "--raw",
    "--shortstat",
    "--stat",
    "--summary",
    "-s",
];

/// Long options that ask for content.
const PATCHES: &[&str] = &[
    "binary",
    "cc",
    "check",
    "color-words",
    "combined-all-paths",
    "dd",
    "diff-merges",
    "function-context",
    "no-no-patch",
    "no-quiet",
    "patch",
    "patch-with-raw",
    "patch-with-stat",
    "remerge-diff",
    "submodule",
    "unified",
    "word-diff",
];

/// Long options that take the next word for their value.
const VALUED: &[&str] = &[
    "after",
    "anchored",
    "author",
    "before",
    "color-moved-ws",
    "committer",
    "date",
    "decorate-refs",
    "decorate-refs-exclude",
    "default",
    "diff-algorithm",
    "diff-filter",
    "diff-merges",
    "dst-prefix",
    "encoding",
    "exclude",
    "find-object",
    "glob",
    "grep",
    "ignore-matching-lines",
    "inter-hunk-context",
    "line-prefix",
    "max-age",
    "max-count",
    "min-age",
    "output",
    "output-indicator-context",
    "output-indicator-new",
    "output-indicator-old",
    "rotate-to",
    "since",
    "skip",
    "skip-to",
    "src-prefix",
    "stat-count",
    "stat-graph-width",
    "stat-name-width",
    "stat-width",
    "until",
    "word-diff-regex",
    "ws-error-highlight",
];

/// A git command, its options before the sub-command read.
pub(super) struct GitCommand<'a> {
    /// Directories of the `-C` options, in order.
    pub(super) directories: Vec<&'a str>,
    pub(super) name: &'a str,
    arguments: Vec<&'a str>,
    /// `true` if the command may be about another repository than that of the directory.
    elsewhere: bool,
    /// `true` if its files are put into another directory.
    in_other_tree: bool,
    /// `true` if the command defines an alias.
    aliases: bool,
}

/// Arguments of a command, with their possible kinds.
#[derive(Default)]
struct Words<'a> {
    specs: Vec<&'a str>,
    /// `true` if a word may be a revision.
    revisions: bool,
    /// `true` if a word names a path in a revision.
    blobs: bool,
    /// `true` if a word may search for a message.
    searched: bool,
}

impl<'a> GitCommand<'a> {
    pub(super) fn parse(words: &'a [Word]) -> Option<Self> {
        let (program, rest) = words.split_first()?;
        if program.text().rsplit('/').next() != Some("git") {
            return None;
        }
        let mut texts = rest.iter().map(Word::text);
        let mut directories = Vec::new();
        let (mut elsewhere, mut aliases, mut in_other_tree) = (false, false, false);
        let name = loop {
            match texts.next()? {
                "-C" => {
                    directories.push(texts.next()?);
                    elsewhere = true;
                }
                "-c" | "--config-env" => {
                    aliases |= texts.next()?.starts_with("alias.");
                    elsewhere = true;
                }
                option if GIT_OPTIONS_WITH_VALUES.contains(&option) => {
                    texts.next();
                    elsewhere = true;
                    in_other_tree |= option == "--work-tree";
                }
                option if option.starts_with("--config-env=alias.") => {
                    aliases = true;
                    elsewhere = true;
                }
                "--no-pager" | "-P" | "--no-optional-locks" => {}
                option if option.starts_with('-') => {
                    elsewhere = true;
                    in_other_tree |= option.starts_with("--work-tree=");
                }
                name => break name,
            }
        };
        Some(Self { directories, name, arguments: texts.collect(), elsewhere, in_other_tree, aliases })
    }

    /// Returns `true` if the command shows content at all, paths like `HEAD:path` aside.
    fn shows_content(&self) -> bool {
        let patch = || self.options().any(is_patch);
        let summary = || self.asks_for_a_summary();
        match self.name {
            _ if self.aliases => true,
            name if ALWAYS.contains(&name) => true,
            // With any option in place of its own, `stash show` shows the same as a comparison.
            "stash" if self.arguments.first() == Some(&"show") => {
                patch() || (self.options().any(|_| true) && !summary())
            }
            "stash" if self.arguments.first() == Some(&"list") => patch(),
            // Without options a program of its own shows it.
            "bisect" if matches!(self.arguments.first(), Some(&"view" | &"visualize")) => {
                patch() || self.options().next().is_none()
            }
            // These commands copy the files that they read to another place.
            "worktree" | "subtree" => self.arguments.first() == Some(&"add"),
            "read-tree" => self.options().any(|option| option.starts_with("--p")),
            "checkout" | "checkout-index" | "reset" | "restore" | "stash" | "switch" if self.in_other_tree => true,
            "am" | "rebase" => self.options().any(|option| option.starts_with("--sh")),
            "status" => self.options().any(|option| is_named(option, "verbose", 'v', &['u'])),
            name if PIECEWISE.iter().any(|(known, _)| *known == name) => self.shows_parts(name),
            name if BY_DEFAULT.contains(&name) => patch() || !summary(),
            name if ON_DEMAND.contains(&name) => patch(),
            _ => false,
        }
    }

    /// Returns `true` if an option, and not the value of another one, asks for less than content.
    fn asks_for_a_summary(&self) -> bool {
        let is_summary = |option: &str| SUMMARIES.contains(&option.split('=').next().unwrap_or(option));
        let mut before = "";
        self.arguments.iter().copied().take_while(|word| *word != "--").any(|word| {
            let is_value = takes_the_next_word(before);
            before = word;
            is_summary(word) && !is_value
        })
    }

    /// Returns `true` if it asks about each part of a change, or prints one before it is committed.
    fn shows_parts(&self, name: &str) -> bool {
        let valued = PIECEWISE.iter().find(|(known, _)| *known == name).map_or(&[][..], |(_, letters)| letters);
        let has = |long: &str, letter| self.options().any(|option| is_named(option, long, letter, valued));
        let says_why = ["message", "file", "reuse-message", "fixup", "squash"];
        let says_why =
            || says_why.iter().any(|long| self.options().any(|option| option.starts_with(&format!("--{long}"))));
        let only_tries = || has("dry-run", '\0') || has("short", '\0') || has("porcelain", 'z') || has("long", '\0');
        let has_message =
            || says_why() || self.options().any(|option| is_short(option) && option.contains(['m', 'F', 'C']));
        has("patch", 'p')
            || (matches!(name, "add" | "commit") && has("interactive", '\0'))
            || (name == "add" && (has("edit", 'e') || has("interactive", 'i')))
            // The message of the commit stays, whatever the option takes away.
            || (name == "stash" && has("staged", 'S'))
            || (name == "commit" && has("verbose", 'v') && (only_tries() || !has_message()))
    }

    fn options(&self) -> impl Iterator<Item = &'a str> {
        self.arguments.iter().copied().take_while(|word| *word != "--").filter(|word| word.starts_with('-'))
    }

    pub(super) fn view(&self, is_there: &dyn Fn(&str) -> bool) -> View<'a> {
        let mut view = View::default();
        if matches!(self.name, "blame" | "annotate") {
            let files = self.arguments.iter().copied().filter(|word| !word.starts_with('-'));
            view.here.extend(files.map(|file| (file, Origin::Blob)));
            return view;
        }
        let content = self.shows_content();
        let words = self.sorted(content, is_there, &mut view);
        let Words { specs, revisions, blobs, searched } = words;
        // The working tree against the index: no history is shown.
        view.tracked = self.name == "diff" && !(revisions || blobs || searched || self.leaves_the_index());
        if self.name == "cat-file" {
            view.whole |= self.shows_an_object();
        } else if content {
            let before = view.here.len().saturating_add(view.top.len());
            for spec in specs {
                view.pathspec(spec);
            }
            let narrowed = view.here.len().saturating_add(view.top.len()) > before;
            let takes_all = self.in_other_tree
                || matches!(self.name, "am" | "read-tree" | "rebase" | "subtree")
                || self.options().any(leaves_the_path);
            view.whole |= takes_all || (!narrowed && (revisions || !blobs));
        }
        view
    }

    /// Sorts the arguments. Paths like `HEAD:path` go to the view at once.
    fn sorted(&self, content: bool, is_there: &dyn Fn(&str) -> bool, view: &mut View<'a>) -> Words<'a> {
        let mut sorted = Words::default();
        let mut words = self.arguments.iter().copied();
        let (mut before, mut needs_pattern) = ("", self.needs_a_pattern());
        for word in words.by_ref().take_while(|word| *word != "--") {
            let is_value = self.takes_a_value(before);
            before = if is_value { "" } else { word };
            match word {
                // The value of an option, or the pattern of a search: no path, though there may be one of its name.
                other if is_value && !other.contains(':') => sorted.revisions = true,
                pattern if needs_pattern && !pattern.starts_with('-') => needs_pattern = false,
                // `-L 1,5:file`
                option if option.starts_with("-L") && option.contains(':') => {
                    sorted.blobs = true;
                    view.here.extend(option.rsplit_once(':').map(|(_, path)| (path, Origin::Blob)));
                }
                option if option.starts_with('-') => {}
                spec if spec.starts_with(":(") || spec.starts_with(":!") || spec.starts_with(":^") => {
                    sorted.specs.push(spec);
                }
                // A path from the top, or a search for a message.
                spec if spec.starts_with(":/") => {
                    sorted.specs.push(spec);
                    view.whole = content;
                    sorted.searched = true;
                }
                blob if blob.contains(':') => {
                    sorted.blobs = true;
                    view.blob(blob);
                }
                path if content && (is_there(path) || self.takes_missing(path)) => sorted.specs.push(path),
                _ => sorted.revisions = true,
            }
        }
        sorted.specs.extend(words.skip(usize::from(needs_pattern)));
        sorted
    }

    /// Returns `true` if a word may be a path of the history alone: most commands want `--` before one that is not there.
    /// Other words of these commands are revisions, so only a place of secrets counts.
    fn takes_missing(&self, word: &str) -> bool {
        matches!(self.name, "archive" | "checkout" | "restore") && secret_example(word).is_some()
    }

    /// Returns `true` for a search without an option that gives its pattern.
    fn needs_a_pattern(&self) -> bool {
        let names_pattern = |option: &str| match option.strip_prefix("--") {
            Some(name) => name.starts_with("fi"),
            None => option.contains(['e', 'f']),
        };
        self.name == "grep" && !self.options().any(names_pattern)
    }

    /// Returns `true` if the word behind an option of this sub-command may be its value.
    fn takes_a_value(&self, option: &str) -> bool {
        let is_long = |names: &[&str]| {
            option.strip_prefix("--").is_some_and(|name| !name.is_empty() && names.iter().any(|n| n.starts_with(name)))
        };
        match self.name {
            "grep" => {
                is_long(&["after-context", "before-context", "context", "file", "max-count", "max-depth", "threads"])
                    || (is_short(option) && option.ends_with(['e', 'f', 'm', 'A', 'B', 'C']))
            }
            "difftool" if matches!(option, "-t" | "-x") || is_long(&["extcmd", "tool"]) => true,
            _ => takes_the_next_word(option),
        }
    }

    /// Returns `true` if a `diff` is not, or may not be, one of the working tree here against the index.
    fn leaves_the_index(&self) -> bool {
        let other =
            |option: &str| ["--cached", "--staged", "--merge-base", "--no-index"].iter().any(|o| o.starts_with(option));
        self.elsewhere || self.options().any(other)
    }

    /// Returns `true` if the command may print an unknown object. An object that is named by its hash alone is unknown.
    fn shows_an_object(&self) -> bool {
        let prints =
            self.options().any(|o| o == "-p" || ["--te", "--f", "--batch"].iter().any(|long| o.starts_with(long)));
        let mut names = self.arguments.iter().filter(|word| !word.starts_with('-'));
        let typed = names.clone().next().is_some_and(|name| *name == "blob");
        let batch = self.options().any(|option| option.starts_with("--batch"));
        let known =
            |name: &&str| name.contains(':') || name.starts_with("HEAD") || name.starts_with('@') || *name == "blob";
        batch || ((prints || typed) && !names.all(known))
    }
}

/// Returns `true` for options with which more is shown than the paths that are named: whole commits, or a file under
/// its former names.
fn leaves_the_path(option: &str) -> bool {
    option.starts_with("--full-d") || option.starts_with("--fol")
}

/// Returns `true` if the word behind an option may be its value.
fn takes_the_next_word(option: &str) -> bool {
    match option.strip_prefix("--") {
        Some(name) => !name.is_empty() && VALUED.iter().any(|known| known.starts_with(name)),
        None => is_short(option) && option.ends_with(['G', 'I', 'L', 'O', 'S', 'l', 'n']),
    }
}

fn is_short(option: &str) -> bool {
    option.starts_with('-') && !option.starts_with("--")
}

/// Returns `true` if a word has an option, by the beginning of its long name or by its letter among others: behind a
/// letter of those with a value stands that.
pub(super) fn is_named(word: &str, long: &str, letter: char, valued: &[char]) -> bool {
    match word.strip_prefix("--") {
        Some(name) => !name.is_empty() && long.starts_with(name),
        None => word.split(valued).next().is_some_and(|own| is_short(own) && own.contains(letter)),
    }
}

/// Returns `true` if an option makes a command show content.
fn is_patch(option: &str) -> bool {
    if let Some(long) = option.strip_prefix("--") {
        let name = long.split('=').next().unwrap_or(long);
        // Git takes the beginning of an option for the whole.
        return name != "color" && !name.is_empty() && PATCHES.iter().any(|full| full.starts_with(name));
    }
    let letters = option.strip_prefix('-').unwrap_or(option);
    let with_text = letters.starts_with(['S', 'G', 'O', 'n', 'l', 'X', 'm', 'F', 'C']);
    !with_text && letters.contains(['p', 'u', 'U', 'W', 'c', 'L'])
}
