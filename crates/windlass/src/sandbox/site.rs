//! Users and directories of a sandbox.

use std::ffi::OsString;
use std::path::PathBuf;

/// Users and directories of a sandbox.
#[derive(Debug, Clone)]
pub(crate) struct Site {
    /// Programs that run in it, as the beginning of a notice.
    pub(crate) who: &'static str,
    /// Directories of the workspace.
    pub(crate) directories: Vec<PathBuf>,
    /// Home of the user.
    pub(crate) home: Option<PathBuf>,
    /// Directories with the sessions of all projects: windlass's home, and those that it reads too.
    pub(crate) session_homes: Vec<PathBuf>,
    /// Read-only paths beside those of the options.
    pub(crate) read_only: Vec<PathBuf>,
    /// Directory of temporary files.
    pub(crate) temporary: PathBuf,
    /// Program that becomes the helper.
    pub(crate) helper: Option<PathBuf>,
}

/// Directory of temporary files.
pub(crate) fn temporary(environment: &[(OsString, OsString)]) -> PathBuf {
    let tmpdir = environment.iter().find(|(name, _)| name == "TMPDIR").map(|(_, value)| PathBuf::from(value));
    tmpdir.filter(|path| path.is_absolute()).unwrap_or_else(|| PathBuf::from("/tmp"))
}
