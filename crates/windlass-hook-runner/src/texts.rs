//! Texts of hooks, kept short for the model and the user.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use windlass_tool::{Ids, private_file};

/// Maximum number of characters of a hook text.
pub(crate) const MOST: usize = 10_000;
/// Number of characters of a longer text that are kept beside the name of its file.
const PREVIEW: usize = 2_000;
/// Marker at the end of a cut text.
const CUT: &str = "\n[The hook said more; the rest is left out.]";

/// Handling of hook texts with more than 10,000 characters.
#[derive(Debug, Clone)]
pub struct HookTexts {
    files: Option<(PathBuf, Arc<dyn Ids>)>,
}

impl HookTexts {
    /// Cuts long texts and appends a marker.
    #[must_use]
    pub fn cut() -> Self {
        Self { files: None }
    }

    /// Writes long texts to new files in a folder, which is made when needed. The first 2,000 characters are kept, with
    /// the name of the file. If the file cannot be written, the text is cut.
    #[must_use]
    pub fn in_files(folder: PathBuf, ids: Arc<dyn Ids>) -> Self {
        Self { files: Some((folder, ids)) }
    }

    /// Returns the path for the next long text.
    pub(crate) fn place(&self) -> Option<PathBuf> {
        let (folder, ids) = self.files.as_ref()?;
        private_file::create_dir(folder).ok()?;
        Some(folder.join(format!("hook-{:016x}.txt", ids.bits() as u64)))
    }

    /// Shortens a text to the limit.
    pub(crate) fn short(&self, text: String) -> String {
        let Some((end, _)) = text.char_indices().nth(MOST) else { return text };
        let written = self.place().filter(|file| private_file::write_new(file, text.as_bytes()).is_ok());
        match written {
            Some(file) => preview(&text, &file),
            None => format!("{}{CUT}", text.get(..end).unwrap_or_default()),
        }
    }
}

/// Returns the beginning of a text, with the file that has all of it.
pub(crate) fn preview(text: &str, file: &Path) -> String {
    let beginning: String = text.chars().take(PREVIEW).collect();
    format!("{beginning}\n[The hook said more. All of it is in {}.]", file.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use windlass_tool::SystemIds;

    #[test]
    fn a_long_text_is_cut_or_kept_in_a_file() {
        let long = "ä".repeat(MOST + 1);
        assert_eq!(HookTexts::cut().short("ä".repeat(MOST)).chars().count(), MOST);
        assert!(HookTexts::cut().short(long.clone()).ends_with(CUT));
        let folder = tempfile::tempdir().unwrap();
        let texts = HookTexts::in_files(folder.path().join("results"), Arc::new(SystemIds::default()));
        let short = texts.short(long.clone());
        let files: Vec<_> = std::fs::read_dir(folder.path().join("results")).unwrap().map(Result::unwrap).collect();
        assert_eq!(files.len(), 1);
        assert!(short.contains(&files[0].path().display().to_string()) && short.chars().count() < 3_000, "{short}");
        assert_eq!(std::fs::read_to_string(files[0].path()).unwrap(), long);
        // A folder that cannot be made loses the rest, not the beginning.
        let texts = HookTexts::in_files("/dev/null/x".into(), Arc::new(SystemIds::default()));
        assert!(texts.short(long).ends_with(CUT));
    }
}
