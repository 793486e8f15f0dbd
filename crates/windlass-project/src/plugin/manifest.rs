//! `.claude-plugin/plugin.json`.

use crate::file::{ReadError, read_text};
use crate::markdown::{is_name, one_line};
use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use windlass_types::JsonText;

/// Maximum number of bytes of a manifest or another JSON file of a plugin.
pub(super) const MOST_BYTES: u64 = 1024 * 1024;
/// Maximum number of characters of a plugin's name, its version and its description.
const MAX_NAME_CHARS: usize = 64;
const MAX_VERSION_CHARS: usize = 100;
const MAX_DESCRIPTION_CHARS: usize = 1_536;
/// Maximum number of paths of one kind of component.
const MAX_PATHS: usize = 64;

/// The manifest of a plugin.
#[derive(Debug)]
pub(super) struct Manifest {
    pub(super) name: String,
    pub(super) version: Option<String>,
    pub(super) description: Option<String>,
    fields: BTreeMap<String, JsonText>,
}

/// Component named in a manifest.
#[derive(Debug)]
pub(super) enum Named {
    /// A path.
    One(String),
    /// A list, of which the texts are paths.
    Many(Vec<JsonText>),
    /// A value of another type.
    Other(JsonText),
}

impl Manifest {
    /// Returns the manifest of the plugin at `root`, a path with links followed.
    pub(super) fn read(root: &Path) -> Result<Self, String> {
        let Some(text) = read_inside(root, ".claude-plugin/plugin.json")? else {
            let name = root.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let name = check_name(name).map_err(|problem| {
                format!("it has no .claude-plugin/plugin.json, and its directory cannot name it: {problem}")
            })?;
            return Ok(Self { name, version: None, description: None, fields: BTreeMap::new() });
        };
        Self::parse(&text).map_err(|problem| format!(".claude-plugin/plugin.json: {problem}"))
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let json = JsonText::parse_strict(text).map_err(|error| error.to_string())?;
        let fields: BTreeMap<String, JsonText> = json.to().map_err(|error| error.to_string())?;
        let line = |key: &str, most| {
            let text = fields.get(key).and_then(|value| value.to::<String>().ok());
            text.map(|text| one_line(&text, most)).filter(|text| !text.trim().is_empty())
        };
        let name = fields.get("name").ok_or("it has no `name`")?;
        let name: String = name.to().map_err(|_| "its `name` is not text")?;
        Ok(Self {
            name: check_name(&name)?,
            version: line("version", MAX_VERSION_CHARS),
            description: line("description", MAX_DESCRIPTION_CHARS),
            fields,
        })
    }

    /// Returns `true` if the manifest has a non-empty value under a key.
    pub(super) fn has(&self, key: &str) -> bool {
        self.fields.get(key).is_some_and(|value| !matches!(value.as_str(), "null" | "[]" | "{}" | "\"\"" | "false"))
    }

    /// Returns the components under a key, if the manifest has the key.
    pub(super) fn named(&self, key: &str) -> Option<Named> {
        let value = self.fields.get(key).filter(|value| value.as_str() != "null")?;
        let list = || value.to::<Vec<JsonText>>().map(Named::Many).ok();
        let named = value.to::<String>().map(Named::One).ok().or_else(list);
        Some(named.unwrap_or_else(|| Named::Other(value.clone())))
    }

    /// Returns the paths under a key, if it has the key.
    pub(super) fn paths(&self, key: &str) -> Option<Result<Vec<String>, String>> {
        let wrong = || format!("`{key}` is neither a path nor a list of paths");
        Some(match self.named(key)? {
            Named::One(path) => Ok(vec![path]),
            Named::Many(paths) if paths.len() > MAX_PATHS => Err(format!("`{key}` has more than {MAX_PATHS} paths")),
            Named::Many(paths) => paths.iter().map(|path| path.to::<String>().map_err(|_| wrong())).collect(),
            Named::Other(_) => Err(wrong()),
        })
    }
}

fn check_name(name: &str) -> Result<String, String> {
    if is_name(name) && name.chars().count() <= MAX_NAME_CHARS && !name.starts_with('.') {
        return Ok(name.to_owned());
    }
    Err(format!(
        "{:?} is no name: it has up to {MAX_NAME_CHARS} characters, no blanks, control characters, slashes or colons, \
         and does not begin with a dot",
        one_line(name, MAX_NAME_CHARS)
    ))
}

/// Returns the path that a plugin's path leads to, with links followed; `None` if there is no such file.
pub(super) fn inside(root: &Path, written: &str) -> Result<Option<PathBuf>, String> {
    let path = Path::new(written);
    let is_below = |part: Component<'_>| matches!(part, Component::CurDir | Component::Normal(_));
    if written.is_empty() || !path.components().all(is_below) {
        return Err("a path is relative to the plugin and does not leave it".to_owned());
    }
    match root.join(path).canonicalize() {
        Ok(resolved) if resolved.starts_with(root) => Ok(Some(resolved)),
        Ok(_) => Err("it leads out of the plugin".to_owned()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.to_string()),
    }
}

/// Returns the text of a file of a plugin; `None` if it is not there.
pub(super) fn read_inside(root: &Path, written: &str) -> Result<Option<String>, String> {
    let with_path = |problem: String| format!("{written}: {problem}");
    let Some(path) = inside(root, written).map_err(with_path)? else {
        return match root.join(written).symlink_metadata() {
            Ok(_) => Err(with_path("it is a link that leads nowhere".to_owned())),
            Err(_) => Ok(None),
        };
    };
    read_text(&path, MOST_BYTES).map_err(|error| {
        with_path(match error {
            ReadError::TooBig => format!("it is larger than {MOST_BYTES} bytes"),
            ReadError::Io(error) => format!("it cannot be read: {error}"),
        })
    })
}
