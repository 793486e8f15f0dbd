//! Resolution of program names.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use windlass_tool::search_path;

/// Resolves a program: paths are relative to `cwd`, names are searched in the absolute directories of `PATH`, so that
/// no file of the working directory can be mistaken for a program.
pub(crate) fn find(command: &str, env: &[(OsString, OsString)], cwd: &Path) -> Result<PathBuf, String> {
    let path = Path::new(command);
    if path.components().count() > 1 || path.is_absolute() {
        return Ok(cwd.join(path));
    }
    search_path::find_program(command, env).ok_or_else(|| match env.iter().any(|(name, _)| is_path_variable(name)) {
        true => format!("there is no program {command:?} in its PATH"),
        false => format!("{command:?} cannot be found without a PATH: set one in its environment, or give a path"),
    })
}

fn is_path_variable(name: &OsStr) -> bool {
    if cfg!(windows) { name.eq_ignore_ascii_case("PATH") } else { name == "PATH" }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_for_in_absolute_directories_alone() {
        let dir = tempfile::tempdir().unwrap();
        let cwd = dir.path();
        std::fs::write(cwd.join("sh"), "not the shell").unwrap();
        let env = |path: &str| vec![(OsString::from("PATH"), OsString::from(path))];
        assert_eq!(find("sh", &env(".:/bin"), cwd), Ok(PathBuf::from("/bin/sh")));
        assert_eq!(find("./sh", &env("/bin"), cwd), Ok(cwd.join("./sh")));
        assert_eq!(find("/bin/sh", &[], cwd), Ok(PathBuf::from("/bin/sh")));
        assert!(find("sh", &[], cwd).is_err());
        assert!(find("sh", &env(cwd.to_str().unwrap()), cwd).is_err(), "it may not be run");
        assert!(find("no-such-program", &env("/bin"), cwd).is_err());
    }
}
