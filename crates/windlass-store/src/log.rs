//! The file of a log, and how lines get into it.

use crate::lock::{LockError, LockedLog};
use crate::{LogObserver, agents, disk, open};
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_session::{END_OF_TORN_LINE, SessionKey, StoreError};
use windlass_tool::private_file::sync_dir;

/// Most bytes of the end of a log that are kept to be compared.
const TAIL: u64 = 128;

/// The end of a log as this process left it. Other programs may put whole lines behind it; if something before it is
/// different, the log is no longer the one that was opened.
#[derive(Debug, Default)]
pub(crate) struct LogEnd {
    position: u64,
    /// The last bytes before the position.
    tail: Vec<u8>,
}

impl LogEnd {
    /// The end of an open file, which is at this position.
    pub(crate) fn of(file: &mut File, position: u64) -> io::Result<Self> {
        Ok(Self { position, tail: tail(file, position, TAIL)? })
    }

    /// The end behind bytes that were just written.
    fn behind(written: &[u8], position: u64) -> Self {
        let from = written.len().saturating_sub(usize::try_from(TAIL).unwrap_or(usize::MAX));
        Self { position, tail: written.get(from..).unwrap_or_default().to_vec() }
    }

    /// The way in which the file has changed other than by growing, in words; `None` if it has not.
    fn change(&self, file: &mut File) -> io::Result<Option<&'static str>> {
        if file.metadata()?.len() < self.position {
            return Ok(Some("was cut short"));
        }
        let found = tail(file, self.position, self.tail.len() as u64)?;
        Ok((found != self.tail).then_some("was written anew"))
    }
}

/// At most `most` bytes before a position.
fn tail(file: &mut File, position: u64, most: u64) -> io::Result<Vec<u8>> {
    let from = position.saturating_sub(most);
    let mut tail = Vec::new();
    file.seek(SeekFrom::Start(from))?;
    file.take(position.saturating_sub(from)).read_to_end(&mut tail)?;
    Ok(tail)
}

/// The file of a session. That of a new one is made when it is opened, for its lock, and removed if it stays empty.
#[derive(Debug)]
pub(crate) struct Log {
    pub(crate) path: PathBuf,
    /// Open and locked. That of an agent, and that of a session of another root, is absent until the first append makes it.
    pub(crate) file: Option<LockedLog>,
    /// The end of the file, as far as it is known.
    end: LogEnd,
    /// The log in another root that this one continues.
    pub(crate) import: Option<PathBuf>,
    /// What stands beside the log of an agent, until it is written.
    meta: Option<String>,
    /// Whether the end of the file was made clean.
    is_clean: bool,
    /// The directories whose new names are not durable yet.
    new_names: Vec<PathBuf>,
    observer: Option<Arc<dyn LogObserver>>,
    /// Whether the observer knows of it.
    is_announced: bool,
}

impl Drop for Log {
    fn drop(&mut self) {
        self.let_go();
    }
}

impl Log {
    /// A log at this path.
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

    /// Sets the end that the file has now.
    pub(crate) fn ending(mut self, end: LogEnd) -> Self {
        self.end = end;
        self
    }

    /// Sets the description of the agent, which is written when its log comes into being.
    pub(crate) fn described(mut self, meta: Option<String>, len: u64) -> Self {
        self.meta = meta.filter(|_| len == 0);
        self
    }

    /// Reports to an observer how far it is durable, beginning with what it holds now.
    pub(crate) fn observed(mut self, observer: Option<Arc<dyn LogObserver>>, len: u64) -> Self {
        // A new one is no log before its first line.
        if let (Some(observer), Some(_), 1..) = (&observer, &self.file, len) {
            observer.opened(&self.path, len);
            self.is_announced = true;
        }
        self.observer = observer;
        self
    }

    /// Appends whole lines, and with `sync` makes durable all that was written.
    pub(crate) fn write(&mut self, key: &SessionKey, bytes: &[u8], sync: bool) -> Result<(), StoreError> {
        if bytes.is_empty() && self.file.is_none() {
            return Ok(());
        }
        if self.file.is_none() {
            self.create(key)?;
        }
        // Under the lock, and before there is a line.
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

    /// Fails if the file that was opened is no longer the one at the path, or no longer holds what it held.
    fn check(&mut self, key: &SessionKey) -> Result<(), StoreError> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let failed = |error: io::Error| disk::error(&self.path, "read", &error);
        let how = match open::is_at(file, &self.path).map_err(failed)? {
            true => self.end.change(file).map_err(failed)?,
            false if self.path.symlink_metadata().is_ok() => Some("was replaced"),
            false => Some("was moved or removed"),
        };
        how.map_or(Ok(()), |how| Err(StoreError::changed(key, self.path.display(), how)))
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
            self.end = LogEnd::behind(bytes, file.stream_position().map_err(|error| failed("read", error))?);
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

    /// Closes the file, and gives its lock back. A file that was made for its lock alone goes with it.
    pub(crate) fn let_go(&mut self) {
        let Some(file) = self.file.take() else { return };
        let is_empty = file.metadata().is_ok_and(|metadata| metadata.len() == 0);
        if is_empty && open::is_at(&file, &self.path).unwrap_or(false) {
            // What is left of a file that cannot be removed is no session: it is empty.
            let _ = std::fs::remove_file(&self.path);
        }
    }

    /// Makes the file, locked, or copies it from another root.
    pub(crate) fn create(&mut self, key: &SessionKey) -> Result<(), StoreError> {
        let (new_names, mut file) = disk::in_folder(&self.path, key, || self.make(key))?;
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

    /// Makes the file in its folder, if another log continues in it as its copy, and locks it.
    fn make(&self, key: &SessionKey) -> Result<LockedLog, StoreError> {
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
