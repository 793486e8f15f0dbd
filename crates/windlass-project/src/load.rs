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
use std::path::Path;
use windlass_types::path::normalized;

/// Note on managed settings from a host: the administrator's files exist, so only the host's restrictions apply.
const ONLY_RESTRICTIONS_APPLY: &str =
    "this machine has managed settings of its own, so only what these restrict counts";

/// The settings files of a session.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Loaded {
    /// Files that exist, those of the strongest layer first.
    pub files: Vec<SettingsFile>,
    /// `true` if trust records cover the start directory, even if its files have changed since. Without settings files
    /// in the project, the records are not read, and this repeats [`SettingsRequest::trust`].
    pub trusted: bool,
    /// Notes about trust records and about ignored managed settings.
    pub notes: Vec<Note>,
}

impl Loaded {
    /// Resolves the files to the settings in effect.
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
/// Widening settings of a project's files apply only if the user has trusted them. A trust record that lists no items
/// has no effect until [`SettingsUpdates::pin_trust`](crate::SettingsUpdates::pin_trust) has added the list, so call
/// that first.
///
/// # Errors
/// A file cannot be read, is too big, or is not a settings file.
pub fn load(places: &Places, request: &SettingsRequest) -> Result<Loaded, SettingsError> {
    let mut loading = SettingsLoading { places, request, loaded: Loaded::default(), last: None, errors: Vec::new() };
    loading.load_all()?;
    Ok(loading.loaded)
}

/// Loads the settings of an open session, with all errors. An unusable file is replaced by its former version in
/// `last`, if there is one.
pub(crate) fn load_or_keep(
    places: &Places,
    request: &SettingsRequest,
    last: &[SettingsFile],
) -> (Loaded, Vec<SettingsError>) {
    let mut loading =
        SettingsLoading { places, request, loaded: Loaded::default(), last: Some(last), errors: Vec::new() };
    if let Err(problem) = loading.load_all() {
        loading.errors.push(problem);
        loading.loaded.files = last.to_vec();
    }
    (loading.loaded, loading.errors)
}

/// State of one load of the settings files.
struct SettingsLoading<'a> {
    places: &'a Places,
    request: &'a SettingsRequest,
    loaded: Loaded,
    /// Last usable version of each file, in an open session. `None` when a session starts: then every error is fatal.
    last: Option<&'a [SettingsFile]>,
    errors: Vec<SettingsError>,
}

impl SettingsLoading<'_> {
    fn load_all(&mut self) -> Result<(), SettingsError> {
        let (places, request) = (self.places, self.request);
        let managed = places.managed_files().map_err(|problem| {
            let path = places.managed.first().cloned().unwrap_or_default().with_extension("d");
            SettingsError::Unreadable { path, problem }
        })?;
        for path in managed {
            // In managed rules a leading `/` means the current project, so they are anchored at its start directory.
            self.add(Layer::Managed, &path, places.start())?;
        }
        let is_managed = !self.loaded.files.is_empty();
        for (layer, given) in [(Layer::Managed, &request.managed), (Layer::Flags, &request.flags)] {
            let Some(text) = given.as_deref().filter(|text| !text.trim().is_empty()) else { continue };
            let (origin, found) = (given_origin(layer, text, places.start()), given_file(layer, text, places.start()));
            let found = found.map(|mut file| {
                if layer == Layer::Managed && is_managed {
                    file.settings = file.settings.restrictions();
                    self.loaded.notes.push(Note::new(&file.origin, ONLY_RESTRICTIONS_APPLY));
                }
                Some(file)
            });
            self.add_or_keep_last(layer, &origin, found)?;
        }
        self.project()?;
        if request.sources.contains(Layer::User) {
            for (directory, file) in places.user_files() {
                self.add(Layer::User, &file, directory)?;
            }
        }
        if let Some(home) = &places.user_home {
            self.loaded.expand_home(home);
        }
        self.loaded.follow_links();
        self.loaded.files.extend(request.elsewhere.iter().cloned());
        self.loaded.files.sort_by_key(|file| std::cmp::Reverse(file.layer));
        Ok(())
    }

    /// Loads the files of the project, each with its standing.
    fn project(&mut self) -> Result<(), SettingsError> {
        let (places, request) = (self.places, self.request);
        let first_project_file = self.loaded.files.len();
        for (layer, name) in [(Layer::Local, "settings.local.json"), (Layer::Project, "settings.json")] {
            if request.sources.contains(layer) {
                for (directory, file) in places.project_files(name) {
                    self.add(layer, &file, directory)?;
                }
            }
        }
        self.loaded.trusted = request.trust;
        if self.loaded.files.len() > first_project_file {
            self.loaded.set_standings(first_project_file, places, request);
        }
        Ok(())
    }

    fn add(&mut self, layer: Layer, path: &Path, anchor: &Path) -> Result<(), SettingsError> {
        self.add_or_keep_last(layer, &Origin::file(path), read(layer, path, anchor))
    }

    fn add_or_keep_last(
        &mut self,
        layer: Layer,
        origin: &Origin,
        found: Result<Option<SettingsFile>, SettingsError>,
    ) -> Result<(), SettingsError> {
        let Some(last) = self.last else {
            self.loaded.files.extend(found?);
            return Ok(());
        };
        // A file that does not resolve by itself is treated like an unreadable one, because no session could start with
        // it.
        let usable = found.and_then(|file| match &file {
            Some(one) => resolve(std::slice::from_ref(one)).map(|_| file),
            None => Ok(None),
        });
        match usable {
            Ok(file) => self.loaded.files.extend(file),
            Err(problem) => {
                self.errors.push(problem);
                let last_version = last.iter().find(|file| file.layer == layer && file.origin == *origin);
                self.loaded.files.extend(last_version.cloned());
            }
        }
        Ok(())
    }
}

/// Reads one file, if it exists.
fn read(layer: Layer, path: &Path, anchor: &Path) -> Result<Option<SettingsFile>, SettingsError> {
    let Some(text) = read_settings(path)? else { return Ok(None) };
    let origin = Origin::file(path);
    let settings = parse(&text, &origin)?;
    let standing = if layer.lies_in_project() { Standing::untrusted() } else { Standing::trusted() };
    Ok(Some(SettingsFile::new(layer, origin, anchor, settings).with_standing(standing)))
}

impl Loaded {
    /// Sets the standing of the project's files, which begin at index `first_project_file`.
    fn set_standings(&mut self, first_project_file: usize, places: &Places, request: &SettingsRequest) {
        let trust = read_trust(places, &mut self.notes).for_this_run(request.trust);
        for directory in trust.unpinned(&places.project).filter(|_| !request.trust) {
            let text = "trust in this project does not say what it covers, so it covers nothing: `windlass trust` shows \
                        and records it";
            self.notes.push(Note::new(&Origin::file(directory), text));
        }
        let sources = request.sources;
        self.trusted = trust.standing(&places.project, places.start(), sources.names(Layer::Project)).is_trusted();
        for file in self.files.iter_mut().skip(first_project_file) {
            file.standing = trust.standing(&places.project, &file.anchor, sources.names(file.layer));
            if let Some(root) = places.project.first() {
                file.root.clone_from(root);
                // A file without full standing gets no more rights, whoever wrote it, so `shipped` stays unset.
                if let (Layer::Local, true, Origin::File(path)) = (file.layer, file.standing.is_trusted(), &file.origin)
                {
                    file.shipped = is_shipped(root, path);
                }
            }
        }
    }

    /// Expands `~/` in directories to the user's home.
    fn expand_home(&mut self, home: &Path) {
        let directories = self.files.iter_mut().flat_map(|file| &mut file.settings.permissions.additional_directories);
        for directory in directories {
            if let Ok(relative) = directory.strip_prefix("~") {
                *directory = home.join(relative);
            }
        }
        for directory in self.files.iter_mut().filter_map(|file| file.settings.memory.directory.as_mut()) {
            if let Ok(relative) = directory.strip_prefix("~") {
                *directory = home.join(relative);
            }
        }
    }

    /// Replaces additional directories of a project by their link targets, because a link may lead out of the project.
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

/// Returns the origin of settings from the command line or the host.
fn given_origin(layer: Layer, text: &str, start: &Path) -> Origin {
    match (text.trim_start().starts_with('{'), layer) {
        (true, Layer::Managed) => Origin::InlineManaged,
        (true, _) => Origin::Inline,
        (false, _) => Origin::File(normalized(&start.join(text))),
    }
}

/// Reads settings of the command line or of the host.
fn given_file(layer: Layer, text: &str, start: &Path) -> Result<SettingsFile, SettingsError> {
    let origin = given_origin(layer, text, start);
    let Origin::File(path) = &origin else {
        let settings = parse(text, &origin)?;
        return Ok(SettingsFile::new(layer, origin, start, settings));
    };
    let Some(text) = read_settings(path)? else {
        let problem = std::io::Error::new(std::io::ErrorKind::NotFound, "it does not exist");
        return Err(SettingsError::Unreadable { path: path.clone(), problem });
    };
    let anchor = if layer == Layer::Managed { start } else { path.parent().unwrap_or(start) };
    let (anchor, settings) = (anchor.to_path_buf(), parse(&text, &origin)?);
    Ok(SettingsFile::new(layer, origin, anchor, settings))
}

pub(crate) fn parse(text: &str, origin: &Origin) -> Result<Settings, SettingsError> {
    Settings::parse(text)
        .map_err(|error| SettingsError::Malformed { origin: origin.clone(), problem: error.to_string() })
}
