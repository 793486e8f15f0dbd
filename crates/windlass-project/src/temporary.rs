//! A file that is written before it takes the place of another one.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// How many names are tried. Others are only taken by what a process of the same number left behind.
const ATTEMPTS: usize = 1000;

/// A new file in a folder, gone again unless it is renamed.
pub(crate) struct Temporary {
    pub(crate) file: File,
    path: PathBuf,
    renamed: bool,
}

impl Temporary {
    /// Makes the file. A link that lies at its name is not followed.
    pub(crate) fn create(folder: &Path, is_private: bool) -> io::Result<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(if is_private { 0o600 } else { 0o666 });
        }
        #[cfg(not(unix))]
        let _ = is_private;
        for _ in 0..ATTEMPTS {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = folder.join(format!(".windlass-{}-{number}.tmp", std::process::id()));
            match options.open(&path) {
                Ok(file) => return Ok(Self { file, path, renamed: false }),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(ErrorKind::AlreadyExists.into())
    }

    pub(crate) fn rename(mut self, to: &Path) -> io::Result<()> {
        std::fs::rename(&self.path, to)?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.renamed {
            // The first error is the one to report.
            drop(std::fs::remove_file(&self.path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn names_that_are_taken_are_passed_over_and_links_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let first = Temporary::create(folder.path(), true).unwrap();
        let number: u64 = first.path.to_str().unwrap().rsplit(['-', '.']).nth(1).unwrap().parse().unwrap();
        let victim = folder.path().join("victim");
        for next in number + 1..number + 4 {
            let taken = folder.path().join(format!(".windlass-{}-{next}.tmp", std::process::id()));
            #[cfg(unix)]
            std::os::unix::fs::symlink(&victim, taken).unwrap();
            #[cfg(not(unix))]
            std::fs::write(taken, "taken").unwrap();
        }
        let mut second = Temporary::create(folder.path(), true).unwrap();
        second.file.write_all(b"text").unwrap();
        second.rename(&folder.path().join("file")).unwrap();
        assert!(!victim.exists());
        assert_eq!(std::fs::read_to_string(folder.path().join("file")).unwrap(), "text");
        let path = first.path.clone();
        drop(first);
        assert!(!path.exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_private_file_is_the_users_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let made = Temporary::create(folder.path(), true).unwrap();
        assert_eq!(made.file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}
