//! The contents of a baseline, one behind the other in a file without a name.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use windlass_tool::private_file;

/// Contents one behind the other. They are of use to this process only, so the file goes when the process ends, however it
/// ends.
#[derive(Debug)]
pub(crate) struct Pack {
    file: fs::File,
    length: u64,
    /// Where a system keeps the name of an open file.
    name: Option<PathBuf>,
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
        Ok(Self { file, length: 0, name })
    }

    /// Adds contents. Returns where each begins.
    pub(crate) fn add(&mut self, contents: &[Vec<u8>]) -> io::Result<Vec<u64>> {
        self.file.seek(SeekFrom::Start(self.length))?;
        let mut places = Vec::with_capacity(contents.len());
        let mut at = self.length;
        for content in contents {
            places.push(at);
            at = at.saturating_add(content.len() as u64);
        }
        self.file.write_all(&contents.concat())?;
        self.length = at;
        Ok(places)
    }

    /// The content that begins there.
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
            // What is left of it is removed when the next baseline begins.
            let _ = fs::remove_file(name);
        }
    }
}
