//! File checkpoints: files are kept before calls change them, and restored when the host asks for it.

mod changing;
pub(crate) mod keeper;
pub(crate) mod session_files;
pub(crate) mod survey;
