//! Whether the files of commands and skills are still those that were read.

use super::definition::CommandSource;
use super::{folders, skills};
use crate::markdown::Walk;
use crate::note::Notes;
use crate::places::Places;
use crate::request::SettingsRequest;
use crate::sources::Layer;
use std::path::Path;

/// What the files of commands and skills look like from the outside: names, sizes and times. Two that are equal mean that no
/// file has come, gone or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandsStamp(blake3::Hash);

impl CommandsStamp {
    /// Looks at the files that [`load_commands`](crate::load_commands) would read, without opening them. Blocks for as long as
    /// the disk takes.
    #[must_use]
    pub fn of(places: &Places, request: &SettingsRequest) -> Self {
        let mut hasher = blake3::Hasher::new();
        let (mut walk, mut notes) = (Walk::new(true), Notes::default());
        for (layer, source) in [
            (Layer::Managed, CommandSource::Managed),
            (Layer::User, CommandSource::User),
            (Layer::Project, CommandSource::Project),
        ] {
            if !(request.sources.contains(layer) || layer == Layer::Managed) {
                continue;
            }
            for found in skills::find(places, source) {
                add(&mut hasher, &found.directory.join(skills::FILE));
            }
            for file in folders(places, source).iter().flat_map(|folder| walk.files(folder, &mut notes)) {
                add(&mut hasher, &file.path);
            }
        }
        // What is trusted decides what counts of them.
        places.records.iter().chain(&places.claude_json).for_each(|record| add(&mut hasher, record));
        Self(hasher.finalize())
    }
}

fn add(hasher: &mut blake3::Hasher, path: &Path) {
    let name = path.as_os_str().as_encoded_bytes();
    hasher.update(&(name.len() as u64).to_le_bytes());
    hasher.update(name);
    let Ok(file) = path.metadata() else { return };
    let changed = file.modified().ok().and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    hasher.update(&file.len().to_le_bytes());
    hasher.update(&changed.unwrap_or_default().as_nanos().to_le_bytes());
}
