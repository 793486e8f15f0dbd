//! Skills that are bundled with windlass.

use super::definition::{Command, CommandSource, SkillDetails};
use crate::front_matter;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use windlass_tool::private_file::{AtomicFile, create_dir};

/// Name of the file that defines a skill.
pub(crate) const SKILL_FILE: &str = "SKILL.md";

/// A bundled skill with its files, as names and texts. The first file is `SKILL.md`.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Bundled {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
}

static BUNDLED_SKILLS: [Bundled; 4] = [
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

/// Returns the bundled skills. Users can call them. The model's list has them only if a setting lists them.
pub(super) fn all() -> impl Iterator<Item = Command> {
    BUNDLED_SKILLS.iter().filter_map(|bundled| {
        let (file, text) = bundled.files.first()?;
        let path = Path::new("bundled").join(bundled.name).join(file);
        let command = Command::parse(bundled.name, CommandSource::Bundled, path, text);
        let details = SkillDetails::of(&front_matter::split(text).0);
        let details = details.map(|details| SkillDetails { listed: false, bundled: Some(bundled), ..details });
        Some(command.with_details(details))
    })
}

impl Command {
    /// Writes the files of a bundled skill to a private folder below `below`, unless they exist, and returns that
    /// folder. `None` for any other command. Blocks for as long as the disk takes.
    ///
    /// # Errors
    /// The folder or a file cannot be written.
    pub fn extracted(&self, below: &Path) -> io::Result<Option<PathBuf>> {
        let Some(bundled) = self.skill.as_ref().and_then(|skill| skill.bundled) else { return Ok(None) };
        let folder = below.join(bundled.name);
        create_dir(&folder)?;
        for (name, text) in bundled.files {
            let path = folder.join(name);
            // A file that was changed, or a link in its place, is replaced.
            let is_current = path.symlink_metadata().is_ok_and(|file| file.is_file())
                && std::fs::read(&path).is_ok_and(|found| found == text.as_bytes());
            if !is_current {
                let mut file = AtomicFile::create(&path)?;
                file.file().write_all(text.as_bytes())?;
                file.replace()?;
            }
        }
        Ok(Some(folder))
    }
}
