//! Files and programs that are somewhere else: in a container, on another machine.
//!
//! A [`Transport`] is a program that runs commands there: `docker exec`, `ssh`, or another. [`Remote::connect`] looks whether
//! it works; then [`RemoteWorkspace`] and [`RemoteProcess`] implement the ports of tools over it. Nothing is installed there:
//! a POSIX shell, GNU coreutils or BusyBox, `setsid` and `/proc` are enough.
//!
//! What is guaranteed, and what is not:
//!
//! - A file has its old content or the new one, never a mix: it is written beside its place and renamed.
//! - A file that others changed since it was read stays as they left it: its content is compared before it is renamed over,
//!   under a lock where there is `flock`. Between the comparison and the rename lie a few milliseconds, in which a program
//!   that takes no such lock can change the file unnoticed: names are not exchanged in one step there.
//! - No link is followed that was not judged. The shell goes into the folder and asks the kernel where it stands; what is
//!   opened is compared with what stands under its name. What differs is refused as changed.
//! - When the connection is lost while something was asked for, the error says so
//!   ([`WorkspaceErrorKind::ConnectionLost`](windlass_tool::WorkspaceErrorKind::ConnectionLost), [`ConnectionLost`]), and that it
//!   is not known whether it was done. Changes are never asked for twice.
//! - Programs run as long as their input is open: when the host ends them, is killed or is lost, their whole tree is ended.
//! - Owner and mode of a file are kept where the account may; access lists and extended attributes are not.
//! - A program that ends with a code from 129 to 192 counts as ended by a signal: a shell does not tell the two apart.
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
