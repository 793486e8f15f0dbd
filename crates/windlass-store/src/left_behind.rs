//! Files left in a home by killed processes.

use crate::disk;
use crate::lock::LockedName;
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use windlass_session::StoreError;
use windlass_tool::private_file;

/// Maximum depth of the search in folder levels. Logs of agents, the deepest files, are five levels below the home.
const MAX_DEPTH: u32 = 8;

/// Removes temporary files that were never renamed, and name locks that no process holds. Returns the number of removed
/// files.
pub(crate) fn remove(home: &Path) -> Result<usize, StoreError> {
    remove_below(home, MAX_DEPTH).map_err(|error| disk::error(home, "read", &error))
}

fn remove_below(folder: &Path, levels: u32) -> io::Result<usize> {
    let entries = match fs::read_dir(folder) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(0),
        entries => entries?,
    };
    let mut removed = private_file::remove_left_behind(folder).unwrap_or_default();
    for entry in entries {
        let entry = entry?;
        let (path, file_type) = (entry.path(), entry.file_type()?);
        if file_type.is_dir() && levels > 0 {
            // An unreadable folder does not prevent other removals.
            removed += remove_below(&path, levels - 1).unwrap_or_default();
        } else if file_type.is_file() && is_name_lock(&path) && LockedName::take(&path.with_extension("jsonl")).is_ok()
        {
            removed += usize::from(!path.exists());
        }
    }
    Ok(removed)
}

/// `true` for a name lock: an empty `.lock` file with the name of a session or agent log.
fn is_name_lock(path: &Path) -> bool {
    let log = path.with_extension("jsonl");
    let is_log = crate::locate::session_id(&log).is_some() || crate::agents::agent_id(&log).is_some();
    let is_lock = path.extension().is_some_and(|extension| extension == "lock");
    is_lock && is_log && path.metadata().is_ok_and(|metadata| metadata.len() == 0)
}
