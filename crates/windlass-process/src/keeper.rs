//! Keepers: the parent processes of programs, which adopt all of their orphans.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::sync::OnceLock;

use rustix::fs::{MemfdFlags, Mode, OFlags, SealFlags, fcntl_add_seals, memfd_create, open};
use rustix::io::Errno;
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
use tokio::io::AsyncWriteExt as _;

/// Keeper built by the build script.
#[cfg(has_keeper)]
const KEEPER: Option<&[u8]> = Some(include_bytes!(concat!(env!("OUT_DIR"), "/keeper")));
#[cfg(not(has_keeper))]
const KEEPER: Option<&[u8]> = None;

/// Lowest number of the keeper's file: lower ones are streams of children.
const LOWEST: RawFd = 10;

/// Number under which a keeper finds its socket.
pub(crate) const SOCKET: RawFd = 3;

/// Path of the keeper for a child of this process. `None` if there is none: for other systems and processors, and if
/// programs cannot be run from memory.
pub(crate) fn path() -> Option<String> {
    static FILE: OnceLock<Option<OwnedFd>> = OnceLock::new();
    let file = FILE.get_or_init(|| KEEPER.and_then(|keeper| file(keeper).ok())).as_ref()?;
    Some(format!("/proc/self/fd/{}", file.as_raw_fd()))
}

/// A file in memory that nothing changes any more.
fn file(keeper: &[u8]) -> io::Result<OwnedFd> {
    let flags = MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING;
    // Kernels before 6.3 do not know the flag, and let all files be run.
    let made = memfd_create(c"windlass-keeper", flags | MemfdFlags::EXEC);
    let mut written = File::from(made.or_else(|_| memfd_create(c"windlass-keeper", flags))?);
    written.write_all(keeper)?;
    fcntl_add_seals(&written, SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
    // A file that is open for writing cannot be run.
    let path = format!("/proc/self/fd/{}", written.as_raw_fd());
    let read = open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
    Ok(rustix::io::fcntl_dupfd_cloexec(read, LOWEST)?)
}

/// A started keeper, with the program below it.
#[derive(Debug)]
pub(crate) struct Keeper {
    pid: Pid,
    host: Host,
    /// Partly read message.
    message: ([u8; 8], usize),
}

#[derive(Debug)]
enum Host {
    Open(tokio::net::UnixStream),
    Closed,
}

/// Outcome of a start.
pub(crate) enum Kept {
    Program(Pid, Keeper),
    /// The system did not start the program.
    Refused(io::Error),
    /// The keeper does not work here.
    Unable,
}

impl Keeper {
    /// Waits for the start of the program below a keeper.
    pub(crate) fn of(pid: Pid, mut host: UnixStream) -> Kept {
        let mut message = [0; 8];
        let read = host.read_exact(&mut message);
        let [error, program] = numbers(message);
        let program = Pid::from_raw(program).filter(|_| read.is_ok() && error == 0);
        let connected = host.set_nonblocking(true).and_then(|()| tokio::net::UnixStream::from_std(host));
        match (program, connected) {
            (Some(program), Ok(host)) => {
                Kept::Program(program, Self { pid, host: Host::Open(host), message: ([0; 8], 0) })
            }
            (_, host) => {
                // Without its host the keeper ends all at once.
                drop(host);
                reap(pid, WaitIdOptions::EXITED);
                let is_refused = read.is_ok() && error > 0;
                if is_refused { Kept::Refused(io::Error::from_raw_os_error(error)) } else { Kept::Unable }
            }
        }
    }

    /// Waits until the program has ended: the program alone. Cancel safe.
    pub(crate) async fn ended(&mut self) -> io::Result<ExitStatus> {
        let Host::Open(host) = &self.host else { return Err(io::ErrorKind::NotConnected.into()) };
        let (message, got) = &mut self.message;
        loop {
            let Some(rest) = message.get_mut(*got..).filter(|rest| !rest.is_empty()) else {
                let [_, status] = numbers(*message);
                return Ok(ExitStatus::from_raw(status));
            };
            host.readable().await?;
            match host.try_read(rest) {
                // The keeper was killed, and only the marks identify the rest of the program.
                Ok(0) => return Ok(ExitStatus::from_raw(libc::SIGKILL)),
                Ok(count) => *got += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
    }

    pub(crate) fn id(&self) -> Pid {
        self.pid
    }

    /// Ends all processes below the keeper, and waits until none is left. Cancel safe.
    pub(crate) async fn end_all(&mut self) {
        if let Host::Open(host) = &mut self.host {
            // The keeper treats that as the end of this process.
            let _ = host.shutdown().await;
        }
        let _ = self.ended().await;
        let Host::Open(host) = &self.host else { return };
        // The keeper sends nothing more, and ends last.
        while host.readable().await.is_ok() {
            match host.try_read(&mut [0]) {
                Ok(1..) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                _ => return,
            }
        }
    }

    /// Lets the program outlive this process.
    pub(crate) fn let_outlive(&self) {
        if let Host::Open(host) = &self.host {
            // The call fails when the program has ended.
            let _ = host.try_write(b"o");
        }
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        // The keeper now ends the processes below it, and then itself.
        self.host = Host::Closed;
        if !reap(self.pid, WaitIdOptions::EXITED | WaitIdOptions::NOHANG) {
            crate::spawn::reap_later(self.pid);
        }
    }
}

/// Waits for a child of this process. Returns `true` if it is gone.
fn reap(pid: Pid, options: WaitIdOptions) -> bool {
    loop {
        match waitid(WaitId::Pid(pid), options) {
            Err(Errno::INTR) => {}
            Ok(None) => return false,
            _ => return true,
        }
    }
}

fn numbers(message: [u8; 8]) -> [i32; 2] {
    let [a, b, c, d, e, f, g, h] = message;
    [i32::from_ne_bytes([a, b, c, d]), i32::from_ne_bytes([e, f, g, h])]
}
