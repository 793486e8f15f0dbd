//! The index of a repository: which repositories, directories and attributes it has inside.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Tracked files that are held against a rule.
const MAX_TRACKED: usize = 20_000;

/// Entries of an index that have to be read as well.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct GitIndex {
    /// Paths of repositories inside, as bytes, from the top of the working tree. Git runs itself in those that
    /// are there, with their own configuration.
    pub repositories: Vec<Vec<u8>>,
    /// Paths of `.gitattributes` files, as bytes, from the top of the working tree.
    pub attributes: Vec<Vec<u8>>,
    /// Paths of the directories with files in them, as bytes, from the top of the working tree, without it: attributes
    /// in them apply even if the index does not name them.
    pub directories: BTreeSet<Vec<u8>>,
}

/// The files that git tracks around a directory.
#[derive(Clone)]
pub struct GitTracked {
    top: PathBuf,
    index: Arc<[u8]>,
    hash_bytes: usize,
}

impl GitTracked {
    /// Creates the list of files below the top of a working tree, named by the bytes of its index.
    pub fn new(top: impl Into<PathBuf>, index: impl Into<Arc<[u8]>>, hash_bytes: usize) -> Self {
        Self { top: top.into(), index: index.into(), hash_bytes }
    }

    /// Returns `true` if a test holds for one of the files at or below a path. Also `true` if there are too many to
    /// test.
    pub(crate) fn may_hold(&self, below: &Path, mut test: impl FnMut(PathBuf) -> bool) -> bool {
        let mut left = MAX_TRACKED;
        let looked = each_entry(&self.index, self.hash_bytes, |_, name| {
            left = left.checked_sub(1)?;
            let path = self.top.join(std::str::from_utf8(name).ok()?);
            (!path.starts_with(below) || !test(path)).then_some(())
        });
        looked.is_none()
    }
}

impl fmt::Debug for GitTracked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GitTracked").field("top", &self.top).field("bytes", &self.index.len()).finish_non_exhaustive()
    }
}

/// Reads an index. `None` if it is damaged, of an unknown version, or continued in another file.
#[must_use]
pub fn read_index(bytes: &[u8], hash_bytes: usize) -> Option<GitIndex> {
    let mut index = GitIndex::default();
    let mut last = Vec::new();
    each_entry(bytes, hash_bytes, |mode, name| {
        let parent = parent(name);
        if parent != last {
            last = parent.to_vec();
            note_directory(&mut index.directories, parent);
        }
        note(&mut index, mode, name)
    })?;
    Some(index)
}

/// Returns `true` if an index names this path, as bytes from the top of the working tree, in any case. `None` if the
/// index cannot be read, as by [`read_index`].
#[must_use]
pub fn index_names(bytes: &[u8], hash_bytes: usize, path: &[u8]) -> Option<bool> {
    let mut found = false;
    each_entry(bytes, hash_bytes, |mode, name| {
        found |= name.eq_ignore_ascii_case(path);
        // In a directory of which the files are not listed it may be.
        (mode & 0o170_000 != 0o040_000).then_some(())
    })?;
    Some(found)
}

/// Calls the function with the mode and name of each entry until it returns `None`.
fn each_entry(bytes: &[u8], hash_bytes: usize, mut take_one: impl FnMut(u32, &[u8]) -> Option<()>) -> Option<()> {
    let mut rest = bytes.strip_prefix(b"DIRC".as_slice())?;
    let version = number(&mut rest)?;
    let entries = number(&mut rest)?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let mut name = Vec::new();
    for _ in 0..entries {
        let before = rest.len();
        let fixed = take(&mut rest, 40)?;
        let mode = number(&mut fixed.get(24..)?)?;
        take(&mut rest, hash_bytes)?;
        let flags = take(&mut rest, 2)?;
        let extended = flags.first().is_some_and(|flags| flags & 0x40 != 0);
        if extended {
            take(&mut rest, 2)?;
        }
        if version == 4 {
            let cut = varint(&mut rest)?;
            name.truncate(name.len().checked_sub(cut)?);
        } else {
            name.clear();
        }
        let end = rest.iter().position(|byte| *byte == 0)?;
        name.extend_from_slice(take(&mut rest, end)?);
        if version == 4 {
            take(&mut rest, 1)?;
        } else {
            // One to eight zeros, up to a multiple of eight.
            let length = before.checked_sub(rest.len())?;
            take(&mut rest, 8 - length % 8)?;
        }
        take_one(mode, &name)?;
    }
    extensions_are_known(rest, hash_bytes).then_some(())
}

fn parent(name: &[u8]) -> &[u8] {
    let end = name.iter().rposition(|byte| *byte == b'/').unwrap_or(0);
    name.get(..end).unwrap_or_default()
}

/// Records a directory and its ancestors.
fn note_directory(directories: &mut BTreeSet<Vec<u8>>, mut directory: &[u8]) {
    while !directory.is_empty() && directories.insert(directory.to_vec()) {
        directory = parent(directory);
    }
}

fn note(index: &mut GitIndex, mode: u32, name: &[u8]) -> Option<()> {
    match mode & 0o170_000 {
        0o160_000 => index.repositories.push(name.to_vec()),
        0o100_000 | 0o120_000 => {}
        // A directory of which the files are not listed, or something new.
        _ => return None,
    }
    if name.rsplit(|byte| *byte == b'/').next().is_some_and(|last| last.eq_ignore_ascii_case(b".gitattributes")) {
        index.attributes.push(name.to_vec());
    }
    Some(())
}

/// Extensions whose names begin with a capital may be ignored; others change the meaning of the entries.
fn extensions_are_known(mut rest: &[u8], hash_bytes: usize) -> bool {
    while rest.len() > hash_bytes {
        let name = take(&mut rest, 4);
        let Some(length) = number(&mut rest).and_then(|length| usize::try_from(length).ok()) else { return false };
        let optional = name.and_then(<[u8]>::first).is_some_and(u8::is_ascii_uppercase);
        if !optional || take(&mut rest, length).is_none() {
            return false;
        }
    }
    true
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(take(rest, 4)?.try_into().ok()?))
}

/// Reads a number with seven bits to a byte, each further byte counting from one more.
fn varint(rest: &mut &[u8]) -> Option<usize> {
    let mut value = 0_usize;
    loop {
        let byte = *take(rest, 1)?.first()?;
        value = value.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        if byte & 0x80 == 0 {
            return Some(value);
        }
        value = value.checked_add(1)?;
    }
}

#[cfg(test)]
mod tests;
