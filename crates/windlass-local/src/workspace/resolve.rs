//! Resolution of a requested path to its real place.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io;
use std::path::{Component, Path, PathBuf};

use windlass_tool::EntryKind;
use windlass_types::path::is_written_plainly;

#[cfg(any(target_os = "linux", target_os = "android"))]
use super::local::entry_kind;
#[cfg(any(target_os = "linux", target_os = "android"))]
use windlass_types::path::has_parent;

/// Maximum number of followed links before a path is treated as a loop; the kernel's own limit.
const MAX_LINKS: usize = 40;

/// A resolved path.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Followed {
    /// The real place.
    pub(crate) path: PathBuf,
    /// The whole path after each followed link but the last.
    pub(crate) via: Vec<PathBuf>,
    /// Kind of the entry there; never a link.
    pub(crate) kind: EntryKind,
}

/// Follows every link of `path`, which must be absolute, component by component like the kernel: `..` is the parent of
/// the place that was reached so far, not of its name.
///
/// A dangling link resolves to its target, and the missing rest of a path is kept as spelled, so that a path can be
/// judged before it is created. A `..` in that rest is an error.
///
/// # Errors
/// `InvalidInput` for a relative path or one with a NUL byte, also (see [`is_cycle`]) after 40 links, `NotFound` for
/// `..` below something that is no directory, else the error of the file system (a directory that may not be searched,
/// for one), because a path that cannot be resolved cannot be judged.
pub(crate) fn resolve(path: &Path) -> io::Result<Followed> {
    if !path.is_absolute() {
        return Err(invalid("the path is not absolute"));
    }
    if path.as_os_str().as_encoded_bytes().contains(&0) {
        return Err(invalid("the path contains a NUL byte"));
    }
    let plain = match is_written_plainly(path) {
        true => Cow::Borrowed(path),
        false => Cow::Owned(path.components().collect()),
    };
    if let Some(kind) = without_links(&plain) {
        return Ok(Followed { path: plain.into_owned(), via: Vec::new(), kind });
    }
    let followed = follow(path)?;
    Ok(Followed { path: true_case(followed.path)?, ..followed })
}

/// Kind of the entry at a path that has neither links nor `..`, by one system call for the whole path. `None` if that
/// is impossible, or names may be spelled in several ways.
#[cfg(any(target_os = "linux", target_os = "android"))]
fn without_links(path: &Path) -> Option<EntryKind> {
    if has_parent(path) {
        return None;
    }
    let kind = super::dir::kind_without_links(path)?.map_or(EntryKind::Missing, entry_kind);
    (kind != EntryKind::Link).then_some(kind)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn without_links(_: &Path) -> Option<EntryKind> {
    None
}

/// `true` if an error of [`resolve`] means that links lead in a circle.
pub(crate) fn is_cycle(error: &io::Error) -> bool {
    error.get_ref().is_some_and(|inner| inner.is::<Cycle>())
}

#[derive(Debug, thiserror::Error)]
#[error("symbolic links lead in a circle")]
struct Cycle;

enum PathStep {
    Root(OsString),
    Up,
    Down(OsString),
}

impl PathStep {
    fn name(&self) -> &OsStr {
        match self {
            Self::Root(name) | Self::Down(name) => name,
            Self::Up => OsStr::new(".."),
        }
    }
}

fn steps(path: &Path) -> impl DoubleEndedIterator<Item = PathStep> + '_ {
    path.components().filter_map(|part| match part {
        Component::Prefix(prefix) => Some(PathStep::Root(prefix.as_os_str().to_owned())),
        Component::RootDir => Some(PathStep::Root(part.as_os_str().to_owned())),
        Component::CurDir => None,
        Component::ParentDir => Some(PathStep::Up),
        Component::Normal(name) => Some(PathStep::Down(name.to_owned())),
    })
}

fn follow(path: &Path) -> io::Result<Followed> {
    let mut steps_left: VecDeque<PathStep> = steps(path).collect();
    let mut current = PathBuf::new();
    let mut current_kind = EntryKind::Directory;
    let mut via = Vec::new();
    while let Some(step) = steps_left.pop_front() {
        match step {
            PathStep::Root(root) => {
                current.push(root);
                current_kind = EntryKind::Directory;
            }
            PathStep::Up if current_kind == EntryKind::Directory => {
                current.pop();
            }
            PathStep::Up => return Err(io::ErrorKind::NotFound.into()),
            PathStep::Down(name) => {
                current.push(name);
                if current_kind != EntryKind::Directory {
                    current_kind = EntryKind::Missing;
                    continue;
                }
                match fs::symlink_metadata(&current) {
                    Ok(meta) if meta.file_type().is_symlink() => {
                        let target = fs::read_link(&current)?;
                        current.pop();
                        via.push(hop(&current, &target, &steps_left));
                        if via.len() > MAX_LINKS {
                            return Err(io::Error::new(io::ErrorKind::InvalidInput, Cycle));
                        }
                        for step in steps(&target).rev() {
                            steps_left.push_front(step);
                        }
                    }
                    Ok(meta) => current_kind = kind(&meta),
                    Err(error) if is_missing(&error) => current_kind = EntryKind::Missing,
                    Err(error) => return Err(error),
                }
            }
        }
    }
    // The last hop is the end itself.
    via.retain(|hop| *hop != current);
    Ok(Followed { path: current, via, kind: current_kind })
}

/// Kind of an entry according to its metadata, if it is no link.
pub(super) fn kind(meta: &Metadata) -> EntryKind {
    if meta.is_file() {
        EntryKind::File
    } else if meta.is_dir() {
        EntryKind::Directory
    } else {
        EntryKind::Special
    }
}

/// Path with a link replaced by its target.
fn hop(directory: &Path, target: &Path, rest: &VecDeque<PathStep>) -> PathBuf {
    let mut path = directory.join(target);
    path.extend(rest.iter().map(PathStep::name));
    path
}

/// `true` if the rest of a path is missing. A file in place of a directory has the same effect as no directory; the
/// open that follows reports it.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Returns the spelling on disk if names are matched without case, because that is the one to judge.
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
