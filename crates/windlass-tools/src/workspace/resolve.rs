//! From a path as it was asked for to the place it really names.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

/// Links followed before a path counts as a loop; the kernel's own limit.
const MAX_LINKS: usize = 40;

/// Follows every link of `path`, which must be absolute.
///
/// A dangling link resolves to the place it points at, and the missing rest of a
/// path is taken as spelled: a path can be judged before it is created.
///
/// # Errors
/// `InvalidInput` for a relative path or one with a NUL byte, also (see
/// [`is_cycle`]) after 40 links, else the error of the file system (a directory that
/// may not be searched, for one): what cannot be resolved cannot be judged.
pub(crate) fn resolve(path: &Path) -> io::Result<PathBuf> {
    if !path.is_absolute() {
        return Err(invalid("the path is not absolute"));
    }
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(invalid("the path contains a NUL byte"));
    }
    true_case(follow(path)?)
}

/// Whether an error of [`resolve`] means that links lead in a circle.
pub(crate) fn is_cycle(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Cycle>())
}

#[derive(Debug, thiserror::Error)]
#[error("symbolic links lead in a circle")]
struct Cycle;

enum Step {
    Root(OsString),
    Up,
    Down(OsString),
}

fn steps(path: &Path) -> impl DoubleEndedIterator<Item = Step> + '_ {
    path.components().filter_map(|part| match part {
        Component::Prefix(prefix) => Some(Step::Root(prefix.as_os_str().to_owned())),
        Component::RootDir => Some(Step::Root(part.as_os_str().to_owned())),
        Component::CurDir => None,
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Down(name.to_owned())),
    })
}

fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut todo: VecDeque<Step> = steps(path).collect();
    let mut at = PathBuf::new();
    let mut links = 0;
    let mut missing = false;
    while let Some(step) = todo.pop_front() {
        match step {
            Step::Root(root) => at.push(root),
            Step::Up => {
                at.pop();
                // Above the missing part things exist again.
                missing = missing && !exists(&at)?;
            }
            Step::Down(name) => {
                at.push(name);
                if missing {
                    continue;
                }
                match fs::symlink_metadata(&at) {
                    Ok(meta) if meta.file_type().is_symlink() => {
                        links += 1;
                        if links > MAX_LINKS {
                            return Err(io::Error::new(io::ErrorKind::InvalidInput, Cycle));
                        }
                        let target = fs::read_link(&at)?;
                        at.pop();
                        for step in steps(&target).rev() {
                            todo.push_front(step);
                        }
                    }
                    Ok(_) => {}
                    Err(error) if is_missing(&error) => missing = true,
                    Err(error) => return Err(error),
                }
            }
        }
    }
    Ok(at)
}

fn exists(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(error) if is_missing(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

/// A file in the place of a directory makes the rest of the path as missing as
/// no directory does; the open that follows reports it.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Where names are matched without case the spelling on disk is the one to judge.
#[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
fn true_case(path: PathBuf) -> io::Result<PathBuf> {
    Ok(path)
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
fn true_case(path: PathBuf) -> io::Result<PathBuf> {
    let mut rest = Vec::new();
    for base in path.ancestors() {
        match fs::canonicalize(base) {
            Ok(mut real) => {
                real.extend(rest.iter().rev());
                return Ok(real);
            }
            Err(error) if is_missing(&error) => rest.extend(base.file_name()),
            Err(error) => return Err(error),
        }
    }
    Ok(path)
}

fn invalid(message: &'static str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

#[cfg(test)]
mod tests;
