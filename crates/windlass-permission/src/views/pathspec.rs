//! Paths whose content a git command shows, from its pathspecs and from words such as `HEAD:path`.

use crate::matcher::secret_example;
use crate::path::normalize;
use std::path::{Path, PathBuf};

/// Colons of a word behind each of which a path may begin.
pub(super) const MAX_COLONS: usize = 8;

/// The file contents that a command shows.
#[derive(Default)]
pub(super) struct View<'a> {
    /// Any file of the repository.
    pub(super) whole: bool,
    /// Only files that git tracks now.
    pub(super) tracked: bool,
    /// From the directory.
    pub(super) here: Vec<(&'a str, Origin<'a>)>,
    /// From the top of the working tree, wherever that is.
    pub(super) top: Vec<(&'a str, Origin<'a>)>,
    /// Places of secrets that a pattern may match, whether they are there or in the history alone: from the top of the
    /// working tree (`true`), or from the directory.
    secrets: Vec<(bool, PathBuf)>,
}

/// Origin of a path in a view.
#[derive(Clone, Copy)]
pub(super) enum Origin<'a> {
    /// `HEAD:path`.
    Blob,
    /// A word that is the path.
    Named(&'a str),
    /// The start of a pattern, or of the whole tree.
    Tree,
}

impl<'a> View<'a> {
    /// Reads `HEAD:path`, `:path`, `:0:path`; `HEAD:./path` from the directory.
    pub(super) fn blob(&mut self, text: &'a str) {
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

    pub(super) fn pathspec(&mut self, text: &'a str) {
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
        if wild.is_some() {
            self.secrets.extend(secret_example(path).map(|example| (from_top, example)));
        }
        let origin = if wild.is_some() || from_top { Origin::Tree } else { Origin::Named(fixed) };
        if from_top {
            self.top.push((fixed, origin));
        } else {
            self.here.push((if fixed.is_empty() { "." } else { fixed }, origin));
        }
    }

    pub(super) fn paths(&self, base: &Path, roots: &[PathBuf], add: &mut dyn FnMut(PathBuf, Origin<'a>)) {
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
        for (_, path) in self.secrets.iter().filter(|(from_top, _)| !from_top) {
            add(normalize(base, path), Origin::Blob);
        }
        for top in tops {
            for (_, path) in self.secrets.iter().filter(|(from_top, _)| *from_top) {
                add(normalize(top, path), Origin::Blob);
            }
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
