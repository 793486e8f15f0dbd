//! Checkpoints of files, and the repository, of sessions on this machine.

mod checkpoints;
mod options;
mod repository;

pub(crate) use checkpoints::DiskCheckpoints;
pub(crate) use repository::repository_status;
