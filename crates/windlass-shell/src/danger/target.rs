//! What an operand of a removal may name.

use std::path::Path;

use crate::{Word, word::Piece};

/// Stands for an expansion we do not know.
const UNKNOWN: char = '\u{1}';
const MAX_PLACES: usize = 16;

/// The directories against which operands are judged.
pub(super) struct Places {
    cwd: Vec<String>,
    home: Vec<String>,
    /// Where commands may run: the start, and the targets of `cd`.
    bases: Vec<Vec<String>>,
    /// Whether there are more than are followed.
    more: bool,
    /// Whether it is certain in which of them: after a `cd` that may fail, `*` means the start only perhaps.
    certain: bool,
}

/// A path an operand may name, normalised without the file system.
pub(super) struct Target {
    parts: Vec<String>,
    vital: bool,
    is_cwd: bool,
    all_of_cwd: bool,
}

impl Target {
    /// Whether losing it is a catastrophe.
    pub(super) fn is_vital(&self) -> bool {
        self.vital
    }

    pub(super) fn is_cwd(&self) -> bool {
        self.is_cwd
    }

    /// `*` in the working directory.
    pub(super) fn is_all_of_cwd(&self) -> bool {
        self.all_of_cwd
    }
}

impl Places {
    pub(super) fn new(cwd: &Path, home: &Path) -> Self {
        let cwd = parts(&cwd.to_string_lossy());
        Self { bases: vec![cwd.clone()], cwd, home: parts(&home.to_string_lossy()), more: false, certain: true }
    }

    /// A `cd` to this directory may come first.
    pub(super) fn enter(&mut self, directory: &Word) {
        self.certain = false;
        let text = self.text(directory);
        if text.contains(UNKNOWN) {
            return;
        }
        let entered = resolve(&self.cwd, &text);
        // Not the start: it may be left.
        if self.bases.iter().skip(1).any(|base| *base == entered) {
            return;
        }
        if self.bases.len() < MAX_PLACES {
            self.bases.push(entered);
        } else {
            self.more = true;
        }
    }

    /// No command runs in the start directory.
    pub(super) fn leave_start(&mut self) {
        if self.bases.len() > 1 {
            self.bases.remove(0);
            self.certain = true;
        }
    }

    /// The paths a word may name.
    pub(super) fn targets(&self, word: &Word) -> Vec<Target> {
        let text = self.text(word);
        if let Some(rest) = text.strip_prefix(UNKNOWN) {
            // If the variable is empty, what follows is absolute: only `"$VAR"/*` counts.
            let rest = parts(rest.trim_start_matches(UNKNOWN));
            let is_all = rest.len() == 1 && rest.iter().all(|part| is_everything(part));
            return if is_all { vec![self.target(rest)] } else { Vec::new() };
        }
        if text.starts_with('/') {
            return vec![self.target(resolve(&[], &text))];
        }
        let mut targets: Vec<Target> = self.bases.iter().map(|base| self.target(resolve(base, &text))).collect();
        if self.more && names(&text).all(is_everything) {
            // One of the places that are not followed may be the root.
            targets.push(self.target(resolve(&[], &text)));
        }
        targets
    }

    /// The word with known variables put in.
    fn text(&self, word: &Word) -> String {
        let absolute = |parts: &[String]| format!("/{}", parts.join("/"));
        let mut text = String::new();
        for piece in word.pieces() {
            match piece {
                Piece::Text { text: part, .. } => text.push_str(part),
                Piece::Glob(c) | Piece::Brace(c) => text.push(*c),
                Piece::Tilde(user) if user.is_empty() => text.push_str(&absolute(&self.home)),
                Piece::Tilde(user) if user == "+" => text.push_str(&absolute(&self.cwd)),
                Piece::Tilde(user) => {
                    text.push_str("/home/");
                    text.push_str(user);
                }
                Piece::Param(name) if name == "HOME" => text.push_str(&absolute(&self.home)),
                Piece::Param(name) if name == "PWD" => text.push_str(&absolute(&self.cwd)),
                Piece::Param(_) | Piece::Unknown => text.push(UNKNOWN),
            }
        }
        text
    }

    fn target(&self, parts: Vec<String>) -> Target {
        let is_cwd = parts == self.cwd;
        let (vital, all_of_cwd) = match parts.split_last() {
            Some((last, parent)) if is_everything(last) => {
                (self.is_vital_inside(parent), self.certain && parent == self.cwd)
            }
            _ => (self.is_vital(&parts), false),
        };
        Target { parts, vital, is_cwd, all_of_cwd }.checked()
    }

    fn is_vital(&self, parts: &[String]) -> bool {
        let system = match parts {
            [] | [_] => true,
            [top, _] => matches!(top.as_str(), "usr" | "home" | "Users" | "System" | "Library"),
            _ => false,
        };
        system || parts == ["var", "lib"] || self.cwd.starts_with(parts) || self.home.starts_with(parts)
    }

    /// Whether losing all that a directory contains is a catastrophe; for the working directory see
    /// `Target::is_all_of_cwd`.
    fn is_vital_inside(&self, parent: &[String]) -> bool {
        let scratch = matches!(parent, [top] if top == "tmp");
        parent != self.cwd && !scratch && self.is_vital(parent)
    }
}

impl Target {
    /// A direct child of the root whose name is unknown may be any of them.
    fn checked(mut self) -> Self {
        if let [only] = self.parts.as_slice() {
            self.vital |= only.contains(['*', '?', '[', UNKNOWN]);
        }
        self
    }
}

/// Whether a pattern matches (nearly) every name.
fn is_everything(part: &str) -> bool {
    matches!(part, "*" | ".*" | "?*" | ".[!.]*" | ".??*" | "**" | ".[^.]*" | "*.*")
}

fn parts(path: &str) -> Vec<String> {
    names(path).map(str::to_owned).collect()
}

fn names(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter(|part| !part.is_empty() && *part != ".")
}

fn resolve(base: &[String], path: &str) -> Vec<String> {
    let mut resolved = if path.starts_with('/') { Vec::new() } else { base.to_vec() };
    for part in names(path) {
        if part == ".." {
            resolved.pop();
        } else {
            resolved.push(part.to_owned());
        }
    }
    resolved
}
