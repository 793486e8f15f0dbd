//! Contents and the index as files.

use super::history::History;
use super::pack::Pack;
use super::record::Record;
use super::shelf::{AppendError, Content, Shelf};
use crate::disk::create_dirs;
use crate::lock::{LockError, Locked};
use crate::open;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use windlass_session::{CheckpointError, CheckpointErrorKind};
use windlass_tool::private_file::{self, sync_dir};

/// Maximum length of an index line, in bytes: several times the longest path.
const MAX_LINE_BYTES: u64 = 64 * 1024;

/// Length in bytes above which an index is rewritten when it is opened, with at most [`MAX_INDEX_FILES`] files.
const REWRITE_ABOVE_BYTES: u64 = 16 * 1024 * 1024;
const MAX_INDEX_FILES: usize = 40_000;

/// Contents and the index as files of a directory.
#[derive(Debug)]
pub(crate) struct Disk {
    directory: PathBuf,
    /// Index, open and locked from the first use on.
    index: Mutex<Option<Index>>,
    baseline: Mutex<Option<Pack>>,
    /// Number of contents put without a sync: it makes their temporary names unique.
    unsynced: AtomicU64,
}

#[derive(Debug)]
struct Index {
    file: Locked,
    /// End of the last whole line.
    length: u64,
    /// Directories with new names that are not durable yet.
    new_names: Vec<PathBuf>,
}

impl Disk {
    pub(crate) fn new(directory: PathBuf) -> Self {
        Self { directory, index: Mutex::default(), baseline: Mutex::default(), unsynced: AtomicU64::new(0) }
    }

    fn index_path(&self) -> PathBuf {
        self.directory.join("index.jsonl")
    }

    fn objects(&self) -> PathBuf {
        self.directory.join("objects")
    }

    fn object(&self, hash: &blake3::Hash) -> PathBuf {
        self.objects().join(&*hash.to_hex())
    }

    fn lock(&self) -> MutexGuard<'_, Option<Index>> {
        self.index.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open_index(&self, create: bool) -> Result<Option<Locked>, CheckpointError> {
        let path = self.index_path();
        match Locked::open(&path, create) {
            Ok(file) => Ok(Some(file)),
            Err(LockError::Io(error)) if error.kind() == ErrorKind::NotFound && !create => Ok(None),
            Err(LockError::Io(error)) => Err(failed(&path, "open", &error)),
            Err(LockError::Held(holder)) => Err(CheckpointError::new(
                CheckpointErrorKind::InUse,
                format!("the file checkpoints in {} are in use by {holder}", self.directory.display()),
            )),
        }
    }

    /// Writes a shorter index, and opens it in the place of the old one.
    fn shorten(&self, history: &History) -> io::Result<(Locked, u64, History)> {
        let mut lines = Vec::new();
        let mut shorter = History::default();
        for record in history.records(MAX_INDEX_FILES) {
            record.write(&mut lines);
            shorter.apply(record);
        }
        let temporary = self.directory.join("index.partial");
        // Another process that opens the new file finds it locked.
        let mut file = Locked::open(&temporary, true).map_err(|error| match error {
            LockError::Io(error) => error,
            LockError::Held(_) => ErrorKind::WouldBlock.into(),
        })?;
        file.set_len(0)?;
        file.write_all(&lines)?;
        file.sync_data()?;
        fs::rename(&temporary, self.index_path())?;
        sync_dir(&self.directory)?;
        Ok((file, lines.len() as u64, shorter))
    }

    /// Removes contents that no line needs: left by a crash, or dropped.
    fn sweep(&self, history: &History) {
        let Ok(entries) = fs::read_dir(self.objects()) else { return };
        for entry in entries.filter_map(Result::ok) {
            let name = entry.file_name();
            let hash = name.to_str().and_then(|name| blake3::Hash::from_hex(name).ok());
            if hash.is_none_or(|hash| !history.has_object(&hash)) {
                // A failed removal is left for the next time.
                let _ = fs::remove_file(entry.path());
            }
        }
    }

    fn write_object(&self, hash: &blake3::Hash, content: &[u8], sync: bool) -> io::Result<()> {
        let object = self.object(hash);
        if sync {
            return private_file::replace(&object, content);
        }
        let number = self.unsynced.fetch_add(1, Ordering::Relaxed);
        let temporary = self.objects().join(format!("{}-{number}.partial", std::process::id()));
        private_file::create(&temporary)?.write_all(content)?;
        fs::rename(&temporary, &object)
    }

    fn baseline(&self) -> MutexGuard<'_, Option<Pack>> {
        self.baseline.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Shelf for Disk {
    fn open(&self, create: bool) -> Result<Option<History>, CheckpointError> {
        let is_new = self.index_path().symlink_metadata().is_err();
        let mut new_names = Vec::new();
        if create && is_new {
            let objects = self.objects();
            new_names = create_dirs(&objects).map_err(|e| CheckpointError::new(kind_of(e.kind), e.message))?;
            // Includes those that another process may have created just now without a sync.
            for name in self.directory.ancestors().take(3).filter(|name| !name.as_os_str().is_empty()) {
                if !new_names.iter().any(|known| known == name) {
                    new_names.push(name.to_owned());
                }
            }
        }
        let Some(mut file) = self.open_index(create)? else { return Ok(None) };
        let unreadable = |error: io::Error| failed(&self.index_path(), "read", &error);
        let (mut history, mut length) = read_index(&file).map_err(unreadable)?;
        // Cuts off the rest of a torn line, so that the next one is not joined to it.
        if file.metadata().map_err(unreadable)?.len() > length {
            file.set_len(length).map_err(|error| failed(&self.index_path(), "write", &error))?;
        }
        if length > REWRITE_ABOVE_BYTES {
            match self.shorten(&history) {
                Ok(shorter) => (file, length, history) = shorter,
                Err(error) => tracing::warn!(%error, "the index of file checkpoints could not be shortened"),
            }
        }
        if !is_new && !history.is_damaged() {
            // After damage, a content that no readable line names may still be needed.
            self.sweep(&history);
        }
        *self.lock() = Some(Index { file, length, new_names });
        Ok(Some(history))
    }

    fn put(&self, hash: &blake3::Hash, content: &[u8], sync: bool) -> Result<(), CheckpointError> {
        self.write_object(hash, content, sync).map_err(|error| failed(&self.object(hash), "write", &error))
    }

    fn get(&self, hash: &blake3::Hash) -> io::Result<Vec<u8>> {
        let mut content = Vec::new();
        open::read(&self.object(hash))?.read_to_end(&mut content)?;
        Ok(content)
    }

    fn remove(&self, hashes: &[blake3::Hash]) {
        for hash in hashes {
            // The next sweep tries again.
            let _ = fs::remove_file(self.object(hash));
        }
    }

    fn clear_baseline(&self) -> Result<(), CheckpointError> {
        let path = self.directory.join("baseline");
        let mut baseline = self.baseline();
        *baseline = None;
        *baseline = Some(Pack::create(&path).map_err(|error| failed(&path, "write", &error))?);
        Ok(())
    }

    fn add_to_baseline(&self, contents: &[Content]) -> Result<Vec<u64>, CheckpointError> {
        let mut baseline = self.baseline();
        let added = baseline.as_mut().ok_or_else(|| ErrorKind::NotFound.into()).and_then(|pack| pack.add(contents));
        added.map_err(|error| failed(&self.directory.join("baseline"), "write", &error))
    }

    fn baseline_content(&self, at: u64, size: u64) -> io::Result<Vec<u8>> {
        self.baseline().as_mut().ok_or(ErrorKind::NotFound)?.content(at, size)
    }

    fn append(&self, lines: &[u8], sync: bool) -> Result<(), AppendError> {
        let path = self.index_path();
        let mut index = self.lock();
        let Some(Index { file, length, new_names }) = index.as_mut() else {
            let error = failed(&path, "write", &ErrorKind::NotFound.into());
            return Err(AppendError { error, again: false });
        };
        if let Err(error) = file.write_all(lines) {
            // The written part must not be joined to the next line.
            let again = file.set_len(*length).is_ok();
            return Err(AppendError { error: failed(&path, "write", &error), again });
        }
        *length += lines.len() as u64;
        if sync {
            for name in std::mem::take(new_names) {
                sync_dir(&name).map_err(|error| AppendError { error: failed(&name, "sync", &error), again: false })?;
            }
            // The extent written by a failed sync is unknown, and a second one would not report it.
            file.sync_data().map_err(|error| AppendError { error: failed(&path, "sync", &error), again: false })?;
        }
        Ok(())
    }
}

/// Reads the index up to the end of its last whole line.
fn read_index(mut file: &File) -> io::Result<(History, u64)> {
    let mut history = History::default();
    let mut length = 0;
    // Lines read after the last whole one may be torn: only a later whole line proves that they are not.
    let (mut position, mut may_be_torn) = (0, false);
    file.seek(SeekFrom::Start(0))?;
    let mut reader = BufReader::new(file);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut reader).take(MAX_LINE_BYTES).read_until(b'\n', &mut line)? as u64;
        if read == 0 {
            return Ok((history, length));
        }
        position += read;
        match line.strip_suffix(b"\n").and_then(Record::read) {
            Some(record) => {
                if std::mem::take(&mut may_be_torn) {
                    history.damaged();
                }
                history.apply(record);
                length = position;
            }
            None => may_be_torn = true,
        }
    }
}

fn kind_of(kind: windlass_session::StoreErrorKind) -> CheckpointErrorKind {
    match kind {
        windlass_session::StoreErrorKind::Full => CheckpointErrorKind::Full,
        _ => CheckpointErrorKind::Io,
    }
}

fn failed(path: &Path, verb: &str, error: &io::Error) -> CheckpointError {
    let path = path.display();
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => CheckpointError::new(
            CheckpointErrorKind::Full,
            format!("no room to {verb} {path} ({error}): free some space, or switch file checkpoints off"),
        ),
        _ => CheckpointError::new(CheckpointErrorKind::Io, format!("cannot {verb} {path}: {error}")),
    }
}
