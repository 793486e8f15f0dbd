//! Settings that are read again while a session is open.

use crate::error::SettingsError;
use crate::load::{Loaded, load_or_keep};
use crate::note::Origin;
use crate::places::Places;
use crate::request::SettingsRequest;
use crate::resolved::Resolved;
use crate::settings_file::SettingsFile;
use crate::sources::Layer;
use crate::stamp::Stamp;

/// Settings of an open session, and the stamp of their files at the time of reading.
///
/// A file that becomes unusable applies as it was last readable, until it can be read again or is gone: its denials
/// stay in effect. All other files apply as they are.
#[derive(Debug, Clone)]
pub struct LiveSettings {
    stamp: Stamp,
    files: Vec<SettingsFile>,
    resolved: Resolved,
}

/// Result of reading settings again.
#[derive(Debug)]
#[non_exhaustive]
pub struct SettingsNews {
    /// Settings in effect before.
    pub before: Resolved,
    /// Settings in effect from now on.
    pub now: Resolved,
    /// Files whose content has changed, with their layers: also those added or removed.
    pub changed: Vec<(Layer, Origin)>,
    /// Files that cannot be used, and apply as before.
    pub kept: Vec<SettingsError>,
    stamp: Stamp,
    loaded: Option<Loaded>,
}

impl LiveSettings {
    /// Reads the settings files of a session. Blocks for as long as the disk takes.
    ///
    /// # Errors
    /// Those of [`load`](crate::load()) and [`resolve`](crate::resolve()).
    pub fn load(places: &Places, request: &SettingsRequest) -> Result<(Self, Loaded), SettingsError> {
        // The stamp is taken first, so that a change during the read is noticed the next time.
        let stamp = stamp(places, request);
        let loaded = crate::load::load(places, request)?;
        let resolved = loaded.resolve()?;
        Ok((Self { stamp, files: loaded.files.clone(), resolved }, loaded))
    }

    /// Returns the settings in effect.
    #[must_use]
    pub fn resolved(&self) -> &Resolved {
        &self.resolved
    }

    /// Reads the files again if one of them has come, gone or changed, or a record of trust has. `None` if not. Blocks
    /// for as long as the disk takes.
    ///
    /// The settings take effect once they are [taken over](Self::take).
    #[must_use]
    pub fn look(&self, places: &Places, request: &SettingsRequest) -> Option<SettingsNews> {
        let stamp = stamp(places, request);
        if stamp == self.stamp {
            return None;
        }
        let (loaded, mut kept) = load_or_keep(places, request, &self.files);
        let (before, changed) = (self.resolved.clone(), changed(&self.files, &loaded.files));
        Some(match loaded.resolve() {
            Ok(now) => SettingsNews { before, now, changed, kept, stamp, loaded: Some(loaded) },
            Err(problem) => {
                kept.push(problem);
                SettingsNews { now: before.clone(), before, changed: Vec::new(), kept, stamp, loaded: None }
            }
        })
    }

    /// Puts the new settings into effect, except for files of these layers: they apply as before, until they change
    /// again. Returns the settings in effect. Files of the administrator always apply as they are.
    pub fn take(&mut self, mut news: SettingsNews, refused: &[Layer]) -> SettingsNews {
        self.stamp = news.stamp.clone();
        let Some(mut loaded) = news.loaded.take() else { return news };
        let is_refused = |file: &SettingsFile| file.layer != Layer::Managed && refused.contains(&file.layer);
        if loaded.files.iter().chain(&self.files).any(is_refused) {
            loaded.files.retain(|file| !is_refused(file));
            loaded.files.extend(self.files.iter().filter(|file| is_refused(file)).cloned());
            loaded.files.sort_by_key(|file| std::cmp::Reverse(file.layer));
            match loaded.resolve() {
                Ok(now) => news.now = now,
                Err(problem) => {
                    news.kept.push(problem);
                    news.now = news.before.clone();
                    return news;
                }
            }
        }
        self.files = loaded.files;
        self.resolved = news.now.clone();
        news
    }
}

/// Returns the files that only one of two readings has, or that differ.
fn changed(before: &[SettingsFile], now: &[SettingsFile]) -> Vec<(Layer, Origin)> {
    let in_both = |file: &SettingsFile, others: &[SettingsFile]| {
        others
            .iter()
            .any(|other| (other.layer, &other.origin, &other.settings) == (file.layer, &file.origin, &file.settings))
    };
    let removed = before.iter().filter(|file| !in_both(file, now));
    let added = now.iter().filter(|file| !in_both(file, before));
    let mut changed: Vec<(Layer, Origin)> =
        removed.chain(added).map(|file| (file.layer, file.origin.clone())).collect();
    changed.sort_by(|a, b| b.cmp(a));
    changed.dedup();
    changed
}

/// Returns the stamp of all files that settings and trust are read from.
fn stamp(places: &Places, request: &SettingsRequest) -> Stamp {
    let mut stamp = Stamp::new();
    for path in places.managed_files().unwrap_or_default() {
        stamp.add(&path);
    }
    for name in ["settings.local.json", "settings.json"] {
        places.project_files(name).iter().for_each(|(_, path)| stamp.add(path));
    }
    places.user_files().for_each(|(_, path)| stamp.add(&path));
    places.records.iter().chain(&places.claude_json).for_each(|path| stamp.add(path));
    for text_or_path in
        request.flags.iter().chain(&request.managed).filter(|text_or_path| !text_or_path.trim_start().starts_with('{'))
    {
        stamp.add(&places.start().join(text_or_path));
    }
    stamp
}

#[cfg(test)]
mod tests;
