//! File of a log, and writing of its lines.

use crate::lock::{LockError, LockedLog};
use crate::{LogObserver, agents, disk, open};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_session::{END_OF_TORN_LINE, SessionKey, StoreError};
use windlass_tool::private_file::sync_dir;

/// Maximum number of bytes of the end of a log that are kept for comparison.
const TAIL_BYTES: u64 = 128;

/// End of a log as this process left it. Other programs may append whole lines; if the part before it is different, the
/// log is not the one that was opened any more.
#[derive(Debug, Default)]
pub(crate) struct LogEnd {
    position: u64,
    /// Last bytes before the position.
    tail: Vec<u8>,
}

impl LogEnd {
    /// Returns the end of an open file, which is at this position.
    pub(crate) fn of(file: &mut File, position: u64) -> io::Result<Self> {
        Ok(Self { position, tail: tail(file, position, TAIL_BYTES)? })
    }

    /// Returns the end after bytes that were just written.
    fn after_write(written: &[u8], position: u64) -> Self {
        let start = written.len().saturating_sub(usize::try_from(TAIL_BYTES).unwrap_or(usize::MAX));
        Self { position, tail: written.get(start..).unwrap_or_default().to_vec() }
    }

    /// Describes how the file has changed other than by growing; `None` if it has not.
    fn change(&self, file: &mut File) -> io::Result<Option<&'static str>> {
        if file.metadata()?.len() < self.position {
            return Ok(Some("was cut short"));
        }
        let found = tail(file, self.position, self.tail.len() as u64)?;
        Ok((found != self.tail).then_some("was written anew"))
    }
}

/// Returns at most `most` bytes before a position.
fn tail(file: &mut File, position: u64, limit: u64) -> io::Result<Vec<u8>> {
    let start = position.saturating_sub(limit);
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(start))?;
    file.take(position.saturating_sub(start)).read_to_end(&mut tail)?;
    Ok(tail)
}

/// File of a session. The file of a new session is created when it is opened, for its lock, and removed if it stays
/// empty.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) path: PathBuf,
    /// File, open and locked. For an agent, and for a session of another root, it is absent until the first append
    /// creates it.
    pub(crate) file: Option<LockedLog>,
    /// End of the file, as far as it is known.
    end: LogEnd,
    /// Log in another root that this one continues.
    pub(crate) import: Option<PathBuf>,
    /// Metadata beside the log of an agent, until it is written.
    meta: Option<String>,
    /// `true` if a torn end of the file was terminated.
    is_clean: bool,
    /// Directories whose new names are not durable yet.
    new_names: Vec<PathBuf>,
    observer: Option<Arc<dyn LogObserver>>,
    /// `true` if the log was reported to the observer.
    is_announced: bool,
}

impl Drop for Log {
    fn drop(&mut self) {
        self.let_go();
    }
}

impl Log {
    /// Returns a log at this path.
    pub(crate) fn new(path: PathBuf, file: Option<LockedLog>, import: Option<PathBuf>) -> Self {
        Self {
            path,
            file,
            end: LogEnd::default(),
            import,
            meta: None,
            is_clean: false,
            new_names: Vec::new(),
            observer: None,
            is_announced: false,
        }
    }

    /// Sets the current end of the file.
    pub(crate) fn ending(mut self, end: LogEnd) -> Self {
        self.end = end;
        self
    }

    /// Sets the metadata of the agent, which are written when its log is created.
    pub(crate) fn described(mut self, meta: Option<String>, len: u64) -> Self {
        self.meta = meta.filter(|_| len == 0);
        self
    }

    /// Sets an observer, which gets the durable length, beginning with the present content.
    pub(crate) fn observed(mut self, observer: Option<Arc<dyn LogObserver>>, len: u64) -> Self {
        // A new file is not a log before its first line.
        if let (Some(observer), Some(_), 1..) = (&observer, &self.file, len) {
            observer.opened(&self.path, len);
            self.is_announced = true;
        }
        self.observer = observer;
        self
    }

    /// Appends whole lines, and with `sync` makes everything written durable.
    pub(crate) fn write(&mut self, key: &SessionKey, bytes: &[u8], sync: bool) -> Result<(), StoreError> {
        if bytes.is_empty() && self.file.is_none() {
            return Ok(());
        }
        if self.file.is_none() {
            self.create(key)?;
        }
        // Written under the lock, and before there is a line.
        if let Some(meta) = self.meta.take() {
            disk::replace_whole(&agents::meta_path(&self.path), &meta)?;
            let folder = self.path.parent().unwrap_or(Path::new("."));
            if !self.new_names.iter().any(|name| name == folder) {
                self.new_names.push(folder.to_owned());
            }
        }
        self.check(key)?;
        self.write_lines(bytes, sync)?;
        // Acknowledged entries must be in the file that others find.
        if sync { self.check(key) } else { Ok(()) }
    }

    /// Fails if the opened file is not the one at the path any more, or its content was changed.
    fn check(&mut self, key: &SessionKey) -> Result<(), StoreError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let failed = |error: io::Error| disk::error(&self.path, "read", &error);
        let change = match open::is_at(file, &self.path).map_err(failed)? {
            true => self.end.change(file).map_err(failed)?,
            false if self.path.symlink_metadata().is_ok() => Some("was replaced"),
            false => Some("was moved or removed"),
        };
        change.map_or(Ok(()), |change| Err(StoreError::changed(key, self.path.display(), change)))
    }

    fn write_lines(&mut self, bytes: &[u8], sync: bool) -> Result<(), StoreError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let failed = |verb: &str, error: io::Error| disk::error(&self.path, verb, &error);
        let length = file.metadata().map_err(|error| failed("read", error))?.len();
        // Another program may have been stopped in the middle of its line.
        if (!self.is_clean || length != self.end.position) && !bytes.is_empty() {
            if disk::is_torn(file).map_err(|error| failed("read", error))? {
                file.write_all(END_OF_TORN_LINE.as_bytes()).map_err(|error| failed("write", error))?;
            }
            self.is_clean = true;
        }
        if let Some(observer) = self.observer.as_ref().filter(|_| !self.is_announced && !bytes.is_empty()) {
            observer.opened(&self.path, file.metadata().map_err(|error| failed("read", error))?.len());
            self.is_announced = true;
        }
        file.write_all(bytes).map_err(|error| failed("write", error))?;
        if !bytes.is_empty() {
            self.end = LogEnd::after_write(bytes, file.stream_position().map_err(|error| failed("read", error))?);
        }
        if sync {
            file.sync_data().map_err(|error| failed("sync", error))?;
            for directory in self.new_names.drain(..) {
                sync_dir(&directory).map_err(|error| disk::error(&directory, "sync", &error))?;
            }
            if let Some(observer) = &self.observer {
                observer.written(&self.path, self.end.position);
            }
        }
        Ok(())
    }

    /// Closes the file, and releases its lock. A file that was created for its lock alone is removed.
    pub(crate) fn let_go(&mut self) {
        let Some(file) = self.file.take() else { return };
        let is_empty = file.metadata().is_ok_and(|metadata| metadata.len() == 0);
        if is_empty && open::is_at(&file, &self.path).unwrap_or(false) {
            // A file that cannot be removed is not a session: it is empty.
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Creates the file, locked, or copies it from another root.
    pub(crate) fn create(&mut self, key: &SessionKey) -> Result<(), StoreError> {
        let (new_names, mut file) = disk::in_folder(&self.path, key, || self.create_in_folder(key))?;
        self.new_names = new_names;
        let length = file.metadata().map_err(|error| disk::error(&self.path, "read", &error))?.len();
        if length > 0 && self.import.is_none() {
            return Err(StoreError::conflict(key, 0, length));
        }
        self.import = None;
        self.end = LogEnd::of(&mut file, length).map_err(|error| disk::error(&self.path, "read", &error))?;
        self.file = Some(file);
        Ok(())
    }

    /// Creates the file in its folder, if necessary as a copy of the log that it continues, and locks it.
    fn create_in_folder(&self, key: &SessionKey) -> Result<LockedLog, StoreError> {
        if let Some(import) = &self.import {
            let (meta, copy) = (agents::meta_path(import), agents::meta_path(&self.path));
            if key.agent.is_some() && meta.is_file() && !copy.exists() {
                disk::copy_whole(&meta, &copy)?;
            }
            disk::copy_whole(import, &self.path)?;
        }
        let failed = |error: LockError| error.of_session(&self.path, "create", key);
        LockedLog::open(&self.path, self.import.is_none()).map_err(failed)
    }
}
