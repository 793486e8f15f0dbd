//! The home directory of sessions.

use crate::error::Error;
use std::path::{Path, PathBuf};
use windlass_session::ProjectKey;
use windlass_types::SessionId;

/// File in a home that names its format, if that is later than the first one.
const FORMAT_FILE: &str = "windlass-format";
/// Latest format of homes that this version reads and writes.
const FORMAT: u64 = 1;

/// The directory under which sessions, artifacts and settings are stored.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Home {
    /// Directory that sessions are written to.
    root: PathBuf,
    /// Further directories in which sessions are looked up.
    also_read: Vec<PathBuf>,
}

impl Home {
    /// A home at this directory, which is created on demand.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), also_read: Vec::new() }
    }

    /// The home named by the process's environment, see [`Home::from_lookup`].
    ///
    /// # Errors
    /// No variable names a home, or one of them names a path that is not absolute.
    #[expect(clippy::disallowed_methods, reason = "reads the environment because its caller asks for that by name")]
    pub fn from_env() -> Result<Self, Error> {
        Self::from_lookup(|name| std::env::var(name).ok())
    }

    /// Resolves the home: `WINDLASS_HOME`, else `CLAUDE_CONFIG_DIR`, else `~/.claude` when `CLAUDE_CODE_ENTRYPOINT`
    /// begins with `sdk-` (the official SDKs look for sessions there), else `~/.windlass`. An empty variable is treated
    /// as unset. Sessions of `~/.claude` can be resumed from any of them.
    ///
    /// # Errors
    /// No variable names a home, or one of the first two names a path that is not absolute.
    pub fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Result<Self, Error> {
        // A relative path would put sessions wherever the program happens to start.
        let home_variable = |variable: &'static str| match lookup(variable).filter(|value| !value.is_empty()) {
            Some(value) if !Path::new(&value).is_absolute() => Err(Error::RelativeHome { variable, value }),
            value => Ok(value.map(PathBuf::from)),
        };
        let directory_variable = |name: &str| lookup(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let user = directory_variable("HOME").or_else(|| directory_variable("USERPROFILE"));
        let claude = user.as_ref().map(|user| user.join(".claude"));
        let from_sdk = lookup("CLAUDE_CODE_ENTRYPOINT").is_some_and(|entry| entry.starts_with("sdk-"));
        let root = home_variable("WINDLASS_HOME")?
            .or(home_variable("CLAUDE_CONFIG_DIR")?)
            .or_else(|| claude.clone().filter(|_| from_sdk))
            .or_else(|| user.map(|user| user.join(".windlass")))
            .ok_or(Error::NoHome)?;
        let also_read = claude.into_iter().filter(|claude| *claude != root).collect();
        Ok(Self { root, also_read })
    }

    /// Refuses a home that a later version has written in a format of its own. A home without the file
    /// `windlass-format` has the first format. Sessions check this before they write.
    ///
    /// # Errors
    /// The file names a later format than this version knows.
    pub fn check_format(&self) -> Result<(), Error> {
        let Ok(text) = std::fs::read_to_string(self.root.join(FORMAT_FILE)) else { return Ok(()) };
        match text.trim().parse::<u64>() {
            Ok(found) if found > FORMAT => Err(Error::LaterHome { home: self.root.clone(), found, known: FORMAT }),
            _ => Ok(()),
        }
    }

    /// Directory of a session's files beside its log.
    pub(crate) fn session_directory(&self, project: &ProjectKey, id: &SessionId) -> PathBuf {
        self.root.join("projects").join(project.as_str()).join(id.as_str())
    }

    /// Directory that sessions are written to.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Further directories in which sessions are looked up.
    pub fn also_read(&self) -> &[PathBuf] {
        &self.also_read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_home_of_a_later_format_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let home = Home::new(folder.path());
        for (text, is_known) in [(None, true), (Some("1\n"), true), (Some("2"), false), (Some("x"), true)] {
            text.into_iter().for_each(|text| std::fs::write(folder.path().join(FORMAT_FILE), text).unwrap());
            assert_eq!(home.check_format().is_ok(), is_known, "{text:?}");
        }
    }

    #[test]
    #[cfg(unix)]
    fn the_first_variable_that_is_set_wins() {
        let home = |pairs: &[(&str, &str)]| {
            Home::from_lookup(|name| pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned()))
                .map(|home| home.root().to_path_buf())
                .ok()
        };
        assert_eq!(home(&[]), None);
        assert_eq!(home(&[("HOME", "/u")]), Some("/u/.windlass".into()));
        assert_eq!(home(&[("HOME", "/u"), ("CLAUDE_CODE_ENTRYPOINT", "sdk-py")]), Some("/u/.claude".into()));
        assert_eq!(home(&[("HOME", "/u"), ("CLAUDE_CONFIG_DIR", "/c")]), Some("/c".into()));
        assert_eq!(home(&[("HOME", "/u"), ("CLAUDE_CONFIG_DIR", "/c"), ("WINDLASS_HOME", "/w")]), Some("/w".into()));
        assert_eq!(home(&[("HOME", "/u"), ("WINDLASS_HOME", "")]), Some("/u/.windlass".into()));
        assert_eq!(home(&[("HOME", "/u"), ("WINDLASS_HOME", "rel")]), None);
        assert_eq!(home(&[("HOME", "/u"), ("CLAUDE_CONFIG_DIR", "./c")]), None);
        let error = Home::from_lookup(|name| (name == "WINDLASS_HOME").then(|| "rel".to_owned())).unwrap_err();
        assert_eq!(error.to_string(), "WINDLASS_HOME is \"rel\", and must be an absolute path");
        assert_eq!(home(&[("HOME", "rel")]), None);
    }
}
