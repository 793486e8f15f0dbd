//! Reading the settings files of a session.

use crate::error::SettingsError;
use crate::note::{Note, Origin};
use crate::places::Places;
use crate::records::read_trust;
use crate::request::SettingsRequest;
use crate::resolve::resolve;
use crate::resolved::Resolved;
use crate::settings::Settings;
use crate::settings_file::{SettingsFile, read_settings};
use crate::shipped::is_shipped;
use crate::sources::Layer;
use crate::trust::Standing;
use std::path::{Path, PathBuf};
use windlass_types::path::normalized;

/// The settings files of a session.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Loaded {
    /// The files that are there, those of the strongest layer first.
    pub files: Vec<SettingsFile>,
    /// Whether the directory where the session starts is trusted, at least as it was once. When no file of the project is
    /// there, the records are not read, and this is true only if this run trusts the project.
    pub trusted: bool,
    /// Records of trust that could not be read.
    pub notes: Vec<Note>,
}

impl Loaded {
    /// The settings that count.
    ///
    /// # Errors
    /// Those of [`resolve`].
    pub fn resolve(&self) -> Result<Resolved, SettingsError> {
        let mut resolved = resolve(&self.files)?;
        resolved.notes.splice(0..0, self.notes.iter().cloned());
        Ok(resolved)
    }
}

/// Reads the settings files of a session. No program is run and no file written.
///
/// Of the settings with which a project's files widen what may happen, those count that the user has trusted. A record
/// of trust that does not list what it covers counts once that is pinned: call [`SettingsUpdates::pin_trust`](crate::SettingsUpdates::pin_trust)
/// before.
///
/// # Errors
/// A file that is there cannot be read, is too big, or is not a settings file.
pub fn load(places: &Places, request: &SettingsRequest) -> Result<Loaded, SettingsError> {
    let mut loaded = Loaded::default();
    for path in &places.managed {
        // In managed rules a leading `/` is the root of the current project.
        loaded.add(Layer::Managed, path.clone(), places.start())?;
    }
    if let Some(text) = request.flags.as_deref().filter(|text| !text.trim().is_empty()) {
        loaded.files.push(flags(text, places.start())?);
    }
    loaded.project(places, request)?;
    if request.sources.contains(Layer::User) {
        for (directory, file) in places.user_files() {
            loaded.add(Layer::User, file, directory)?;
        }
    }
    if let Some(home) = &places.user_home {
        loaded.expand_home(home);
    }
    loaded.follow_links();
    Ok(loaded)
}

impl Loaded {
    /// The files of the project, each with how far it counts.
    fn project(&mut self, places: &Places, request: &SettingsRequest) -> Result<(), SettingsError> {
        let before = self.files.len();
        for (layer, name) in [(Layer::Local, "settings.local.json"), (Layer::Project, "settings.json")] {
            if request.sources.contains(layer) {
                for (directory, file) in places.project_files(name) {
                    self.add(layer, file, directory)?;
                }
            }
        }
        self.trusted = request.trust;
        if self.files.len() > before {
            self.judge(before, places, request);
        }
        Ok(())
    }

    /// Decides how far the files of the project count: those after the first `before`.
    fn judge(&mut self, before: usize, places: &Places, request: &SettingsRequest) {
        let trust = read_trust(places, &mut self.notes).for_this_run(request.trust);
        for directory in trust.unpinned(&places.project).filter(|_| !request.trust) {
            let text = "trust in this project does not say what it covers, so it covers nothing: `windlass trust` shows \
                        and records it";
            self.notes.push(Note::new(&Origin::file(directory), text));
        }
        let sources = request.sources;
        self.trusted = trust.standing(&places.project, places.start(), sources.names(Layer::Project)).is_trusted();
        for file in self.files.iter_mut().skip(before) {
            file.standing = trust.standing(&places.project, &file.anchor, sources.names(file.layer));
            if let Some(root) = places.project.first() {
                file.root.clone_from(root);
                // If it does not count in full anyway, its author makes no difference.
                if let (Layer::Local, true, Origin::File(path)) = (file.layer, file.standing.is_trusted(), &file.origin)
                {
                    file.shipped = is_shipped(root, path);
                }
            }
        }
    }

    fn add(&mut self, layer: Layer, path: PathBuf, anchor: &Path) -> Result<(), SettingsError> {
        if let Some(text) = read_settings(&path)? {
            let origin = Origin::File(path);
            let settings = parse(&text, &origin)?;
            self.files.push(
                SettingsFile::new(layer, origin, anchor, settings).with_standing(if layer.lies_in_project() {
                    Standing::untrusted()
                } else {
                    Standing::trusted()
                }),
            );
        }
        Ok(())
    }

    /// `~/x` among the directories is `x` in the user's home.
    fn expand_home(&mut self, home: &Path) {
        let written = self.files.iter_mut().flat_map(|file| &mut file.settings.permissions.additional_directories);
        for directory in written {
            if let Ok(below) = directory.strip_prefix("~") {
                *directory = home.join(below);
            }
        }
        for directory in self.files.iter_mut().filter_map(|file| file.settings.memory.directory.as_mut()) {
            if let Ok(below) = directory.strip_prefix("~") {
                *directory = home.join(below);
            }
        }
    }

    /// A directory in a project may be a link that leads out of it.
    fn follow_links(&mut self) {
        for file in self.files.iter_mut().filter(|file| file.layer.lies_in_project()) {
            for directory in &mut file.settings.permissions.additional_directories {
                if let Ok(resolved) = file.anchor.join(&*directory).canonicalize() {
                    *directory = resolved;
                }
            }
        }
    }
}

/// The settings of the command line.
fn flags(text: &str, start: &Path) -> Result<SettingsFile, SettingsError> {
    if text.trim_start().starts_with('{') {
        let settings = parse(text, &Origin::Inline)?;
        return Ok(SettingsFile::new(Layer::Flags, Origin::Inline, start, settings));
    }
    let path = normalized(&start.join(text));
    let Some(text) = read_settings(&path)? else {
        let problem = std::io::Error::new(std::io::ErrorKind::NotFound, "it does not exist");
        return Err(SettingsError::Unreadable { path, problem });
    };
    let anchor = path.parent().unwrap_or(start).to_path_buf();
    let origin = Origin::File(path);
    let settings = parse(&text, &origin)?;
    Ok(SettingsFile::new(Layer::Flags, origin, anchor, settings))
}

fn parse(text: &str, origin: &Origin) -> Result<Settings, SettingsError> {
    Settings::parse(text)
        .map_err(|error| SettingsError::Malformed { origin: origin.clone(), problem: error.to_string() })
}
