//! Directory in which a command ended.
//!
//! Each command gets a bash of its own, so the command has to report the directory it changed to. Bash reads one small
//! file of ours before the command (`BASH_ENV`, which it forgets at once) that sets a trap for its exit. The trap
//! appends the directory to that file (overwriting it would make some file systems wait for the disk). The command's
//! text stays exactly as it was judged, its line numbers and messages stay unchanged, and its output is not searched. A
//! command that sets an EXIT trap itself, or replaces the shell with `exec`, reports no directory and leaves the
//! session's directory unchanged.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use windlass_tool::ToolCx;
use windlass_tool::private_file::ExchangeFile;

/// File of one command; removed on drop.
#[derive(Debug)]
pub(super) struct CwdFile {
    file: ExchangeFile,
    /// Script that bash reads.
    script: Vec<u8>,
}

/// Maximum number of bytes of a path on any supported system.
const MAX_PATH_BYTES: u64 = 64 * 1024;

impl CwdFile {
    /// Creates the file, with functions and aliases that bash reads as well.
    pub(super) fn create(folder: &Path, name: u128, functions: &[u8]) -> io::Result<Self> {
        let path = folder.join(format!("windlass-{name:032x}"));
        let script = script(&path, functions);
        Ok(Self { file: ExchangeFile::create(path, &script)?, script })
    }

    /// Value of `BASH_ENV`, in which bash expands as in double quotes.
    pub(super) fn bash_env(&self) -> OsString {
        let mut value = Vec::new();
        for byte in self.file.path().as_os_str().as_encoded_bytes() {
            if matches!(byte, b'$' | b'`' | b'\\' | b'"') {
                value.push(b'\\');
            }
            value.push(*byte);
        }
        os_string(value).unwrap_or_default()
    }

    /// Directory that the command reported, links resolved.
    pub(super) fn reported(&self) -> Option<PathBuf> {
        let report = self.file.read(MAX_PATH_BYTES.saturating_add(self.script.len() as u64)).ok()?;
        let directory = report.strip_prefix(self.script.as_slice())?;
        let path = directory.strip_suffix(b"\n").filter(|path| path.starts_with(b"/"))?;
        Some(PathBuf::from(os_string(path.to_vec())?))
    }
}

fn script(path: &Path, functions: &[u8]) -> Vec<u8> {
    // Errors print no message, because the output belongs to the command.
    let mut action = b"builtin pwd -P 2>/dev/null >>".to_vec();
    action.extend(quoted(path.as_os_str().as_encoded_bytes()));
    let mut script = b"unset BASH_ENV\n".to_vec();
    script.extend(functions);
    script.extend(b"trap -- ");
    script.extend(quoted(&action));
    script.extend(b" EXIT\n");
    script
}

/// Quotes a word so that bash reads back exactly these bytes.
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

/// `None`: the paths that a bash on Windows reports are not paths of Windows.
#[cfg(not(unix))]
fn os_string(_bytes: Vec<u8>) -> Option<OsString> {
    None
}

/// Start directory of later calls after a command has reported its directory.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Moved {
    /// The directory in which this call started.
    No,
    /// The new directory for later calls.
    To(PathBuf),
    /// A directory outside the workspace.
    Outside(PathBuf),
}

/// Compares the reported directory of a command with the workspace. The result names the directory below the root as
/// the session knows it, also when a link leads to that root.
pub(super) async fn settle(reported: PathBuf, start: &Path, cx: &ToolCx) -> Moved {
    for root in cx.directories() {
        let Ok(resolved) = cx.workspace().resolve(root).await else {
            continue;
        };
        if let Ok(relative) = reported.strip_prefix(&resolved.path) {
            let directory = if relative.as_os_str().is_empty() { root.clone() } else { root.join(relative) };
            return if directory == start { Moved::No } else { Moved::To(directory) };
        }
    }
    match cx.workspace().resolve(start).await {
        Ok(resolved) if resolved.path == reported => Moved::No,
        _ => Moved::Outside(reported),
    }
}

#[cfg(test)]
mod tests;
