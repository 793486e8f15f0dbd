//! Reads the manifests of a tree, and rereads changed ones.

use crate::Interrupted;
use crate::manifest::{ManifestKind, read};
use crate::overview::Known;
use crate::tree::{Stamp, Tree};
use crate::walk::Walk;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use windlass_context::is_secret;

/// Maximum number of manifests, those nearest to the root.
const MAX_MANIFESTS: usize = 400;
/// Maximum number of bytes read of one manifest, and of all together.
const MAX_MANIFEST_BYTES: u64 = 256 * 1024;
const MAX_TOTAL_BYTES: u64 = 8 * 1024 * 1024;

/// A manifest with its stamp.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Read {
    pub(crate) known: Known,
    stamp: Option<Stamp>,
}

/// Manifests of a tree, those nearest to the root first. Unchanged ones are not read again.
pub(crate) fn refreshed(walk: &Walk<'_>, tree: &Tree, previous: Vec<Read>) -> Result<(Vec<Read>, bool), Interrupted> {
    let mut previous: HashMap<String, Read> =
        previous.into_iter().map(|read| (read.known.path.clone(), read)).collect();
    let candidates = tree.files().filter_map(|(folder, name)| Some((folder.path_of(name), ManifestKind::of(name)?)));
    let mut remaining_bytes = MAX_TOTAL_BYTES;
    let (mut manifests, mut differs) = (Vec::new(), false);
    for (path, kind) in candidates.take(MAX_MANIFESTS) {
        if (walk.stop)() {
            return Err(Interrupted);
        }
        let full = walk.root.join(&path);
        let Ok(metadata) = std::fs::symlink_metadata(&full) else { continue };
        if !(walk.allowed)(&full) || is_secret(&full) {
            continue;
        }
        let stamp = Stamp::of(&metadata, walk.now);
        let unchanged = previous.remove(&path).filter(|read| read.stamp.is_some() && read.stamp == stamp);
        if let Some(unchanged) = unchanged {
            manifests.push(unchanged);
            continue;
        }
        differs = true;
        let Ok(head) = walk.reader.head(&full, MAX_MANIFEST_BYTES.min(remaining_bytes)) else { continue };
        remaining_bytes = remaining_bytes.saturating_sub(head.len() as u64);
        let manifest = read(kind, &path, &String::from_utf8_lossy(&head));
        manifests.push(Read { known: Known { path, kind, manifest }, stamp });
    }
    differs |= !previous.is_empty();
    Ok((manifests, differs))
}
