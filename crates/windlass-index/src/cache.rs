//! Cache between sessions: private files with a version and a checksum. A damaged file is treated as missing.

use serde::Serialize;
use serde::de::DeserializeOwned;
use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};
use windlass_tool::private_file::{AtomicFile, create_dir};

/// First words of each file. A change of the format needs another number.
const VERSION: &str = "windlass-index 1 ";
/// Maximum size of a file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 128 * 1024 * 1024;
/// Maximum number of files in the directory. The oldest are removed.
const MAX_FILES: usize = 192;

/// One of the cached files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// The overview alone, for the first request.
    Overview,
    /// The tree and the content of manifests.
    Tree,
    /// The symbols of sources.
    Symbols,
}

/// Cached files of one project.
#[derive(Debug, Clone)]
pub(crate) struct Cache {
    directory: PathBuf,
    key: String,
}

impl Cache {
    pub(crate) fn new(directory: &Path, root: &Path) -> Self {
        let key = blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex().chars().take(32).collect();
        Self { directory: directory.to_owned(), key }
    }

    fn path(&self, part: Part) -> PathBuf {
        let ending = match part {
            Part::Overview => "overview",
            Part::Tree => "tree",
            Part::Symbols => "symbols",
        };
        self.directory.join(format!("{}.{ending}", self.key))
    }

    /// Cached content, if it is complete and of this version.
    pub(crate) fn read<T: DeserializeOwned>(&self, part: Part) -> Option<T> {
        let path = self.path(part);
        if !fs::metadata(&path).ok()?.is_file() {
            return None;
        }
        let mut text = Vec::new();
        File::open(path).ok()?.take(MAX_FILE_BYTES).read_to_end(&mut text).ok()?;
        let rest = text.strip_prefix(VERSION.as_bytes())?;
        let newline = rest.iter().position(|byte| *byte == b'\n')?;
        let (sum, body) = rest.split_at_checked(newline)?;
        let body = body.get(1..)?;
        (blake3::hash(body).to_hex().as_bytes() == sum).then(|| serde_json::from_slice(body).ok())?
    }

    /// Stores the content. A reader sees the old content or the new one.
    pub(crate) fn write<T: Serialize>(&self, part: Part, content: &T) -> io::Result<()> {
        let body = serde_json::to_vec(content)?;
        create_dir(&self.directory)?;
        self.make_room();
        let mut file = AtomicFile::create(&self.path(part))?;
        file.file().write_all(format!("{VERSION}{}\n", blake3::hash(&body).to_hex()).as_bytes())?;
        file.file().write_all(&body)?;
        file.replace()
    }

    /// Removes the oldest files if there are too many.
    fn make_room(&self) {
        let Ok(entries) = fs::read_dir(&self.directory) else { return };
        let mut files: Vec<_> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                let is_other_project = entry.file_name().to_str().is_some_and(|name| !name.starts_with(&self.key));
                let modified = entry.metadata().ok()?.modified().ok()?;
                is_other_project.then(|| (modified, entry.path()))
            })
            .collect();
        if let Some(excess) = files.len().checked_sub(MAX_FILES).filter(|excess| *excess > 0) {
            files.sort_unstable();
            for (_, path) in files.into_iter().take(excess) {
                // Another process may have removed it.
                let _removed = fs::remove_file(path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_damaged_or_of_another_version_is_none() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(&folder.path().join("a/b"), Path::new("/w"));
        assert_eq!(cache.read::<Vec<String>>(Part::Tree), None);
        cache.write(Part::Tree, &["x", "y"]).unwrap();
        assert_eq!(cache.read::<Vec<String>>(Part::Tree).unwrap(), ["x", "y"]);
        assert_eq!(cache.read::<Vec<String>>(Part::Symbols), None);
        assert_eq!(Cache::new(&folder.path().join("a/b"), Path::new("/v")).read::<Vec<String>>(Part::Tree), None);
        let path = cache.path(Part::Tree);
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, &damaged).unwrap();
            assert_eq!(cache.read::<Vec<String>>(Part::Tree), None, "byte {at}");
            fs::write(&path, &whole[..at]).unwrap();
            assert_eq!(cache.read::<Vec<String>>(Part::Tree), None, "cut at {at}");
        }
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert_eq!(cache.read::<Vec<String>>(Part::Tree), None);
        assert!(cache.write(Part::Tree, &["x"]).is_err());
    }

    #[test]
    #[cfg(unix)]
    fn only_the_user_can_read_it() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache::new(&folder.path().join("index"), Path::new("/w"));
        cache.write(Part::Overview, &1).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(&folder.path().join("index")), mode(&cache.path(Part::Overview))), (0o700, 0o600));
    }

    #[test]
    fn old_files_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..MAX_FILES + 5 {
            Cache::new(folder.path(), Path::new(&number.to_string())).write(Part::Overview, &1).unwrap();
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), MAX_FILES + 1);
    }
}
