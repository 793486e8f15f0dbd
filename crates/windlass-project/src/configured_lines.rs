//! Command lines that configuration runs, and the files that decide their effect.

use crate::canonical::canonical;
use crate::file::{ReadError, read_bytes};
use crate::places::Places;
use serde_json::Value;
use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use windlass_permission::{FileRole, LineDirectories, line_files, line_of};

/// Maximum number of bytes of a file that are compared. A longer file is compared by its length and modification time.
const MAX_HASHED_BYTES: u64 = 4 * 1024 * 1024;
/// Maximum number of bytes of a file whose text is kept for a diff.
const MAX_TEXT_BYTES: usize = 256 * 1024;
/// Digest of a file that is missing.
const MISSING: &str = "missing";

/// Directories of the system's programs, which no session writes to.
const SYSTEM_DIRECTORIES: &[&str] =
    &["/Applications", "/Library", "/System", "/bin", "/lib", "/lib64", "/nix/store", "/opt", "/sbin", "/snap", "/usr"];

/// Extensions of shell scripts. An operand with another extension is more likely input than code.
const SCRIPT_ENDINGS: &[&str] = &["bash", "bat", "cmd", "fish", "ksh", "ps1", "sh", "zsh"];

/// A command line that configuration runs.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfiguredLine {
    /// The configuration that runs it, for people: `the hook "./guard.sh"`.
    pub source: String,
    /// The line, as a shell reads it.
    pub line: String,
    /// Directory of the plugin that defines the line, if one does.
    pub plugin: Option<PathBuf>,
    /// `true` if the output is a credential: then each file that the line names matters.
    pub gives_credentials: bool,
}

impl ConfiguredLine {
    /// Creates a line for a shell.
    pub fn new(source: impl Into<String>, line: impl Into<String>) -> Self {
        Self { source: source.into(), line: line.into(), plugin: None, gives_credentials: false }
    }

    /// Creates the line of a program with arguments, which runs without a shell.
    pub fn of_program(source: impl Into<String>, program: &str, args: &[String]) -> Self {
        Self::new(source, line_of(program, args))
    }

    /// Returns the lines of a server's entry: its program and its `headersHelper`.
    #[must_use]
    pub fn of_server(source: &str, entry: &str) -> Vec<Self> {
        let Ok(entry) = serde_json::from_str::<Value>(entry) else { return Vec::new() };
        let text = |key: &str| entry.get(key).and_then(Value::as_str);
        let args = entry.get("args").and_then(Value::as_array).into_iter().flatten();
        let args: Vec<String> = args.filter_map(Value::as_str).map(str::to_owned).collect();
        let program = text("command").map(|program| Self::of_program(source, program, &args));
        let helper = text("headersHelper").map(|line| Self::new(source, line).giving_credentials());
        program.into_iter().chain(helper).collect()
    }

    /// Sets the directory of the plugin that defines the line.
    #[must_use]
    pub fn of_plugin(mut self, root: Option<&Path>) -> Self {
        self.plugin = root.map(Path::to_path_buf);
        self
    }

    /// Marks the output as a credential, so that every file named in the line decides its effect.
    #[must_use]
    pub fn giving_credentials(mut self) -> Self {
        self.gives_credentials = true;
        self
    }

    /// Returns the files that decide the line's effect when it runs in `cwd`. Asks the file system which of them exist;
    /// opens none.
    #[must_use]
    pub fn files(&self, cwd: &Path, places: &Places) -> Vec<PathBuf> {
        let project = places.project.first().map_or(cwd, PathBuf::as_path);
        let home = places.user_home.as_deref();
        let directories = LineDirectories { cwd, project, plugin: self.plugin.as_deref(), home };
        let mut files: Vec<PathBuf> = Vec::new();
        for file in line_files(&self.line, &directories) {
            let is_system_file = SYSTEM_DIRECTORIES.iter().any(|system| file.path.starts_with(system));
            if (is_system_file && !file.path.starts_with(project)) || files.contains(&file.path) {
                continue;
            }
            if file.role == FileRole::Matching {
                let matches =
                    matching_files(&file.path).into_iter().filter(|path| !is_system_file || path.starts_with(project));
                matches.for_each(|path| {
                    if !files.contains(&path) {
                        files.push(path)
                    }
                });
                continue;
            }
            if self.matters(file.role, &file.path) {
                files.push(file.path);
            }
        }
        files
    }

    /// Returns the patterns of files that the line runs in `cwd`. A file created later that matches a pattern decides
    /// the line's effect like those of [`files`](Self::files). Only the last name is a pattern; it may follow `**`, for
    /// all directories below.
    #[must_use]
    pub fn patterns(&self, cwd: &Path, places: &Places) -> Vec<PathBuf> {
        let project = places.project.first().map_or(cwd, PathBuf::as_path);
        let home = places.user_home.as_deref();
        let directories = LineDirectories { cwd, project, plugin: self.plugin.as_deref(), home };
        let may_change = |path: &Path| {
            path.starts_with(project) || !SYSTEM_DIRECTORIES.iter().any(|system| path.starts_with(system))
        };
        let patterns = line_files(&self.line, &directories).into_iter();
        patterns
            .filter(|file| file.role == FileRole::Matching && may_change(&file.path))
            .map(|file| file.path)
            .collect()
    }

    fn matters(&self, role: FileRole, path: &Path) -> bool {
        match path.metadata() {
            Ok(found) if !found.is_file() => false,
            Ok(found) => role != FileRole::Operand || self.gives_credentials || can_be_run(path, &found),
            // A text with blanks is rather an argument than a file that is still to be made.
            Err(_) => role == FileRole::Program && !path.to_string_lossy().contains(char::is_whitespace),
        }
    }
}

/// Maximum number of entries read for one pattern.
const MAX_ENTRIES: usize = 2_000;
/// Maximum number of files of one pattern.
const MAX_MATCHES: usize = 128;

/// Returns the files that match a pattern in the last name of a path; after `**` at any depth.
fn matching_files(pattern: &Path) -> Vec<PathBuf> {
    let (Some(name), Some(directory)) = (pattern.file_name().and_then(|name| name.to_str()), pattern.parent()) else {
        return Vec::new();
    };
    let is_recursive = directory.ends_with("**");
    let start = if is_recursive { directory.parent().unwrap_or(directory) } else { directory };
    let wildcards = ['*', '?', '['];
    let prefix = name.split(wildcards).next().unwrap_or_default();
    let suffix = name.rsplit(['*', '?', ']']).next().unwrap_or_default();
    let is_match = |found: &str| match name.contains(wildcards) {
        true => found.len() >= prefix.len().max(suffix.len()) && found.starts_with(prefix) && found.ends_with(suffix),
        false => found == name,
    };
    let (mut files, mut pending, mut entries) = (Vec::new(), VecDeque::from([start.to_path_buf()]), 0_usize);
    while let Some(folder) = pending.pop_front() {
        let mut all: Vec<_> = folder.read_dir().into_iter().flatten().flatten().collect();
        all.sort_by_key(std::fs::DirEntry::file_name);
        for entry in all {
            entries = entries.saturating_add(1);
            if entries > MAX_ENTRIES || files.len() >= MAX_MATCHES {
                return files;
            }
            let path = entry.path();
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                if is_recursive && !entry.file_name().to_str().is_some_and(|name| SKIPPED_FOLDERS.contains(&name)) {
                    pending.push_back(path);
                }
            } else if entry.file_name().to_str().is_some_and(is_match) && path.is_file() {
                files.push(path);
            }
        }
    }
    files
}

/// Folders that a recursive pattern does not enter.
const SKIPPED_FOLDERS: &[&str] = &[".git", "node_modules", "target"];

/// Returns `true` if a file is executable, by its extension or its mode.
fn can_be_run(path: &Path, found: &std::fs::Metadata) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase);
    #[cfg(unix)]
    let is_executable = std::os::unix::fs::PermissionsExt::mode(&found.permissions()) & 0o111 != 0;
    #[cfg(not(unix))]
    let is_executable = {
        let _ = found;
        false
    };
    is_executable || ending.is_some_and(|ending| SCRIPT_ENDINGS.contains(&ending.as_str()))
}

/// Content of a file that decides the program, at one time.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgramContent {
    /// Digest of the relevant content, stored in records of trust.
    pub digest: String,
    /// The text, if it is one that is short enough to be shown.
    pub text: Option<String>,
}

impl ProgramContent {
    /// Creates the content from a record of trust, with its text if that was kept.
    #[must_use]
    pub fn recorded(digest: &str, text: Option<String>) -> Self {
        Self { digest: digest.to_owned(), text }
    }

    /// Returns `true` if there is no file.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.digest == MISSING
    }

    /// Reads a file as it is now. Links are followed; a pipe or a device is not opened. For `package.json`, only the
    /// scripts matter.
    #[must_use]
    pub fn read(path: &Path) -> Self {
        let bytes = match read_bytes(path, MAX_HASHED_BYTES) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Self { digest: MISSING.to_owned(), text: None },
            Err(ReadError::TooBig) => return Self { digest: stamp(path), text: None },
            Err(ReadError::Io(error)) => return Self { digest: format!("unreadable: {:?}", error.kind()), text: None },
        };
        let text = String::from_utf8(bytes.clone()).ok();
        let scripts = text.as_deref().filter(|_| path.ends_with("package.json")).and_then(package_scripts);
        let digest = blake3::hash(scripts.as_deref().map_or(bytes.as_slice(), str::as_bytes)).to_hex().to_string();
        Self { digest, text: text.filter(|text| text.len() <= MAX_TEXT_BYTES) }
    }
}

/// Returns the scripts of a `package.json`, in canonical form.
fn package_scripts(text: &str) -> Option<String> {
    let package: Value = serde_json::from_str(text).ok()?;
    let parts = ["scripts", "packageManager"].map(|key| package.get(key).cloned().unwrap_or_default());
    Some(canonical(&Value::from(parts.to_vec()).to_string()))
}

/// Returns the stamp of a long file: its length and the time of its last change.
fn stamp(path: &Path) -> String {
    let found = path.metadata().ok();
    let length = found.as_ref().map_or(0, std::fs::Metadata::len);
    let changed = found.and_then(|found| found.modified().ok());
    let since = changed.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok()).unwrap_or_default();
    format!("{length} bytes of {}", since.as_nanos())
}

#[cfg(test)]
mod tests;
