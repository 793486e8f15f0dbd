//! The home of sessions and the stored keys.

use super::check::Check;
use crate::failure::of_start;
use crate::folder_size::{FolderSize, readable};
use std::fs::TryLockError;
use std::path::Path;
use windlass::Home;
use windlass::provider::StoredKeys;

/// Minimum size of a home, in bytes, that is reported as a notice.
const LARGE: u64 = 10_000_000_000;

/// Format, size, rights and locks of the home; stored keys.
pub(super) fn checks() -> Vec<Check> {
    let home = match Home::from_env() {
        Ok(home) => home,
        Err(error) => return vec![Check::broken("home", of_start(error).to_string())],
    };
    let mut checks = vec![state(&home)];
    checks.extend(StoredKeys::from_lookup(|name| std::env::var(name).ok()).and_then(|keys| stored(&keys)));
    checks
}

fn state(home: &Home) -> Check {
    let root = home.root();
    if let Err(error) = home.check_format() {
        return Check::broken("home", error.to_string());
    }
    if !root.exists() {
        return Check::ok("home", format!("{} is not there yet; the first session creates it", root.display()));
    }
    if let Err(problem) = lock_new_file(root) {
        return Check::broken("home", format!("sessions cannot be kept in {}: {problem}", root.display()))
            .advice("make it writable on a file system with locks, or set WINDLASS_HOME to another directory");
    }
    let (size, sessions) = (FolderSize::of(root), sessions(root));
    let text = format!("{}: {sessions} sessions, {}", root.display(), readable(size.bytes));
    if is_open_to_others(root) {
        return Check::notice("home", format!("{text}; other users can read it"))
            .advice(format!("chmod go-rwx {}", root.display()));
    }
    if size.bytes > LARGE {
        return Check::notice("home", text)
            .advice("`windlass sessions gc` frees space; `cleanupPeriodDays` in settings limits it");
    }
    Check::ok("home", text)
}

/// Creates a file, locks it, and removes it.
fn lock_new_file(root: &Path) -> Result<(), String> {
    let file = tempfile::NamedTempFile::new_in(root).map_err(|error| error.to_string())?;
    match file.as_file().try_lock() {
        Ok(()) => Ok(()),
        Err(TryLockError::Error(error)) => Err(format!("files cannot be locked there ({error})")),
        Err(TryLockError::WouldBlock) => Err("a new file is locked already".to_owned()),
    }
}

/// Number of session logs.
fn sessions(root: &Path) -> usize {
    let projects = root.join("projects").read_dir().into_iter().flatten().flatten();
    let files = projects.flat_map(|project| project.path().read_dir().into_iter().flatten().flatten());
    files.filter(|file| file.path().extension().is_some_and(|ending| ending == "jsonl")).count()
}

/// State of the file of keys, if there is one.
fn stored(keys: &StoredKeys) -> Option<Check> {
    let file = keys.file();
    if file.symlink_metadata().is_err() {
        return None;
    }
    Some(match keys.vendors() {
        Err(error) => Check::broken("keys", error.to_string()),
        Ok(_) if is_open_to_others(file) => {
            Check::broken("keys", format!("other users can read the keys in {}", file.display()))
                .advice(format!("chmod 600 {}, and replace the keys", file.display()))
        }
        Ok(vendors) => Check::ok("keys", format!("stored for {} in {}", vendors.join(", "), file.display())),
    })
}

/// Returns `true` if other users can read a file.
fn is_open_to_others(path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        path.metadata().is_ok_and(|found| found.permissions().mode() & 0o044 != 0)
    }
    #[cfg(not(unix))]
    {
        let _ = path;
        false
    }
}
