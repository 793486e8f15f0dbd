//! A directory without files, outside of every project, in which programs start that must not find any.

use crate::places::Places;
use std::io;
use std::path::{Path, PathBuf};
use windlass_tool::private_file;
use windlass_tool::search_path::is_inside;

/// The name of the directory in windlass's home.
const NAME: &str = "neutral";

/// Returns the neutral directory of a user: readable by the user alone and writable by no one, so that no program finds
/// files of another one. Files that an administrator's program left there all the same are removed. The directory lies
/// in windlass's home; if a project contains that, in `XDG_RUNTIME_DIR`, or else in the directory for temporary files.
/// It is made at the first call.
///
/// # Errors
/// No candidate can be used; the last one gives the reason.
pub fn neutral_directory(
    places: &Places,
    workspace: &[PathBuf],
    variable: impl Fn(&str) -> Option<String>,
) -> Result<PathBuf, String> {
    let mut problem = "there is none".to_owned();
    for path in candidates(places, variable) {
        if is_inside(&path, workspace) {
            problem = format!("{} is in the project", path.display());
            continue;
        }
        match prepared(&path) {
            Ok(path) => return Ok(path),
            Err(error) => problem = format!("{}: {error}", path.display()),
        }
    }
    Err(problem)
}

fn candidates(places: &Places, variable: impl Fn(&str) -> Option<String>) -> Vec<PathBuf> {
    let set = |name: &str| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let own = format!("windlass-{NAME}-{}", user());
    let temporary =
        set("TMPDIR").unwrap_or_else(|| PathBuf::from(if cfg!(windows) { r"C:\Windows\Temp" } else { "/tmp" }));
    let home = places.user.first().map(|home| home.join(NAME));
    home.into_iter()
        .chain(set("XDG_RUNTIME_DIR").map(|folder| folder.join(&own)))
        .chain([temporary.join(&own)])
        .collect()
}

/// Prepares the directory, or returns the reason why it is unsuitable.
fn prepared(path: &Path) -> io::Result<PathBuf> {
    private_file::create_dir(path)?;
    let metadata = path.symlink_metadata()?;
    if !metadata.is_dir() {
        return Err(io::Error::other("it is no directory"));
    }
    seal(path, &metadata)?;
    // Permissions do not keep an administrator from writing.
    let leftovers: Vec<PathBuf> = path.read_dir()?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    leftovers.iter().try_for_each(|entry| remove(path, entry))?;
    path.canonicalize()
}

/// Removes the files that a program has left.
fn remove(directory: &Path, entry: &Path) -> io::Result<()> {
    let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::NotFound;
    let removed = unsealed(directory, || match entry.symlink_metadata()?.is_dir() {
        true => std::fs::remove_dir_all(entry),
        false => std::fs::remove_file(entry),
    });
    removed.or_else(|error| if is_gone(&error) { Ok(()) } else { Err(error) })
}

/// Runs `work` while the sealed directory is writable.
#[cfg(unix)]
fn unsealed(directory: &Path, work: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o700))?;
    let result = work();
    std::fs::set_permissions(directory, std::fs::Permissions::from_mode(0o500))?;
    result
}

#[cfg(not(unix))]
fn unsealed(_: &Path, work: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    work()
}

/// Takes the right to write from all, and all rights from others.
#[cfg(unix)]
fn seal(path: &Path, metadata: &std::fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
    if metadata.uid() != user() {
        return Err(io::Error::other("it belongs to another user"));
    }
    if metadata.permissions().mode() & 0o777 != 0o500 {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o500))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn seal(_: &Path, _: &std::fs::Metadata) -> io::Result<()> {
    Ok(())
}

/// Returns the effective user id.
#[cfg(unix)]
fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

#[cfg(not(unix))]
fn user() -> u32 {
    0
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    #[test]
    fn it_is_empty_sealed_and_outside_of_the_workspace() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        std::fs::create_dir_all(at("run")).unwrap();
        std::fs::create_dir_all(at("tmp")).unwrap();
        let mut places = Places::new(at("work"));
        places.user = vec![at("home")];
        let variables = |name: &str| {
            let folder = match name {
                "XDG_RUNTIME_DIR" => at("run"),
                "TMPDIR" => at("tmp"),
                _ => return None,
            };
            folder.to_str().map(str::to_owned)
        };
        let found = |workspace: &[PathBuf]| neutral_directory(&places, workspace, variables);
        let root = place.path().canonicalize().unwrap();
        let made = found(&[at("work")]).unwrap();
        assert_eq!((&made, found(&[at("work")]).as_ref()), (&root.join("home/neutral"), Ok(&made)));
        assert_eq!(made.metadata().unwrap().permissions().mode() & 0o777, 0o500);
        assert!(found(&[at("home")]).unwrap().starts_with(root.join("run")));
        assert!(found(&[at("home"), at("run")]).unwrap().starts_with(root.join("tmp")));
        assert!(found(&[place.path().to_owned()]).unwrap_err().contains("is in the project"));
        // Files that another program has left there, or a link in its place.
        std::fs::set_permissions(&made, PermissionsExt::from_mode(0o700)).unwrap();
        std::fs::write(made.join("json.py"), "").unwrap();
        std::fs::create_dir_all(made.join("node_modules/.bin")).unwrap();
        symlink(at("work"), made.join("bin")).unwrap();
        assert_eq!(found(&[at("work")]), Ok(made.clone()));
        assert_eq!(made.read_dir().unwrap().count(), 0);
        assert_eq!(made.metadata().unwrap().permissions().mode() & 0o777, 0o500);
        std::fs::remove_dir_all(&made).unwrap();
        symlink(at("tmp"), at("home/neutral")).unwrap();
        assert!(found(&[at("work")]).unwrap().starts_with(root.join("run")));
        symlink(at("home"), at("alias")).unwrap();
        assert!(found(&[at("alias")]).unwrap().starts_with(root.join("run")), "through a link");
    }
}
