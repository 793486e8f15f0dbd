//! File contents that commands of version control print or copy: from the history, the index or the working tree.

use crate::facts::Standing;
use crate::path::{as_written, normalize};
use crate::programs::GIT_OPTIONS_WITH_VALUES;
use std::path::{Path, PathBuf};
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

/// Colons of a word behind each of which a path may begin.
const MAX_COLONS: usize = 8;

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

/// A path whose content a git command may show.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) path: PathBuf,
    /// `true` if the contents of entries below the path are shown, too.
    pub(crate) tree: bool,
    /// `true` if only files that git tracks now are shown.
    pub(crate) tracked: bool,
}

/// Returns the paths whose content a git command may show, from the directories it may run in. `end` returns the entry
/// at a path as written: git takes a word for a path if that path exists.
pub(crate) fn shown(
    words: &[Word],
    bases: &[PathBuf],
    roots: &[PathBuf],
    end: &dyn Fn(&Path) -> Standing,
) -> Vec<Shown> {
    let Some(command) = GitCommand::parse(words) else { return shown_by_others(words, bases, roots) };
    let mut paths = Vec::new();
    for base in bases {
        let base = command.directories.iter().fold(base.clone(), |base, next| as_written(&base, Path::new(next)));
        let ends = |word: &str| end(&as_written(&base, Path::new(word)));
        let view = command.view(&|word| matches!(ends(word), Standing::Directory | Standing::Leaf));
        // These commands print the names in a directory, not the contents below it, or accept only files.
        let names_only = matches!(command.name, "annotate" | "blame" | "cat-file" | "log" | "show");
        view.paths(&normalize(Path::new("/"), &base), roots, &mut |path, origin| {
            let tree = match origin {
                Origin::Blob => !names_only,
                Origin::Named(word) => ends(word) != Standing::Leaf,
                Origin::Tree => true,
            };
            paths.push(Shown { path, tree, tracked: view.tracked });
        });
    }
    paths
}

/// Programs of version control beside git.
const OTHERS: &[&str] = &["bzr", "brz", "darcs", "fossil", "gh", "glab", "hg", "jj", "pijul", "sl", "svn", "tig"];

/// Their sub-commands that show content, whatever their options.
const SHOWING: &[&str] = &[
    "annotate",
    "archive",
    "blame",
    "bundle",
    "cat",
    "clone",
    "diff",
    "export",
    "extdiff",
    "file",
    "grep",
    "interdiff",
    "obslog",
    "praise",
    "print",
    "show",
];

/// Contents that a version control program other than git may show: everything, if it shows content at all. Paths among
/// its words are judged as such.
fn shown_by_others(words: &[Word], bases: &[PathBuf], roots: &[PathBuf]) -> Vec<Shown> {
    let mut texts = words.iter().map(Word::text);
    let program = texts.next().and_then(|program| program.rsplit('/').next()).unwrap_or_default();
    let shows =
        |word: &str| SHOWING.contains(&word) || is_named(word, "patch", 'p', &[]) || is_named(word, "diff", '\0', &[]);
    if !OTHERS.contains(&program) || !texts.any(shows) {
        return Vec::new();
    }
    let top = |base: &PathBuf| {
        base.ancestors()
            .take_while(|above| roots.iter().any(|root| above.starts_with(root)))
            .last()
            .map(Path::to_path_buf)
    };
    bases
        .iter()
        .map(|base| Shown { path: top(base).unwrap_or_else(|| base.clone()), tree: true, tracked: false })
        .collect()
}

/// Returns the sub-command of a git command.
pub(crate) fn subcommand(words: &[Word]) -> Option<&str> {
    GitCommand::parse(words).map(|command| command.name)
}

struct GitCommand<'a> {
    /// Directories of the `-C` options, in order.
    directories: Vec<&'a str>,
    name: &'a str,
    arguments: Vec<&'a str>,
    /// `true` if the command may be about another repository than that of the directory.
    elsewhere: bool,
    /// `true` if its files are put into another directory.
    in_other_tree: bool,
    /// `true` if the command defines an alias.
    aliases: bool,
}

/// The file contents that a command shows.
#[derive(Default)]
struct View<'a> {
    /// Any file of the repository.
    whole: bool,
    /// Only files that git tracks now.
    tracked: bool,
    /// From the directory.
    here: Vec<(&'a str, Origin<'a>)>,
    /// From the top of the working tree, wherever that is.
    top: Vec<(&'a str, Origin<'a>)>,
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

/// Origin of a path in a view.
#[derive(Clone, Copy)]
enum Origin<'a> {
    /// `HEAD:path`.
    Blob,
    /// A word that is the path.
    Named(&'a str),
    /// The start of a pattern, or of the whole tree.
    Tree,
}

impl<'a> GitCommand<'a> {
    fn parse(words: &'a [Word]) -> Option<Self> {
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

    fn view(&self, is_there: &dyn Fn(&str) -> bool) -> View<'a> {
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
                path if content && is_there(path) => sorted.specs.push(path),
                _ => sorted.revisions = true,
            }
        }
        sorted.specs.extend(words.skip(usize::from(needs_pattern)));
        sorted
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
fn is_named(word: &str, long: &str, letter: char, valued: &[char]) -> bool {
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

impl<'a> View<'a> {
    /// Reads `HEAD:path`, `:path`, `:0:path`; `HEAD:./path` from the directory.
    fn blob(&mut self, text: &'a str) {
        // A revision may have a colon of its own, in a date or a message.
        let paths = text.match_indices(':').filter_map(|(at, _)| text.get(at.saturating_add(1)..));
        for (index, path) in paths.enumerate() {
            match path {
                _ if index == MAX_COLONS => self.whole = true,
                "" => self.whole = true,
                path if path.starts_with("./") || path.starts_with("../") => self.here.push((path, Origin::Blob)),
                path if index < MAX_COLONS => self.top.push((path, Origin::Blob)),
                _ => {}
            }
        }
    }

    fn pathspec(&mut self, text: &'a str) {
        let (from_top, literal, path) = match magic(text) {
            Magic::Excludes => return,
            Magic::Plain { from_top, literal, path } => (from_top, literal, path),
        };
        // A wildcard also matches slashes.
        let wild = path.find(['*', '?', '[', '\\']).filter(|_| !literal);
        let fixed = match wild {
            Some(at) => path.get(..at).and_then(|start| start.rsplit_once('/')).map_or("", |(directory, _)| directory),
            None => path,
        };
        let origin = if wild.is_some() || from_top { Origin::Tree } else { Origin::Named(fixed) };
        if from_top {
            self.top.push((fixed, origin));
        } else {
            self.here.push((if fixed.is_empty() { "." } else { fixed }, origin));
        }
    }

    fn paths(&self, base: &Path, roots: &[PathBuf], add: &mut dyn FnMut(PathBuf, Origin<'a>)) {
        // The top of the working tree is at or above the directory.
        let is_inside = |above: &&Path| roots.iter().any(|root| above.starts_with(root));
        let tops: Vec<&Path> = base.ancestors().take_while(is_inside).collect();
        let tops = if tops.is_empty() { vec![base] } else { tops };
        if let Some(top) = tops.last().filter(|_| self.whole) {
            add(top.to_path_buf(), Origin::Tree);
        }
        for (path, origin) in &self.here {
            add(normalize(base, Path::new(path)), *origin);
        }
        for top in tops {
            for (path, origin) in &self.top {
                add(normalize(top, Path::new(path.trim_start_matches('/'))), *origin);
            }
        }
    }
}

enum Magic<'a> {
    /// The pathspec only excludes.
    Excludes,
    Plain {
        from_top: bool,
        literal: bool,
        path: &'a str,
    },
}

/// Returns the magic that a pathspec begins with: `:(top,icase)path`, `:/path`, `:!path`.
fn magic(text: &str) -> Magic<'_> {
    let plain = |from_top, literal, path| Magic::Plain { from_top, literal, path };
    let Some(rest) = text.strip_prefix(':') else { return plain(false, false, text) };
    if let Some((words, path)) = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')) {
        let has = |name: &str| words.split(',').any(|word| word.trim() == name);
        return if has("exclude") { Magic::Excludes } else { plain(has("top"), has("literal"), path) };
    }
    let path = rest.trim_start_matches(['/', '!', '^']);
    let signs = rest.strip_suffix(path).unwrap_or_default();
    if signs.contains(['!', '^']) {
        return Magic::Excludes;
    }
    plain(signs.contains('/'), false, path.strip_prefix(':').unwrap_or(path))
}

#[cfg(all(test, target_os = "linux"))]
mod patches;
#[cfg(test)]
mod tests;
