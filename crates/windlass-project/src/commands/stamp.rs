//! Detection of changed files of commands and skills.

use super::bundled;
use super::{FoundFile, find};
use crate::note::Notes;
use crate::places::Places;
use crate::request::SettingsRequest;
use crate::stamp::Stamp;

/// Digest of the names, sizes and times of the files of commands and skills. Two equal stamps mean that no file was
/// added, removed or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandsStamp(blake3::Hash);

impl CommandsStamp {
    /// Creates the stamp of the files that [`load_commands`](crate::load_commands) would read, without opening them.
    /// Blocks for as long as the disk takes.
    #[must_use]
    pub fn of(places: &Places, request: &SettingsRequest) -> Self {
        Self::of_found(&find(places, request, &mut Notes::default()), places)
    }

    pub(super) fn of_found(found: &[FoundFile], places: &Places) -> Self {
        let mut stamp = Stamp::new();
        for file in found {
            match file {
                FoundFile::Skill(_, skill) => {
                    stamp.add_seen(&skill.directory.join(bundled::SKILL_FILE), skill.file.as_ref())
                }
                FoundFile::Command(_, file) => stamp.add(&file.path),
            }
        }
        // Trust decides which parts of the files apply.
        places.records.iter().chain(&places.claude_json).for_each(|record| stamp.add(record));
        Self(stamp.digest())
    }
}
