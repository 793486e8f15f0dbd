//! Replacement of a file's content in one step.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use windlass_tool::content_swap::ContentChanged;
use windlass_tool::{Ids, SystemIds};

use super::dir::{Dir, link_error};
use super::entry::{Entry, EntryStatus};
use super::temporary_files::{Listed, TemporaryFiles};

/// Required state of the name when its content is replaced.
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

/// Result of a replacement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Replacement {
    /// `true` if the file did not exist before.
    pub(crate) created: bool,
    /// Attributes of the old file that could not be copied to the new one.
    pub(crate) not_kept: Vec<&'static str>,
}

/// A directory in which files are replaced.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a> {
    pub(crate) dir: &'a Dir,
    /// Path of the directory, and the list of its temporary files.
    list: Option<(&'a Path, &'a TemporaryFiles)>,
}

impl<'a> Place<'a> {
    /// A directory whose temporary files are listed, if there is a list.
    pub(crate) fn new(dir: &'a Dir, path: &'a Path, list: Option<&'a TemporaryFiles>) -> Self {
        Self { dir, list: list.map(|list| (path, list)) }
    }

    fn list(&self, name: &OsStr) -> Option<Listed> {
        self.list.and_then(|(path, list)| list.list(&path.join(name)))
    }
}

/// Puts `content` under `name` so that every observer sees the whole old content or the whole new one, even after a
/// crash. Owner, group and extended attributes of the old file are kept if the system permits that; so is its mode,
/// unless `mode` has other permission bits.
///
/// # Errors
/// On any error the old content stays and no other file is left behind; [`ContentChanged`] if the old content is not
/// the expected one. An error of the last sync alone comes after the new content is in place.
pub(crate) fn replace_with_mode(
    place: Place<'_>,
    name: &OsStr,
    content: &[u8],
    expect: Expect<'_>,
    mode: Option<u32>,
) -> io::Result<Replacement> {
    let dir = place.dir;
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
        // Checked here, because the system renames over a read-only file without a question.
        Some(_) => dir.may_write(name)?,
        None if matches!(expect, Expect::Content(_)) => return Err(ContentChanged.into()),
        None => {}
    }

    let mut temporary = Temporary::create(place, if old.is_some() { 0o600 } else { 0o666 })?;
    temporary.file.write_all(content)?;
    let not_kept = match old {
        Some(old) => copy_attributes(dir, name, old, &temporary.file)?,
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
    /// `true` if the name no longer belongs to a file to be removed.
    is_renamed: bool,
    /// Dropped after the file is gone.
    _listed: Option<Listed>,
}

impl<'a> Temporary<'a> {
    fn create(place: Place<'a>, mode: u32) -> io::Result<Self> {
        let (dir, name) = (place.dir, temporary_name());
        let listed = place.list(&name);
        let file = dir.create_new(&name, mode)?;
        Ok(Self { dir, name, file, is_renamed: false, _listed: listed })
    }

    fn rename(&mut self, to: &OsStr, expect: Expect<'_>) -> io::Result<()> {
        match expect {
            Expect::Any => self.dir.rename(&self.name, to)?,
            Expect::Absent => self.dir.rename_new(&self.name, to)?,
            Expect::Content(expected) => {
                self.dir.swap().replace(&self.name, to, expected)?;
                // The name belongs to the old file now.
                drop(self.dir.remove(&self.name));
            }
        }
        self.is_renamed = true;
        Ok(())
    }
}

/// Removes the regular file `name`, if its content is `expected`.
pub(crate) fn compare_and_remove(place: Place<'_>, name: &OsStr, expected: &[u8]) -> io::Result<()> {
    let temporary = temporary_name();
    let _listed = place.list(&temporary);
    place.dir.swap().remove(name, &temporary, expected)
}

/// An unused random name. The length is fixed, because that of the target may be the longest allowed.
fn temporary_name() -> OsString {
    OsString::from(format!(".{:032x}.tmp", SystemIds::default().bits()))
}

/// `true` for a name that [`temporary_name`] makes.
pub(super) fn is_temporary_name(name: &OsStr) -> bool {
    let digits = name.to_str().and_then(|name| name.strip_prefix('.')?.strip_suffix(".tmp"));
    digits.is_some_and(|digits| digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

impl Drop for Temporary<'_> {
    fn drop(&mut self) {
        if !self.is_renamed {
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
fn copy_attributes(dir: &Dir, name: &OsStr, old: EntryStatus, new: &File) -> io::Result<Vec<&'static str>> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

    let mut not_kept = Vec::new();
    let new_meta = new.metadata()?;
    if new_meta.gid() != old.rights.group && fchown(new, None, Some(old.rights.group)).is_err() {
        not_kept.push("group");
    }
    if new_meta.uid() != old.rights.owner && fchown(new, Some(old.rights.owner), None).is_err() {
        not_kept.push("owner");
    }
    // Without the old owner and group, set-id bits would give the rights of another account.
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
fn copy_attributes(_dir: &Dir, _name: &OsStr, old: EntryStatus, _new: &File) -> io::Result<Vec<&'static str>> {
    Ok(if old.names > 1 { vec!["hard links"] } else { Vec::new() })
}

#[cfg(test)]
mod tests;
