//! Lookup of programs by name.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Finds a program by its name in the absolute directories of an environment's `PATH`, so that no file of the working
/// directory can pass for a program. The last `PATH` is used if there are several. Only executable files match. A name
/// with a separator matches nothing.
///
/// ```
/// # #[cfg(unix)]
/// # {
/// let env = [("PATH".into(), ".:/bin".into())];
/// assert_eq!(windlass_tool::search_path::find_program("sh", &env), Some("/bin/sh".into()));
/// assert_eq!(windlass_tool::search_path::find_program("./sh", &env), None);
/// # }
/// ```
pub fn find_program(name: &str, env: &[(OsString, OsString)]) -> Option<PathBuf> {
    let is_path = |name: &OsStr| if cfg!(windows) { name.eq_ignore_ascii_case("PATH") } else { name == "PATH" };
    if Path::new(name).is_absolute() || Path::new(name).components().count() != 1 {
        return None;
    }
    let search = env.iter().rev().find(|(name, _)| is_path(name)).map(|(_, value)| value.as_os_str())?;
    let ends: &[&str] = if cfg!(windows) { &["", ".exe", ".cmd", ".bat"] } else { &[""] };
    std::env::split_paths(search)
        .filter(|directory| directory.is_absolute())
        .flat_map(|directory| ends.iter().map(move |end| directory.join(format!("{name}{end}"))))
        .find(|file| is_program(file))
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

/// Finds the bash of this machine: in `/bin`, in `/usr/bin`, or on the search path of an environment. `None` if there
/// is none.
#[must_use]
pub fn find_bash(env: &[(OsString, OsString)]) -> Option<PathBuf> {
    let fixed = ["/bin/bash", "/usr/bin/bash"].map(PathBuf::from);
    fixed.into_iter().find(|shell| shell.is_file()).or_else(|| find_program("bash", env))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn names_are_looked_for_in_absolute_directories_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("sh"), "not the shell").unwrap();
        let env = |path: &str| vec![(OsString::from("PATH"), OsString::from(path))];
        assert_eq!(find_program("sh", &env(".:/bin")), Some("/bin/sh".into()));
        assert_eq!(find_program("sh", &[env("/no"), env("/bin")].concat()), Some("/bin/sh".into()));
        for (name, path) in
            [("./sh", "/bin"), ("/bin/sh", "/bin"), ("..", "/bin"), ("no-such-program", "/bin"), ("sh", "")]
        {
            assert_eq!(find_program(name, &env(path)), None, "{name}");
        }
        assert_eq!(find_program("sh", &[]), None);
        assert_eq!(find_program("sh", &env(folder.path().to_str().unwrap())), None, "it may not be run");
    }
}
