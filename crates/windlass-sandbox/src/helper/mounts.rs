//! Namespaces: a separate view of the file system, and a separate network.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, StatVfsMountFlags, openat, statvfs};
use rustix::mount::{
    MountFlags, MountPropagationFlags, OpenTreeFlags, mount, mount_bind_recursive, mount_change, mount_remount,
    open_tree,
};
use rustix::thread::{CapabilitySet, CapabilitySets, UnshareFlags};

use super::{Failed, context, devices, loopback};
use crate::confinement::Confinement;

/// Enters new namespaces and changes the view of the file system in them.
pub(super) fn enter(confinement: &Confinement) -> Result<(), Failed> {
    let (user, group) = (rustix::process::geteuid().as_raw(), rustix::process::getegid().as_raw());
    let mut flags = UnshareFlags::NEWUSER | UnshareFlags::NEWNS;
    let own_network = !confinement.inside && !confinement.network;
    flags.set(UnshareFlags::NEWIPC, !confinement.inside);
    flags.set(UnshareFlags::NEWNET, own_network);
    unshare(flags).map_err(context("namespaces"))?;
    // Opened as it is now, because mounts become read-only.
    let processes = mounted(Path::new("/proc")).map_err(context("/proc"))?;
    // Terminals can only be mounted where there is a root, so the process is root until then.
    become_user(&processes, &Mapped { inside: (0, 0), outside: (user, group) })?;
    if own_network {
        loopback::up().map_err(context("loopback"))?;
    }
    let private = MountPropagationFlags::REC | MountPropagationFlags::DOWNSTREAM;
    mount_change("/", private).map_err(context("mounts"))?;
    for path in confinement.writable.iter().chain(&confinement.pins) {
        mount_bind_recursive(path, path).map_err(at(path))?;
    }
    freeze(confinement)?;
    for mask in &confinement.masks {
        make_read_only(mask, mask).map_err(at(mask))?;
    }
    for directory in &confinement.hidden_directories {
        empty(directory, MountFlags::RDONLY, c"mode=0555,size=4k").map_err(at(directory))?;
    }
    for file in &confinement.hidden_files {
        make_read_only(Path::new("/dev/null"), file).map_err(at(file))?;
    }
    devices::mount_own(&confinement.writable)?;
    if (user, group) != (0, 0) {
        unshare(UnshareFlags::NEWUSER).map_err(context("namespaces"))?;
        become_user(&processes, &Mapped { inside: (user, group), outside: (0, 0) })?;
    }
    // The old view of the current directory lies below the new mounts.
    rustix::process::chdir(&confinement.cwd).map_err(at(&confinement.cwd))
}

#[expect(
    deprecated,
    reason = "what makes it unsafe is sharing of descriptors, which is not asked for; there is one thread"
)]
fn unshare(flags: UnshareFlags) -> rustix::io::Result<()> {
    rustix::thread::unshare(flags)
}

/// Numbers of a user and a group in a namespace, and in the one around it.
struct Mapped {
    inside: (u32, u32),
    outside: (u32, u32),
}

/// Sets the identity of this process in a user namespace that it has just created.
fn become_user(processes: &OwnedFd, Mapped { inside, outside }: &Mapped) -> Result<(), Failed> {
    let write = |name: &str, text: String| {
        let file = openat(processes, Path::new("self").join(name), OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
        fs::File::from(file).write_all(text.as_bytes())
    };
    // Without this, the process could leave a group whose members are denied something.
    match write("setgroups", "deny".to_owned()) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(context("groups")(error)),
        _ => {}
    }
    write("uid_map", format!("{} {} 1", inside.0, outside.0)).map_err(context("user"))?;
    write("gid_map", format!("{} {} 1", inside.1, outside.1)).map_err(context("group"))
}

/// Returns the mount at a path as it is now, whatever is mounted there later.
pub(super) fn mounted(path: &Path) -> rustix::io::Result<OwnedFd> {
    let whole = OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::AT_RECURSIVE | OpenTreeFlags::OPEN_TREE_CLOEXEC;
    open_tree(CWD, path, whole)
}

pub(super) fn at<E: std::fmt::Display>(path: &Path) -> impl FnOnce(E) -> Failed {
    context(path.display().to_string())
}

pub(super) fn empty(target: &Path, flags: MountFlags, options: &std::ffi::CStr) -> rustix::io::Result<()> {
    mount("tmpfs", target, "tmpfs", flags | MountFlags::NOSUID | MountFlags::NODEV, options)
}

/// Makes all mounts read-only except those of writable directories. Landlock protects the content of files; only a
/// mount protects modes, owners and times.
fn freeze(confinement: &Confinement) -> Result<(), Failed> {
    // The kernel fills as much of the buffer per read as is free.
    let mut table = Vec::with_capacity(64 * 1024);
    fs::File::open("/proc/self/mountinfo")
        .and_then(|mut file| file.read_to_end(&mut table))
        .map_err(context("mounts"))?;
    let points: BTreeSet<PathBuf> = table
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.split(|byte| *byte == b' ').nth(4))
        .map(plain)
        .collect();
    for point in points {
        if !confinement.writable.iter().any(|root| point.starts_with(root)) {
            // A mount that another one covers is out of reach, for this call as for a program.
            let _ = remount_read_only(&point);
        }
    }
    Ok(())
}

/// Decodes a path of the kernel's table, in which some characters are written as octal numbers.
fn plain(text: &[u8]) -> PathBuf {
    let mut path = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        match digits.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => {
                path.push(byte);
                rest = after.get(3..).unwrap_or_default();
            }
            None => {
                path.push(*first);
                rest = after;
            }
        }
    }
    OsString::from_vec(path).into()
}

/// Shows `source` at `target`, read-only.
fn make_read_only(source: &Path, target: &Path) -> rustix::io::Result<()> {
    mount_bind_recursive(source, target)?;
    remount_read_only(target)
}

fn remount_read_only(target: &Path) -> rustix::io::Result<()> {
    let known = statvfs(target)?.f_flag;
    // Flags that an outer namespace has set must be set again, or the call is refused.
    let same = [
        (StatVfsMountFlags::NOSUID, MountFlags::NOSUID),
        (StatVfsMountFlags::NODEV, MountFlags::NODEV),
        (StatVfsMountFlags::NOEXEC, MountFlags::NOEXEC),
        (StatVfsMountFlags::NOATIME, MountFlags::NOATIME),
        (StatVfsMountFlags::NODIRATIME, MountFlags::NODIRATIME),
        (StatVfsMountFlags::RELATIME, MountFlags::RELATIME),
    ];
    let mut flags = MountFlags::BIND | MountFlags::RDONLY;
    for (_, flag) in same.into_iter().filter(|(seen, _)| known.contains(*seen)) {
        flags |= flag;
    }
    mount_remount(target, flags, c"")
}

/// Permanently drops every capability of this thread, including those that root of a namespace, or of the machine,
/// would regain with a new program.
pub(super) fn drop_capabilities() -> Result<(), Failed> {
    for capability in CapabilitySet::all().iter() {
        // A capability that this kernel does not know needs no removal. Without the right to remove one, there is none.
        if rustix::thread::capability_is_in_bounding_set(capability).unwrap_or(true) {
            let _ = rustix::thread::remove_capability_from_bounding_set(capability);
        }
    }
    let none = CapabilitySet::empty();
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    rustix::thread::set_capabilities(None, sets).map_err(context("capabilities"))?;
    rustix::thread::clear_ambient_capability_set().map_err(context("capabilities"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_of_the_table_is_read() {
        let read = |text: &str| plain(text.as_bytes()).to_str().unwrap().to_owned();
        assert_eq!(read("/a\\040b\\134\\011"), "/a b\\\t");
        assert_eq!(read("/a\\04"), "/a\\04");
        assert_eq!(read("/a\\999"), "/a\\999");
    }
}
