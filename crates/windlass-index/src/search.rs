//! Search over paths and symbols.

use crate::symbols::{Symbol, Symbols};
use crate::tree::Tree;
use serde::Serialize;
use windlass_context::{Relevance, is_secret};

/// Weights of a word in the name of a file, in the folders above it, and in a symbol.
const NAME_WEIGHT: f64 = 3.0;
const FOLDERS_WEIGHT: f64 = 1.0;
const SYMBOL_WEIGHT: f64 = 1.5;
/// Maximum number of searched files, those nearest to the root.
const MAX_FILES: usize = 100_000;
/// Maximum number of symbols of one file in a result.
const MAX_SYMBOLS: usize = 3;

/// A file that matches a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct FileHit {
    /// Path below the root, with parts between slashes.
    pub path: String,
    /// Score of the match: above 0, larger is better, without a unit.
    pub score: f64,
    /// Best matching symbols, at most three. Empty if the path alone matches.
    pub symbols: Vec<Symbol>,
}

/// Result of a search.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Found {
    /// Best matching files, the best first.
    pub hits: Vec<FileHit>,
    /// Number of searched files.
    pub searched: usize,
    /// `true` if all files of the project were searched.
    pub is_complete: bool,
}

/// Words of all files.
#[derive(Debug)]
pub(crate) struct Searchable {
    words: Relevance,
    /// Position of each document in the tree: folder and file.
    places: Vec<(u32, u32)>,
}

impl Searchable {
    pub(crate) fn new(tree: &Tree, symbols: &Symbols) -> Self {
        let (mut words, mut places) = (Relevance::default(), Vec::new());
        for (folder, folder_number) in tree.folders.iter().zip(0_u32..) {
            for (name, file_number) in folder.files.iter().zip(0_u32..) {
                let path = folder.path_of(name);
                if places.len() >= MAX_FILES || is_secret(std::path::Path::new(&path)) {
                    continue;
                }
                let defined = symbols.of(&path).iter().map(|symbol| (SYMBOL_WEIGHT, symbol.name.as_str()));
                words.add(
                    [(NAME_WEIGHT, name.as_str()), (FOLDERS_WEIGHT, folder.path.as_str())].into_iter().chain(defined),
                );
                places.push((folder_number, file_number));
            }
        }
        Self { words, places }
    }

    /// Best files for which `may_read` is true.
    pub(crate) fn search(
        &self,
        tree: &Tree,
        symbols: &Symbols,
        query: &str,
        limit: usize,
        may_read: &dyn Fn(&str) -> bool,
    ) -> Found {
        let hits = self.words.search(query, self.places.len()).into_iter().filter_map(|hit| {
            let (folder, number) = *self.places.get(hit.document)?;
            let folder = tree.folders.get(folder as usize)?;
            let path = folder.path_of(folder.files.get(number as usize)?);
            may_read(&path).then(|| FileHit { symbols: best_symbols(symbols.of(&path), query), path, score: hit.score })
        });
        let is_complete = tree.is_complete && self.places.len() < MAX_FILES;
        Found { hits: hits.take(limit).collect(), searched: self.places.len(), is_complete }
    }
}

/// Best matching symbols, in the order of their lines.
fn best_symbols(symbols: &[Symbol], query: &str) -> Vec<Symbol> {
    let mut words = Relevance::default();
    for symbol in symbols {
        words.add([(1.0, symbol.name.as_str())]);
    }
    let hits = words.search(query, MAX_SYMBOLS);
    let mut found: Vec<Symbol> = hits.into_iter().filter_map(|hit| symbols.get(hit.document).cloned()).collect();
    found.sort_by_key(|symbol| symbol.line);
    found
}
