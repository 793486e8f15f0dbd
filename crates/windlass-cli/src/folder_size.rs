//! Sizes of folders.

use std::path::Path;

/// Maximum number of entries that are counted.
const MAX_ENTRIES: u64 = 500_000;

/// Size of a file, or of a folder with all that is in it. Links are not followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct FolderSize {
    pub(crate) bytes: u64,
    pub(crate) files: u64,
    /// `false` if there are too many entries, or a folder could not be read.
    pub(crate) is_complete: bool,
}

impl FolderSize {
    pub(crate) fn of(path: &Path) -> Self {
        let mut size = Self { is_complete: true, ..Self::default() };
        let (mut waiting, mut entries) = (vec![path.to_path_buf()], 0_u64);
        while let Some(path) = waiting.pop() {
            entries = entries.saturating_add(1);
            let Ok(found) = path.symlink_metadata() else { continue };
            if !found.is_dir() {
                size.bytes = size.bytes.saturating_add(found.len());
                size.files = size.files.saturating_add(1);
                continue;
            }
            match path.read_dir() {
                Ok(inside) if entries < MAX_ENTRIES => waiting.extend(inside.flatten().map(|entry| entry.path())),
                _ => size.is_complete = false,
            }
        }
        size
    }
}

/// Returns a number of bytes for people: `512 bytes`, `1.5 MB`.
pub(crate) fn readable(bytes: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB")];
    let Some((unit, name)) = UNITS.into_iter().find(|(unit, _)| bytes >= *unit) else {
        return format!("{bytes} bytes");
    };
    let tenths = bytes.saturating_mul(10).checked_div(unit).unwrap_or_default();
    format!("{}.{} {name}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_the_size_of_its_files() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("in")).unwrap();
        std::fs::write(folder.path().join("in/a"), "12345").unwrap();
        std::fs::write(folder.path().join("b"), "1").unwrap();
        assert_eq!(FolderSize::of(folder.path()), FolderSize { bytes: 6, files: 2, is_complete: true });
        assert_eq!(FolderSize::of(&folder.path().join("missing")).bytes, 0);
    }

    #[test]
    fn sizes_are_readable() {
        assert_eq!(readable(999), "999 bytes");
        assert_eq!((readable(1_550), readable(33_700_000)), ("1.5 kB".to_owned(), "33.7 MB".to_owned()));
    }
}
