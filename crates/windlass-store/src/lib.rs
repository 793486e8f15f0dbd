//! Default session store of windlass: crash-safe JSONL files.
//!
//! [`JsonlStore`] keeps each session as one append-only file,
//! `projects/<slug>/<session>.jsonl` under its home, in lines that other tools
//! read. One process writes a session at a time: the file itself is locked.
//! An agent of a session has a file of its own,
//! `projects/<slug>/<session>/subagents/agent-<id>.jsonl`, and beside it a small
//! `agent-<id>.meta.json` that describes the agent.
//!
//! Answers of other processes to permission requests of a session are stored in `projects/<slug>/<session>/answers/`,
//! readable by their user only.
//!
//! [`JsonlStore::search`] finds sessions by their texts, page by page. With the feature `index` it uses an index beside
//! the logs, which is derived from them and never required; otherwise it reads the logs.
//!
//! [`FileCheckpoints`] keeps the earlier contents of the files of one session, from before changes by its tools, beside
//! its log.
#![cfg_attr(docsrs, feature(doc_cfg))]
#![cfg_attr(test, allow(clippy::disallowed_methods, reason = "unit tests use real folders, programs and clocks"))]

mod agents;
mod answers;
mod audit;
mod blocking;
mod checkpoint;
mod disk;
mod git;
mod index;
mod left_behind;
mod locate;
mod lock;
mod log;
mod observe;
mod open;
mod owner;
mod reader;
mod remove;
mod rewind;
mod session;
mod store;

pub use audit::audit_file;
pub use checkpoint::{
    CheckpointLimits, CheckpointRetention, CollectedCheckpoints, FileCheckpoints, MemoryCheckpoints, SessionCheckpoints,
};
pub use git::git_branch;
pub use index::{
    ListedSession, PageCursor, PageCursorError, PageSource, SessionMatch, SessionPage, SessionPages, SessionSearch,
};
pub use locate::{FoundSession, SessionList, SkippedFile};
pub use observe::LogObserver;
pub use rewind::{Conflicts, RewindScope, SessionRewind, SessionRewindError, SessionRewound};
pub use store::JsonlStore;

use std::io::BufReader;
use std::path::Path;
use windlass_session::{CheckReport, StoreError, check_log, export_messages};

/// Reads a log file and reports its usable content. The file is not changed.
///
/// # Errors
/// The file cannot be read.
pub fn check_file(path: &Path) -> Result<CheckReport, StoreError> {
    let file = open::read_named(path).map_err(|error| disk::error(path, "read", &error))?;
    check_log(BufReader::new(file)).map_err(|error| disk::error(path, "read", &error))
}

/// Returns the messages that a request would contain if the session in this file was continued, as a JSON array. The
/// file is not changed.
///
/// # Errors
/// The file cannot be read.
pub fn export_file(path: &Path) -> Result<String, StoreError> {
    let file = open::read_named(path).map_err(|error| disk::error(path, "read", &error))?;
    export_messages(BufReader::new(file)).map_err(|error| disk::error(path, "read", &error))
}
