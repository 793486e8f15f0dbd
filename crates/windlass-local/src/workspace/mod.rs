//! The local file system as a workspace, and a part of it beside another one.

#[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
mod attributes;
mod beside;
#[cfg_attr(not(unix), path = "dir_portable.rs")]
pub(crate) mod dir;
pub(crate) mod entry;
pub(crate) mod local;
pub(crate) mod replace;
mod resolve;
mod temporary_files;

pub use self::beside::WithLocalFolders;
pub(crate) use self::entry::Missing;
pub use self::local::LocalWorkspace;
pub(crate) use self::local::entry_kind;
pub(crate) use self::resolve::resolve;
pub use self::temporary_files::TemporaryFiles;
