//! Skills that the embedding program adds to its sessions.

use super::bundled::SKILL_FILE;
use super::definition::{Command, CommandSource, SkillDetails};
use crate::file::read_named;
use crate::front_matter;
use crate::markdown::{MOST_BYTES, one_line};
use std::io;
use std::path::{Path, PathBuf};

/// A skill of a program: instructions for a kind of work, which the model reads when the description fits.
///
/// ```
/// # mod windlass { pub use windlass_project::Skill; }
/// use windlass::Skill;
///
/// let skill = Skill::new(
///     "release-notes",
///     "Writes release notes from the commits since the last tag.",
///     "List the commits since $ARGUMENTS, leave out chores, and write one sentence each for users.",
/// );
/// assert_eq!(skill.name(), "release-notes");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skill {
    name: String,
    description: String,
    text: String,
    directory: Option<PathBuf>,
}

impl Skill {
    /// Creates a skill from its name, its purpose in a sentence, and its text. The text has the placeholders of a
    /// `SKILL.md`, and may begin with front matter as one does (`allowed-tools`, `model`). A name has no blanks,
    /// slashes or colons.
    pub fn new(name: impl Into<String>, description: impl Into<String>, text: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into(), text: text.into(), directory: None }
    }

    /// Returns the skill in a folder with a `SKILL.md`, called as the folder is. Blocks for as long as the disk takes.
    ///
    /// # Errors
    /// The file is not there, has more than 256 KiB or is no text, or the folder has no name.
    pub fn from_directory(path: impl AsRef<Path>) -> io::Result<Self> {
        let directory = path.as_ref().canonicalize()?;
        let unnamed = || io::Error::new(io::ErrorKind::InvalidInput, "the folder has no name that is text");
        let name = directory.file_name().and_then(|name| name.to_str()).ok_or_else(unnamed)?.to_owned();
        let text = read_named(&directory.join(SKILL_FILE), MOST_BYTES)?;
        Ok(Self { name, description: String::new(), text, directory: Some(directory) })
    }

    /// Returns the name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the absolute path of the folder with the files that the text refers to (`${CLAUDE_SKILL_DIR}`). Reading
    /// them needs no permission request.
    #[must_use]
    pub fn in_directory(mut self, path: impl Into<PathBuf>) -> Self {
        self.directory = Some(path.into());
        self
    }

    pub(super) fn command(&self) -> Command {
        let path = self.directory.clone().unwrap_or_default().join(SKILL_FILE);
        let mut command = Command::parse(&self.name, CommandSource::Host, path, &self.text);
        if !self.description.is_empty() {
            command.description = one_line(&self.description, super::definition::MOST_DESCRIPTION);
        }
        if let Some(directory) = &self.directory {
            command.scope.place_skill(directory);
        }
        let details = SkillDetails::of(&front_matter::split(&self.text).0);
        command.with_details(details.map(|details| SkillDetails { directory: self.directory.clone(), ..details }))
    }
}
