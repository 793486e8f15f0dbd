//! Change reports of the kernel for a tree (inotify).
//!
//! Each folder is watched, not each file. A report names the folder of a change, and arrives before the program that
//! made the change learns of its completion. Three kinds of change are not reported: through a name of the file in an
//! unwatched folder, through memory while the file is open, and from another machine. A survey that relies on reports
//! may therefore miss these. Files with several names are always surveyed, and remote file systems are not watched at
//! all.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::Errno;
use windlass_tool::FolderSurvey;

use super::rule_files::RULES;
use crate::workspace::dir::Dir;

/// Divisor of the watches that the system grants one user: a tree uses at most one in `SHARE`, so that other programs
/// have some too.
const SHARE: usize = 4;

/// Number of bytes of reports that are read at once.
const READ_BYTES: usize = 64 * 1024;

/// File systems whose changes are all made by programs of this machine, by their magic numbers: ext, btrfs, xfs, tmpfs,
/// f2fs, overlayfs, zfs, bcachefs, ramfs.
const LOCAL_FILE_SYSTEMS: [u64; 9] =
    [0xEF53, 0x9123_683E, 0x5846_5342, 0x0102_1994, 0xF2F5_2010, 0x794C_7630, 0x2FC1_2FC1, 0xCA45_1A4E, 0x8584_58F6];

const CHANGES: WatchFlags = WatchFlags::MODIFY
    .union(WatchFlags::ATTRIB)
    .union(WatchFlags::CLOSE_WRITE)
    .union(WatchFlags::CREATE)
    .union(WatchFlags::DELETE)
    .union(WatchFlags::MOVE)
    .union(WatchFlags::DELETE_SELF)
    .union(WatchFlags::MOVE_SELF)
    .union(WatchFlags::EXCL_UNLINK)
    .union(WatchFlags::ONLYDIR);

/// Watches the folders of one tree.
#[derive(Debug)]
pub(super) struct Watch {
    reports: OwnedFd,
    watched: Mutex<Watched>,
    /// Maximum number of folders.
    max_folders: usize,
}

#[derive(Debug, Default)]
struct Watched {
    folders: HashMap<PathBuf, Folder>,
    by_number: HashMap<i32, PathBuf>,
    /// Devices with a file system that can be watched.
    devices: HashSet<u64>,
    /// Number of times that reports were read.
    reads: u64,
    /// `true` if a folder cannot be watched.
    is_broken: bool,
    /// `true` if the known folders are inconsistent: they have to be watched anew.
    is_lost: bool,
}

#[derive(Debug, Clone, Copy)]
struct Folder {
    number: i32,
    identity: (u64, u64),
}

/// Reports since the last reading.
#[derive(Debug, Default)]
pub(super) struct News {
    /// Number of the reading before, and of this one.
    pub(super) from: u64,
    pub(super) upto: u64,
    /// Folders with changes.
    pub(super) touched: HashSet<PathBuf>,
    /// Folders that were added, removed or moved. The survey of their descendants is outdated.
    pub(super) moved: HashSet<PathBuf>,
    /// `true` if ignore files are among the changes.
    pub(super) has_rules: bool,
}

impl Watch {
    /// Begins to watch, without folders yet. `None` if the system refuses.
    pub(super) fn begin() -> Option<Self> {
        let reports = inotify::init(CreateFlags::NONBLOCK.union(CreateFlags::CLOEXEC)).ok()?;
        let limit = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches").ok()?;
        let max_folders = limit.trim().parse::<usize>().ok()? / SHARE;
        Some(Self { reports, watched: Mutex::default(), max_folders })
    }

    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Watches a folder. Changes in it from now on are reported.
    pub(super) fn add(&self, path: &Path, dir: &Dir) {
        let mut watched = self.watched();
        if watched.is_broken || watched.is_lost {
            return;
        }
        if let Err(error) = watched.add(self, path, dir) {
            tracing::debug!(folder = %path.display(), %error, "a tree is not watched");
            watched.is_broken = true;
        }
    }

    /// Stops watching folders that are not among these.
    pub(super) fn keep(&self, folders: &HashMap<PathBuf, Arc<FolderSurvey>>) {
        let mut watched = self.watched();
        if watched.folders.len() > folders.len() {
            watched.retain(self, |path| folders.contains_key(path));
        }
    }

    /// `true` if every folder could be watched.
    pub(super) fn is_whole(&self) -> bool {
        !self.watched().is_broken
    }

    /// `true` if the folder at this path is the one that is watched there.
    pub(super) fn is_at(&self, path: &Path, dir: &Dir) -> bool {
        let identity = self.watched().folders.get(path).map(|folder| folder.identity);
        identity.is_some() && identity == dir.identity().ok()
    }

    /// Reads the reports. `None` if reports were lost.
    pub(super) fn news(&self) -> Option<News> {
        let mut watched = self.watched();
        let mut news = News { from: watched.reads, upto: watched.reads.checked_add(1)?, ..News::default() };
        watched.reads = news.upto;
        let mut buffer = Vec::with_capacity(READ_BYTES);
        let mut reader = Reader::new(self.reports.as_fd(), buffer.spare_capacity_mut());
        loop {
            match reader.next() {
                Ok(event) => {
                    let name = event.file_name().map(|name| OsStr::from_bytes(name.to_bytes()));
                    watched.add_report(event.wd(), event.events(), name, &mut news)?;
                }
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                Err(_) => return None,
            }
        }
        if !news.moved.is_empty() {
            watched.retain(self, |path| !path.ancestors().any(|above| news.moved.contains(above)));
        }
        (!watched.is_broken && !watched.is_lost).then_some(news)
    }
}

impl Watched {
    fn add(&mut self, watch: &Watch, path: &Path, dir: &Dir) -> io::Result<()> {
        let identity = dir.identity()?;
        if self.folders.get(path).is_some_and(|known| known.identity == identity) {
            return Ok(());
        }
        if self.folders.len() >= watch.max_folders {
            return Err(io::Error::other("it has too many folders"));
        }
        self.check_device(identity.0, dir)?;
        // By descriptor, so that a link created meanwhile does not lead elsewhere.
        let opened = format!("/proc/self/fd/{}", dir.as_fd().as_raw_fd());
        let number = inotify::add_watch(&watch.reports, opened, CHANGES)?;
        if self.by_number.get(&number).is_some_and(|known| known != path) {
            // The folder has just moved, or is mounted in two places.
            self.is_lost = true;
            return Ok(());
        }
        self.by_number.insert(number, path.to_owned());
        let previous = self.folders.insert(path.to_owned(), Folder { number, identity });
        if let Some(previous) = previous.filter(|previous| previous.number != number) {
            self.by_number.remove(&previous.number);
            // The watch may have ended by itself.
            let _ = inotify::remove_watch(&watch.reports, previous.number);
        }
        Ok(())
    }

    fn check_device(&mut self, device: u64, dir: &Dir) -> io::Result<()> {
        if self.devices.contains(&device) {
            return Ok(());
        }
        #[allow(clippy::unnecessary_cast, clippy::cast_sign_loss, reason = "the type differs from system to system")]
        let kind = rustix::fs::fstatfs(dir)?.f_type as u64 & u64::from(u32::MAX);
        if !LOCAL_FILE_SYSTEMS.contains(&kind) {
            return Err(io::Error::other("a part of it is on a file system that other machines may change"));
        }
        self.devices.insert(device);
        Ok(())
    }

    /// Adds one report to `news`. `None` if reports were lost.
    fn add_report(&mut self, number: i32, flags: ReadFlags, name: Option<&OsStr>, news: &mut News) -> Option<()> {
        if flags.intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT) {
            return None;
        }
        let Some(folder) = self.by_number.get(&number) else { return Some(()) };
        if flags.contains(ReadFlags::IGNORED) {
            let folder = folder.clone();
            self.by_number.remove(&number);
            if self.folders.get(&folder).is_some_and(|known| known.number == number) {
                self.folders.remove(&folder);
            }
            return Some(());
        }
        if !news.touched.contains(folder) {
            news.touched.insert(folder.clone());
        }
        let Some(name) = name else { return Some(()) };
        news.has_rules |= RULES.iter().any(|known| name == *known);
        let move_flags = ReadFlags::CREATE | ReadFlags::DELETE | ReadFlags::MOVED_FROM | ReadFlags::MOVED_TO;
        if flags.contains(ReadFlags::ISDIR) && flags.intersects(move_flags) {
            news.moved.insert(folder.join(name));
        }
        Some(())
    }

    /// Keeps the folders for which `is_kept` is true. Others are watched anew when they are surveyed.
    fn retain(&mut self, watch: &Watch, is_kept: impl Fn(&Path) -> bool) {
        let by_number = &mut self.by_number;
        self.folders.retain(|path, folder| {
            let is_kept = is_kept(path);
            if !is_kept {
                by_number.remove(&folder.number);
                // The watch may have ended by itself.
                let _ = inotify::remove_watch(&watch.reports, folder.number);
            }
            is_kept
        });
    }
}
