//! Remote files and programs: in a container, or on another machine.
//!
//! A [`Transport`] is a program that runs remote commands: `docker exec`, `ssh`, or another. [`Remote::connect`] checks
//! that it works; then [`RemoteWorkspace`] and [`RemoteProcess`] implement the ports of tools over it. Nothing is
//! installed there: a POSIX shell, GNU coreutils or BusyBox, `setsid` and `/proc` are enough.
//!
//! Guarantees and limits:
//!
//! - A file has its old content or the new one, never a mix: it is written beside its place and renamed.
//! - A file that others changed since it was read stays unchanged: its content is compared before it is replaced, under
//!   a lock if there is `flock`. A few milliseconds lie between the comparison and the rename, in which a program that
//!   takes no such lock can change the file unnoticed, because names are not exchanged in one step there.
//! - No link is followed that was not judged. The shell enters the folder and asks the kernel for its path; the opened
//!   file is compared with the entry under its name. A difference is refused as changed.
//! - When the connection is lost during a request, the error reports that
//!   ([`WorkspaceErrorKind::ConnectionLost`](windlass_tool::WorkspaceErrorKind::ConnectionLost), [`ConnectionLost`]),
//!   and that it is unknown if the request was carried out. Changes are never requested twice.
//! - Programs run as long as their input is open: when the host ends them, is killed or is lost, their whole tree is
//!   ended.
//! - Owner and mode of a file are kept if the account may; access lists and extended attributes are not.
//! - A program that ends with a code from 129 to 192 is treated as ended by a signal: a shell does not distinguish the
//!   two.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "unit tests use real folders and programs"))]

mod answer;
mod connection;
mod error;
mod open_file;
mod process;
mod quote;
mod remote;
mod said;
mod transport;
mod tree;
mod workspace;

pub use error::{ConnectError, ConnectionLost};
pub use process::RemoteProcess;
pub use quote::quote;
pub use remote::Remote;
pub use transport::Transport;
pub use workspace::RemoteWorkspace;
