//! Extended attributes, including access lists.

use std::ffi::OsStr;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;

use rustix::fs::XattrFlags;
use rustix::io::Errno;

/// Attribute that is granted to the judged content, not to its replacement.
const NOT_COPIED: &[u8] = b"security.capability";

/// Copies every attribute of `old` to `new`; `false` if one could not be copied.
pub(super) fn copy(old: &File, new: &File) -> bool {
    let names = match list(old) {
        Ok(names) => names,
        Err(Errno::NOTSUP) => return true,
        Err(_) => return false,
    };
    names
        .split(|byte| *byte == 0)
        .filter(|name| !name.is_empty())
        .all(|name| name != NOT_COPIED && copy_one(old, new, name).is_ok())
}

fn list(file: &File) -> Result<Vec<u8>, Errno> {
    let mut names = vec![0; rustix::fs::flistxattr_query(file)?];
    if !names.is_empty() {
        let len = rustix::fs::flistxattr(file, names.as_mut_slice())?;
        names.truncate(len);
    }
    Ok(names)
}

fn copy_one(old: &File, new: &File, name: &[u8]) -> Result<(), Errno> {
    let name = OsStr::from_bytes(name);
    let mut value = vec![0; rustix::fs::fgetxattr_query(old, name)?];
    if !value.is_empty() {
        let len = rustix::fs::fgetxattr(old, name, value.as_mut_slice())?;
        value.truncate(len);
    }
    rustix::fs::fsetxattr(new, name, &value, XattrFlags::empty())
}
