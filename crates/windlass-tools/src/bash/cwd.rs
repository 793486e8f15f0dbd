//! Where a command ended up.
//!
//! Each command gets a bash of its own, so the command has to report the directory it changed to. Bash reads one small file
//! of ours before the command (`BASH_ENV`, which it forgets at once) that sets a trap for its exit. The trap
//! adds the directory at the end of that file (writing it over would make some file systems wait for the disk).
//! The command's text stays exactly what was judged, its line numbers and messages stay its own, and its
//! output is not searched. A command that sets an EXIT trap itself, or replaces the shell with `exec`, reports
//! no directory and leaves it as it was.

use std::ffi::OsString;
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use windlass_tool::{ToolCx, private_file};

/// The file of one command; gone when dropped.
#[derive(Debug)]
pub(super) struct CwdFile {
    path: PathBuf,
    /// What bash reads.
    script: Vec<u8>,
}

/// No path is longer than this on any system we run on.
const LONGEST_PATH: u64 = 64 * 1024;

impl CwdFile {
    /// With what bash is to read beside it: functions and aliases.
    pub(super) fn create(folder: &Path, name: u128, functions: &[u8]) -> io::Result<Self> {
        let path = folder.join(format!("windlass-{name:032x}"));
        let mut file = private_file::create(&path)?;
        let script = script(&path, functions);
        let created = Self { path, script };
        file.write_all(&created.script)?;
        Ok(created)
    }

    /// The value of `BASH_ENV`, in which bash expands as in double quotes.
    pub(super) fn bash_env(&self) -> OsString {
        let mut value = Vec::new();
        for byte in self.path.as_os_str().as_encoded_bytes() {
            if matches!(byte, b'$' | b'`' | b'\\' | b'"') {
                value.push(b'\\');
            }
            value.push(*byte);
        }
        os_string(value).unwrap_or_default()
    }

    /// The directory that the command reported, links resolved.
    pub(super) fn reported(&self) -> Option<PathBuf> {
        let mut report = Vec::new();
        let most = LONGEST_PATH.saturating_add(self.script.len() as u64);
        std::fs::File::open(&self.path).ok()?.take(most).read_to_end(&mut report).ok()?;
        let directory = report.strip_prefix(self.script.as_slice())?;
        let path = directory.strip_suffix(b"\n").filter(|path| path.starts_with(b"/"))?;
        Some(PathBuf::from(os_string(path.to_vec())?))
    }
}

impl Drop for CwdFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

fn script(path: &Path, functions: &[u8]) -> Vec<u8> {
    // No message of an error: the output belongs to the command.
    let mut action = b"builtin pwd -P 2>/dev/null >>".to_vec();
    action.extend(quoted(path.as_os_str().as_encoded_bytes()));
    let mut script = b"unset BASH_ENV\n".to_vec();
    script.extend(functions);
    script.extend(b"trap -- ");
    script.extend(quoted(&action));
    script.extend(b" EXIT\n");
    script
}

/// A word that bash reads back as exactly these bytes.
pub(super) fn quoted(word: &[u8]) -> Vec<u8> {
    let mut quoted = vec![b'\''];
    for byte in word {
        match byte {
            b'\'' => quoted.extend(br"'\''"),
            byte => quoted.push(*byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

#[cfg(unix)]
fn os_string(bytes: Vec<u8>) -> Option<OsString> {
    Some(std::os::unix::ffi::OsStringExt::from_vec(bytes))
}

/// The paths that a bash on Windows reports are not paths of Windows.
#[cfg(not(unix))]
fn os_string(_bytes: Vec<u8>) -> Option<OsString> {
    None
}

/// Where later calls start after a command has reported its directory.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Moved {
    /// Where this call started.
    No,
    /// Later calls start here.
    To(PathBuf),
    /// Outside the workspace.
    Outside(PathBuf),
}

/// Compares the directory that a command reported with the workspace. The answer names the directory below the root as the session
/// knows it, also when a link leads to that root.
pub(super) async fn settle(reported: PathBuf, from: &Path, cx: &ToolCx) -> Moved {
    for root in cx.directories() {
        let Ok(resolved) = cx.workspace().resolve(root).await else {
            continue;
        };
        if let Ok(below) = reported.strip_prefix(&resolved.path) {
            let to = if below.as_os_str().is_empty() { root.clone() } else { root.join(below) };
            return if to == from { Moved::No } else { Moved::To(to) };
        }
    }
    match cx.workspace().resolve(from).await {
        Ok(resolved) if resolved.path == reported => Moved::No,
        _ => Moved::Outside(reported),
    }
}

#[cfg(test)]
mod tests;
