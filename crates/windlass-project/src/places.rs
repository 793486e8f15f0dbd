//! Paths of settings, commands and trust records.

use std::io;
use std::path::{Path, PathBuf};

/// Folders of a project or home with settings and commands, the stronger one first.
pub(crate) const FOLDERS: [&str; 2] = [".windlass", ".claude"];

/// Maximum number of directories from the root of a project to where a session starts.
pub(crate) const DEEPEST: usize = 64;

/// Maximum number of files of the administrator in one directory.
const MAX_DROP_IN_FILES: usize = 512;

/// The name of our record of trust in the user's home.
const RECORD: &str = "windlass-trust.json";

/// Paths of settings, commands and trust records. All paths are absolute.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Places {
    /// The files of the administrator, the strongest first.
    pub managed: Vec<PathBuf>,
    /// Directories of the user, with `settings.json` and `commands`, the strongest first. New user settings are written
    /// to the first.
    pub user: Vec<PathBuf>,
    /// The directories of the project, from its root to where the session starts, which is the last.
    pub project: Vec<PathBuf>,
    /// The home of the user, where `~/` in paths starts.
    pub user_home: Option<PathBuf>,
    /// Our own records of trust; approvals are written to the first.
    pub records: Vec<PathBuf>,
    /// Files of the other layout that record trust.
    pub claude_json: Vec<PathBuf>,
}

impl Places {
    /// Creates the places of a session that starts in `cwd`, an absolute path with links followed. The project is the
    /// repository around it, if that has the same owner. User and administrator have no places.
    #[must_use]
    pub fn new(cwd: impl Into<PathBuf>) -> Self {
        Self { project: chain(cwd.into()), ..Self::default() }
    }

    /// Returns the places of this system: `/etc/windlass/managed-settings.json` and its like, the user's home under
    /// `home`, and the places that `lookup` (environment variables) names.
    ///
    /// `CLAUDE_CONFIG_DIR` replaces `~/.claude`. `~/.windlass` is read also when sessions are kept in another place,
    /// unless a variable names that place.
    #[must_use]
    pub fn of_system(cwd: impl Into<PathBuf>, home: Option<&Path>, lookup: impl Fn(&str) -> Option<String>) -> Self {
        let directory_variable = |name: &str| lookup(name).map(PathBuf::from).filter(|path| path.is_absolute());
        let user_home = directory_variable("HOME").or_else(|| directory_variable("USERPROFILE"));
        let config = directory_variable("CLAUDE_CONFIG_DIR");
        let moved = config.is_some() || directory_variable("WINDLASS_HOME").is_some();
        let default_home = user_home.as_ref().filter(|_| !moved).map(|home| home.join(".windlass"));
        let claude = config.clone().or_else(|| user_home.as_ref().map(|home| home.join(".claude")));
        let mut user: Vec<PathBuf> = Vec::new();
        for directory in [home.map(Path::to_path_buf), default_home, claude].into_iter().flatten() {
            if !user.contains(&directory) {
                user.push(directory);
            }
        }
        let mut places = Self::new(cwd);
        places.records = user.iter().map(|directory| directory.join(RECORD)).collect();
        places.user = user;
        places.claude_json =
            config.or_else(|| user_home.clone()).map(|directory| directory.join(".claude.json")).into_iter().collect();
        places.user_home = user_home;
        places.managed = managed();
        places
    }

    /// Returns the directory where the session starts.
    #[must_use]
    pub fn start(&self) -> &Path {
        self.project.last().map_or(Path::new("/"), PathBuf::as_path)
    }

    /// Returns the places outside the project from which settings and trust are read. A change there should always need
    /// a permission request. The folders of a project have names that are protected anyway.
    #[must_use]
    pub fn protected(&self) -> Vec<PathBuf> {
        let dropped_in: Vec<PathBuf> = self.managed.iter().map(|file| file.with_extension("d")).collect();
        [&self.managed, &dropped_in, &self.user, &self.records, &self.claude_json]
            .into_iter()
            .flatten()
            .cloned()
            .collect()
    }

    /// Returns the possible settings files of the administrator, the strongest first; a file may be missing. Each file
    /// is preceded by those of `managed-settings.d`; among these the last one in the order of names is the strongest.
    /// Hidden files and other kinds are ignored.
    pub(crate) fn managed_files(&self) -> io::Result<Vec<PathBuf>> {
        let mut files = Vec::new();
        for file in &self.managed {
            files.extend(dropped_in(&file.with_extension("d"))?.into_iter().rev());
            files.push(file.clone());
        }
        Ok(files)
    }

    /// Returns the user's settings files, the strongest first.
    pub(crate) fn user_files(&self) -> impl Iterator<Item = (&Path, PathBuf)> {
        self.user.iter().map(|directory| (directory.as_path(), directory.join("settings.json")))
    }

    /// Returns the settings files of this name in the project, the strongest first, each with its directory. Files that
    /// are the user's own (the session starts in the home) are left out.
    pub(crate) fn project_files(&self, name: &str) -> Vec<(&Path, PathBuf)> {
        let user_files: Vec<PathBuf> = self.user_files().map(|(_, file)| file).collect();
        let mut files = Vec::new();
        for directory in self.project.iter().rev() {
            for folder in FOLDERS {
                let file = directory.join(folder).join(name);
                if !user_files.contains(&file) {
                    files.push((directory.as_path(), file));
                }
            }
        }
        files
    }
}

/// Returns the directories from the root of the repository around `cwd` to `cwd` itself. A directory of another owner
/// is not part of it: a repository in a directory that others can write to must not include the directories below.
fn chain(cwd: PathBuf) -> Vec<PathBuf> {
    let owner = owner(&cwd);
    let mut chain = Vec::new();
    for directory in cwd.ancestors().take(DEEPEST) {
        if self::owner(directory) != owner {
            break;
        }
        chain.push(directory.to_path_buf());
        if directory.join(".git").symlink_metadata().is_ok() {
            chain.reverse();
            return chain;
        }
    }
    vec![cwd]
}

#[cfg(unix)]
fn owner(path: &Path) -> Option<u32> {
    use std::os::unix::fs::MetadataExt;
    path.metadata().ok().map(|metadata| metadata.uid())
}

#[cfg(not(unix))]
fn owner(_: &Path) -> Option<u32> {
    Some(0)
}

/// Returns the JSON files of a directory, sorted by name; none if it is not there.
fn dropped_in(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let entries = match directory.read_dir() {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        let is_hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if !is_hidden && path.extension().is_some_and(|extension| extension == "json") {
            files.push(path);
        }
        if files.len() > MAX_DROP_IN_FILES {
            return Err(io::Error::other(format!("it has more than {MAX_DROP_IN_FILES} files")));
        }
    }
    files.sort();
    Ok(files)
}

fn managed() -> Vec<PathBuf> {
    let directories: &[&str] = if cfg!(target_os = "macos") {
        &["/Library/Application Support/Windlass", "/Library/Application Support/ClaudeCode"]
    } else if cfg!(windows) {
        &[r"C:\ProgramData\Windlass", r"C:\Program Files\ClaudeCode"]
    } else {
        &["/etc/windlass", "/etc/claude-code"]
    };
    directories.iter().map(|directory| Path::new(directory).join("managed-settings.json")).collect()
}

#[cfg(test)]
mod tests;
