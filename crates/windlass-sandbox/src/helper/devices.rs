//! Devices of the sandbox.

use std::fs;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{MountFlags, MoveMountFlags, mount, move_mount};
use rustix::stdio::{stderr, stdin, stdout};
use rustix::termios::ttyname;

use super::Failed;
use super::mounts::{at, empty, mounted};

/// Names of the devices that every program may use. `tty` is the terminal of its own session, which it has only if it
/// was given one.
pub(super) const NAMES: [&str; 6] = ["full", "null", "random", "tty", "urandom", "zero"];

const LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// Replaces `/dev` by one with no other devices and with separate terminals: whoever opens a terminal of the machine
/// reads what is typed there. Shared memory is limited to processes of the sandbox. Writable directories are kept.
pub(super) fn mount_own(writable: &[PathBuf]) -> Result<(), Failed> {
    let dev = Path::new("/dev");
    if !dev.is_dir() {
        return Ok(());
    }
    // A device that the machine lacks is left out.
    let nodes: Vec<(PathBuf, OwnedFd)> =
        NAMES.iter().map(|name| dev.join(name)).filter_map(|path| Some((path.clone(), mounted(&path).ok()?))).collect();
    let terminal = given_terminal();
    let kept: Vec<(&PathBuf, OwnedFd)> = writable
        .iter()
        .filter(|root| root.starts_with(dev))
        .map(|root| mounted(root).map(|found| (root, found)).map_err(at(root)))
        .collect::<Result<_, _>>()?;
    empty(dev, MountFlags::empty(), c"mode=0755").map_err(at(dev))?;
    for (path, node) in nodes.into_iter().chain(terminal.map(|terminal| (dev.join("console"), terminal))) {
        fs::File::create_new(&path).map_err(at(&path))?;
        put(&node, &path)?;
    }
    for (name, target) in LINKS {
        symlink(target, dev.join(name)).map_err(at(&dev.join(name)))?;
    }
    let shared = dev.join("shm");
    fs::create_dir(&shared).map_err(at(&shared))?;
    fs::set_permissions(&shared, fs::Permissions::from_mode(0o1777)).map_err(at(&shared))?;
    for (root, found) in kept {
        fs::create_dir_all(root).map_err(at(root))?;
        put(&found, root)?;
    }
    terminals(&dev.join("pts"))
}

/// Returns the terminal that is the input or output of this process. Programs find a name for it, and for no other.
fn given_terminal() -> Option<OwnedFd> {
    let name = |stream: BorrowedFd<'_>| ttyname(stream, Vec::new()).ok()?.into_string().ok();
    let name = [stdin(), stdout(), stderr()].into_iter().find_map(name)?;
    mounted(Path::new(&name)).ok()
}

/// Mounts a file system for terminals that programs create. If the kernel refuses, there are none.
fn terminals(all: &Path) -> Result<(), Failed> {
    fs::create_dir(all).map_err(at(all))?;
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC;
    let _ = mount("devpts", all, "devpts", flags, c"newinstance,ptmxmode=0666,mode=620");
    Ok(())
}

fn put(found: &OwnedFd, path: &Path) -> Result<(), Failed> {
    let itself = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    move_mount(found.as_fd(), "", CWD, path, itself).map_err(at(path))
}
