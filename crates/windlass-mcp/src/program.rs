//! Which file a program name means.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Finds a program: paths start at `cwd`, names are looked for in the absolute
/// directories of `PATH`, so that no file of the working directory can pass for
/// a program.
pub(crate) fn find(command: &str, env: &[(OsString, OsString)], cwd: &Path) -> Result<PathBuf, String> {
    let path = Path::new(command);
    if path.components().count() > 1 || path.is_absolute() {
        return Ok(cwd.join(path));
    }
    let search = env.iter().rev().find(|(name, _)| is_path_variable(name)).map(|(_, value)| value.as_os_str());
    let directories = std::env::split_paths(search.unwrap_or(OsStr::new("")));
    directories
        .filter(|directory| directory.is_absolute())
        .flat_map(|directory| names(command).map(move |name| directory.join(name)))
        .find(|file| is_program(file))
        .ok_or_else(|| match search {
            Some(_) => format!("there is no program {command:?} in its PATH"),
            None => format!("{command:?} cannot be found without a PATH: set one in its environment, or give a path"),
        })
}

#[cfg(not(windows))]
fn is_path_variable(name: &OsStr) -> bool {
    name == "PATH"
}

#[cfg(windows)]
fn is_path_variable(name: &OsStr) -> bool {
    name.eq_ignore_ascii_case("PATH")
}

#[cfg(not(windows))]
fn names(command: &str) -> impl Iterator<Item = String> {
    std::iter::once(command.to_owned())
}

#[cfg(windows)]
fn names(command: &str) -> impl Iterator<Item = String> {
    ["", ".exe", ".cmd", ".bat"].map(|end| format!("{command}{end}")).into_iter()
}

#[cfg(unix)]
fn is_program(file: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(file).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(file: &Path) -> bool {
    file.is_file()
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
