//! The skills that windlass brings along.

use super::definition::{Command, CommandSource, SkillDetails};
use crate::front_matter;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use windlass_tool::private_file::{AtomicFile, create_dir};

/// The file of a skill.
pub(crate) const SKILL_FILE: &str = "SKILL.md";

/// A skill with its files; the first one is its text.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bundled {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
}

static ALL: [Bundled; 4] = [
    Bundled { name: "commit", files: &[(SKILL_FILE, include_str!("bundled/commit/SKILL.md"))] },
    Bundled { name: "explain-test", files: &[(SKILL_FILE, include_str!("bundled/explain-test/SKILL.md"))] },
    Bundled {
        name: "review",
        files: &[
            (SKILL_FILE, include_str!("bundled/review/SKILL.md")),
            ("checklist.md", include_str!("bundled/review/checklist.md")),
        ],
    },
    Bundled {
        name: "write-skill",
        files: &[
            (SKILL_FILE, include_str!("bundled/write-skill/SKILL.md")),
            ("template.md", include_str!("bundled/write-skill/template.md")),
        ],
    },
];

/// Returns the skills that windlass brings along. Users call them; the model reads of them only where a setting lists
/// them.
pub(super) fn all() -> impl Iterator<Item = Command> {
    ALL.iter().filter_map(|bundled| {
        let (file, text) = bundled.files.first()?;
        let path = Path::new("bundled").join(bundled.name).join(file);
        let command = Command::parse(bundled.name, CommandSource::Bundled, path, text);
        let details = SkillDetails::of(&front_matter::split(text).0);
        let details = details.map(|details| SkillDetails { listed: false, bundled: Some(bundled), ..details });
        Some(command.with_details(details))
    })
}

impl Command {
    /// Writes the files of a bundled skill below a private folder, unless they are there, and returns their folder.
    /// `None` for any other command. Blocks for as long as the disk takes.
    ///
    /// # Errors
    /// The folder cannot be made, or a file not written.
    pub fn extracted(&self, below: &Path) -> io::Result<Option<PathBuf>> {
        let Some(bundled) = self.skill.as_ref().and_then(|skill| skill.bundled) else { return Ok(None) };
        let folder = below.join(bundled.name);
        create_dir(&folder)?;
        for (name, text) in bundled.files {
            let path = folder.join(name);
            // A file that was changed, or a link in its place, is replaced.
            let is_whole = path.symlink_metadata().is_ok_and(|file| file.is_file())
                && std::fs::read(&path).is_ok_and(|found| found == text.as_bytes());
            if !is_whole {
                let mut file = AtomicFile::create(&path)?;
                file.file().write_all(text.as_bytes())?;
                file.replace()?;
            }
        }
        Ok(Some(folder))
    }
}
