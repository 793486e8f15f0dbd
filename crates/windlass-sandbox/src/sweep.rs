//! The check of protected names that could not be masked, after a program has ended.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::ground::Watched;
use crate::parents::Parents;

/// Protected name that a program created or changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Made {
    /// Path of the name.
    pub(crate) path: PathBuf,
    /// Path to which the name was moved. `None`: it could not be moved, or is only reported.
    pub(crate) moved: Option<PathBuf>,
}

/// Checks each watched name once its program has ended. New files are moved aside (if `restore`), and a link that was
/// replaced is restored.
pub(crate) fn sweep(watched: &[Watched], restore: bool) -> Vec<Made> {
    // No process of the sandbox is left to change these paths.
    let mut parents = Parents::default();
    let made = |watched: &Watched| {
        let made = one(watched, restore, &mut parents);
        if made.is_some() {
            parents.forget();
        }
        made
    };
    watched.iter().filter_map(made).collect()
}

fn one(watched: &Watched, restore: bool, parents: &mut Parents) -> Option<Made> {
    let path = really_made(&watched.path, parents)?;
    let found = if parents.lacks(path) { Err(io::ErrorKind::NotFound.into()) } else { fs::symlink_metadata(path) };
    let now = match found {
        Ok(found) => Some(found),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(_) => return None,
    };
    let link = watched.link.as_ref().filter(|_| path == watched.path);
    let is_same = match (&now, link) {
        (None, None) => true,
        (Some(found), Some(link)) => found.is_symlink() && fs::read_link(path).is_ok_and(|now| now == **link),
        _ => false,
    };
    if is_same {
        return None;
    }
    if !restore {
        return Some(Made { path: path.to_owned(), moved: None });
    }
    let moved = now.and_then(|_| aside(path));
    #[cfg(unix)]
    if let Some(link) = link
        && let Err(error) = std::os::unix::fs::symlink(link, path)
    {
        tracing::warn!(path = %path.display(), %error, "a protected link could not be restored");
    }
    Some(Made { path: path.to_owned(), moved })
}

/// Returns the path itself, or its directory if a program has replaced that by a link: the target of the link may be
/// anyone's, and must not be touched. `None` if neither exists.
fn really_made<'a>(path: &'a Path, parents: &mut Parents) -> Option<&'a Path> {
    let parent = path.parent()?;
    if parents.is_plain(parent) {
        return Some(path);
    }
    let is_link = fs::symlink_metadata(parent).is_ok_and(|found| found.is_symlink());
    (is_link && parents.is_plain(parent.parent()?)).then_some(parent)
}

/// Moves the file at a path to a free name beside it. A rename follows no link and needs no space.
fn aside(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?.trim_start_matches('.');
    for number in 1..=1_000_u32 {
        let free = path.with_file_name(format!("{name}.blocked-{number}"));
        // An existing name is not replaced. No process of the sandbox is left to take the name between the two calls.
        if fs::symlink_metadata(&free).is_ok() {
            continue;
        }
        return match fs::rename(path, &free) {
            Ok(()) => Some(free),
            Err(error) => {
                tracing::warn!(path = %path.display(), %error, "what a program made could not be moved");
                None
            }
        };
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn watched(path: &Path) -> Watched {
        Watched { path: path.to_owned(), link: fs::read_link(path).ok() }
    }

    #[test]
    fn what_was_made_is_moved_aside() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join(".windlass");
        let before = [watched(&path)];
        assert_eq!(sweep(&before, true), []);
        for number in 1..=2 {
            fs::create_dir(&path).unwrap();
            let moved = path.with_file_name(format!("windlass.blocked-{number}"));
            assert_eq!(sweep(&before, true), [Made { path: path.clone(), moved: Some(moved.clone()) }]);
            assert!(moved.is_dir() && !path.exists());
        }
        fs::create_dir(&path).unwrap();
        assert_eq!(sweep(&before, false), [Made { path: path.clone(), moved: None }]);
        assert!(path.is_dir());
    }

    /// The process that moves files for the sandbox is not confined itself.
    #[cfg(unix)]
    #[test]
    fn what_lies_behind_a_link_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let (work, others) = (folder.path().join("w"), folder.path().join("others"));
        fs::create_dir(&work).unwrap();
        fs::create_dir_all(others.join("git")).unwrap();
        let before = [watched(&work.join(".config/git"))];
        assert_eq!(sweep(&before, true), []);
        std::os::unix::fs::symlink(&others, work.join(".config")).unwrap();
        let moved = work.join("config.blocked-1");
        assert_eq!(sweep(&before, true), [Made { path: work.join(".config"), moved: Some(moved.clone()) }]);
        assert!(others.join("git").is_dir() && moved.is_symlink() && !work.join(".config").exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_leads_where_it_did() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap().join(".claude");
        std::os::unix::fs::symlink("/somewhere", &path).unwrap();
        let before = [watched(&path)];
        assert_eq!(sweep(&before, true), []);
        fs::remove_file(&path).unwrap();
        assert_eq!(sweep(&before, true), [Made { path: path.clone(), moved: None }]);
        assert_eq!(fs::read_link(&path).unwrap(), Path::new("/somewhere"));
        fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/elsewhere", &path).unwrap();
        let moved = path.with_file_name("claude.blocked-1");
        assert_eq!(sweep(&before, true), [Made { path: path.clone(), moved: Some(moved) }]);
        assert_eq!(fs::read_link(&path).unwrap(), Path::new("/somewhere"));
    }
}
