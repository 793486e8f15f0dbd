//! Temporary files that a killed process leaves behind, and their removal.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use windlass_tool::private_file;
use windlass_tool::{Ids, SystemIds};

use super::replace::is_temporary_name;

/// File extension of lists.
const LIST_EXTENSION: &str = "temporary";

/// Maximum number of bytes that are read of a list.
const MAX_LIST_BYTES: u64 = 16 * 1024 * 1024;

/// Temporary files of a [`LocalWorkspace`](super::LocalWorkspace), listed in a folder of the user before they are made.
///
/// A file is written under a random name beside its target and then renamed. A process that is killed in between leaves
/// that file behind. The list contains its path, so that another process can remove exactly that file: see
/// [`remove_left_behind`](Self::remove_left_behind). Clones share the list.
#[derive(Debug, Clone)]
pub struct TemporaryFiles(Arc<TemporaryFolder>);

#[derive(Debug)]
struct TemporaryFolder {
    folder: PathBuf,
    list: Mutex<Option<List>>,
}

/// The list of this process, locked while the process lives.
#[derive(Debug)]
struct List {
    file: File,
    path: PathBuf,
    /// Number of temporary files that may exist now.
    active: usize,
}

/// A temporary file in the list. Dropped once the file is renamed or removed.
#[derive(Debug)]
pub(crate) struct Listed(TemporaryFiles);

impl TemporaryFiles {
    /// Stores the list in this folder, which is made with the first temporary file.
    #[must_use]
    pub fn in_folder(folder: impl Into<PathBuf>) -> Self {
        Self(Arc::new(TemporaryFolder { folder: folder.into(), list: Mutex::default() }))
    }

    /// Removes the temporary files that processes of this machine have left behind, by the lists in a folder. Files of
    /// processes that still run stay. Returns the number of removed files.
    ///
    /// # Errors
    /// The folder cannot be read. A missing folder has no lists.
    pub fn remove_left_behind(folder: &Path) -> io::Result<usize> {
        let entries = match fs::read_dir(folder) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(0),
            entries => entries?,
        };
        let mut removed = 0;
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == LIST_EXTENSION) {
                removed += remove_listed(&path).unwrap_or_default();
            }
        }
        Ok(removed)
    }

    /// Lists a temporary file that is about to be made. An unwritable list does not prevent an edit.
    pub(crate) fn list(&self, path: &Path) -> Option<Listed> {
        let mut list = self.lock();
        if list.is_none() {
            *list = List::create(&self.0.folder).ok();
        }
        let open = list.as_mut()?;
        let line = [path.as_os_str().as_encoded_bytes(), b"\0"].concat();
        open.file.write_all(&line).ok()?;
        open.active += 1;
        Some(Listed(self.clone()))
    }

    fn lock(&self) -> MutexGuard<'_, Option<List>> {
        self.0.list.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl List {
    fn create(folder: &Path) -> io::Result<Self> {
        private_file::create_dir(folder)?;
        loop {
            let path = folder.join(format!("{:032x}.{LIST_EXTENSION}", SystemIds::default().bits()));
            let mut options = OpenOptions::new();
            options.append(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let file = options.open(&path)?;
            // Another process may have found the list before it was locked, and removed it as one that was left behind.
            if private_file::lock(&file, File::try_lock, |_| false)? && path.exists() {
                return Ok(Self { file, path, active: 0 });
            }
        }
    }
}

impl Drop for Listed {
    fn drop(&mut self) {
        if let Some(list) = self.0.lock().as_mut() {
            list.active = list.active.saturating_sub(1);
            if list.active == 0 {
                // Best effort: a list that could not be emptied only names files that are gone.
                let _ = list.file.set_len(0);
            }
        }
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        if let Some(list) = self.list.get_mut().unwrap_or_else(PoisonError::into_inner).take() {
            // Removed while it is locked, so that no other process takes it for one left behind.
            let _ = fs::remove_file(&list.path);
        }
    }
}

/// Removes the files of a list whose process has ended, and then the list.
fn remove_listed(list: &Path) -> io::Result<usize> {
    let file = OpenOptions::new().read(true).append(true).open(list)?;
    if !private_file::lock(&file, File::try_lock, |_| false)? {
        return Ok(0);
    }
    let mut names = Vec::new();
    (&file).take(MAX_LIST_BYTES).read_to_end(&mut names)?;
    let mut removed = 0;
    for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
        let path = path_of(name);
        // A damaged list must not lead to the removal of another file.
        let is_temporary = path.is_absolute() && path.file_name().is_some_and(is_temporary_name);
        if is_temporary && path.symlink_metadata().is_ok_and(|found| found.is_file()) {
            removed += usize::from(fs::remove_file(path).is_ok());
        }
    }
    fs::remove_file(list)?;
    Ok(removed)
}

#[cfg(unix)]
fn path_of(name: &[u8]) -> &Path {
    use std::os::unix::ffi::OsStrExt as _;
    Path::new(std::ffi::OsStr::from_bytes(name))
}

#[cfg(not(unix))]
fn path_of(name: &[u8]) -> &Path {
    Path::new(std::str::from_utf8(name).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn files_of_an_ended_process_go_and_no_others() {
        let (folder, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let temporary = format!(".{:032x}.tmp", 7);
        let (left, other) = (work.path().join(&temporary), work.path().join(format!(".{:032x}.tmp", 8)));
        for file in [left.as_path(), &other, &work.path().join("mine.tmp")] {
            fs::write(file, "x").unwrap();
        }
        let lines: Vec<u8> = ["/etc/hosts", "mine.tmp", work.path().join("mine.tmp").to_str().unwrap()]
            .into_iter()
            .chain([left.to_str().unwrap(), work.path().join(format!(".{:032x}.tmp", 9)).to_str().unwrap()])
            .flat_map(|line| [line.as_bytes(), b"\0"].concat())
            .collect();
        fs::write(folder.path().join("1.temporary"), lines).unwrap();
        assert_eq!(TemporaryFiles::remove_left_behind(folder.path()).unwrap(), 1);
        assert_eq!(names(work.path()), [other.file_name().unwrap().to_str().unwrap(), "mine.tmp"]);
        assert_eq!(names(folder.path()), [""; 0], "the list went with them");
        assert_eq!(TemporaryFiles::remove_left_behind(&folder.path().join("missing")).unwrap(), 0);
    }

    #[test]
    fn files_of_a_living_process_stay() {
        let (folder, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let files = TemporaryFiles::in_folder(folder.path().join("lists"));
        let path = work.path().join(format!(".{:032x}.tmp", 7));
        let listed = files.list(&path).unwrap();
        fs::write(&path, "x").unwrap();
        let lists = folder.path().join("lists");
        assert_eq!(TemporaryFiles::remove_left_behind(&lists).unwrap(), 0);
        assert!(path.exists() && names(&lists).len() == 1);
        drop(listed);
        assert_eq!(fs::read(lists.join(&names(&lists)[0])).unwrap(), b"", "nothing is left to be removed");
        drop(files);
        assert_eq!(names(&lists), [""; 0]);
    }
}
