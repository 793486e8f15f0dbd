//! Resolution of server programs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use windlass_tool::search_path;

/// Resolves a program: an absolute path, or a name in the absolute directories of `PATH`, so that no file of the
/// working directory can be mistaken for a program.
pub(crate) fn find(command: &str, env: &[(OsString, OsString)]) -> Result<PathBuf, String> {
    let path = Path::new(command);
    if path.is_absolute() {
        return Ok(path.to_owned());
    }
    if path.components().count() != 1 {
        return Err(format!("{command:?} is neither an absolute path nor a name"));
    }
    search_path::find_program(command, env).ok_or_else(|| format!("there is no program {command:?} in PATH"))
}
