//! The file of earlier prompts.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use windlass_terminal::history::HistoryEntry;

/// Name of the file in the home.
const NAME: &str = "prompts.jsonl";
/// Maximum number of bytes that are read at the end of the file.
const MOST: u64 = 8 * 1024 * 1024;

/// The file of earlier prompts of a home, private to the user.
#[derive(Debug, Clone)]
pub(super) struct HistoryFile(PathBuf);

impl HistoryFile {
    /// The file of a home.
    pub(super) fn of(home: &Path) -> Self {
        Self(home.join(NAME))
    }

    /// Reads the entries at the end of the file, the oldest first. An unreadable file has none; a cut line is skipped.
    pub(super) fn read(&self) -> Vec<HistoryEntry> {
        let Ok(mut file) = OpenOptions::new().read(true).open(&self.0) else { return Vec::new() };
        let length = file.metadata().map_or(0, |metadata| metadata.len());
        if file.seek(SeekFrom::Start(length.saturating_sub(MOST))).is_err() {
            return Vec::new();
        }
        let lines = BufReader::new(file).split(b'\n').map_while(Result::ok);
        lines.filter_map(|line| HistoryEntry::parse_line(std::str::from_utf8(&line).ok()?).ok()).collect()
    }

    /// Appends an entry: one write, so entries of several processes do not mix.
    ///
    /// # Errors
    /// Errors of the disk.
    pub(super) fn append(&self, entry: &HistoryEntry) -> std::io::Result<()> {
        let line = entry.to_line().map_err(std::io::Error::other)? + "\n";
        if let Some(folder) = self.0.parent() {
            windlass::store::create_private_dir(folder)?;
        }
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        options.open(&self.0)?.write_all(line.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_terminal::composer::SavedPrompt;

    #[test]
    fn entries_come_back_in_order_and_a_cut_line_is_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let file = HistoryFile::of(folder.path());
        assert!(file.read().is_empty());
        for text in ["one", "two\nlines"] {
            file.append(&HistoryEntry::new(SavedPrompt::text(text), "/p", "s")).unwrap();
        }
        let mut raw = OpenOptions::new().append(true).open(folder.path().join(NAME)).unwrap();
        raw.write_all(b"{\"prompt\":\n").unwrap();
        file.append(&HistoryEntry::new(SavedPrompt::text("three"), "/p", "s")).unwrap();
        let texts: Vec<String> = file.read().iter().map(|entry| entry.prompt.expanded()).collect();
        assert_eq!(texts, ["one", "two\nlines", "three"]);
        #[cfg(unix)]
        {
            let mode = std::os::unix::fs::PermissionsExt::mode(&raw.metadata().unwrap().permissions());
            assert_eq!(mode & 0o777, 0o600);
        }
    }
}
