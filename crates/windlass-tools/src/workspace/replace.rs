//! Replacing a file's content in one step.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use windlass_tool::content_swap::ContentChanged;
use windlass_tool::{Ids, SystemIds};

use super::dir::{Dir, link_error};
use super::entry::{Entry, EntryStatus};

/// What has to be true of the name when its content is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expect<'a> {
    /// A regular file, or a free name.
    Any,
    /// A free name: the file is created.
    Absent,
    /// A regular file with this content.
    Content(&'a [u8]),
}

/// The name is taken by a device, pipe or socket.
#[derive(Debug, thiserror::Error)]
#[error("not a regular file")]
pub(crate) struct NotRegular;

/// How a replacement went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replacement {
    /// The file did not exist before.
    pub(crate) created: bool,
    /// Attributes of the old file that the new one could not be given.
    pub(crate) not_kept: Vec<&'static str>,
}

/// Puts `content` under `name` so that every observer sees the old content or the
/// new one, whole, also after a crash. Mode, owner, group and extended attributes of
/// the old file are kept where the system lets us.
///
/// # Errors
/// On any error the old content stands and no other file is left behind; [`ContentChanged`] if it is not the expected one.
/// An error of the last sync alone comes after the new content is in place.
pub(crate) fn replace(dir: &Dir, name: &OsStr, content: &[u8], expect: Expect<'_>) -> io::Result<Replacement> {
    replace_with_mode(dir, name, content, expect, None)
}

/// As [`replace`], and the file has these permission bits, if they are given,
/// instead of those of the old file.
pub(crate) fn replace_with_mode(
    dir: &Dir,
    name: &OsStr,
    content: &[u8],
    expect: Expect<'_>,
    mode: Option<u32>,
) -> io::Result<Replacement> {
    let old = dir.status(name)?;
    match old {
        Some(_) if expect == Expect::Absent => {
            return Err(io::Error::from(io::ErrorKind::AlreadyExists));
        }
        Some(EntryStatus { entry: Entry::Directory, .. }) => {
            return Err(io::Error::from(io::ErrorKind::IsADirectory));
        }
        Some(EntryStatus { entry: Entry::Link, .. }) => return Err(link_error()),
        Some(EntryStatus { entry: Entry::Special, .. }) => return Err(io::Error::other(NotRegular)),
        // A read-only file stays one: renaming over it would not ask.
        Some(_) => dir.may_write(name)?,
        None if matches!(expect, Expect::Content(_)) => return Err(ContentChanged.into()),
        None => {}
    }

    let mut temporary = Temporary::create(dir, if old.is_some() { 0o600 } else { 0o666 })?;
    temporary.file.write_all(content)?;
    let not_kept = match old {
        Some(old) => keep(dir, name, old, &temporary.file)?,
        None => Vec::new(),
    };
    if let Some(mode) = mode {
        set_mode(&temporary.file, mode)?;
    }
    temporary.file.sync_all()?;
    temporary.rename(name, expect)?;
    dir.sync()?;
    Ok(Replacement { created: old.is_none(), not_kept })
}

/// A file under a random name, removed again unless it is renamed.
struct Temporary<'a> {
    dir: &'a Dir,
    name: OsString,
    file: File,
    /// Whether the name is no longer that of a file to be removed.
    renamed: bool,
}

impl<'a> Temporary<'a> {
    fn create(dir: &'a Dir, mode: u32) -> io::Result<Self> {
        let name = temporary_name();
        let file = dir.create_new(&name, mode)?;
        Ok(Self { dir, name, file, renamed: false })
    }

    fn rename(&mut self, to: &OsStr, expect: Expect<'_>) -> io::Result<()> {
        match expect {
            Expect::Any => self.dir.rename(&self.name, to)?,
            Expect::Absent => self.dir.rename_new(&self.name, to)?,
            Expect::Content(expected) => {
                self.dir.swap().replace(&self.name, to, expected)?;
                // The name is that of the old file now.
                drop(self.dir.remove(&self.name));
            }
        }
        self.renamed = true;
        Ok(())
    }
}

/// Removes the regular file `name`, if its content is `expected`.
pub(crate) fn compare_and_remove(dir: &Dir, name: &OsStr, expected: &[u8]) -> io::Result<()> {
    dir.swap().remove(name, &temporary_name(), expected)
}

/// A random name that is free. It has its own length: that of the target may be the longest allowed.
fn temporary_name() -> OsString {
    OsString::from(format!(".{:032x}.tmp", SystemIds::default().bits()))
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.renamed {
            // The first error is the one to report.
            drop(self.dir.remove(&self.name));
        }
    }
}

#[cfg(unix)]
fn set_mode(file: &File, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    // The permission bits come from the caller; set-id bits only from the file that is replaced.
    let special = file.metadata()?.permissions().mode() & 0o7000;
    file.set_permissions(std::fs::Permissions::from_mode(special | (mode & 0o777)))
}

#[cfg(not(unix))]
fn set_mode(_: &File, _: u32) -> io::Result<()> {
    Ok(())
}

#[cfg(unix)]
fn keep(dir: &Dir, name: &OsStr, old: EntryStatus, new: &File) -> io::Result<Vec<&'static str>> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

    let mut not_kept = Vec::new();
    let made = new.metadata()?;
    if made.gid() != old.rights.group && fchown(new, None, Some(old.rights.group)).is_err() {
        not_kept.push("group");
    }
    if made.uid() != old.rights.owner && fchown(new, Some(old.rights.owner), None).is_err() {
        not_kept.push("owner");
    }
    // Rights were granted to the old owner and group: with others, set-id bits
    // would lend them to another account.
    let mode = if not_kept.is_empty() { old.rights.mode } else { old.rights.mode & 0o1777 };
    new.set_permissions(std::fs::Permissions::from_mode(mode))?;
    if old.names > 1 {
        not_kept.push("hard links");
    }
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
    if !dir.open_entry(name).is_ok_and(|old| super::attributes::copy(&old, new)) {
        not_kept.push("extended attributes");
    }
    Ok(not_kept)
}

#[cfg(not(unix))]
fn keep(_dir: &Dir, _name: &OsStr, old: EntryStatus, _new: &File) -> io::Result<Vec<&'static str>> {
    Ok(if old.names > 1 { vec!["hard links"] } else { Vec::new() })
}

#[cfg(test)]
mod tests;
