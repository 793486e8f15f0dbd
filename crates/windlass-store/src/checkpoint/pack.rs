//! Contents of a baseline, consecutive in an unnamed file.

use super::blocks::{self, ALIGNMENT};
use super::shelf::Content;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use windlass_tool::private_file;

/// Consecutive contents in a file. They are used by this process only, so the file is removed when the process ends, in
/// any way.
#[derive(Debug)]
pub(crate) struct Pack {
    file: fs::File,
    length: u64,
    /// Name of the file, on systems that keep the name of an open file.
    name: Option<PathBuf>,
    /// `true` if contents may share their blocks with the files that they were read from.
    shares: bool,
}

impl Pack {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        match fs::remove_file(path) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        private_file::create(path)?;
        let file = OpenOptions::new().read(true).write(true).open(path)?;
        let name = fs::remove_file(path).is_err().then(|| path.to_owned());
        let shares = blocks::are_shared_on(&file);
        Ok(Self { file, length: 0, name, shares })
    }

    /// Adds contents. Returns their offsets.
    ///
    /// A file that has changed since it was read may be shared in its present state. The reader of the content compares
    /// its hash.
    pub(crate) fn add(&mut self, contents: &[Content]) -> io::Result<Vec<u64>> {
        let shared: Vec<Option<u64>> = contents.iter().map(|content| self.share(content)).collect();
        let (mut at, mut bytes) = (self.length, Vec::new());
        let mut offsets = Vec::with_capacity(contents.len());
        for (content, offset) in contents.iter().zip(shared) {
            offsets.push(offset.unwrap_or(at));
            if offset.is_none() {
                bytes.extend_from_slice(&content.bytes);
                at = at.saturating_add(content.len());
            }
        }
        self.file.seek(SeekFrom::Start(self.length))?;
        self.file.write_all(&bytes)?;
        self.length = at;
        Ok(offsets)
    }

    /// Shares the blocks of a content's file, if possible. Returns the offset.
    fn share(&mut self, content: &Content) -> Option<u64> {
        let file = content.file.as_deref().filter(|_| self.shares)?;
        let at = self.length.checked_next_multiple_of(ALIGNMENT)?;
        match blocks::share(file, &self.file, at, content.len()) {
            Ok(()) => {
                self.length = at.saturating_add(content.len());
                Some(at)
            }
            Err(error) => {
                // A file that has become shorter is an exception. A file on another file system is not: most others are
                // there, too.
                self.shares = error.kind() == ErrorKind::UnexpectedEof;
                None
            }
        }
    }

    /// Returns the content at an offset.
    pub(crate) fn content(&mut self, at: u64, size: u64) -> io::Result<Vec<u8>> {
        self.file.seek(SeekFrom::Start(at))?;
        let mut content = vec![0; usize::try_from(size).map_err(|_| ErrorKind::OutOfMemory)?];
        self.file.read_exact(&mut content)?;
        Ok(content)
    }
}

impl Drop for Pack {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // A remaining file is removed when the next baseline begins.
            let _ = fs::remove_file(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::File;
    use std::sync::Arc;

    /// Returns a content whose file contains these bytes.
    fn of_file(folder: &Path, name: &str, bytes: &[u8]) -> Content {
        let path = folder.join(name);
        fs::write(&path, bytes).unwrap();
        Content { bytes: bytes.to_vec(), file: Some(Arc::new(File::open(path).unwrap())) }
    }

    fn all(pack: &mut Pack, contents: &[Content], places: &[u64]) {
        for (content, at) in contents.iter().zip(places) {
            assert!(pack.content(*at, content.len()).unwrap() == content.bytes, "{at}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn contents_that_share_blocks_stand_among_others() {
        let folder = tempfile::tempdir().unwrap();
        let mut pack = Pack::create(&folder.path().join("pack")).unwrap();
        // On file systems without shared blocks the system copies, and all contents have the same offsets.
        pack.shares = true;
        let large: Vec<u8> = (0..300_001_u32).map(|at| (at % 251) as u8).collect();
        let plain = |bytes: &[u8]| Content { bytes: bytes.to_vec(), file: None };
        let first = [
            plain(b"small"),
            of_file(folder.path(), "a", &large),
            plain(b""),
            of_file(folder.path(), "b", &large[7..]),
            of_file(folder.path(), "empty", b""),
        ];
        let places = pack.add(&first).unwrap();
        let second = [of_file(folder.path(), "c", b"of a few bytes"), plain(&large)];
        let later = pack.add(&second).unwrap();
        all(&mut pack, &first, &places);
        all(&mut pack, &second, &later);
        assert!(pack.shares);
        assert!([places[1], places[3], later[0]].iter().all(|at| at % ALIGNMENT == 0), "{places:?} {later:?}");
        // Later changes to a file are not in the pack.
        fs::write(folder.path().join("a"), vec![0; large.len()]).unwrap();
        all(&mut pack, &first, &places);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn what_cannot_be_shared_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let mut pack = Pack::create(&folder.path().join("pack")).unwrap();
        pack.shares = true;
        let shorter = of_file(folder.path(), "a", b"as it was read");
        fs::write(folder.path().join("a"), "as it").unwrap();
        let contents = [shorter, of_file(folder.path(), "b", b"whole")];
        let places = pack.add(&contents).unwrap();
        all(&mut pack, &contents, &places);
        assert!(pack.shares, "the next one may be");
        // A folder is not a file that the system copies from.
        let folder = Content { bytes: b"x".to_vec(), file: Some(Arc::new(File::open(folder.path()).unwrap())) };
        let contents = [folder];
        let places = pack.add(&contents).unwrap();
        all(&mut pack, &contents, &places);
        assert!(!pack.shares);
    }
}
