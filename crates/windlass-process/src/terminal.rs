//! Pseudo-terminals for children.

use std::ffi::CString;
use std::io;
use std::os::fd::OwnedFd;

use rustix::fs::{Mode, OFlags, open};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, OptionalActions, OutputModes, Winsize, tcgetattr, tcsetattr, tcsetwinsize};
use windlass_tool::TerminalSize;

/// A pseudo-terminal: a child has one end as its terminal, this process reads and writes the other.
///
/// Written input is not echoed, and lines end with a line feed alone, unless the program changes that. The output ends,
/// with the error `EIO`, when the last process has closed the child's end.
#[derive(Debug)]
pub struct Terminal {
    /// End of this process.
    host: OwnedFd,
    /// End of the child. Kept open here until the child has it, because the output would end before it begins.
    child: OwnedFd,
    name: CString,
}

impl Terminal {
    /// A new terminal.
    ///
    /// # Errors
    /// The system has no more of them, or none at all.
    pub fn open(size: TerminalSize) -> io::Result<Self> {
        let host = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY)?;
        fcntl_setfd(&host, FdFlags::CLOEXEC)?;
        grantpt(&host)?;
        unlockpt(&host)?;
        let name = ptsname(&host, Vec::new())?;
        let child = open(name.as_c_str(), OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
        let mut modes = tcgetattr(&child)?;
        modes.local_modes.remove(LocalModes::ECHO);
        modes.output_modes.remove(OutputModes::ONLCR);
        tcsetattr(&child, OptionalActions::Now, &modes)?;
        let size = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
        tcsetwinsize(&host, size)?;
        Ok(Self { host, child, name })
    }

    /// End of this process, for reading and writing.
    ///
    /// # Errors
    /// No file numbers are free.
    pub fn host_end(&self) -> io::Result<OwnedFd> {
        self.host.try_clone()
    }

    /// End of the child.
    pub(crate) fn child_end(&self) -> io::Result<OwnedFd> {
        self.child.try_clone()
    }

    /// Path of the child's end. A leader of a session that opens it gets it as its terminal.
    #[cfg(target_os = "linux")]
    pub(crate) fn name(&self) -> &std::ffi::CStr {
        &self.name
    }
}
