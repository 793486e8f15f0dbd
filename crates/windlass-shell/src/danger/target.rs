//! Possible paths of a removal's operand.

use std::path::{Component, Path, PathBuf};

use windlass_types::path::{absolute, normalized};

use crate::{ProcessPath, Word, as_written, both_ways, word::WordPiece};

/// Stands for an expansion we do not know.
const UNKNOWN: char = '\u{1}';
const MAX_PLACES: usize = 32;
/// Characters by which a name may match others.
const WILD: [char; 5] = ['*', '?', '[', '{', '\\'];

/// The directories against which operands are judged.
pub(super) struct TargetDirectories<'a> {
    /// The text whose commands are judged.
    text: &'a str,
    start: &'a Path,
    cwd: Vec<String>,
    home: Vec<String>,
    resolve: &'a dyn Fn(&Path) -> Option<PathBuf>,
}

/// Directories in which a command may run, as written.
pub(super) struct Bases {
    directories: Vec<PathBuf>,
    /// `true` if there are more than are followed.
    more: bool,
    /// `true` if there is one alone: after a `cd` that may fail, `*` means the start only perhaps.
    certain: bool,
}

impl Bases {
    pub(super) fn new(directories: Vec<PathBuf>) -> Self {
        let mut normal = directories.iter().map(|directory| normalized(directory));
        let first = normal.next();
        let certain = normal.all(|other| Some(&other) == first.as_ref());
        Self { directories, more: false, certain }
    }

    pub(super) fn directories(&self) -> &[PathBuf] {
        &self.directories
    }
}

/// A path an operand may name, without links and `..`.
pub(super) struct OperandTarget {
    parts: Vec<String>,
    vital: bool,
    is_cwd: bool,
    all_of_cwd: bool,
}

impl OperandTarget {
    /// Returns `true` if the loss of the target is a catastrophe.
    pub(super) fn is_vital(&self) -> bool {
        self.vital
    }

    pub(super) fn is_cwd(&self) -> bool {
        self.is_cwd
    }

    /// The directory for temporary files, of which the content may go.
    pub(super) fn is_scratch(&self) -> bool {
        matches!(self.parts.as_slice(), [top] if top == "tmp")
    }

    /// `*` in the working directory.
    pub(super) fn is_all_of_cwd(&self) -> bool {
        self.all_of_cwd
    }
}

impl<'a> TargetDirectories<'a> {
    pub(super) fn new(
        text: &'a str,
        cwd: &'a Path,
        home: &Path,
        resolve: &'a dyn Fn(&Path) -> Option<PathBuf>,
    ) -> Self {
        Self { text, start: cwd, cwd: parts(cwd), home: parts(home), resolve }
    }

    /// Returns `true` if the text gives a value to the variable with which a word begins. The commands with that value
    /// are judged as well.
    fn gives_value(&self, word: &Word) -> bool {
        let source = word.source().trim_start_matches(['"', '$', '{']);
        let end = source.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(source.len());
        let Some(name) = source.get(..end).filter(|name| !name.is_empty()) else { return false };
        let assigned = format!("{name}=");
        let is_empty = |value: &str| {
            value.starts_with(['"', '\'']) && value.get(1..2) == value.get(..1)
                || value.chars().next().is_none_or(|c| c.is_whitespace() || matches!(c, ';' | '&' | '|' | ')'))
        };
        let values = self
            .text
            .match_indices(&assigned)
            .filter_map(|(at, found)| self.text.get(at.saturating_add(found.len())..));
        let looped = format!("for {name} in ");
        let words =
            self.text.match_indices(&looped).filter_map(|(at, found)| self.text.get(at.saturating_add(found.len())..));
        let mut all = values.chain(words).peekable();
        all.peek().is_some() && all.all(|value| !is_empty(value))
    }

    pub(super) fn start(&self) -> &Path {
        self.start
    }

    /// The home directory as a text.
    pub(super) fn home(&self) -> String {
        absolute_text(&self.home)
    }

    /// `true` if nothing is known of a word but that an expansion gives it.
    pub(super) fn is_unknown(&self, word: &Word) -> bool {
        let text = self.word_text(word);
        text.starts_with(UNKNOWN) && text.chars().all(|c| matches!(c, UNKNOWN | '/' | '.'))
    }

    /// Returns directories after these changes, of which any may fail. `None` leads home.
    pub(super) fn after<'w>(&self, changes: impl Iterator<Item = Option<&'w Word>>) -> Bases {
        let mut bases = Bases::new(vec![self.start.to_path_buf()]);
        for change in changes {
            bases.certain = false;
            let text = change.map_or_else(|| absolute_text(&self.home), |word| self.word_text(word));
            if text.contains(UNKNOWN) {
                continue;
            }
            for from in bases.directories.clone() {
                for there in both_ways(&from, Path::new(&text)) {
                    if !bases.directories.contains(&there) {
                        bases.directories.push(there);
                    }
                }
            }
            if bases.directories.len() > MAX_PLACES {
                bases.directories.retain(|directory| !self.is_only_below(directory));
            }
            if bases.directories.len() > MAX_PLACES {
                bases.more = true;
                bases.directories.truncate(MAX_PLACES);
            }
        }
        bases
    }

    /// Returns `true` if a directory lies below the start, and no vital one below it: whatever leads out of it leads
    /// out of the start too.
    fn is_only_below(&self, directory: &Path) -> bool {
        let below = |path: &Path| path != self.start && path.starts_with(self.start);
        let ends = (self.resolve)(directory);
        let normal = normalized(directory);
        below(&normal) && ends.is_none_or(|end| below(&end)) && !self.is_vital(&parts(&normal))
    }

    /// Returns the paths that a word may name for a command in one of these directories.
    pub(super) fn targets(&self, word: &Word, bases: &Bases, follows: bool) -> Vec<OperandTarget> {
        let text = self.word_text(word);
        if let Some(rest) = text.strip_prefix(UNKNOWN) {
            if let Some(given) = default_value(word) {
                return self.targets(&Word::literal(&given), bases, follows);
            }
            // If the variable is empty, the rest is an absolute path: only `"$VAR"/` and `"$VAR"/*` are catastrophes.
            let rest = rest.trim_start_matches(UNKNOWN);
            let parts: Vec<String> = names(rest).map(str::to_owned).collect();
            let is_all = parts.len() == 1 && parts.iter().all(|part| is_everything(part));
            let is_root = rest.starts_with('/') && parts.is_empty() && !self.gives_value(word);
            return if is_all || is_root { vec![self.target(parts, false)] } else { Vec::new() };
        }
        let mut targets = Vec::new();
        match ProcessPath::parse(&text) {
            Some(ProcessPath::Working(rest)) => {
                for base in &bases.directories {
                    self.add_targets(base, &rest, true, bases.certain, &mut targets);
                }
            }
            Some(ProcessPath::Root(rest)) => {
                self.add_targets(Path::new("/"), &format!("/{rest}"), follows, bases.certain, &mut targets);
            }
            None => {}
        }
        if text.starts_with('/') {
            self.add_targets(Path::new("/"), &text, follows, bases.certain, &mut targets);
            return targets;
        }
        for base in &bases.directories {
            self.add_targets(base, &text, follows, bases.certain, &mut targets);
        }
        if bases.more && names(&text).all(is_everything) {
            // One of the places that are not followed may be the root.
            targets.push(self.target(names(&text).map(str::to_owned).collect(), false));
        }
        targets
    }

    /// Adds a path by its text, and its target on disk.
    fn add_targets(&self, base: &Path, text: &str, follows: bool, certain: bool, targets: &mut Vec<OperandTarget>) {
        targets.push(self.target(parts(&absolute(base, Path::new(text))), certain));
        let names = text.split_inclusive('/').take_while(|name| name.ends_with('/') && !name.contains(WILD));
        let plain = names.map(str::len).sum::<usize>();
        let (directory, pattern) = text.split_at_checked(plain).unwrap_or((text, ""));
        let resolved = if pattern.contains(WILD) {
            (self.resolve)(&as_written(base, Path::new(directory))).map(|end| absolute(&end, Path::new(pattern)))
        } else {
            let written = as_written(base, Path::new(text));
            let is_entry = base == self.start && !text.contains('/') && text != "..";
            let last = written.components().next_back().filter(|last| matches!(last, Component::Normal(_)));
            let to_end = follows || text.ends_with('/') || text.ends_with("/.") || last.is_none();
            // Of a link that it ends in, the name is lost, and nothing else.
            let keeps_name = |end: &PathBuf| !is_entry && end.components().next_back() == last;
            (self.resolve)(&written).filter(|end| to_end || keeps_name(end))
        };
        targets.extend(resolved.map(|end| self.target(parts(&end), certain)));
    }

    /// Returns the word with known variables put in.
    fn word_text(&self, word: &Word) -> String {
        let mut text = String::new();
        for piece in word.pieces() {
            match piece {
                WordPiece::Text { text: part, .. } => text.push_str(part),
                WordPiece::Glob(c) | WordPiece::Brace(c) => text.push(*c),
                WordPiece::Tilde(user) if user.is_empty() => text.push_str(&absolute_text(&self.home)),
                WordPiece::Tilde(user) if user == "+" => text.push_str("./"),
                WordPiece::Tilde(user) => {
                    text.push_str("/home/");
                    text.push_str(user);
                }
                WordPiece::Param(name) if name == "HOME" => text.push_str(&absolute_text(&self.home)),
                WordPiece::Param(name) if name == "PWD" && text.is_empty() => text.push('.'),
                WordPiece::Param(name) if name == "PWD" => text.push_str(&absolute_text(&self.cwd)),
                WordPiece::Param(_) | WordPiece::Unknown => text.push(UNKNOWN),
            }
        }
        text
    }

    fn target(&self, parts: Vec<String>, certain: bool) -> OperandTarget {
        let is_cwd = parts == self.cwd;
        let (vital, all_of_cwd) = match parts.split_last() {
            Some((last, parent)) if is_everything(last) => {
                (self.is_vital_inside(parent), certain && parent == self.cwd)
            }
            _ => (self.is_vital(&parts), false),
        };
        OperandTarget { parts, vital, is_cwd, all_of_cwd }.checked()
    }

    fn is_vital(&self, parts: &[String]) -> bool {
        let system = match parts {
            [] | [_] => true,
            [top, _] => matches!(top.as_str(), "usr" | "home" | "Users" | "System" | "Library"),
            _ => false,
        };
        system || parts == ["var", "lib"] || self.cwd.starts_with(parts) || self.home.starts_with(parts)
    }

    /// Returns `true` if the loss of a directory's whole contents is a catastrophe; for the working directory see
    /// `OperandTarget::is_all_of_cwd`.
    fn is_vital_inside(&self, parent: &[String]) -> bool {
        let scratch = matches!(parent, [top] if top == "tmp");
        parent != self.cwd && !scratch && self.is_vital(parent)
    }
}

impl OperandTarget {
    /// A direct child of the root whose name is unknown may be any of them.
    fn checked(mut self) -> Self {
        if let [only] = self.parts.as_slice() {
            self.vital |= only.contains(['*', '?', '[', UNKNOWN]);
        }
        self
    }
}

/// Returns the path that `${VAR:-PATH}` at the beginning of a word stands for if the variable is empty.
fn default_value(word: &Word) -> Option<String> {
    let source = word.source().replace('"', "");
    let (inside, behind) = source.strip_prefix("${")?.split_once('}')?;
    let at = inside.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
    let operator = inside.get(at..)?;
    let value = operator.strip_prefix(':').unwrap_or(operator).strip_prefix(['-', '='])?;
    let is_plain =
        !value.is_empty() && !value.contains(['$', '`', '\\', '\'', '{']) && !behind.contains(['$', '`', '\\', '\'']);
    is_plain.then(|| format!("{value}{behind}"))
}

/// Returns `true` if a pattern matches (nearly) every name.
pub(super) fn is_everything(part: &str) -> bool {
    matches!(part, "*" | ".*" | "?*" | ".[!.]*" | ".??*" | "**" | ".[^.]*" | "*.*")
}

fn absolute_text(parts: &[String]) -> String {
    format!("/{}", parts.join("/"))
}

fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split('/').filter(|part| !part.is_empty() && *part != ".")
}

/// Returns the names of a path, its root aside.
fn parts(path: &Path) -> Vec<String> {
    let name = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_string_lossy().into_owned()),
        _ => None,
    };
    path.components().filter_map(name).collect()
}
