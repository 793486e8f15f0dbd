//! The probe, which tries forbidden actions and reports the results.

use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open, test_kill_process};

/// Maximum time of a connection: all that are tried are on this machine.
const PATIENCE: Duration = Duration::from_secs(2);

/// Tries each pair of a name and a subject, and prints a line for each: the name and `done`, or the error.
pub(super) fn run(mut attempts: impl Iterator<Item = OsString>) -> i32 {
    let mut report = String::new();
    while let (Some(name), Some(what)) = (attempts.next(), attempts.next()) {
        let came = match attempt(&name.to_string_lossy(), &what) {
            Ok(()) => "done".to_owned(),
            Err(error) => error.to_string(),
        };
        report.push_str(&format!("{} {came}\n", name.to_string_lossy()));
    }
    i32::from(io::stdout().write_all(report.as_bytes()).is_err())
}

fn attempt(name: &str, what: &OsString) -> io::Result<()> {
    let path = Path::new(what);
    let text = || what.to_str().ok_or(io::ErrorKind::InvalidInput);
    let process = || -> io::Result<Pid> {
        let number = text()?.parse().ok().and_then(Pid::from_raw);
        number.ok_or_else(|| io::ErrorKind::InvalidInput.into())
    };
    match name.trim_end_matches(|c: char| c.is_ascii_digit()) {
        "write" => OpenOptions::new().append(true).create(true).open(path)?.write_all(b"x"),
        "open" => OpenOptions::new().append(true).open(path).map(drop),
        "mode" => fs::set_permissions(path, fs::Permissions::from_mode(0o640)),
        "rename" => fs::rename(path, path.with_extension("moved")),
        "read" => match OpenOptions::new().read(true).open(path)?.read(&mut [0; 1])? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        },
        "connect" => {
            let address: SocketAddr = text()?.parse().map_err(|_| io::ErrorKind::InvalidInput)?;
            TcpStream::connect_timeout(&address, PATIENCE).map(drop)
        }
        "abstract" => {
            let address = std::os::unix::net::SocketAddr::from_abstract_name(text()?)?;
            UnixStream::connect_addr(&address).map(drop)
        }
        "socket" => UnixStream::connect(path).map(drop),
        "signal" => Ok(test_kill_process(process()?)?),
        "take" => {
            let handle = pidfd_open(process()?, PidfdFlags::empty())?;
            Ok(pidfd_getfd(handle, 0, PidfdGetfdFlags::empty()).map(drop)?)
        }
        _ => Err(io::ErrorKind::Unsupported.into()),
    }
}
