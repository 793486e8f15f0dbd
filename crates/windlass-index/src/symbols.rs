//! Names that sources define.

mod scan;

use crate::Interrupted;
use crate::parallel::for_each;
use crate::tree::{Stamp, Tree};
use crate::walk::Walk;
use scan::{Style, scan};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use windlass_context::is_secret;

/// Maximum number of sources that are read, those nearest to the root.
const MAX_SOURCES: usize = 20_000;
/// Maximum number of bytes read of one source.
const MAX_SOURCE_BYTES: u64 = 128 * 1024;
/// Maximum number of symbols of all sources together.
const MAX_SYMBOLS: usize = 250_000;

/// A name that a source defines.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Symbol {
    /// Line of the definition, from 1.
    pub line: u32,
    /// Name of a function, a type, a module or the like.
    pub name: String,
}

/// Symbols of a source with its stamp.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Source {
    stamp: Option<Stamp>,
    symbols: Vec<Symbol>,
}

/// Symbols of all sources, by their paths below the root.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Symbols {
    sources: HashMap<String, Source>,
}

impl Symbols {
    /// Symbols of a file.
    pub(crate) fn of(&self, path: &str) -> &[Symbol] {
        self.sources.get(path).map(|source| source.symbols.as_slice()).unwrap_or_default()
    }

    /// Updates the symbols of the sources of a tree. Returns `true` if they have changed. Unchanged sources are not
    /// read again.
    pub(crate) fn refreshed(mut self, walk: &Walk<'_>, tree: &Tree) -> Result<(Self, bool), Interrupted> {
        let sources = tree.files().filter_map(|(folder, name)| Some((folder.path_of(name), Style::of(name)?)));
        let sources: Vec<(String, Style)> = sources.take(MAX_SOURCES).collect();
        let results = for_each(&sources, walk.stop, |(path, style)| read(walk, path, *style, self.sources.get(path)))?;
        let count_before = self.sources.len();
        let (mut updated, mut differs, mut remaining) = (HashMap::with_capacity(sources.len()), false, MAX_SYMBOLS);
        for ((path, _), result) in sources.into_iter().zip(results) {
            let mut source = match result {
                Some(source) => {
                    differs |= self.sources.get(&path) != Some(&source);
                    source
                }
                None => match self.sources.remove(&path) {
                    Some(source) => source,
                    None => continue,
                },
            };
            source.symbols.truncate(remaining);
            remaining = remaining.saturating_sub(source.symbols.len());
            updated.insert(path, source);
        }
        differs |= updated.len() != count_before;
        Ok((Self { sources: updated }, differs))
    }
}

/// Symbols of a source. `None` if they are unchanged.
fn read(walk: &Walk<'_>, path: &str, style: Style, previous: Option<&Source>) -> Option<Source> {
    let full = walk.root.join(path);
    let stamp = std::fs::symlink_metadata(&full).ok().and_then(|metadata| Stamp::of(&metadata, walk.now));
    if previous.is_some_and(|previous| stamp.is_some() && previous.stamp == stamp) {
        return None;
    }
    let head = walk.reader.head(&full, MAX_SOURCE_BYTES).ok().filter(|_| !is_secret(&full)).unwrap_or_default();
    // A zero byte early in a file shows that it is not text.
    let is_text = !head.iter().take(8_192).any(|byte| *byte == 0);
    let symbols = if is_text { scan(style, &String::from_utf8_lossy(&head)) } else { Vec::new() };
    Some(Source { stamp, symbols })
}
