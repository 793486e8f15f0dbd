//! Reading the settings files of a session.

use crate::error::{Note, Origin, SettingsError};
use crate::file::{ReadError, read_text};
use crate::places::Places;
use crate::resolve::{normalized, resolve};
use crate::resolved::{Resolved, SettingsFile};
use crate::settings::Settings;
use crate::shipped::is_shipped;
use crate::sources::{Layer, SettingSources};
use crate::trust::{Standing, Trust};
use std::path::{Path, PathBuf};

/// Most bytes of a settings file.
pub(crate) const MOST: u64 = 1024 * 1024;
/// Most bytes of a record of trust; that of the other layout holds histories, too.
pub(crate) const MOST_RECORD: u64 = 32 * 1024 * 1024;

/// What is read for a session.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct SettingsRequest {
    /// Which layers.
    pub sources: SettingSources,
    /// What the command line gives, if it does: JSON text that begins with `{`, or the path of a file.
    pub flags: Option<String>,
    /// Whether this run trusts the project (`--trust`).
    pub trust: bool,
}

impl SettingsRequest {
    /// All layers, and no flags.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Says which layers are read.
    #[must_use]
    pub fn sources(mut self, sources: SettingSources) -> Self {
        self.sources = sources;
        self
    }

    /// Settings of the command line: JSON text that begins with `{`, or the path of a file.
    #[must_use]
    pub fn flags(mut self, settings: Option<String>) -> Self {
        self.flags = settings;
        self
    }

    /// Says whether this run trusts the project.
    #[must_use]
    pub fn trust(mut self, trusts: bool) -> Self {
        self.trust = trusts;
        self
    }
}

/// The settings files of a session.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Loaded {
    /// The files that are there, those of the strongest layer first.
    pub files: Vec<SettingsFile>,
    /// Whether the directory where the session starts is trusted, at least as it was once. Nobody looks when no file of the project is
    /// there, so this is then true only if this run says so.
    pub trusted: bool,
    /// Records of trust that could not be read.
    pub notes: Vec<Note>,
}

impl Loaded {
    /// What counts of them.
    ///
    /// # Errors
    /// Those of [`resolve`].
    pub fn resolve(&self) -> Result<Resolved, SettingsError> {
        let mut resolved = resolve(&self.files)?;
        resolved.notes.splice(0..0, self.notes.iter().cloned());
        Ok(resolved)
    }
}

/// Reads the settings files of a session. Nothing is executed and nothing written.
///
/// Of what a project's files widen, those things count that somebody has trusted. A record of trust that does not say
/// what it covers counts once that is pinned: call [`SettingsUpdates::pin_trust`](crate::SettingsUpdates::pin_trust)
/// before.
///
/// # Errors
/// A file that is there cannot be read, is too big, or is not a settings file.
pub fn load(places: &Places, request: &SettingsRequest) -> Result<Loaded, SettingsError> {
    let mut loaded = Loaded::default();
    for path in &places.managed {
        // Rules for a whole machine mean the project that they meet.
        loaded.add(Layer::Managed, path.clone(), places.start())?;
    }
    if let Some(text) = request.flags.as_deref().filter(|text| !text.trim().is_empty()) {
        loaded.files.push(flags(text, places.start())?);
    }
    let before = loaded.files.len();
    for (layer, name) in [(Layer::Local, "settings.local.json"), (Layer::Project, "settings.json")] {
        if request.sources.contains(layer) {
            for (directory, file) in places.project_files(name) {
                loaded.add(layer, file, directory)?;
            }
        }
    }
    loaded.trusted = request.trust;
    if loaded.files.len() > before {
        let trust = read_trust(places, &mut loaded.notes).for_this_run(request.trust);
        for directory in trust.unpinned(&places.project).filter(|_| !request.trust) {
            let text = "trust in this project does not say what it covers, so it covers nothing: `windlass trust` shows \
                        and records it";
            loaded.notes.push(Note::new(&Origin::File(directory.clone()), text));
        }
        let sources = request.sources;
        loaded.trusted = trust.standing(&places.project, places.start(), sources.names(Layer::Project)).is_trusted();
        for file in loaded.files.iter_mut().skip(before) {
            file.standing = trust.standing(&places.project, &file.anchor, sources.names(file.layer));
            if let Some(root) = places.project.first() {
                file.root.clone_from(root);
                // Where it does not count in full, it does not matter who wrote it.
                if let (Layer::Local, true, Origin::File(path)) = (file.layer, file.standing.is_trusted(), &file.origin)
                {
                    file.shipped = is_shipped(root, path);
                }
            }
        }
    }
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
    fn add(&mut self, layer: Layer, path: PathBuf, anchor: &Path) -> Result<(), SettingsError> {
        if let Some(text) = read(&path)? {
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
    let Some(text) = read(&path)? else {
        let problem = std::io::Error::new(std::io::ErrorKind::NotFound, "it does not exist");
        return Err(SettingsError::Unreadable { path, problem });
    };
    let anchor = path.parent().unwrap_or(start).to_path_buf();
    let origin = Origin::File(path);
    let settings = parse(&text, &origin)?;
    Ok(SettingsFile::new(Layer::Flags, origin, anchor, settings))
}

fn read(path: &Path) -> Result<Option<String>, SettingsError> {
    read_text(path, MOST).map_err(|error| match error {
        ReadError::TooBig => SettingsError::TooBig { path: path.to_path_buf(), limit: MOST },
        ReadError::Io(problem) => SettingsError::Unreadable { path: path.to_path_buf(), problem },
    })
}

fn parse(text: &str, origin: &Origin) -> Result<Settings, SettingsError> {
    Settings::parse(text)
        .map_err(|error| SettingsError::Malformed { origin: origin.clone(), problem: error.to_string() })
}

/// Whether the directory where a session starts is trusted: by this run, by sources that name the project, or by a
/// record. A record that cannot be read grants nothing.
pub fn is_trusted(places: &Places, request: &SettingsRequest) -> bool {
    let trust = read_trust(places, &mut Vec::new()).for_this_run(request.trust);
    trust.standing(&places.project, places.start(), request.sources.names(Layer::Project)).is_trusted()
}

/// What the records say. One that cannot be read grants nothing.
pub(crate) fn read_trust(places: &Places, notes: &mut Vec<Note>) -> Trust {
    let mut trust = Trust::new();
    let own = places.records.iter().map(|path| (path, true));
    for (path, is_own) in own.chain(places.claude_json.iter().map(|path| (path, false))) {
        let added = match read_text(path, MOST_RECORD) {
            Ok(None) => continue,
            Ok(Some(text)) if is_own => trust.add_record(&text).map_err(|error| error.to_string()),
            Ok(Some(text)) => trust.add_claude_json(&text).map_err(|error| error.to_string()),
            Err(ReadError::TooBig) => Err(format!("larger than {MOST_RECORD} bytes")),
            Err(ReadError::Io(error)) => Err(error.to_string()),
        };
        if let Err(problem) = added {
            notes.push(Note::new(
                &Origin::File(path.clone()),
                format!("this record of trust counts for nothing: {problem}"),
            ));
        }
    }
    trust
}
