//! The directory of a memory.

use super::index::{FILE, Index, MOST_BYTES, MemoryEntry};
use super::lock::Lock;
use super::note::{MOST_FILE, MemoryNote};
use super::scan::{MOST_MEMORIES, Scan};
use super::{MemoryError, MemoryName};
use crate::file::{OldText, ReadError};
use std::fs::File;
use std::io::{self, ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use windlass_context::Relevance;
use windlass_tool::content_swap::{self, ContentChanged};
use windlass_tool::private_file::{self, create_dir, sync_dir};
use windlass_types::Timestamp;
use windlass_types::near::nearest;

/// Name of a file while it is written, before it replaces the old one.
const TEMPORARY_FILE: &str = ".new.tmp";
/// Maximum number of times that the index is written again because another program changed it meanwhile.
const MAX_INDEX_WRITES: u32 = 100;
/// Maximum number of bytes of all memories of a directory together.
const MAX_TOTAL_BYTES: u64 = 16 * 1024 * 1024;
/// Maximum number of files that are read because the index does not list them.
const MAX_UNLISTED: usize = 256;

/// A directory of memories: `MEMORY.md`, which is the index, and a file for each memory.
///
/// Each file is written in one step, so that a reader sees all of the old or all of the new one, also after a crash;
/// entries that the index lacks are read from the files. Writers of several sessions wait for each other, for up to 5
/// seconds. Links among the files are not followed. All methods block for as long as the disk takes.
///
/// ```
/// use windlass_project::{MemoryDirectory, MemoryNote};
/// use windlass_types::Timestamp;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let temporary = tempfile::tempdir()?;
/// # let path = temporary.path().join("memory");
/// let memory = MemoryDirectory::at(path);
/// let now = Timestamp::parse("2026-11-23T10:00:00Z").unwrap_or_default();
/// let note = MemoryNote::new("releases".parse()?, None, "How a release is made", "Run `just release`.", now)?;
/// memory.add(&note)?;
/// assert_eq!(memory.read(&note.name)?.content, "Run `just release`.");
/// assert!(memory.add(&note).is_err(), "the name is taken");
/// # Ok(()) }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryDirectory {
    path: PathBuf,
    /// Directory that must contain the memory, with links followed.
    within: Option<PathBuf>,
    /// `true` if others may read the files as far as the process's umask allows.
    is_shared: bool,
}

impl MemoryDirectory {
    /// Creates a directory of the user, made when the first memory is written. Only the user can read its files.
    #[must_use]
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into(), within: None, is_shared: false }
    }

    /// Requires the memory to lie in this directory: a link that leads out of it is refused.
    #[must_use]
    pub fn within(mut self, directory: impl Into<PathBuf>) -> Self {
        self.within = Some(directory.into());
        self
    }

    /// Shares the memory with all who work on a project: others can read its files as far as the process's umask
    /// allows.
    #[must_use]
    pub fn shared(mut self) -> Self {
        self.is_shared = true;
        self
    }

    /// Returns the path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns `true` if others than the user may read the files.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.is_shared
    }

    /// Returns the memories in the order of the index, with those that the index does not list at the end. Also returns
    /// the words that people wrote into the index.
    ///
    /// # Errors
    /// The directory cannot be read, or leads out of the directory that must contain it. One that is not there is
    /// empty.
    pub fn entries(&self) -> Result<(Vec<MemoryEntry>, String), MemoryError> {
        let Some(directory) = self.resolved()? else { return Ok(Default::default()) };
        let index = complete(&directory, read_index(&directory).unwrap_or_default().0, &Scan::of(&directory)?);
        Ok((index.entries().cloned().collect(), index.words()))
    }

    /// Returns all memories, sorted by name. Files that cannot be read are left out.
    ///
    /// # Errors
    /// Those of [`entries`](Self::entries).
    pub fn list(&self) -> Result<Vec<MemoryNote>, MemoryError> {
        let Some(directory) = self.resolved()? else { return Ok(Vec::new()) };
        let names = Scan::of(&directory)?.names;
        Ok(names.into_iter().filter_map(|name| Some(read(&directory, name).ok()??.0)).collect())
    }

    /// Reads one memory.
    ///
    /// # Errors
    /// No memory has this name, or its file is a link, too large, or no UTF-8 text.
    pub fn read(&self, name: &MemoryName) -> Result<MemoryNote, MemoryError> {
        let found = self.resolved()?.map(|directory| read(&directory, name.clone())).transpose()?.flatten();
        found.map(|(note, _)| note).ok_or_else(|| self.unknown(name))
    }

    /// Returns at most `limit` memories that have a word of `query`, the best first.
    ///
    /// # Errors
    /// Those of [`entries`](Self::entries).
    pub fn search(&self, query: &str, limit: usize) -> Result<Vec<MemoryNote>, MemoryError> {
        let notes = self.list()?;
        let mut relevance = Relevance::default();
        for note in &notes {
            relevance.add([(3.0, note.name.as_str()), (2.0, &note.description), (1.0, &note.content)]);
        }
        let hits = relevance.search(query, limit);
        Ok(hits.iter().filter_map(|hit| notes.get(hit.document).cloned()).collect())
    }

    /// Writes a new memory.
    ///
    /// # Errors
    /// Its name is taken, it does not fit, or the disk does not take it. Then no file is changed, unless the error is
    /// [`MemoryError::Index`].
    pub fn add(&self, note: &MemoryNote) -> Result<(), MemoryError> {
        note.check()?;
        self.write(|directory, scan| {
            let is_taken = |known: &MemoryName| *known == note.name || known.collides_with(&note.name);
            let file = directory.join(note.name.file());
            if scan.names.iter().any(is_taken) || file.symlink_metadata().is_ok() {
                return Err(MemoryError::Taken { name: note.name.to_string() });
            }
            if scan.names.len() >= MOST_MEMORIES {
                let problem = format!("there are {MOST_MEMORIES} memories: forget some that are of no use any more");
                return Err(MemoryError::TooMuch { problem });
            }
            self.put(directory, scan, note, None)
        })
    }

    /// Changes a memory, sets the day of its last change to `now`, and returns it.
    ///
    /// # Errors
    /// No memory has this name; else those of [`add`](Self::add).
    pub fn update(
        &self,
        name: &MemoryName,
        now: Timestamp,
        change: impl FnOnce(&mut MemoryNote),
    ) -> Result<MemoryNote, MemoryError> {
        // A missing memory creates no directory.
        self.read(name)?;
        self.write(|directory, scan| {
            let (mut note, old) = read(directory, name.clone())?.ok_or_else(|| self.unknown(name))?;
            change(&mut note);
            (note.name, note.updated) = (name.clone(), Some(now));
            note.check()?;
            self.put(directory, scan, &note, Some(&old))?;
            Ok(note)
        })
    }

    /// Removes a memory.
    ///
    /// # Errors
    /// No memory has this name, or its file cannot be removed.
    pub fn forget(&self, name: &MemoryName) -> Result<(), MemoryError> {
        if self.resolved()?.is_none() {
            return Err(self.unknown(name));
        }
        self.write(|directory, scan| {
            let path = directory.join(name.file());
            match std::fs::remove_file(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::NotFound => return Err(self.unknown(name)),
                Err(problem) => return Err(MemoryError::Io { path, problem }),
            }
            scan.names.remove(name);
            self.renew_index(directory, scan, None)
        })
    }

    /// Writes a file, and then its line. `old`: the content of the file as it was read, or `None` for a new one.
    fn put(&self, directory: &Path, scan: &mut Scan, note: &MemoryNote, old: Option<&[u8]>) -> Result<(), MemoryError> {
        let text = note.file();
        let bytes = scan.bytes_without(directory, &note.name).saturating_add(text.len() as u64);
        if bytes > MAX_TOTAL_BYTES {
            let max_mib = MAX_TOTAL_BYTES / (1024 * 1024);
            let problem =
                format!("all memories together have at most {max_mib} MiB: forget some that are of no use any more");
            return Err(MemoryError::TooMuch { problem });
        }
        let path = directory.join(note.name.file());
        self.replace(&path, text.as_bytes(), old).map_err(MemoryError::io(&path))?;
        scan.names.insert(note.name.clone());
        self.renew_index(directory, scan, Some(&MemoryEntry::of(note)))
    }

    /// Writes the index anew from the existing files.
    fn renew_index(&self, directory: &Path, scan: &Scan, entry: Option<&MemoryEntry>) -> Result<(), MemoryError> {
        let path = directory.join(FILE);
        let renew = || -> io::Result<()> {
            for _ in 0..MAX_INDEX_WRITES {
                let (mut index, old) = read_index(directory)?;
                entry.into_iter().for_each(|entry| index.set(entry));
                let text = complete(directory, index, scan).text();
                match self.replace(&path, text.as_bytes(), old.as_deref()) {
                    // Another program has just written the index: its words are kept.
                    Err(error) if ContentChanged::is(&error) => {}
                    result => return result.and_then(|()| sync_dir(directory)),
                }
            }
            Err(ContentChanged.into())
        };
        renew().map_err(|problem| MemoryError::Index { path: path.clone(), problem })
    }

    /// Replaces the content of a file atomically and durably. A link of its name is not followed. Only the owner of the
    /// lock writes, so an existing temporary file was left behind by a crash. Other programs take no lock: a file whose
    /// content is no longer `old` is not replaced.
    fn replace(&self, path: &Path, content: &[u8], old: Option<&[u8]>) -> io::Result<()> {
        let new = path.with_file_name(TEMPORARY_FILE);
        drop(std::fs::remove_file(&new));
        let write = || -> io::Result<()> {
            let mut file = if self.is_shared { File::create_new(&new)? } else { private_file::create(&new)? };
            file.write_all(content)?;
            file.sync_all()?;
            content_swap::replace_at(&new, path, old)
        };
        let result = write();
        // The first error is the one to report.
        drop(std::fs::remove_file(&new));
        result
    }

    /// Changes files as the only writer.
    fn write<T>(&self, change: impl FnOnce(&Path, &mut Scan) -> Result<T, MemoryError>) -> Result<T, MemoryError> {
        let directory = self.create()?;
        let _lock = Lock::take(&directory)?;
        change(&directory, &mut Scan::of(&directory)?)
    }

    /// Returns the directory with all links followed, if it is there.
    fn resolved(&self) -> Result<Option<PathBuf>, MemoryError> {
        let resolved = match self.path.canonicalize() {
            Ok(resolved) => resolved,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            Err(problem) => return Err(MemoryError::Io { path: self.path.clone(), problem }),
        };
        self.check_inside(&resolved)?;
        Ok(Some(resolved))
    }

    /// Returns the directory with all links followed, and creates it if it is missing.
    fn create(&self) -> Result<PathBuf, MemoryError> {
        // No directory is created where a link leads out of `within`.
        let existing = self.path.ancestors().find_map(|ancestor| ancestor.canonicalize().ok());
        if let Some(existing) =
            existing.filter(|_| self.within.as_ref().is_some_and(|within| self.path.starts_with(within)))
        {
            let is_above = self.within.as_ref().and_then(|within| within.canonicalize().ok());
            if !is_above.is_some_and(|within| within.starts_with(&existing)) {
                self.check_inside(&existing)?;
            }
        }
        create_dir(&self.path).map_err(MemoryError::io(&self.path))?;
        let missing = || MemoryError::Io { path: self.path.clone(), problem: ErrorKind::NotFound.into() };
        self.resolved()?.ok_or_else(missing)
    }

    fn check_inside(&self, resolved: &Path) -> Result<(), MemoryError> {
        let Some(within) = &self.within else { return Ok(()) };
        let root = within.canonicalize().unwrap_or_else(|_| within.clone());
        if resolved.starts_with(&root) {
            return Ok(());
        }
        Err(MemoryError::Outside { path: self.path.clone(), within: within.clone() })
    }

    fn unknown(&self, name: &MemoryName) -> MemoryError {
        let names = self.resolved().ok().flatten().and_then(|directory| Scan::of(&directory).ok());
        let names = names.unwrap_or_default().names;
        let near = nearest(name.as_str(), names.iter().map(MemoryName::as_str));
        let hint = near.first().map(|near| format!(": did you mean {near:?}?")).unwrap_or_default();
        MemoryError::Unknown { name: name.to_string(), hint }
    }
}

/// Returns the memory in a file, and the content of the file; `None` if there is none of this name.
fn read(directory: &Path, name: MemoryName) -> Result<Option<(MemoryNote, Vec<u8>)>, MemoryError> {
    let path = directory.join(name.file());
    match OldText::read_itself(&path, MOST_FILE) {
        Ok(old) => Ok(old.map(|old| (MemoryNote::parse(name, &old.text), old.bytes))),
        Err(ReadError::TooBig) => {
            let problem = format!("the file of {name:?} is larger than {MOST_FILE} bytes", name = name.as_str());
            Err(MemoryError::TooMuch { problem })
        }
        Err(ReadError::Io(problem)) => Err(MemoryError::Io { path, problem }),
    }
}

/// Returns the index as its file has it, empty without one, and the content of the file.
fn read_index(directory: &Path) -> io::Result<(Index, Option<Vec<u8>>)> {
    match OldText::read_itself(&directory.join(FILE), MOST_BYTES) {
        Ok(None) => Ok((Index::parse(""), None)),
        Ok(Some(old)) => Ok((Index::parse(&old.text), Some(old.bytes))),
        Err(ReadError::TooBig) => Err(io::Error::other(format!("it is larger than {MOST_BYTES} bytes"))),
        Err(ReadError::Io(problem)) => Err(problem),
    }
}

/// Returns an index with the memories that are there: without lines of those that are gone, with lines of those that it
/// lacks.
fn complete(directory: &Path, mut index: Index, scan: &Scan) -> Index {
    if !scan.is_cut {
        index.retain(|name| scan.names.contains(name));
    }
    let listed: std::collections::BTreeSet<MemoryName> = index.entries().map(|entry| entry.name.clone()).collect();
    let unlisted = scan.names.difference(&listed).take(MAX_UNLISTED);
    for (note, _) in unlisted.filter_map(|name| read(directory, name.clone()).ok()?) {
        index.set(&MemoryEntry::of(&note));
    }
    index
}
